//! The robust-max likelihood.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use derive_setters::Setters;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, GradedNodes, Likelihood, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetKind,
    classes::{indicators, two_or_more},
    graded_nodes::NODES,
    likelihood::{block, draw, of_output, sum_outputs},
    quadrature::SMALLEST_VARIANCE,
    softmax::function_of_label,
};
use crate::{
    ops::log_normal_cdf,
    parameter::{Fraction, ParameterError},
    process::Marginals,
    register,
};

/// `p(y = c | f) = 1 − ε` if `f_c` is the largest of the C functions, else `ε/(C − 1)` (D.
/// Hernández-Lobato, J. M. Hernández-Lobato, P. Dupont, *Robust Multi-Class Gaussian Process
/// Classification*, 2011). The error rate ε is trained or fixed.
///
/// Everything follows from the probability that a function is the largest,
/// `π_c = E_{t ~ N(μ_c, σ_c²)}[Π_{j≠c} Φ((t − μ_j)/σ_j)]`, a one-dimensional integral. Its nodes
/// cluster around the mean of the class's own function and around the step of the product
/// ([`GradedNodes::around`]). The error of π_c is below 10⁻³ for standard deviations from 0.03 to 3
/// mixed in a row.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, RobustMax, RobustMaxConfig};
///
/// let device = Device::default();
/// let likelihood: RobustMax = RobustMaxConfig::new(3).with_fixed_epsilon(0.02).init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0, 1.0, 5.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // The class of the largest function, except for a fraction of errors.
/// assert!((density - 0.98_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct RobustMax {
    /// ε, if it is trained.
    epsilon: Option<Fraction>,
    #[module(skip)]
    fixed_epsilon: f64,
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    nodes: usize,
}

/// Configuration of a [`RobustMax`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct RobustMaxConfig {
    /// The number of classes, C.
    pub classes: usize,
    /// The probability of all other labels together, ε, or its initial value if it is trained.
    pub epsilon: f64,
    /// Whether ε is trained.
    pub train_epsilon: bool,
    /// Quadrature nodes on either side of the mean of a function.
    pub nodes: usize,
}

register!(
    Likelihood,
    "robust-max",
    RobustMaxConfig,
    "Unordered classes: the largest function decides, except for rare errors"
);

impl LikelihoodDefinition for RobustMaxConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Classes
    }

    fn set_for_data(&mut self, _noise: f64, classes: usize) {
        self.classes = classes;
    }

    fn check(&self) -> Result<(), ParameterError> {
        two_or_more(self.classes)?;
        ParameterError::check_between("likelihood.epsilon", self.epsilon, (0.0, 1.0))
    }
}

/// Two classes.
impl Default for RobustMaxConfig {
    fn default() -> Self {
        Self::new(2)
    }
}

impl RobustMaxConfig {
    /// Creates a configuration for `classes` classes, with a trained ε that starts at 10⁻³.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            epsilon: 1e-3,
            train_epsilon: true,
            nodes: NODES,
        }
    }

    /// Fixes ε at the given value.
    pub fn with_fixed_epsilon(self, epsilon: f64) -> Self {
        Self {
            epsilon,
            train_epsilon: false,
            ..self
        }
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes or no nodes, or ε is not between 0 and 1.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> RobustMax {
        let Self {
            classes,
            epsilon,
            train_epsilon,
            nodes,
        } = *self;
        assert!(
            classes >= 2 && epsilon > 0.0 && epsilon < 1.0 && nodes > 0,
            "a robust arg max over {classes} classes with epsilon {epsilon} and {nodes} nodes; \
             expected 2 or more classes, epsilon between 0 and 1, and 1 or more nodes"
        );
        RobustMax {
            epsilon: train_epsilon.then(|| Fraction::new(&[epsilon], options)),
            fixed_epsilon: epsilon,
            classes,
            nodes,
        }
    }
}

impl RobustMax {
    /// ε, the probability of all other labels together, of the first output if each has its own.
    pub fn epsilon(&self) -> f64 {
        of_output(&self.epsilons(), 0)
    }

    /// ε of all outputs, or of each.
    fn epsilons(&self) -> Vec<f64> {
        let trained = self.epsilon.as_ref();
        trained.map_or_else(|| vec![self.fixed_epsilon], Fraction::to_vec)
    }

    /// `1 − ε` and `ε/(C − 1)`, the probabilities of the largest function's label and of each other
    /// label, as `[1, …]` or, if each output has its own, as a row for the columns of `like`.
    fn rates<const D: usize>(&self, like: &Tensor<D>) -> (Tensor<D>, Tensor<D>) {
        let epsilon = match &self.epsilon {
            Some(epsilon) => {
                let (epsilon, columns) = (epsilon.value(), like.dims()[D - 1]);
                match epsilon.dims() {
                    [1] => epsilon.unsqueeze(),
                    // The columns of a class are those of all outputs.
                    [outputs] => {
                        assert!(
                            columns.is_multiple_of(outputs),
                            "RobustMax: {columns} columns for {outputs} outputs with an epsilon each"
                        );
                        epsilon.repeat(&[columns / outputs]).unsqueeze()
                    }
                }
            }
            None => Tensor::full([1; D], self.fixed_epsilon, (&like.device(), like.dtype())),
        };
        let others = 1.0 / (self.classes - 1) as f64;
        (1.0 - epsilon.clone(), epsilon * others)
    }

