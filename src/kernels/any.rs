//! Kernels chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    ActiveDimensions, Constant, Kernel, Linear, NoSpectrum, Product, Scaled, SpectralComponent,
    StationaryConfig, StationaryKernel, Sum, White,
};
use crate::{ops::Stationary, parameter::Hyperparameter};

/// Configuration of any kernel, as it is written to a model's file.
///
/// ```
/// use burn_gp::{kernels::{KernelConfig, StationaryConfig}, ops::Stationary};
///
/// let smooth = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
/// let kernel = smooth.plus(KernelConfig::Linear { ard: false, variance: 1.0 });
/// # assert!(matches!(kernel, KernelConfig::Sum { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "kebab-case")]
pub enum KernelConfig {
    /// See [`StationaryKernel`].
    Stationary(StationaryConfig),
    /// See [`Linear`].
    Linear {
        /// One variance an input dimension.
        ard: bool,
        /// The first value of every variance.
        variance: f64,
    },
    /// See [`Constant`].
    Constant {
        /// The first value of the variance.
        variance: f64,
    },
    /// See [`White`].
    White {
        /// The first value of the variance.
        variance: f64,
    },
    /// See [`Scaled`].
    Scaled {
        /// The kernel that is scaled.
        base: Box<KernelConfig>,
        /// The first value of the scale.
        outputscale: f64,
    },
    /// See [`Sum`].
    Sum {
        /// The first term.
        first: Box<KernelConfig>,
        /// The second term.
        second: Box<KernelConfig>,
    },
    /// See [`Product`].
    Product {
        /// The first factor.
        first: Box<KernelConfig>,
        /// The second factor.
        second: Box<KernelConfig>,
    },
    /// See [`ActiveDimensions`].
    ActiveDimensions {
        /// The kernel on these dimensions.
        base: Box<KernelConfig>,
        /// The dimensions, counted from zero.
        dimensions: Vec<usize>,
    },
}

impl From<StationaryConfig> for KernelConfig {
    fn from(config: StationaryConfig) -> Self {
        Self::Stationary(config)
    }
}

impl From<Stationary> for KernelConfig {
    fn from(kind: Stationary) -> Self {
        StationaryConfig::new(kind).into()
    }
}

impl KernelConfig {
    /// The sum with another kernel.
    pub fn plus(self, other: impl Into<Self>) -> Self {
        Self::Sum {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
    }

    /// The product with another kernel.
    pub fn times(self, other: impl Into<Self>) -> Self {
        Self::Product {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
    }

    /// The kernel times a trained scale.
    pub fn scaled(self, outputscale: f64) -> Self {
        Self::Scaled {
            base: Box::new(self),
            outputscale,
        }
    }

    /// The kernel on some input dimensions, counted from zero.
    pub fn on_dimensions(self, dimensions: Vec<usize>) -> Self {
        Self::ActiveDimensions {
            base: Box::new(self),
            dimensions,
        }
    }

    /// The kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a positive value is not positive, or an active dimension does not exist.
    #[track_caller]
    pub fn init(&self, dimensions: usize, options: impl Into<TensorCreationOptions>) -> AnyKernel {
        self.build(dimensions, &options.into())
    }

    #[track_caller]
    fn build(&self, dimensions: usize, options: &TensorCreationOptions) -> AnyKernel {
        match self {
            Self::Stationary(config) => {
                AnyKernel::Stationary(config.init(dimensions, options.clone()))
            }
            Self::Linear { ard, variance } => {
                let count = if *ard { dimensions } else { 1 };
                AnyKernel::Linear(Linear::new(&vec![*variance; count], options.clone()))
            }
            Self::Constant { variance } => {
                AnyKernel::Constant(Constant::new(*variance, options.clone()))
            }
            Self::White { variance } => AnyKernel::White(White::new(*variance, options.clone())),
            Self::Scaled { base, outputscale } => {
                let base = base.build(dimensions, options).boxed();
                AnyKernel::Scaled(Scaled::new(base, *outputscale, options.clone()))
            }
            Self::Sum { first, second } => AnyKernel::Sum(Sum::new(
                first.build(dimensions, options).boxed(),
                second.build(dimensions, options).boxed(),
            )),
            Self::Product { first, second } => AnyKernel::Product(Product::new(
                first.build(dimensions, options).boxed(),
                second.build(dimensions, options).boxed(),
            )),
            Self::ActiveDimensions {
                base,
                dimensions: active,
            } => {
                assert!(
                    active.iter().all(|&dimension| dimension < dimensions),
                    "active dimensions {active:?} of inputs with {dimensions} dimensions"
                );
                let base = base.build(active.len(), options).boxed();
                AnyKernel::ActiveDimensions(ActiveDimensions::new(base, active.clone()))
            }
        }
    }
}

/// A kernel chosen at run time.
#[derive(Module, Debug)]
pub enum AnyKernel {
    /// See [`StationaryKernel`].
    Stationary(StationaryKernel),
    /// See [`Linear`].
    Linear(Linear),
    /// See [`Constant`].
    Constant(Constant),
    /// See [`White`].
    White(White),
    /// See [`Scaled`].
    Scaled(Scaled<BoxedKernel>),
    /// See [`Sum`].
    Sum(Sum<BoxedKernel, BoxedKernel>),
    /// See [`Product`].
    Product(Product<BoxedKernel, BoxedKernel>),
    /// See [`ActiveDimensions`].
    ActiveDimensions(ActiveDimensions<BoxedKernel>),
}

impl AnyKernel {
    fn boxed(self) -> BoxedKernel {
        BoxedKernel { kernel: vec![self] }
    }
}

/// A kernel within a kernel: a vector of exactly one, since a module can hold vectors of modules
/// but no boxes.
#[derive(Module, Debug)]
pub struct BoxedKernel {
    kernel: Vec<AnyKernel>,
}

/// Forwards to the kernel within.
macro_rules! forward {
    ($self:ident, $kernel:ident => $call:expr) => {
        match $self {
            AnyKernel::Stationary($kernel) => $call,
            AnyKernel::Linear($kernel) => $call,
            AnyKernel::Constant($kernel) => $call,
            AnyKernel::White($kernel) => $call,
            AnyKernel::Scaled($kernel) => $call,
            AnyKernel::Sum($kernel) => $call,
            AnyKernel::Product($kernel) => $call,
            AnyKernel::ActiveDimensions($kernel) => $call,
        }
    };
}

impl Kernel for AnyKernel {
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        forward!(self, kernel => kernel.covariance(x1, x2))
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        forward!(self, kernel => kernel.matrix(x))
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        forward!(self, kernel => kernel.diagonal(x))
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        forward!(self, kernel => kernel.hyperparameters())
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralComponent>, NoSpectrum> {
        forward!(self, kernel => kernel.spectrum(dimensions, count, random))
    }
}

impl Kernel for BoxedKernel {
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        self.kernel[0].covariance(x1, x2)
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        self.kernel[0].matrix(x)
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        self.kernel[0].diagonal(x)
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.kernel[0].hyperparameters()
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralComponent>, NoSpectrum> {
        self.kernel[0].spectrum(dimensions, count, random)
    }
}
