//! The Bernoulli likelihood with the probit link.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::{Rng, RngExt};

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    TargetKind,
    likelihood::{draw, sum_outputs},
};
use crate::{
    ops::{log_normal_cdf, special::functions},
    process::Marginals,
    register,
};

/// `p(y = 1 | f) = Φ(f)`, `p(y = 0 | f) = Φ(−f)`, where Φ is the standard normal distribution
/// function.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Bernoulli};
///
/// let device = Device::default();
/// let likelihood = Bernoulli::default();
/// let (y, f) = (Tensor::<2>::from_data([[1.0], [0.0]], &device), Tensor::<3>::from_data([[[0.0], [0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // Both labels have probability one half.
/// assert!((density - 2.0 * 0.5_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct Bernoulli {}

/// `2y − 1`: maps labels 0 and 1 to signs.
pub(super) fn signs(targets: Tensor<2>) -> Tensor<2> {
    targets * 2.0 - 1.0
}

/// `Φ(x)`, elementwise.
pub(super) fn normal_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    log_normal_cdf(x).exp()
}

impl Bernoulli {
    /// `μ/√(1 + σ²)`, since `E_{f ~ N(μ, σ²)}[Φ(f)] = Φ(μ/√(1 + σ²))`.
    fn effective_mean(marginals: Marginals) -> Tensor<2> {
        marginals.mean / (marginals.variance + 1.0).sqrt()
    }
}

/// Configuration of a [`Bernoulli`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{BernoulliConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(BernoulliConfig {}), LikelihoodConfig::bernoulli());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BernoulliConfig {}

register!(
    Likelihood,
    "bernoulli",
    BernoulliConfig,
    "Two classes, probit link"
);

impl LikelihoodDefinition for BernoulliConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        Bernoulli {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::TwoClasses
    }
}

impl LikelihoodConfig {
    /// A [`Bernoulli`] likelihood.
    pub fn bernoulli() -> Self {
        BernoulliConfig {}.into()
    }
}

impl Likelihood for Bernoulli {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("bernoulli").with_classes(2)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        log_normal_cdf(signs(targets).unsqueeze::<3>() * function)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let probability = normal_cdf(function.clone());
        let variance = probability.clone() * normal_cdf(function.neg());
        (probability, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| {
            let uniform: f64 = random.random();
            f64::from(u8::from(uniform < functions::normal_cdf(f[0])))
        })
    }

    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        sum_outputs(log_normal_cdf(
            signs(targets) * Self::effective_mean(marginals),
        ))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        let effective = Self::effective_mean(marginals);
        let mean = normal_cdf(effective.clone());
        Marginals {
            variance: mean.clone() * normal_cdf(effective.neg()),
            mean,
        }
    }
}
