//! The ordinal likelihood.

use std::sync::Arc;

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use derive_setters::Setters;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, TargetDistribution,
    TargetKind,
    classes::two_or_more,
    distributions::OrdinalTarget,
    likelihood::{draw, sum_outputs},
    target_interval::log_difference,
};
use crate::{
    ops::special::functions::normal_quantile,
    parameter::{ParameterError, Positive, numbers, vector},
    process::Marginals,
    register,
};

/// Stands in for an infinite cut point: `Φ(∓10⁴)` is 0 and 1.
const BEYOND: f64 = 1e4;

/// Ordered labels 0 … C − 1, which C − 1 trained cut points separate on the scale of `f` plus
/// standard normal noise: `p(y = c | f) = Φ(b_{c+1} − f) − Φ(b_c − f)` with
/// `−∞ = b_0 < b_1 < … < b_C = ∞` (W. Chu and Z. Ghahramani, *Gaussian Processes for Ordinal
/// Regression*, 2005). Another noise variance would only rescale `f`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Ordinal, OrdinalConfig};
///
/// let device = Device::default();
/// let likelihood: Ordinal = OrdinalConfig { classes: 3 }.init(&device);
/// assert_eq!(likelihood.cut_points().dims(), [2]);
/// let density = |label: f64, f: f64| {
///     let (y, f) = (Tensor::<2>::full([1, 1], label, &device), Tensor::<3>::full([1, 1, 1], f, &device));
///     likelihood.log_density(y, f).into_scalar::<f64>()
/// };
/// // A large value of the function means the last class, a small one the first.
/// assert!(density(2.0, 5.0) > density(0.0, 5.0) && density(0.0, -5.0) > density(2.0, -5.0));
/// ```
#[derive(Module, Debug)]
pub struct Ordinal {
    /// b_1, `[1]`
    first_cut_point: Param<Tensor<1>>,
    /// The distances between neighboring cut points, `[C − 2]`.
    gaps: Positive,
    #[module(skip)]
    classes: usize,
}

/// Configuration of an [`Ordinal`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct OrdinalConfig {
    /// The number of labels, C.
    pub classes: usize,
}

register!(Likelihood, "ordinal", OrdinalConfig, "Ordered classes");

impl LikelihoodDefinition for OrdinalConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::OrderedClasses
    }

    fn set_for_data(&mut self, _noise: f64, classes: usize) {
        self.classes = classes;
    }

    fn check(&self) -> Result<(), ParameterError> {
        two_or_more(self.classes)
    }
}

/// Two classes.
impl Default for OrdinalConfig {
    fn default() -> Self {
        Self::new(2)
    }
}

impl OrdinalConfig {
    /// Creates a configuration for the ordered labels 0 … `classes` − 1.
    pub fn new(classes: usize) -> Self {
        Self { classes }
    }

    /// Creates the likelihood, with cut points that make all labels equally likely for
    /// `f + ε ~ N(0, 1)`.
    ///
    /// # Panics
    ///
    /// If there are fewer than three labels; use a [`Bernoulli`](super::Bernoulli) likelihood for
    /// two.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Ordinal {
        let classes = self.classes;
        assert!(
            classes >= 3,
            "an ordinal likelihood takes 3 or more labels, got {classes}"
        );
        let cut = |label: usize| normal_quantile(label as f64 / classes as f64);
        let gaps: Vec<f64> = (1..classes - 1)
            .map(|label| cut(label + 1) - cut(label))
            .collect();
        let options = options.into();
        Ordinal {
            first_cut_point: Param::from_tensor(vector(&[cut(1)], options.clone())),
            gaps: Positive::new(&gaps, options),
            classes,
        }
    }
}

impl Ordinal {
    /// The cut points b_1 … b_{C−1}, `[C − 1]`, or those of one output after the other if each has its own.
    pub fn cut_points(&self) -> Tensor<1> {
        self.cut_points_of_each().flatten(0, 1)
    }

    /// The cut points of all outputs, `[1, C − 1]`, or of each, `[P, C − 1]`.
    fn cut_points_of_each(&self) -> Tensor<2> {
        let first = self.first_cut_point.val().unsqueeze_dim::<2>(1); // [P, 1]
        let [outputs, _] = first.dims();
        let gaps = (self.gaps.value()).reshape([outputs, self.classes - 2]);
        Tensor::cat(vec![first.clone(), gaps.cumsum(1) + first], 1)
    }