    /// `(1 − ε)·π + ε/(C − 1)·(1 − π)`.
    fn mix<const D: usize>(&self, largest: Tensor<D>) -> Tensor<D> {
        let (own, other) = self.rates(&largest);
        largest * (own - other.clone()) + other
    }

    /// `log(1 − ε)·π + log(ε/(C − 1))·(1 − π)`.
    fn mix_of_logarithms<const D: usize>(&self, largest: Tensor<D>) -> Tensor<D> {
        let (own, other) = self.rates(&largest);
        let other = other.log();
        largest * (own.log() - other.clone()) + other
    }

    /// The step of the product over the other functions, where nodes are needed: the mean and
    /// standard deviation of the other function whose mean minus three standard deviations is
    /// largest. A step farther below lies where the product is almost zero; one farther above is
    /// smooth over a third of its distance.
    fn step_of_others(&self, marginals: &Marginals, others: &Tensor<2>) -> QuadratureCenter {
        let [rows, functions] = marginals.mean.dims();
        let shape = [rows, self.classes, functions / self.classes];
        let flat = [rows, functions / self.classes];
        let mean = marginals.mean.clone().detach();
        let variance = marginals.variance.clone().detach();
        let deviation = variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        let low = mean.clone() - deviation.clone() * 3.0;
        let lowest = low.clone().min().reshape([1, 1]) - 1.0;
        let is_label = others.clone().equal_elem(0.0);
        let of_others = low.mask_where(is_label, lowest.expand([rows, functions]));
        let (_, index) = of_others.reshape(shape).max_dim_with_indices(1);
        let at_step = |values: Tensor<2>| {
            let values = values.reshape(shape).gather(1, index.clone());
            values.reshape(flat)
        };
        QuadratureCenter {
            center: at_step(mean),
            width: at_step(deviation),
        }
    }

    /// `π_y`, the probability that the label's function is the largest, `[N, P]`.
    fn label_is_largest(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<2> {
        let Self { classes, .. } = *self;
        let [rows, functions] = marginals.mean.dims();
        let outputs = functions / classes;
        let own = |values: &Tensor<2>| {
            function_of_label(targets.clone(), values.clone().unsqueeze(), classes)
                .reshape([rows, outputs])
        };
        let label = Marginals {
            mean: own(&marginals.mean),
            variance: own(&marginals.variance),
        };
        let others: Tensor<2> = 1.0 - indicators(targets.clone(), classes); // [N, C·P]
        let kink = self.step_of_others(&marginals, &others);
        let deviation = marginals.variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        let nodes = GradedNodes::around(&label, kink, self.nodes);
        nodes.expectation(label, |threshold| {
            let [nodes, ..] = threshold.dims(); // [S, N, P]
            let threshold = threshold.repeat_dim(2, classes);
            let distance = threshold - marginals.mean.unsqueeze::<3>();
            let log_below = log_normal_cdf(distance / deviation.unsqueeze::<3>());
            (log_below * others.unsqueeze::<3>())
                .reshape([nodes, rows, classes, outputs])
                .sum_dim(2)
                .reshape([nodes, rows, outputs])
                .exp()
        })
    }

    /// One-hot indicators of the largest function of each output: `[S, N, C·P]`.
    fn is_largest(&self, function: Tensor<3>) -> Tensor<3> {
        let [samples, rows, functions] = function.dims();
        let outputs = functions / self.classes;
        let by_class = function.reshape([samples * rows, self.classes, outputs]);
        let largest = by_class
            .clone()
            .argmax(1)
            .reshape([samples * rows, outputs]);
        let largest = largest.float().cast(by_class.dtype());
        indicators(largest, self.classes).reshape([samples, rows, functions])
    }
}

impl Likelihood for RobustMax {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("robust-max")
            .with_is_smooth(false)
            .with_latents(self.classes)
            .with_classes(self.classes)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let is_largest = self.is_largest(function);
        self.mix_of_logarithms(function_of_label(targets, is_largest, self.classes))
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = self.mix(self.is_largest(function));
        let variance = mean.clone() * (1.0 - mean.clone());
        (mean, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let epsilon = self.epsilons();
        draw(function, self.classes, |f, output| {
            let (mut largest, mut label) = (f64::NEG_INFINITY, 0);
            for (class, &value) in f.iter().enumerate() {
                if value > largest {
                    (largest, label) = (value, class);
                }
            }
            let uniform: f64 = random.random();
            if uniform < of_output(&epsilon, output) {
                let other = random.random_range(0..self.classes - 1);
                label = if other < label { other } else { other + 1 };
            }
            label as f64
        })
    }

    /// `π_y·log(1 − ε) + (1 − π_y)·log(ε/(C − 1))`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        sum_outputs(self.mix_of_logarithms(self.label_is_largest(targets, marginals)))
    }

    /// `log[π_y·(1 − ε) + (1 − π_y)·ε/(C − 1)]`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let largest = self.label_is_largest(targets, marginals);
        sum_outputs(self.mix(largest).log())
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        let columns = (0..self.classes).map(|class| {
            let labels = block(marginals.mean.zeros_like(), class, self.classes) + class as f64;
            self.label_is_largest(labels, marginals.clone())
        });
        let largest = Tensor::cat(columns.collect(), 1); // [N, C·P]
        let mean = self.mix(largest);
        Marginals {
            variance: mean.clone() * (1.0 - mean.clone()),
            mean,
        }
    }
}
