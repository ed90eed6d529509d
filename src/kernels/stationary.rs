//! Stationary kernels with a fused operation.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, ExpectedProducts, Kernel, KernelDefinition, KernelInputs, KernelParameter,
    KernelUnits, NoExpectedProducts, NoFunctionDraws, NoSpectrum, NoStateSpace, PriorFeatures,
    SpectralSample, StateSpace, Structure,
    definition::positive,
    inputs::{Groups, first_lengthscale},
    points::{at_each, require_fit},
    prior_features::FourierFeatures,
    spectrum::stationary_spectrum,
    state_space::one_input,
    structure::StationaryParameters,
};
use crate::{ops::Stationary, parameter::Positive, register};

/// A stationary kernel `σ²·φ(r²)`, `r² = Σ_d (x_d − x′_d)²/ℓ_d²`, with trained variance and
/// lengthscales; the profile φ is a [`Stationary`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{kernels::{KernelModule, StationaryConfig, StationaryKernel}, ops::Stationary};
///
/// let device = Device::default();
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[0.5], 2.0, &device);
/// let x = Tensor::<2>::from_data([[0.0], [50.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x).into_data().iter().collect();
/// // The variance on the diagonal, and no covariance over a hundred lengthscales.
/// assert!((values[0] - 2.0).abs() < 1e-6 && values[1].abs() < 1e-6);
///
/// // A lengthscale for each of three inputs.
/// let config = StationaryConfig::new(Stationary::Matern32).with_lengthscale(0.5);
/// assert_eq!(config.init(3, &device).diagonal_at(Tensor::ones([2, 3], &device)).dims(), [2]);
/// ```
#[derive(Module, Debug)]
pub struct StationaryKernel {
    #[module(skip)]
    kind: Stationary,
    lengthscale: Positive,
    variance: Positive,
}

/// Configuration of a [`StationaryKernel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct StationaryConfig {
    /// The covariance function.
    pub kind: Stationary,
    /// One lengthscale per input dimension (ARD, automatic relevance determination) instead of one
    /// for all.
    #[serde(default = "yes")]
    pub ard: bool,
    /// The group of each input dimension, counted from zero; dimensions in one group share a
    /// lengthscale. If empty, each dimension has its own. If the indicator columns of a category share
    /// one, all pairs of different levels have the same covariance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<usize>,
    /// The initial value of every lengthscale, in units of the inputs. If absent, it is `√D` for
    /// inputs of D dimensions, comparable to the distance between standardized inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[setters(strip_option)]
    pub lengthscale: Option<f64>,
    /// The initial value of the variance, in squared units of the targets.
    #[serde(default = "one")]
    pub variance: f64,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

/// Matérn-5/2.
impl Default for StationaryConfig {
    fn default() -> Self {
        Self::matern52()
    }
}

impl StationaryConfig {
    /// Creates a configuration with one lengthscale per dimension. Lengthscales start at `√D` and
    /// the variance at one.
    pub fn new(kind: Stationary) -> Self {
        Self {
            kind,
            ard: true,
            groups: Vec::new(),
            lengthscale: None,
            variance: 1.0,
        }
    }

    /// The squared exponential or radial basis function, `σ²·exp(−r²/2)`.
    ///
    /// ```
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    ///
    /// assert_eq!(StationaryConfig::rbf().kind, Stationary::SquaredExponential);
    /// ```
    pub fn rbf() -> Self {
        Self::new(Stationary::SquaredExponential)
    }

    /// Matérn with ν = 1/2: `σ²·exp(−r)`.
    pub fn matern12() -> Self {
        Self::new(Stationary::Matern12)
    }

    /// Matérn with ν = 3/2: `σ²·(1 + √3·r)·exp(−√3·r)`.
    pub fn matern32() -> Self {
        Self::new(Stationary::Matern32)
    }

    /// Matérn with ν = 5/2: `σ²·(1 + √5·r + 5r²/3)·exp(−√5·r)`.
    pub fn matern52() -> Self {
        Self::new(Stationary::Matern52)
    }

    /// Shares one lengthscale among all dimensions.
    pub fn isotropic(mut self) -> Self {
        self.ard = false;
        self
    }

    /// Creates the kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If the lengthscale or the variance is not positive, or there are groups but not one for each
    /// dimension.
    #[track_caller]
    pub fn init(
        &self,
        dimensions: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> StationaryKernel {
        let groups = Groups::new(self.ard, &self.groups, dimensions);
        let lengthscale = first_lengthscale(self.lengthscale, dimensions);
        let lengthscales = vec![lengthscale; groups.parameters()];
        let mut kernel = StationaryKernel::new(self.kind, &lengthscales, self.variance, options);
        kernel.lengthscale = groups.share(kernel.lengthscale);
        kernel
    }
}

register!(
    Kernel,
    "stationary",
    StationaryConfig,
    "Radial basis function (squared exponential) and Matérn"
);

impl KernelDefinition for StationaryConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let mut kernel = self.init(inputs.dimensions, options);
        kernel.lengthscale = kernel.lengthscale.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("lengthscale", KernelUnits::Distance).sharing(&self.groups),
            KernelParameter::new("variance", KernelUnits::Variance),
        ]
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance(lengthscale));

    fn share_among(&mut self, groups: &[usize]) {
        self.groups = groups.to_vec();
    }
}

impl StationaryKernel {
    /// Creates a kernel with the given lengthscales (one, or one per dimension) and variance.
    ///
    /// # Panics
    ///
    /// If one of them is not positive.
    #[track_caller]
    pub fn new(
        kind: Stationary,
        lengthscales: &[f64],
        variance: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            kind,
            lengthscale: Positive::new(lengthscales, options.clone()),
            variance: Positive::new(&[variance], options),
        }
    }
}

impl StationaryKernel {
    fn parameters(&self) -> StationaryParameters {
        StationaryParameters {
            profile: self.kind,
            lengthscales: self.lengthscale.value(),
            variance: self.variance.value(),
        }
    }
}

impl Kernel for StationaryKernel {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("stationary", &self.lengthscale, &[&x1, &x2]);
        self.parameters().covariance(x1, x2)
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("stationary", &self.lengthscale, &[&x]);
        at_each(self.variance.value(), &x)
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Stationary(self.parameters())
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        let states = match self.kind {
            Stationary::Matern12 => 1,
            Stationary::Matern32 => 2,
            Stationary::Matern52 => 3,
            Stationary::SquaredExponential => return Err(NoStateSpace::named("rbf")),
        };
        let lengthscale = one_input(self.lengthscale.value())?;
        Ok(StateSpace::matern(
            states,
            lengthscale,
            self.variance.value(),
        ))
    }

    fn expected_products(&self) -> Result<ExpectedProducts, NoExpectedProducts> {
        match self.kind {
            Stationary::SquaredExponential => Ok(ExpectedProducts::squared_exponential(
                self.lengthscale.value(),
                self.variance.value(),
            )),
            kind => Err(NoExpectedProducts::named(&format!("{kind:?}"))),
        }
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let lengthscales = self.lengthscale.for_each(dimensions);
        let variance = self.variance.to_vec()[0];
        let component = stationary_spectrum(self.kind, variance, &lengthscales, count, random);
        Ok(vec![component])
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let component = self.spectrum(dimensions, count, random)?;
        let features = FourierFeatures::new(component, (count, dimensions), options);
        let features = features.with_variance(self.variance.value());
        Ok(features.with_lengths(self.lengthscale.value()).into())
    }
}
