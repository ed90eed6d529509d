//! The interface of likelihoods.

use std::sync::Arc;

use burn::tensor::{DType, Tensor, TensorData};
use rand::Rng;

use super::{
    GradedNodes, ImpossibleTarget, PredictiveDistribution, Quadrature, QuadratureCenter,
    TargetDistribution, graded_nodes::NODES, targets::in_precision,
};
use crate::{
    custom::AnyModule,
    parameter::{numbers, require_same_dtype},
    process::Marginals,
};

/// A factorized likelihood `p(y | f) = Π_n Π_p p(y_np | f_np)`, where `f_np` are the latent
/// functions of output `p` at input `n`.
///
/// Shapes: P outputs; F = [`latents`](Self::latents)`(P)` functions; T =
/// [`target_columns`](Self::target_columns)`(P)` target columns; Y columns that describe a
/// prediction, which is P, or C·P for unordered labels.
pub trait Likelihood: AnyModule {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// A description of the valid targets. By default these are labels if there are
    /// [`classes`](Self::classes), and finite numbers otherwise.
    fn takes(&self) -> String {
        match self.classes() {
            Some(classes) => format!("labels 0 to {}", classes - 1),
            None => "finite numbers".into(),
        }
    }

    /// Whether `value` is valid in the given zero-based target column of an output.
    fn is_possible(&self, column: usize, value: f64) -> bool {
        let _ = column;
        match self.classes() {
            Some(classes) => value.fract() == 0.0 && (0.0..classes as f64).contains(&value),
            None => value.is_finite(),
        }
    }

    /// The number of latent functions per output.
    fn latents_per_output(&self) -> usize {
        1
    }

    /// The number of target columns per output.
    fn columns_per_output(&self) -> usize {
        1
    }

    /// The number of latent functions, F, for `outputs` outputs.
    fn latents(&self, outputs: usize) -> usize {
        self.latents_per_output() * outputs
    }

    /// The number of target columns, T, for `outputs` outputs.
    fn target_columns(&self, outputs: usize) -> usize {
        self.columns_per_output() * outputs
    }

