//! The interface of likelihoods.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use rand::Rng;

use super::{
    GradedNodes, LikelihoodDescription, PredictiveDistribution, Quadrature, QuadratureCenter,
    TargetDistribution,
};
use crate::{custom::AnyModule, parameter::numbers, process::Marginals};

/// A factorized likelihood `p(y | f) = Π_n Π_p p(y_np | f_np)`, where `f_np` are the latent
/// functions of output `p` at input `n`.
///
/// Shapes: P outputs; F latent functions and T target columns, multiples of P that the
/// [description](Self::description) gives; Y columns that describe a prediction, which is P, or C·P
/// for unordered labels.
///
/// All outputs share the parameters, unless P likelihoods are
/// [`stacked`](crate::parameter::stacked): then each output has its own.
pub trait Likelihood: AnyModule {
    /// The name, the numbers of functions and target columns of an output, and the valid targets.
    fn description(&self) -> LikelihoodDescription;

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
    /// lower bound. The default is [`Quadrature::default_for`] the functions of an output.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]`, `marginals`: of the functions, `[N, F]`
    /// - result: `[N]`
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        let description = self.description();
        description.require_sizes(&targets, &marginals);
        let quadrature = Quadrature::default_for(description.latents);
        sum_outputs(
            quadrature.expectation(marginals, |function| self.log_density(targets, function)),
        )
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
    /// targets. The default is quadrature, with nodes around the [`peak`](Self::peak) if there is one.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, T]`, `marginals`: of the functions, `[N, F]`
    /// - result: `[N]`
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let latents = self.description().latents;
        let peak = self.peak(&targets);
        let log_density = |function| self.log_density(targets.clone(), function);
        sum_outputs(log_of_expected_density(
            latents,
            marginals,
            peak,
            log_density,
        ))
    }

    /// Mean and variance of a new target `y`, from the marginals of the functions. Unordered labels
    /// are described by one-hot indicators of their classes, whose means are the probabilities.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, F]`
    /// - result: `[N, Y]`
    fn predict(&self, marginals: Marginals) -> Marginals {
        let quadrature = Quadrature::default_for(self.description().latents);
        let (points, weights) = quadrature.points(marginals);
        let (mean, variance) = self.conditional_moments(points);
        let center = quadrature.weighted_sum(mean.clone(), weights.clone());
        let spread = mean - center.clone().unsqueeze::<3>();
        Marginals {
            variance: quadrature.weighted_sum(spread.square() + variance, weights),
            mean: center,
        }
    }

    /// The distribution of one target under Gaussian functions, with the current parameters. `None`
    /// if targets are unordered labels, the likelihood does not implement it, or outputs have parameters
    /// of their own.
    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        None
    }

    /// The noise variances of P outputs, if each has its own. They are added to
    /// [`target_distribution`](Self::target_distribution), which is that of targets without this noise.
    fn noise_of_outputs(&self) -> Option<Vec<f64>> {
        None
    }

    /// The probability τ if the function is the τ-quantile of the target, `P(y ≤ f) = τ`, for all outputs.
    fn quantile_level(&self) -> Option<f64> {
        None
    }
}

impl dyn Likelihood + '_ {
    /// The probability of every class, `[N, C·P]`, or `None` if the targets are not labels.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, F]`
    ///
    /// # Panics
    ///
    /// If outputs have parameters of their own.
    pub fn class_probabilities(&self, marginals: Marginals) -> Option<Tensor<2>> {
        let LikelihoodDescription {
            classes, latents, ..
        } = self.description();
        let classes = classes?;
        let [rows, functions] = marginals.mean.dims();
        let outputs = functions / latents;
        let predicted = self.predict(marginals.clone()).mean; // [N, Y]
        if predicted.dims() == [rows, classes * outputs] {
            return Some(predicted); // the means of the indicators
        }
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

    /// The predictive distributions of new targets, with their quantiles, under the mixture of
    /// `components`: one for a single process, several for a deep model. `None` if there is no
    /// [`target_distribution`](Likelihood::target_distribution).
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
    pub fn predictive_distribution(
        &self,
        components: &[Marginals],
    ) -> Option<PredictiveDistribution> {
        let target = self.target_distribution()?;
        let latents = self.description().latents;
        let distribution = PredictiveDistribution::new(target, latents, components);
        Some(match self.noise_of_outputs() {
            Some(noise) => {
                let each = noise.iter().copied().cycle().take(distribution.len());
                distribution.with_noise(&each.collect::<Vec<_>>())
            }
            None => distribution,
        })
    }
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

/// `log E_{f ~ N(μ_n, diag(σ²_n))}[exp g(f)]` for a log density g, `[N, P]`, by quadrature with nodes around its peak
/// if there is one.
pub(super) fn log_of_expected_density(
    latents: usize,
    marginals: Marginals,
    peak: Option<QuadratureCenter>,
    log_density: impl Fn(Tensor<3>) -> Tensor<3>,
) -> Tensor<2> {
    match peak {
        Some(peak) => {
            let nodes = GradedNodes::around_mode(&marginals, peak, &log_density);
            nodes.log_expectation(marginals, log_density)
        }
        None => Quadrature::default_for(latents).log_expectation(marginals, log_density),
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

/// A row of numbers, one for each output or one for all, in the precision of `like`.
pub(super) fn row<const D: usize, const E: usize>(values: &[f64], like: &Tensor<E>) -> Tensor<D> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    Tensor::<1>::from_data(data, (&like.device(), like.dtype())).unsqueeze()
}

/// A parameter's value for an output: all outputs share one, or each has its own.
pub(super) fn of_output(values: &[f64], output: usize) -> f64 {
    values[output % values.len()]
}

/// The value of a parameter that all outputs share.
pub(super) fn of_all_outputs(values: &[f64]) -> Option<f64> {
    match values {
        [value] => Some(*value),
        _ => None,
    }
}

/// Draws each output, given with its index, from the values of its `latents` functions, `[S, N, F]` to `[S, N, P]`.
pub(super) fn draw(
    function: Tensor<3>,
    latents: usize,
    mut one: impl FnMut(&[f64], usize) -> f64,
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
            draws.push(one(&own, output));
        }
    }
    Tensor::from_data(TensorData::new(draws, [samples, rows, outputs]), options)
}
