//! The Gaussian likelihood with input-dependent noise.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{
    AnyLikelihood, GradedNodes, Likelihood, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution,
    distributions::HeteroskedasticTarget,
    gaussian::log_normal,
    likelihood::{block, draw, of_all_outputs, of_output, sum_outputs},
};
use crate::{
    parameter::{ParameterError, Positive, defaults},
    process::Marginals,
    register,
};

/// Noise below this counts as zero.
const SMALLEST_NOISE: f64 = 1e-30;

/// `y = f + ε`, `ε ~ N(0, s·exp(g))`, where `f` and `g` are latent functions and `s` is a trained
/// base variance: `g = 0` gives ordinary Gaussian noise (M. Lázaro-Gredilla and M. Titsias,
/// *Variational Heteroscedastic Gaussian Process Regression*, 2011; K. Kersting et al., *Most
/// Likely Heteroscedastic Gaussian Process Regression*, 2007).
///
/// The functions are the means of all outputs, followed by their log noises: `[N, 2P]`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Heteroskedastic, HeteroskedasticConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: Heteroskedastic = HeteroskedasticConfig { noise: 1.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[1.0]], &device), Tensor::<3>::from_data([[[1.0, 2.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // The second function is the logarithm of the noise variance.
/// assert!((density + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct Heteroskedastic {
    noise: Positive,
}

defaults! {
    /// Configuration of a [`Heteroskedastic`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct HeteroskedasticConfig {
        /// The initial value of the base variance, in squared units of the targets.
        pub noise: f64 = 0.1,
    }
}

register!(
    Likelihood,
    "heteroskedastic",
    HeteroskedasticConfig,
    "Real numbers with normal noise whose variance depends on the inputs"
);

impl LikelihoodDefinition for HeteroskedasticConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.noise = noise;
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.noise", self.noise)
    }
}

impl HeteroskedasticConfig {
    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the base variance is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Heteroskedastic {
        Heteroskedastic {
            noise: Positive::new(&[self.noise], options),
        }
    }
}

/// The moments of the mean function and of the log noise, each `[N, P]`.
fn split(marginals: Marginals) -> (Marginals, Marginals) {
    let part = |index: usize| Marginals {
        mean: block(marginals.mean.clone(), index, 2),
        variance: block(marginals.variance.clone(), index, 2),
    };
    (part(0), part(1))
}

impl Heteroskedastic {
    /// The base variance s, `[1]`.
    pub fn noise(&self) -> Tensor<1> {
        self.noise.value()
    }
}

impl Likelihood for Heteroskedastic {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("heteroskedastic").with_latents(2)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let (mean, variance) = self.conditional_moments(function);
        log_normal(targets.unsqueeze::<3>() - mean, variance)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let log_noise = block(function.clone(), 1, 2);
        let variance = log_noise.exp() * self.noise().unsqueeze::<3>();
        (block(function, 0, 2), variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let base = self.noise.to_vec();
        draw(function, 2, |values, output| {
            let standard: f64 = StandardNormal.sample(random);
            values[0] + (of_output(&base, output) * values[1].exp()).sqrt() * standard
        })
    }

    /// `−½[log 2πs + μ_g + ((y − μ_f)² + σ_f²)·exp(−μ_g + σ_g²/2)/s]`, in closed form.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (function, log_noise) = split(marginals);
        let noise = self.noise().unsqueeze::<2>();
        let squares = (targets - function.mean).square() + function.variance;
        let precision = (log_noise.variance * 0.5 - log_noise.mean.clone()).exp();
        let scaled = squares * precision / noise.clone();
        sum_outputs((scaled + log_noise.mean + noise.log() + (2.0 * PI).ln()) * -0.5)
    }

    /// `log E_g[N(y_n | μ_f, σ_f² + s·exp(g))]`, with the mean function integrated in closed form
    /// and the log noise by quadrature.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (function, log_noise) = split(marginals);
        let error = targets - function.mean;
        let noise = self.noise();
        let log_density = |log_noise: Tensor<3>| {
            let own = function.variance.clone().unsqueeze();
            let variance = log_noise.exp() * noise.clone().unsqueeze::<3>() + own;
            log_normal(error.clone().unsqueeze(), variance)
        };
        // The most likely noise variance is about the squared error, but noise below the variance
        // of the function cannot be told apart.
        let explained = error.clone().square().max_pair(function.variance.clone());
        let likeliest = explained.clamp_min(SMALLEST_NOISE) / noise.clone().unsqueeze::<2>();
        let peak = QuadratureCenter {
            width: likeliest.ones_like(),
            center: likeliest.log(),
        };
        let nodes = GradedNodes::around_mode(&log_noise, peak, log_density);
        sum_outputs(nodes.log_expectation(log_noise, log_density))
    }

    /// The variance is `σ_f² + s·exp(μ_g + σ_g²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let (function, log_noise) = split(marginals);
        let noise = (log_noise.mean + log_noise.variance * 0.5).exp();
        Marginals {
            variance: function.variance + noise * self.noise().unsqueeze::<2>(),
            mean: function.mean,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let noise = of_all_outputs(&self.noise.to_vec())?;
        Some(Arc::new(HeteroskedasticTarget { noise }))
    }
}
