//! Kernel configurations.

use burn::tensor::TensorCreationOptions;
use serde::{Deserialize, Serialize};

use super::{
    ActiveDimensions, AnyKernel, ArcCosineConfig, BoxedKernel, Change, ChangePoint, Constant,
    CosineConfig, DeepKernel, GibbsConfig, Linear, Periodic, PolynomialConfig, Product,
    RationalQuadraticConfig, Scaled, SpectralMixtureConfig, StationaryConfig, Sum, White,
    inputs::Inputs,
};
use crate::{features::PerceptronConfig, ops::Stationary};

/// Configuration of any kernel, as stored in a model file.
///
/// Missing fields take their defaults: one parameter per input dimension (ARD), variances of one,
/// and lengthscales of one, or `√D` for the stationary, rational quadratic and Gibbs kernels.
///
/// ```
/// use burn_gp::{kernels::{KernelConfig, StationaryConfig}, ops::Stationary};
///
/// let smooth = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
/// let kernel = smooth.plus(KernelConfig::Linear { ard: false, variance: 1.0 });
/// # assert!(matches!(kernel, KernelConfig::Sum { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KernelConfig {
    /// See [`StationaryKernel`](super::StationaryKernel).
    Stationary(StationaryConfig),
    /// See [`RationalQuadratic`](super::RationalQuadratic).
    RationalQuadratic(RationalQuadraticConfig),
    /// See [`Linear`].
    Linear {
        /// One variance per input dimension.
        #[serde(default = "yes")]
        ard: bool,
        /// The initial value of every variance.
        #[serde(default = "one")]
        variance: f64,
    },
    /// See [`Polynomial`](super::Polynomial).
    Polynomial(PolynomialConfig),
    /// See [`ArcCosine`](super::ArcCosine).
    ArcCosine(ArcCosineConfig),
    /// See [`Cosine`](super::Cosine).
    Cosine(CosineConfig),
    /// See [`SpectralMixture`](super::SpectralMixture).
    SpectralMixture(SpectralMixtureConfig),
    /// See [`Gibbs`](super::Gibbs).
    Gibbs(GibbsConfig),
    /// See [`Constant`].
    Constant {
        /// The initial value of the variance.
        #[serde(default = "one")]
        variance: f64,
    },
    /// See [`White`].
    White {
        /// The initial value of the variance.
        #[serde(default = "one")]
        variance: f64,
    },
    /// See [`Scaled`].
    Scaled {
        /// The kernel to scale.
        base: Box<KernelConfig>,
        /// The initial value of the scale.
        #[serde(default = "one")]
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
        /// The kernel on the selected dimensions.
        base: Box<KernelConfig>,
        /// The zero-based dimensions.
        dimensions: Vec<usize>,
    },
    /// See [`Periodic`].
    ///
    /// ARD parameters of the base stay one per input dimension: the sine and the cosine of a
    /// dimension share them. Frequencies of spectral mixtures are the exception.
    Periodic {
        /// The kernel on the circle.
        base: Box<KernelConfig>,
        /// One period per input dimension.
        #[serde(default = "yes")]
        ard: bool,
        /// The initial value of every period.
        #[serde(default = "one")]
        period: f64,
    },
    /// See [`DeepKernel`].
    #[serde(alias = "warped")]
    Deep {
        /// The kernel on the features.
        base: Box<KernelConfig>,
        /// The network that computes the features.
        #[serde(default)]
        network: PerceptronConfig,
        /// The number of features, Q.
        #[serde(default = "two")]
        features: usize,
    },
    /// See [`ChangePoint`].
    ChangePoint {
        /// The kernel before the change.
        first: Box<KernelConfig>,
        /// The kernel after the change.
        second: Box<KernelConfig>,
        /// The initial location and steepness of the change.
        #[serde(flatten)]
        change: Change,
    },
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

