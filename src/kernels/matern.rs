//! The Matérn kernel of any smoothness.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, InputScales, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample,
    definition::positive,
    distances::squared_distances,
    inputs::first_lengthscale,
    points::{at_each, covariance_shape, expanded, require_fit},
    prior_features::FourierFeatures,
    spectrum::{log_scale_slope, matern_spectrum},
};
use crate::{
    ops,
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = σ²·2^(1−ν)/Γ(ν)·z^ν·K_ν(z)`, `z = √(2ν)·r`, `r² = Σ_d (x_d − x′_d)²/ℓ_d²`: the Matérn covariance, whose
/// smoothness ν is trained like the lengthscales (Rasmussen and Williams, *Gaussian Processes for Machine Learning*,
/// 2006, eq. 4.14; M. Stein, *Interpolation of Spatial Data*, 1999).
///
/// Functions have derivatives up to order ⌈ν⌉ − 1. For ν = ½, 3/2, 5/2 the kernel is that of
/// [`StationaryConfig`](super::StationaryConfig), which is more than ten times faster, and for large ν the squared
/// exponential. Any ν > 0 has accurate values and gradients; data mostly tell values from 0.1 to 5 apart, since all
/// large ones are alike.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{KernelConfig, KernelModule, Matern, MaternConfig, StationaryKernel},
///     ops::Stationary,
/// };
///
/// let device = Device::default();
/// let kernel = Matern::new(&[0.8], 2.0, 1.5, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let same = StationaryKernel::new(Stationary::Matern32, &[0.8], 2.0, &device);
/// let difference = kernel.matrix_at(x.clone()) - same.matrix_at(x.clone());
/// assert!(difference.abs().max().into_scalar::<f64>() < 1e-6);
///
/// let config = MaternConfig { variance: 2.0, smoothness: 0.7, ..Default::default() };
/// assert_eq!(KernelConfig::from(config).init(1, &device).matrix_at(x).dims(), [2, 2]);
/// ```
#[derive(Module, Debug)]
pub struct Matern {
    lengthscale: Positive,
    variance: Positive,
    smoothness: Positive,
}

defaults! {
    /// Configuration of a [`Matern`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct MaternConfig {
        /// One lengthscale per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every lengthscale; `√D` for inputs of D dimensions if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[setters(strip_option)]
        pub lengthscale: Option<f64> = None,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
        /// The initial value of the smoothness ν.
        pub smoothness: f64 = 1.5,
    }
}

register!(
    Kernel,
    "matern",
    MaternConfig,
    "Matérn whose smoothness is trained"
);

impl KernelDefinition for MaternConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let lengthscale = first_lengthscale(self.lengthscale, inputs.dimensions);
        let lengthscales = inputs.values(self.ard, lengthscale);
        let mut kernel = Matern::new(&lengthscales, self.variance, self.smoothness, options);
        kernel.lengthscale = kernel.lengthscale.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("lengthscale", KernelUnits::Distance),
            KernelParameter::new("smoothness", KernelUnits::None),
            KernelParameter::new("variance", KernelUnits::Variance),
        ]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance smoothness (lengthscale));
}

impl Matern {
    /// Creates a kernel with the given lengthscales (one, or one per dimension), variance σ² and smoothness ν.
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(
        lengthscales: &[f64],
        variance: f64,
        smoothness: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            lengthscale: Positive::new(lengthscales, options.clone()),
            variance: Positive::new(&[variance], options.clone()),
            smoothness: Positive::new(&[smoothness], options),
        }
    }
}

impl Kernel for Matern {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("Matérn", &self.lengthscale, &[&x1, &x2]);
        let [sets, ..] = covariance_shape(&x1, &x2);
        let lengthscale = self.lengthscale.aligned::<3>(); // [B, 1, D]
        let squares = squared_distances(x1 / lengthscale.clone(), x2 / lengthscale);
        let batch = sets.max(self.smoothness.members());
        let smoothness = expanded(self.smoothness.value(), batch);
        ops::matern(expanded(squares, batch), smoothness) * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("Matérn", &self.lengthscale, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn input_scales(&self, dimensions: usize) -> Option<InputScales> {
        Some(InputScales {
            variance: self.variance.to_vec()[0],
            lengthscales: self.lengthscale.for_each(dimensions),
        })
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let (smoothness, variance) = (self.smoothness.to_vec()[0], self.variance.to_vec()[0]);
        let lengthscales = self.lengthscale.for_each(dimensions);
        let component = matern_spectrum(smoothness, variance, &lengthscales, count, random);
        Ok(vec![component])
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let components = self.spectrum(dimensions, count, random)?;
        let parameters = [&self.lengthscale, &self.variance, &self.smoothness];
        // The reciprocals of the scales are gamma variables.
        let slope = |smoothness, scale: f64| -log_scale_slope(smoothness, scale.recip());
        let features = FourierFeatures::of_scale_mixture(
            components,
            parameters,
            (count, dimensions),
            options,
            slope,
        );
        Ok(features.into())
    }
}
