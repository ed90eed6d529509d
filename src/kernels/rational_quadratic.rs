//! The rational quadratic kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample,
    definition::positive,
    distances::squared_distances,
    inputs::first_lengthscale,
    points::{at_each, require_fit},
    prior_features::FourierFeatures,
    spectrum::{log_scale_slope, rational_quadratic_spectrum},
};
use crate::{
    ops::log_ratio,
    parameter::{Positive, defaults},
    register,
};

/// Squared distances in lengthscales are at most this, so that their logarithms are finite.
const FARTHEST: f64 = 1e30;

/// `k(x, x′) = σ²·(1 + r²/(2α))^(−α)`, `r² = Σ_d (x_d − x′_d)²/ℓ_d²`: a scale mixture of squared
/// exponentials with different lengthscales. It converges to the squared exponential as the shape α
/// grows (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.19).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, RationalQuadratic, RationalQuadraticConfig};
///
/// let device = Device::default();
/// let kernel = RationalQuadratic::new(&[1.0], 3.0, 1.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // σ²/(1 + r²/2) at distance 1.
/// assert!((values[1] - 2.0).abs() < 1e-5);
///
/// let config = RationalQuadraticConfig { variance: 3.0, lengthscale: Some(1.0), ..Default::default() };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct RationalQuadratic {
    lengthscale: Positive,
    variance: Positive,
    shape: Positive,
}

defaults! {
    /// Configuration of a [`RationalQuadratic`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct RationalQuadraticConfig {
        /// One lengthscale per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every lengthscale; `√D` for inputs of D dimensions if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[setters(strip_option)]
        pub lengthscale: Option<f64> = None,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
        /// The initial value of the shape α.
        pub shape: f64 = 1.0,
    }
}

register!(
    Kernel,
    "rational-quadratic",
    RationalQuadraticConfig,
    "Mixture of squared exponentials of all lengthscales"
);

impl KernelDefinition for RationalQuadraticConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let lengthscale = first_lengthscale(self.lengthscale, inputs.dimensions);
        let lengthscales = inputs.values(self.ard, lengthscale);
        let mut kernel = RationalQuadratic::new(&lengthscales, self.variance, self.shape, options);
        kernel.lengthscale = kernel.lengthscale.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("lengthscale", KernelUnits::Distance),
            KernelParameter::new("shape", KernelUnits::None),
            KernelParameter::new("variance", KernelUnits::Variance),
        ]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance shape (lengthscale));
}

impl RationalQuadratic {
    /// Creates a kernel with the given lengthscales (one, or one per dimension), variance σ² and
    /// shape α.
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(
        lengthscales: &[f64],
        variance: f64,
        shape: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            lengthscale: Positive::new(lengthscales, options.clone()),
            variance: Positive::new(&[variance], options.clone()),
            shape: Positive::new(&[shape], options),
        }
    }
}

impl Kernel for RationalQuadratic {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("rational quadratic", &self.lengthscale, &[&x1, &x2]);
        let lengthscale = self.lengthscale.aligned::<3>(); // [B, 1, D]
        let shape = self.shape.aligned::<3>(); // [B, 1, 1]
        let squares = squared_distances(x1 / lengthscale.clone(), x2 / lengthscale);
        // (1 + s/(2α))^(−α) = exp(−(s/2)·log(1 + t)/t) with t = s/(2α), which keeps its digits however large α is.
        let squares = squares.clamp_max(FARTHEST);
        let ratio = log_ratio(squares.clone() / (shape * 2.0));
        let profile = (squares * ratio * -0.5).exp();
        profile * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("rational quadratic", &self.lengthscale, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let (shape, variance) = (self.shape.to_vec()[0], self.variance.to_vec()[0]);
        let lengthscales = self.lengthscale.for_each(dimensions);
        let component = rational_quadratic_spectrum(shape, variance, &lengthscales, count, random);
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
        let parameters = [&self.lengthscale, &self.variance, &self.shape];
        let features = FourierFeatures::of_scale_mixture(
            components,
            parameters,
            (count, dimensions),
            options,
            log_scale_slope,
        );
        Ok(features.into())
    }
}