    /// The cut points below and above the given labels, each in the shape of the labels.
    fn cut_points_around(&self, labels: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let shape = labels.dims();
        let inner = self.cut_points_of_each();
        let end = inner.zeros_like().narrow(1, 0, 1);
        let all = Tensor::cat(vec![end.clone() - BEYOND, inner, end + BEYOND], 1);
        let [outputs, cuts] = all.dims();
        let mut index = labels.int();
        if outputs > 1 {
            assert!(
                shape[1] == outputs,
                "Ordinal: labels {shape:?} for {outputs} outputs with cut points of their own"
            );
            let first = Tensor::arange(0..outputs as i64, &index.device()) * cuts as i64;
            index = index + first.unsqueeze();
        }
        let (all, index) = (all.flatten::<1>(0, 1), index.reshape([shape[0] * shape[1]]));
        let above = all.clone().select(0, index.clone() + 1);
        (all.select(0, index).reshape(shape), above.reshape(shape))
    }

    /// `log[Φ(upper) − Φ(lower)]`, with both arguments reflected to the lower tail, where Φ keeps
    /// its precision.
    fn log_between<const D: usize>(lower: Tensor<D>, upper: Tensor<D>) -> Tensor<D> {
        let is_right = (lower.clone() + upper.clone()).greater_elem(0.0);
        let low = (lower.clone()).mask_where(is_right.clone(), upper.clone().neg());
        let high = upper.mask_where(is_right, lower.neg());
        let (log_high, log_share) = log_difference(low, high);
        log_high + log_share
    }

    /// `log[Φ((b_{y+1} − μ)/τ) − Φ((b_y − μ)/τ)]` with `τ² = 1 + σ²`, `[N, P]`.
    fn log_probability(&self, labels: Tensor<2>, marginals: &Marginals) -> Tensor<2> {
        let (lower, upper) = self.cut_points_around(labels);
        let scale = (marginals.variance.clone() + 1.0).sqrt();
        let standard = |cut: Tensor<2>| (cut - marginals.mean.clone()) / scale.clone();
        Self::log_between(standard(lower), standard(upper))
    }

    /// Mean and variance of the label, from the probabilities of all labels in order.
    fn moments<const D: usize>(probabilities: Vec<Tensor<D>>) -> (Tensor<D>, Tensor<D>) {
        let labeled = || probabilities.iter().enumerate();
        let zero = probabilities[0].zeros_like();
        let mean = labeled().fold(zero.clone(), |sum, (label, probability)| {
            sum + probability.clone() * label as f64
        });
        let variance = labeled().fold(zero, |sum, (label, probability)| {
            let distance = mean.clone() - label as f64;
            sum + distance.square() * probability.clone()
        });
        (mean, variance)
    }
}

impl Likelihood for Ordinal {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("ordinal").with_classes(self.classes)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let (lower, upper) = self.cut_points_around(targets);
        Self::log_between(
            lower.unsqueeze::<3>() - function.clone(),
            upper.unsqueeze::<3>() - function,
        )
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let [_, rows, outputs] = function.dims();
        let options = (&function.device(), function.dtype());
        let probabilities = (0..self.classes).map(|label| {
            let labels = Tensor::full([rows, outputs], label as f64, options);
            self.log_density(labels, function.clone()).exp()
        });
        Self::moments(probabilities.collect())
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let cut_points = numbers(self.cut_points());
        let each: Vec<&[f64]> = cut_points.chunks_exact(self.classes - 1).collect();
        draw(function, 1, |f, output| {
            let standard: f64 = StandardNormal.sample(random);
            let cut_points = each[output % each.len()];
            let below = cut_points.iter().filter(|&&cut| cut < f[0] + standard);
            below.count() as f64
        })
    }

    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        sum_outputs(self.log_probability(targets, &marginals))
    }

    /// Mean and variance of the label as a number.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let probabilities = (0..self.classes).map(|label| {
            let labels = marginals.mean.zeros_like() + label as f64;
            self.log_probability(labels, &marginals).exp()
        });
        let (mean, variance) = Self::moments(probabilities.collect());
        Marginals { mean, variance }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let cut_points = numbers(self.cut_points());
        let are_shared = cut_points.len() == self.classes - 1;
        are_shared.then(|| Arc::new(OrdinalTarget { cut_points }) as _)
    }
}