fn two() -> usize {
    2
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
    /// Adds another kernel.
    pub fn plus(self, other: impl Into<Self>) -> Self {
        Self::Sum {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
    }

    /// Multiplies by another kernel.
    pub fn times(self, other: impl Into<Self>) -> Self {
        Self::Product {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
    }

    /// Multiplies the kernel by a trained output scale.
    pub fn scaled(self, outputscale: f64) -> Self {
        Self::Scaled {
            base: Box::new(self),
            outputscale,
        }
    }

    /// Applies the kernel to the given zero-based input dimensions.
    pub fn on_dimensions(self, dimensions: Vec<usize>) -> Self {
        Self::ActiveDimensions {
            base: Box::new(self),
            dimensions,
        }
    }

    /// Makes the kernel periodic, with one period per input dimension.
    pub fn periodic(self, period: f64) -> Self {
        Self::Periodic {
            base: Box::new(self),
            ard: true,
            period,
        }
    }

    /// Applies the kernel to the features of a network.
    pub fn deep(self, network: PerceptronConfig, features: usize) -> Self {
        Self::Deep {
            base: Box::new(self),
            network,
            features,
        }
    }

    /// Shares one parameter among all input dimensions wherever there is one per dimension.
    pub fn isotropic(mut self) -> Self {
        self.share_parameters();
        self
    }

    fn share_parameters(&mut self) {
        match self {
            Self::Stationary(config) => config.ard = false,
            Self::RationalQuadratic(config) => config.ard = false,
            Self::Linear { ard, .. } => *ard = false,
            Self::Polynomial(config) => config.ard = false,
            Self::ArcCosine(config) => config.ard = false,
            Self::Cosine(config) => config.ard = false,
            Self::Gibbs(config) => config.ard = false,
            Self::SpectralMixture(_) | Self::Constant { .. } | Self::White { .. } => {}
            Self::Periodic { base, ard, .. } => {
                *ard = false;
                base.share_parameters();
            }
            Self::Scaled { base, .. }
            | Self::ActiveDimensions { base, .. }
            | Self::Deep { base, .. } => base.share_parameters(),
            Self::Sum { first, second }
            | Self::Product { first, second }
            | Self::ChangePoint { first, second, .. } => {
                first.share_parameters();
                second.share_parameters();
            }
        }
    }

    /// The largest zero-based input dimension that the kernel refers to and that inputs of
    /// `dimensions` dimensions lack.
    pub fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        let missing = |named: &usize| *named >= dimensions;
        match self {
            Self::Stationary(_)
            | Self::RationalQuadratic(_)
            | Self::Linear { .. }
            | Self::Polynomial(_)
            | Self::ArcCosine(_)
            | Self::Cosine(_)
            | Self::SpectralMixture(_)
            | Self::Gibbs(_)
            | Self::Constant { .. }
            | Self::White { .. } => None,
            Self::Scaled { base, .. } | Self::Periodic { base, .. } => {
                base.missing_dimension(dimensions)
            }
            Self::Deep { base, features, .. } => base.missing_dimension(*features),
            Self::ActiveDimensions {
                base,
                dimensions: active,
            } => {
                let own = active.iter().copied().filter(missing).max();
                own.or_else(|| base.missing_dimension(active.len()))
            }
            Self::Sum { first, second } | Self::Product { first, second } => {
                let both = [first, second].map(|kernel| kernel.missing_dimension(dimensions));
                both.into_iter().flatten().max()
            }
            Self::ChangePoint {
                first,
                second,
                change,
            } => {
                let both = [first, second].map(|kernel| kernel.missing_dimension(dimensions));
                let own = Some(change.dimension).filter(missing);
                both.into_iter().chain([own]).flatten().max()
            }
        }
    }

    /// Creates the kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a positive value is not positive, a count is zero, or an input dimension does not exist.
    #[track_caller]
    pub fn init(&self, dimensions: usize, options: impl Into<TensorCreationOptions>) -> AnyKernel {
        self.build(Inputs::new(dimensions), &options.into())
    }

    #[track_caller]
    fn build(&self, inputs: Inputs, options: &TensorCreationOptions) -> AnyKernel {
        let within = |kernel: &Self| BoxedKernel::from(kernel.build(inputs, options));
        let options = options.clone();
        match self {
            Self::Stationary(config) => {
                let kernel = config.init(inputs.dimensions, options);
                AnyKernel::Stationary(kernel.tied(inputs.coordinates))
            }
            Self::RationalQuadratic(config) => {
                AnyKernel::RationalQuadratic(config.build(inputs, options))
            }
            &Self::Linear { ard, variance } => {
                let kernel = Linear::new(&inputs.values(ard, variance), options);
                AnyKernel::Linear(kernel.tied(inputs.coordinates))
            }
            Self::Polynomial(config) => AnyKernel::Polynomial(config.build(inputs, options)),
            Self::ArcCosine(config) => AnyKernel::ArcCosine(config.build(inputs, options)),
            Self::Cosine(config) => AnyKernel::Cosine(config.build(inputs, options)),
            Self::SpectralMixture(config) => {
                AnyKernel::SpectralMixture(config.build(inputs, options))
            }
            Self::Gibbs(config) => AnyKernel::Gibbs(config.build(inputs, options)),
            &Self::Constant { variance } => AnyKernel::Constant(Constant::new(variance, options)),
            &Self::White { variance } => AnyKernel::White(White::new(variance, options)),
            Self::Scaled { base, outputscale } => {
                AnyKernel::Scaled(Scaled::new(within(base), *outputscale, options))
            }
            Self::Sum { first, second } => AnyKernel::Sum(Sum::new(within(first), within(second))),
            Self::Product { first, second } => {
                AnyKernel::Product(Product::new(within(first), within(second)))
            }
            Self::ActiveDimensions { base, dimensions } => {
                let (active, columns) = inputs.restricted(dimensions);
                let base = base.build(active, &options).into();
                AnyKernel::ActiveDimensions(ActiveDimensions::new(base, columns))
            }
            Self::Periodic { base, ard, period } => {
                let base = base.build(inputs.on_circles(), &options).into();
                let kernel = Periodic::new(base, &inputs.values(*ard, *period), options);
                AnyKernel::Periodic(kernel.tied(inputs.coordinates))
            }
            Self::Deep {
                base,
                network,
                features,
            } => {
                let base = base.build(Inputs::new(*features), &options).into();
                let network = network.init(inputs.columns(), *features, options);
                AnyKernel::Deep(DeepKernel::new(base, network))
            }
            Self::ChangePoint {
                first,
                second,
                change,
            } => {
                inputs.require(&[change.dimension]);
                let (first, second) = (within(first), within(second));
                AnyKernel::ChangePoint(ChangePoint::new(first, second, *change, options))
            }
        }
    }
}
