//! The Gaussian likelihood with a known noise variance for every point.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    TargetDistribution, TargetKind,
    distributions::NormalTarget,
    gaussian::log_normal,
    likelihood::{block, draw, sum_outputs},
};
use crate::{process::Marginals, register};

/// `y_n = f_n + ε_n`, `ε_n ~ N(0, v_n)` with known variances `v_n`: measurements with known errors.
///
/// The targets are the values of all outputs, followed by their noise variances: `[N, 2P]`. The
/// likelihood does not know the noise of a new point, so [`predict`](Likelihood::predict) and
/// [`sample`](Likelihood::sample) describe a noise-free measurement; to predict a noisy one, add
/// its noise variance. The densities take the noise from the targets.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, FixedNoise};
///
/// let device = Device::default();
/// let likelihood = FixedNoise::default();
/// let (y, f) = (Tensor::<2>::from_data([[1.0, 0.25]], &device), Tensor::<3>::from_data([[[1.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // The second column of the targets is the variance of the noise.
/// assert!((density + 0.5 * (2.0 * std::f64::consts::PI * 0.25).ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct FixedNoise {}

/// The values and the noise variances, each `[N, P]`.
fn values_and_noise(targets: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    (block(targets.clone(), 0, 2), block(targets, 1, 2))
}

/// Configuration of a [`FixedNoise`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{FixedNoiseConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(FixedNoiseConfig {}), LikelihoodConfig::fixed_noise());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedNoiseConfig {}

register!(
    Likelihood,
    "fixed-noise",
    FixedNoiseConfig,
    "Real numbers with normal noise of known standard deviation, from --noise-column"
);

impl LikelihoodDefinition for FixedNoiseConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        FixedNoise {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Measurements
    }
}

impl LikelihoodConfig {
    /// A [`FixedNoise`] likelihood.
    pub fn fixed_noise() -> Self {
        FixedNoiseConfig {}.into()
    }
}

impl Likelihood for FixedNoise {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("fixed-noise")
            .with_columns(2)
            .with_targets(
                "finite numbers and positive noise variances",
                |column, value| column == 0 || value > 0.0,
            )
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let (values, noise) = values_and_noise(targets);
        log_normal(values.unsqueeze::<3>() - function, noise.unsqueeze())
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = function.zeros_like();
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, _random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| f[0])
    }

    /// `log N(y_n | μ_n, v_n) − σ_n²/(2v_n)`, in closed form.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (values, noise) = values_and_noise(targets);
        let squares = (values - marginals.mean).square() + marginals.variance;
        sum_outputs((squares / noise.clone() + noise.log() + (2.0 * PI).ln()) * -0.5)
    }

    /// `log N(y_n | μ_n, σ_n² + v_n)`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (values, noise) = values_and_noise(targets);
        sum_outputs(log_normal(
            values - marginals.mean,
            marginals.variance + noise,
        ))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        marginals
    }

    /// The distribution of a noise-free measurement, as in [`predict`](Self::predict).
    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(NormalTarget { noise: 0.0 }))
    }
}