    /// The number of outputs, P, for targets with `columns` columns.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    fn outputs(&self, columns: usize) -> usize {
        let each = self.columns_per_output();
        assert!(
            columns > 0 && columns.is_multiple_of(each),
            "{columns} columns of targets; the {} likelihood takes {each} for each output",
            self.name()
        );
        columns / each
    }

    /// The number of classes, or `None` if the targets are not labels.
    fn classes(&self) -> Option<usize> {
        None
    }

    /// `log p(y_np | f_np)` for each of S values of the functions.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]`
    /// - `function`: `[S, N, F]`
    /// - result: `[S, N, P]`
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3>;

    /// `E[y | f]` and `Var[y | f]`. Unordered labels are described by one-hot indicators of their
    /// classes, whose means are the probabilities.
    ///
    /// # Shapes
    ///
    /// - `function`: `[S, N, F]`
    /// - results: `[S, N, Y]`
    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>);

    /// Draws from `p(y | f)` for each value of the functions.
    ///
    /// # Shapes
    ///
    /// - `function`: `[S, N, F]`
    /// - result: `[S, N, P]`
    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3>;

    /// Checks row-major targets on the host with `columns` columns.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    fn check_targets(&self, targets: &[f64], columns: usize) -> Result<(), ImpossibleTarget> {
        let outputs = self.outputs(columns);
        let impossible = |&(index, &value): &(usize, &f64)| {
            !value.is_finite() || !self.is_possible(index % columns / outputs, value)
        };
        match targets.iter().enumerate().find(impossible) {
            None => Ok(()),
            Some((index, &value)) => Err(ImpossibleTarget {
                row: index / columns,
                column: index % columns,
                value,
                rounded: None,
                likelihood: self.name(),
                expected: self.takes(),
            }),
        }
    }

    /// Checks that the shapes of targets and marginals match.
    ///
    /// # Panics
    ///
    /// If their rows differ, means and variances differ in shape, or the functions and target
    /// columns imply different numbers of outputs.
    #[track_caller]
    fn require_sizes(&self, targets: &Tensor<2>, marginals: &Marginals) {
        let name = || format!("the {} likelihood", self.name());
        let functions = ("functions", marginals.mean.dtype());
        require_same_dtype(name, ("targets", targets.dtype()), functions);
        let (means, variances) = (marginals.mean.dims(), marginals.variance.dims());
        assert!(
            means == variances && self.takes_sizes(targets, means),
            "the {} likelihood: targets {:?} for functions with means {means:?} and variances \
             {variances:?}; expected [N, {}·P] for [N, {}·P] each",
            self.name(),
            targets.dims(),
            self.columns_per_output(),
            self.latents_per_output()
        );
    }

    /// Like [`require_sizes`](Self::require_sizes), for values of the functions, `[S, N, F]`.
    ///
    /// # Panics
    ///
    /// If their rows differ, or the functions and target columns imply different numbers of
    /// outputs.
    #[track_caller]
    fn require_sizes_of_values(&self, targets: &Tensor<2>, function: &Tensor<3>) {
        let [_, rows, functions] = function.dims();
        assert!(
            self.takes_sizes(targets, [rows, functions]),
            "the {} likelihood: targets {:?} for values of the functions {:?}; expected [N, {}·P] for \
             [S, N, {}·P]",
            self.name(),
            targets.dims(),
            function.dims(),
            self.columns_per_output(),
            self.latents_per_output()
        );
    }

    /// Whether the targets fit functions of shape `[N, F]`.
    fn takes_sizes(&self, targets: &Tensor<2>, [rows, functions]: [usize; 2]) -> bool {
        let latents = self.latents_per_output();
        let columns = functions / latents * self.columns_per_output();
        functions.is_multiple_of(latents) && targets.dims() == [rows, columns]
    }

    /// Like [`check_targets`](Self::check_targets), for the values after rounding to `precision`: a
    /// fraction just below 1 may become 1, and a tiny number 0.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    fn check_targets_in(
        &self,
        precision: DType,
        targets: &[f64],
        columns: usize,
    ) -> Result<(), ImpossibleTarget> {
        self.check_targets(targets, columns)?;
        let held = in_precision(targets, precision);
        (self.check_targets(&held, columns)).map_err(|impossible| ImpossibleTarget {
            value: targets[impossible.row * columns + impossible.column],
            rounded: Some((impossible.value, precision.name())),
            ..impossible
        })
    }

    /// Like [`check_targets`](Self::check_targets), for targets on a device, `[N, T]`.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If the number of columns is not a multiple of the columns per output.
    #[track_caller]
    fn check_tensor(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        let [_, columns] = targets.dims();
        self.check_targets(&numbers(targets.clone()), columns)
    }

    /// The quadrature that the default methods below use unless [`kink`](Self::kink) or
    /// [`peak`](Self::peak) returns a focus.
    fn quadrature(&self) -> Quadrature {
        Quadrature::default_for(self.latents_per_output())
    }

    /// The place where `log p(y_np | f)` kinks as a function of `f`, if it does so over a distance
    /// of less than about one. For likelihoods with one latent function per output.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`
    fn kink(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let _ = targets;
        None
    }

    /// The place where `p(y_np | f)` is largest as a function of `f`, and the distance from it at
    /// which the density begins to fall off. For likelihoods with one latent function per output.
    /// Quadrature nodes for the density of new targets are then placed between the peak and the
    /// mean of the function.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let _ = targets;
        None
    }

    /// `Σ_p E_{f ~ N(μ_n, diag(σ²_n))}[log p(y_np | f)]`, the expected log density in the evidence
    /// lower bound.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]`, `marginals`: of the functions, `[N, F]`
    /// - result: `[N]`
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        let kink = self.kink(&targets);
        let log_density = |function| self.log_density(targets, function);
        sum_outputs(match kink {
            Some(kink) => {
                let nodes = GradedNodes::around(&marginals, kink, NODES);
                nodes.expectation(marginals, log_density)
            }
            None => self.quadrature().expectation(marginals, log_density),
        })
    }

    /// The loss of a network with Gaussian processes: the negative evidence lower bound of
    /// `data_count` data points, divided by `data_count` and estimated from a batch of B, `KL/N −
    /// 1/B·Σ_n E[log p(y_n | f_n)]`. `kl` is the sum of the divergences of all layers, each as
    /// [`evaluate`](crate::layers::Layer::evaluate) returns it.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[B, T]`, `marginals`: of the functions, `[B, F]`, `kl`: `[1]`
    /// - result: `[1]`
    #[track_caller]
    fn negative_elbo(
        &self,
        targets: Tensor<2>,
        marginals: Marginals,
        kl: Tensor<1>,
        data_count: usize,
    ) -> Tensor<1> {
        let expected = self.expected_log_density(targets, marginals);
        kl * (data_count as f64).recip() - expected.mean()
    }

    /// `Σ_p log E_{f ~ N(μ_n, diag(σ²_n))}[p(y_np | f)]`, the log predictive density of new
    /// targets.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]`, `marginals`: of the functions, `[N, F]`
    /// - result: `[N]`
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        let peak = self.peak(&targets);
        let log_density = |function| self.log_density(targets.clone(), function);
        sum_outputs(match peak {
            Some(peak) => {
                let nodes = GradedNodes::around_mode(&marginals, peak, log_density);
                nodes.log_expectation(marginals, log_density)
            }
            None => self.quadrature().log_expectation(marginals, log_density),
        })
    }

    /// Mean and variance of a new target `y`, from the marginals of the functions. Unordered labels
    /// are described by one-hot indicators of their classes, whose means are the probabilities.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, F]`
    /// - result: `[N, Y]`
    fn predict(&self, marginals: Marginals) -> Marginals {
        let quadrature = self.quadrature();
        let (points, weights) = quadrature.points(marginals);
        let (mean, variance) = self.conditional_moments(points);
        let center = quadrature.weighted_sum(mean.clone(), weights.clone());
        let spread = mean - center.clone().unsqueeze::<3>();
        Marginals {
            variance: quadrature.weighted_sum(spread.square() + variance, weights),
            mean: center,
        }
    }

    /// The probability of every class, `[N, C·P]`, or `None` if the targets are not labels.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, F]`
    fn class_probabilities(&self, marginals: Marginals) -> Option<Tensor<2>> {
        let classes = self.classes()?;
        let [rows, functions] = marginals.mean.dims();
        let latents = self.latents_per_output();
        let outputs = functions / latents;
        let zero = marginals.mean.zeros_like().narrow(1, 0, 1); // [N, 1]
        let mut columns = Vec::with_capacity(classes * outputs);
        for class in 0..classes {
            for output in 0..outputs {
                let own = marginals_of_output(&marginals, output, latents);
                let log = self.log_predictive_density(zero.clone() + class as f64, own);
                columns.push(log.exp().reshape([rows, 1]));
            }
        }
        Some(Tensor::cat(columns, 1))
    }

    /// The distribution of one target under Gaussian functions, with the current parameters. `None`
    /// if targets are unordered labels or the likelihood does not implement it.
    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        None
    }

    /// The predictive distributions of new targets, with their quantiles, under the mixture of
    /// `components`: one for a single process, several for a deep model. `None` if there is no
    /// [`target_distribution`](Self::target_distribution).
    ///
    /// # Shapes
    ///
    /// - `components`: of the functions, `[N, F]` each
    /// - the distributions: `[N, P]`
    ///
    /// # Panics
    ///
    /// If there are no components, or they differ in shape.
    #[track_caller]
    fn predictive_distribution(&self, components: &[Marginals]) -> Option<PredictiveDistribution> {
        let target = self.target_distribution()?;
        let latents = self.latents_per_output();
        Some(PredictiveDistribution::new(target, latents, components))
    }

    /// The noise variance of a target given its function, or its order of magnitude: the squared
    /// scale for Student-t noise. `None` if the functions are not in the units of the targets.
    fn noise_variance(&self) -> Option<f64> {
        None
    }

    /// Rescales the likelihood to targets `10^decades` times as large. The default leaves it
    /// unchanged.
    fn in_larger_unit(&mut self, _decades: i64) {}
}

