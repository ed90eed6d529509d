//! The Gaussian likelihood.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, TargetDistribution,
    distributions::NormalTarget,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
};
use crate::{
    ops::expected_gaussian_log_density,
    parameter::{ParameterError, Positive, defaults},
    process::Marginals,
    register,
};

/// `y = f + ε`, `ε ~ N(0, σ²)`, with a trained noise variance σ² shared by all outputs, or
/// `ε_p ~ N(0, σ_p²)` with one for each ([`of_outputs`](Self::of_outputs)).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{likelihoods::{Gaussian, GaussianConfig, Likelihood}, process::Marginals};
///
/// let device = Device::default();
/// let likelihood = Gaussian::new(0.5, &device);
/// let column = |value| Tensor::<2>::full([2, 1], value, &device);
/// let predicted = likelihood.predict(Marginals { mean: column(3.0), variance: column(1.0) });
/// let values: Vec<f64> = predicted.variance.into_data().iter().collect();
/// // The variance of the function plus the noise.
/// assert!((values[0] - 1.5).abs() < 1e-5);
///
/// let same = GaussianConfig { noise: 0.5 }.init(&device);
/// assert_eq!(same.noise().into_data(), likelihood.noise().into_data());
/// ```
#[derive(Module, Debug)]
pub struct Gaussian {
    noise: Positive,
}

defaults! {
    /// Configuration of a [`Gaussian`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct GaussianConfig {
        /// The initial value of the noise variance, in squared units of the targets.
        pub noise: f64 = 0.1,
    }
}

register!(
    Likelihood,
    "gaussian",
    GaussianConfig,
    "Real numbers with normal noise"
);

impl LikelihoodDefinition for GaussianConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.noise = noise;
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("noise", 2))
    }

    fn check(&self) -> Result<(), ParameterError> {
        GaussianConfig::check(self)
    }
}

impl GaussianConfig {
    /// Creates a configuration with a noise variance that starts at `noise`.
    pub fn new(noise: f64) -> Self {
        Self { noise }
    }

    /// Checks that the noise variance is positive and finite.
    ///
    /// # Errors
    ///
    /// [`ParameterError::OutOfBounds`].
    pub fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.noise", self.noise)
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the noise variance is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Gaussian {
        Gaussian::new(self.noise, options)
    }
}

impl Gaussian {
    /// Creates a Gaussian likelihood with the given noise variance.
    ///
    /// # Panics
    ///
    /// If it is not positive.
    #[track_caller]
    pub fn new(noise: f64, options: impl Into<TensorCreationOptions>) -> Self {
        Self {
            noise: Positive::new(&[noise], options),
        }
    }

    /// Creates a Gaussian likelihood of P outputs with these noise variances.
    ///
    /// # Panics
    ///
    /// If there are none, or one is not positive.
    #[track_caller]
    pub fn of_outputs(noise: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        assert!(!noise.is_empty(), "Gaussian: no noise variances");
        Self {
            noise: Positive::new(noise, options),
        }
    }

    /// The noise variance σ², `[1]`, or `[P]` if each output has its own.
    pub fn noise(&self) -> Tensor<1> {
        self.noise.value()
    }

    /// [`expected_log_density`](Likelihood::expected_log_density) if each row has a known noise variance `v_n` besides the
    /// trained one: `log N(y_n | μ_n, σ² + v_n) − σ_n²/(2(σ² + v_n))`, where `σ_n²` is the variance of the function.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::{likelihoods::{Gaussian, Likelihood}, process::Marginals};
    ///
    /// let device = Device::default();
    /// let column = |value| Tensor::<2>::full([2, 1], value, &device);
    /// let marginals = Marginals { mean: column(3.0), variance: column(1.0) };
    /// let row_noise = Tensor::full([2], 0.3, &device);
    /// let found = Gaussian::new(0.2, &device)
    ///     .expected_log_density_with_row_noise(column(2.0), marginals.clone(), row_noise);
    /// let expected = Gaussian::new(0.5, &device).expected_log_density(column(2.0), marginals);
    /// assert!((found - expected).abs().max().into_scalar::<f64>() < 1e-6);
    /// ```
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`, `marginals`: of the functions, `[N, P]`, `row_noise`: `[N]`
    /// - result: `[N]`
    pub fn expected_log_density_with_row_noise(
        &self,
        targets: Tensor<2>,
        marginals: Marginals,
        row_noise: Tensor<1>,
    ) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let noise = self.noise().unsqueeze::<2>() + row_noise.unsqueeze_dim(1); // [N, 1] or [N, P]
        expected_log_normal(targets, marginals, noise)
    }
}

/// `log N(e | 0, v)`, elementwise.
pub(super) fn log_normal<const D: usize>(error: Tensor<D>, variance: Tensor<D>) -> Tensor<D> {
    (error.square() / variance.clone() + variance.log() + (2.0 * PI).ln()) * -0.5
}

/// `Σ_p log N(y_np | μ_np, v) − σ_np²/(2v)`, `[N]`, for noise variances v that broadcast to `[N, P]`.
pub(super) fn expected_log_normal(
    targets: Tensor<2>,
    marginals: Marginals,
    noise: Tensor<2>,
) -> Tensor<1> {
    let at_mean = log_normal(targets - marginals.mean, noise.clone());
    sum_outputs(at_mean - marginals.variance / (noise * 2.0))
}

/// Draws of `f + ε` for each value of the functions, with the noise variance of all outputs or of each.
pub(super) fn draw_normal(function: Tensor<3>, noise: &[f64], random: &mut dyn Rng) -> Tensor<3> {
    draw(function, 1, |f, output| {
        let standard: f64 = StandardNormal.sample(random);
        f[0] + of_output(noise, output).sqrt() * standard
    })
}

/// The distribution of `f + ε` with the noise variance of all outputs. Those of each are in [`noise_of_each`].
pub(super) fn normal_target(noise: &[f64]) -> Arc<dyn TargetDistribution> {
    let noise = of_all_outputs(noise).unwrap_or(0.0);
    Arc::new(NormalTarget { noise })
}

/// The noise variances, if each output has its own.
pub(super) fn noise_of_each(noise: Vec<f64>) -> Option<Vec<f64>> {
    (noise.len() > 1).then_some(noise)
}

impl Likelihood for Gaussian {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("gaussian")
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        log_normal(
            targets.unsqueeze::<3>() - function,
            self.noise().unsqueeze::<3>(),
        )
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = self.noise().unsqueeze::<3>().expand(function.dims());
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw_normal(function, &self.noise.to_vec(), random)
    }

    /// `log N(y_n | μ_n, σ²) − σ_n²/(2σ²)`, in closed form.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let noise = self.noise();
        if noise.dims() == [1] {
            return expected_gaussian_log_density(mean, variance, targets, noise);
        }
        let noise = noise.unsqueeze::<2>(); // [1, P]
        expected_log_normal(targets, Marginals { mean, variance }, noise)
    }

    /// `log N(y_n | μ_n, σ_n² + σ²)`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = self.predict(marginals);
        sum_outputs(log_normal(targets - mean, variance))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        Marginals {
            variance: marginals.variance + self.noise().unsqueeze::<2>(),
            mean: marginals.mean,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(normal_target(&self.noise.to_vec()))
    }

    fn noise_of_outputs(&self) -> Option<Vec<f64>> {
        noise_of_each(self.noise.to_vec())
    }
}
