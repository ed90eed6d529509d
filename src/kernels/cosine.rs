//! The cosine kernel.

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    NoFunctionDraws, NoSpectrum, NoStateSpace, PriorFeatures, SpectralSample, StateSpace,
    definition::positive,
    points::{at_each, require_fit},
    prior_features::FourierFeatures,
    state_space::one_input,
};
use crate::{
    ops::ExactMatmul,
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = σ²·cos(2π·Σ_d (x_d − x′_d)/p_d)`: plane waves of one direction and wavelength, with
/// random amplitude and phase.
///
/// It is the inner product of two features, `cos φ(x)·cos φ(x′) + sin φ(x)·sin φ(x′)`, and
/// therefore positive semidefinite in any number of dimensions. A cosine of the distance would not
/// be.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Cosine, CosineConfig};
///
/// let device = Device::default();
/// let kernel = Cosine::new(&[2.0], 1.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // Half a period apart.
/// assert!((values[1] + 1.0).abs() < 1e-5);
///
/// let config = CosineConfig { period: 2.0, ..Default::default() };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Cosine {
    period: Positive,
    variance: Positive,
}

defaults! {
    /// Configuration of a [`Cosine`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct CosineConfig {
        /// One period per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every period.
        pub period: f64 = 1.0,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "cosine",
    CosineConfig,
    "Plane waves of one direction and wavelength"
);

impl KernelDefinition for CosineConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let periods = inputs.values(self.ard, self.period);
        let mut kernel = Cosine::new(&periods, self.variance, options);
        kernel.period = kernel.period.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("period", KernelUnits::Distance),
            KernelParameter::new("variance", KernelUnits::Variance),
        ]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(period variance);
}

impl Cosine {
    /// Creates a cosine kernel with the given periods (one, or one per dimension) and variance.
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(periods: &[f64], variance: f64, options: impl Into<TensorCreationOptions>) -> Self {
        let options = options.into();
        Self {
            period: Positive::new(periods, options.clone()),
            variance: Positive::new(&[variance], options),
        }
    }
}

impl Kernel for Cosine {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("cosine", &self.period, &[&x1, &x2]);
        let frequency = self.period.aligned().recip();
        cosines(x1, x2, frequency) * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("cosine", &self.period, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        let period = one_input(self.period.value())?;
        Ok(StateSpace::cosine(period, self.variance.value()))
    }

    /// The spectrum is a single line, `ω_d = 2π/p_d`.
    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        _random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let periods = self.period.for_each(dimensions).into_iter();
        let line: Vec<f64> = periods.map(|period| 2.0 * PI / period).collect();
        Ok(vec![SpectralSample {
            variance: self.variance.to_vec()[0],
            frequencies: line.repeat(count),
            precisions: None,
        }])
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let line = self.spectrum(dimensions, count, random)?;
        let features = FourierFeatures::new(line, (count, dimensions), options);
        let features = features.with_variance(self.variance.value());
        Ok(features.with_lengths(self.period.value()).into())
    }
}

/// `cos(2π·Σ_d f_d·(x_d − x′_d))`.
///
/// # Shapes
///
/// - `x1`: `[B, N1, D]`, `x2`: `[B, N2, D]`, or one set of points for all
/// - `frequency` (f): `[D]`, or `[1]` for all dimensions
/// - result: `[B, N1, N2]`
pub(super) fn cosines(x1: Tensor<3>, x2: Tensor<3>, frequency: Tensor<3>) -> Tensor<3> {
    let frequency = frequency * (2.0 * PI);
    let features = |x: Tensor<3>| {
        let phase = (x * frequency.clone()).sum_dim(2); // [B, N, 1]
        Tensor::cat(vec![phase.clone().cos(), phase.sin()], 2) // [B, N, 2]
    };
    features(x1).exact_matmul(features(x2).transpose())
}
