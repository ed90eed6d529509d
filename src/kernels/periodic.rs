//! Periodic versions of other kernels.

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelParameter, KernelPart,
    KernelUnits, NoFunctionDraws, NoSpectrum, NoStateSpace, PartInputs, PriorFeatures,
    SpectralSample, StateSpace, StationaryParameters, Structure,
    definition::positive,
    points::{require_dimensions, require_fit},
    spectrum::periodic_spectrum,
    state_space::{Harmonics, one_input},
};
use crate::{ops::Stationary, parameter::Positive, register};

/// `k(u(x), u(x′))`, where `u` maps each input dimension onto a circle of radius ½, one turn per
/// period: `u(x) = ½·(sin(2πx_d/p_d) for all d, cos(2πx_d/p_d) for all d)`.
///
/// Since `‖u(x) − u(x′)‖² = Σ_d sin²(π(x_d − x′_d)/p_d)`, a stationary base kernel of `r` becomes
/// the same function of `r² = Σ_d sin²(π(x_d − x′_d)/p_d)/ℓ_d²`. For the squared exponential this
/// is the kernel of D. MacKay, *Introduction to Gaussian processes* (1998), §5.3. The base can be
/// any other kernel, too.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     kernels::{KernelModule, Periodic, PeriodicConfig, StationaryConfig, StationaryKernel},
///     ops::Stationary,
/// };
///
/// let device = Device::default();
/// let base = StationaryKernel::new(Stationary::SquaredExponential, &[1.0], 1.0, &device);
/// let kernel = Periodic::new(base, &[2.0], &device);
/// let x = Tensor::<2>::from_data([[0.3], [1.3], [2.3]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x).into_data().iter().collect();
/// // A period apart the function has the same value.
/// assert!((values[2] - 1.0).abs() < 1e-5 && values[1] < 0.9);
///
/// let config = PeriodicConfig {
///     base: StationaryConfig::new(Stationary::SquaredExponential).into(),
///     ard: false,
///     period: 2.0,
/// };
/// assert_eq!(config.period, 2.0);
/// ```
#[derive(Module, Debug)]
pub struct Periodic {
    base: AnyKernel,
    period: Positive,
}

/// Configuration of a [`Periodic`] kernel.
///
/// ARD parameters of the base stay one per input dimension: the sine and the cosine of a dimension
/// share them. Frequencies of spectral mixtures are the exception.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct PeriodicConfig {
    /// The kernel on the circle.
    #[setters(into)]
    pub base: KernelConfig,
    /// One period per input dimension (ARD) instead of one for all.
    #[serde(default = "yes")]
    pub ard: bool,
    /// The initial value of every period.
    #[serde(default = "one")]
    pub period: f64,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

register!(
    Kernel,
    "periodic",
    PeriodicConfig,
    "Periodic version of another kernel"
);

impl KernelDefinition for PeriodicConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let base = self.base.build(inputs.on_circles(), options.clone());
        let periods = inputs.values(self.ard, self.period);
        let mut kernel = Periodic::new(base, &periods, options);
        kernel.period = kernel.period.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("period", KernelUnits::Distance)]
    }

    positive!(period);

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).on(PartInputs::Mapped)]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
        self.base.share_parameters();
    }

    /// The kernel on the circles does not change.
    fn share_among(&mut self, _groups: &[usize]) {}

    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        self.base.missing_dimension(dimensions)
    }

    fn check_inputs(&self, dimensions: usize) -> Result<(), String> {
        self.base.check_inputs(dimensions)
    }
}

/// A Matérn-5/2 kernel of period one.
impl Default for PeriodicConfig {
    fn default() -> Self {
        Self {
            base: KernelConfig::default(),
            ard: true,
            period: 1.0,
        }
    }
}

impl Periodic {
    /// Makes `base` periodic with the given periods: one, or one per input dimension.
    ///
    /// The inputs of the base have `2·D` columns, sines before cosines. If the base has one
    /// lengthscale per column, the kernel is stationary only while the lengthscales of a sine and
    /// its cosine are equal. [`KernelConfig`](super::KernelConfig) ties them.
    ///
    /// # Panics
    ///
    /// If a period is not positive.
    #[track_caller]
    pub fn new(
        base: impl Kernel,
        periods: &[f64],
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        Self {
            base: base.boxed(),
            period: Positive::new(periods, options),
        }
    }

    /// u, `[B, N, 2·D]`.
    fn wind(&self, x: Tensor<3>) -> Tensor<3> {
        require_fit("periodic", &self.period, &[&x]);
        wind(x, self.period.aligned())
    }
}

/// u, `[…, N, 2·D]`, at `x`, `[…, N, D]`.
fn wind<const R: usize>(x: Tensor<R>, period: Tensor<R>) -> Tensor<R> {
    let count = period.dims()[R - 1];
    require_dimensions("periodic", count, &[&x]);
    let angle = x * (period.recip() * (2.0 * PI)); // […, N, D]
    Tensor::cat(vec![angle.clone().sin(), angle.cos()], R - 1) * 0.5
}

impl Kernel for Periodic {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("periodic", &self.period, &[&x1, &x2]);
        self.base.covariance(self.wind(x1), self.wind(x2))
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        self.base.matrix(self.wind(x))
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.base.diagonal(self.wind(x))
    }

    /// A constant and cosines, if the base is a squared exponential.
    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        let (base, scale) = match self.base.structure() {
            Structure::Scaled(base, scale) => (base.structure(), Some(scale)),
            base => (base, None),
        };
        let Structure::Stationary(StationaryParameters {
            profile: Stationary::SquaredExponential,
            lengthscales,
            variance,
        }) = base
        else {
            return Err(NoStateSpace::named("periodic of another kernel than rbf"));
        };
        let period = one_input(self.period.value())?;
        let form = Harmonics::state_space(one_input(lengthscales)?, period, variance);
        Ok(match scale {
            Some(scale) => form.scaled(scale),
            None => form,
        })
    }

    /// The spectrum has lines at multiples of the frequencies `1/p_d`, if the base is a mixture of
    /// squared exponentials.
    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let periods = self.period.for_each(dimensions);
        let base = self.base.spectrum(2 * dimensions, count, random)?;
        let lines = (base.iter()).map(|component| periodic_spectrum(component, &periods, random));
        (lines.collect::<Option<Vec<_>>>()).ok_or_else(NoSpectrum::of::<Self>)
    }

    /// The features of the base on the circles. They also exist if the kernel has no spectrum.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let base = (self.base).prior_features(2 * dimensions, count, random, options)?;
        let period = self.period.aligned();
        Ok(base.at(move |x| wind(x, period.clone())))
    }
}
