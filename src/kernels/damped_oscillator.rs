//! The damped oscillator.

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits, NoStateSpace,
    StateSpace,
    definition::positive,
    points::{at_each, require_fit},
    state_space::{one_input, oscillation},
};
use crate::{
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = σ²·e^(−ζθ)·(cos(√(1−ζ²)·θ) + ζ/√(1−ζ²)·sin(√(1−ζ²)·θ))` with the phase `θ = 2π·|Σ_d (x_d − x′_d)/p_d|`
/// and the damping ratio `ζ = 1/(2q)`: an oscillator with the undamped period p and the quality q, driven by white noise.
/// For q > ½ it swings, and remembers its phase for about q/π periods; at q = ½ it is a Matérn-3/2 process with the
/// lengthscale `√3·p/(2π)`; below, it creeps back, and cos and sin are cosh and sinh.
///
/// It is the term SHO of celerite (D. Foreman-Mackey, E. Agol, S. Ambikasaran and R. Angus, *Fast and scalable Gaussian
/// process modeling with applications to astronomical time series*, arXiv:1703.09710, equation 23). Like a
/// [`Cosine`](super::Cosine), with more than one input it varies along one direction.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{DampedOscillator, DampedOscillatorConfig, KernelConfig, KernelModule};
///
/// let device = Device::default();
/// let kernel = DampedOscillator::new(&[2.0], 4.0, 1.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [1.0], [100.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // Half a period apart, the function has the opposite sign; long after, it is forgotten.
/// assert!(values[1] < -0.6 && values[2].abs() < 1e-5);
///
/// let config = DampedOscillatorConfig { period: 2.0, quality: 4.0, ..Default::default() };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct DampedOscillator {
    period: Positive,
    quality: Positive,
    variance: Positive,
}

defaults! {
    /// Configuration of a [`DampedOscillator`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct DampedOscillatorConfig {
        /// One period per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every undamped period.
        pub period: f64 = 1.0,
        /// The initial value of the quality: the larger, the longer a phase is kept.
        pub quality: f64 = 2.0,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "damped-oscillator",
    DampedOscillatorConfig,
    "Swings with a period and a random phase that is slowly forgotten"
);

impl KernelDefinition for DampedOscillatorConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let periods = inputs.values(self.ard, self.period);
        let mut kernel = DampedOscillator::new(&periods, self.quality, self.variance, options);
        kernel.period = kernel.period.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("period", KernelUnits::Distance),
            KernelParameter::new("quality", KernelUnits::None),
            KernelParameter::new("variance", KernelUnits::Variance),
        ]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(period quality variance);
}

impl DampedOscillator {
    /// Creates the kernel from the undamped periods (one, or one per dimension), the quality and the variance.
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(
        periods: &[f64],
        quality: f64,
        variance: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            period: Positive::new(periods, options.clone()),
            quality: Positive::new(&[quality], options.clone()),
            variance: Positive::new(&[variance], options),
        }
    }
}

impl Kernel for DampedOscillator {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("damped oscillator", &self.period, &[&x1, &x2]);
        let frequency = self.period.aligned::<3>().recip() * (2.0 * PI);
        let phase = |x: Tensor<3>| (x * frequency.clone()).sum_dim(2); // [B, N, 1]
        let theta = (phase(x1) - phase(x2).transpose()).abs(); // [B, N1, N2]
        let damping = (self.quality.aligned::<3>() * 2.0).recip(); // ζ, [B, 1, 1]
        let [c, s] = oscillation(theta, damping.clone());
        (c + s * damping) * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("damped oscillator", &self.period, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        let period = one_input(self.period.value())?;
        let (quality, variance) = (self.quality.value(), self.variance.value());
        Ok(StateSpace::damped_oscillator(period, quality, variance))
    }
}
