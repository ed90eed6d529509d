//! The log-normal likelihood.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    distributions::LogNormalTarget,
    gaussian::log_normal,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
    log_link,
    one_parameter::one_parameter,
};
use crate::{
    ops::exp_minus_one,
    parameter::{Positive, defaults},
    process::Marginals,
    register,
};

/// Positive numbers whose logarithm is normal around `f`: `log y = f + ε`, `ε ~ N(0, v)` with a trained variance v.
/// The median of `y` is `exp(f)`, its mean `exp(f + v/2)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, LogNormal, LogNormalConfig};
///
/// let device = Device::default();
/// let likelihood: LogNormal = LogNormalConfig { noise: 1.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[1.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // At the median the density is that of the logarithm.
/// assert!((density + 0.5 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct LogNormal {
    noise: Positive,
}

defaults! {
    /// Configuration of a [`LogNormal`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct LogNormalConfig {
        /// The initial variance v of the logarithm.
        pub noise: f64 = 0.1,
    }
}

register!(
    Likelihood,
    "log-normal",
    LogNormalConfig,
    "Positive numbers whose logarithms have normal noise"
);

one_parameter!(LogNormalConfig, PositiveNumbers => LogNormal {
    /// The variance v of the logarithm, `[1]`, or `[P]` if each output has its own.
    noise: Positive
});

impl Likelihood for LogNormal {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("log-normal")
            .with_targets("positive numbers", |_, value| value > 0.0)
    }

    /// `log N(log y | f, v) − log y`.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let log = targets.log().unsqueeze::<3>();
        log_normal(log.clone() - function, self.noise().unsqueeze::<3>()) - log
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let center = targets.clone().log();
        Some(QuadratureCenter {
            width: center.zeros_like() + self.noise().sqrt().unsqueeze::<2>(),
            center,
        })
    }

    /// `E[y | f] = exp(f + v/2)`, `Var[y | f] = E[y | f]²·(e^v − 1)`.
    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let noise = self.noise().unsqueeze::<3>();
        let mean = (function + noise.clone() * 0.5).exp();
        let variance = mean.clone().square() * exp_minus_one(noise);
        (mean, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let noise = self.noise.to_vec();
        draw(function, 1, |f, output| {
            let standard: f64 = StandardNormal.sample(random);
            (f[0] + of_output(&noise, output).sqrt() * standard).exp()
        })
    }

    /// `log N(log y | μ, v) − σ²/(2v) − log y`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let (log, noise) = (targets.log(), self.noise().unsqueeze::<2>());
        let density = log_normal(log.clone() - mean, noise.clone());
        sum_outputs(density - variance / noise * 0.5 - log)
    }

    /// `log N(log y | μ, σ² + v) − log y`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let log = targets.log();
        let variance = variance + self.noise().unsqueeze::<2>();
        sum_outputs(log_normal(log.clone() - mean, variance) - log)
    }

    /// `log y ~ N(μ, σ² + v)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let variance = marginals.variance + self.noise().unsqueeze::<2>();
        let mean = marginals.mean;
        log_link::predict(Marginals { mean, variance }, 0.0, None)
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let noise = of_all_outputs(&self.noise.to_vec())?;
        Some(Arc::new(LogNormalTarget { noise }))
    }
}