/// The marginals of the functions of one output, `[N, F/P]`.
fn marginals_of_output(marginals: &Marginals, output: usize, latents: usize) -> Marginals {
    let outputs = marginals.mean.dims()[1] / latents;
    let select = |values: &Tensor<2>| {
        let columns = (0..latents).map(|latent| {
            let column = latent * outputs + output;
            values.clone().narrow(1, column, 1)
        });
        Tensor::cat(columns.collect(), 1)
    };
    Marginals {
        mean: select(&marginals.mean),
        variance: select(&marginals.variance),
    }
}

/// Sums `[N, P]` over the outputs.
pub(super) fn sum_outputs(values: Tensor<2>) -> Tensor<1> {
    let [rows, outputs] = values.dims();
    if outputs == 1 {
        values.reshape([rows])
    } else {
        values.sum_dim(1).reshape([rows])
    }
}

/// The zero-based block `index` out of `count` equal blocks of columns.
pub(super) fn block<const D: usize>(values: Tensor<D>, index: usize, count: usize) -> Tensor<D> {
    let width = values.dims()[D - 1] / count;
    values.narrow(D - 1, index * width, width)
}

/// Draws each output from the values of its `latents` functions, `[S, N, F]` to `[S, N, P]`.
pub(super) fn draw(
    function: Tensor<3>,
    latents: usize,
    mut one: impl FnMut(&[f64]) -> f64,
) -> Tensor<3> {
    let [samples, rows, functions] = function.dims();
    let outputs = functions / latents;
    let options = (&function.device(), function.dtype());
    let mut own = vec![0.0; latents];
    let mut draws = Vec::with_capacity(samples * rows * outputs);
    for values in numbers(function).chunks_exact(functions) {
        for output in 0..outputs {
            for (latent, value) in own.iter_mut().enumerate() {
                *value = values[latent * outputs + output];
            }
            draws.push(one(&own));
        }
    }
    Tensor::from_data(TensorData::new(draws, [samples, rows, outputs]), options)
}
