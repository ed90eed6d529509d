//! The exponential likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::{Distribution, Exp1};

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution, TargetKind,
    distributions::ExponentialTarget,
    likelihood::{draw, sum_outputs},
    log_link,
};
use crate::{process::Marginals, register};

/// Stands in for a target of zero, whose density has its peak at minus infinity.
const SMALLEST_TARGET: f64 = 1e-30;

/// Waiting times with mean `exp(f)`: `p(y | f) = exp(−f − y·e^{−f})`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Exponential};
///
/// let device = Device::default();
/// let likelihood = Exponential::default();
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // e^{−y} with mean 1.
/// assert!((density + 2.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct Exponential {}

/// Configuration of a [`Exponential`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{ExponentialConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(ExponentialConfig {}), LikelihoodConfig::exponential());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExponentialConfig {}

register!(
    Likelihood,
    "exponential",
    ExponentialConfig,
    "Waiting times"
);

impl LikelihoodDefinition for ExponentialConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        Exponential {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::PositiveNumbers
    }
}

impl LikelihoodConfig {
    /// A [`Exponential`] likelihood.
    pub fn exponential() -> Self {
        ExponentialConfig {}.into()
    }
}

impl Likelihood for Exponential {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("exponential")
            .with_targets("non-negative numbers", |_, value| value >= 0.0)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let decay = targets.unsqueeze::<3>() * function.clone().neg().exp();
        (decay + function).neg()
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Some(QuadratureCenter {
            center: targets.clone().clamp_min(SMALLEST_TARGET).log(),
            width: targets.ones_like(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = function.exp();
        (mean.clone(), mean.square())
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| {
            let standard: f64 = Exp1.sample(random);
            f[0].exp() * standard
        })
    }

    /// `−μ − y·exp(−μ + σ²/2)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let decay = targets * (variance * 0.5 - mean.clone()).exp();
        sum_outputs((decay + mean).neg())
    }

    /// The mean is `exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let one = marginals.mean.ones_like();
        log_link::predict(marginals, 0.0, Some(one))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(ExponentialTarget))
    }
}
