//! Covariance functions.
//!
//! A kernel is a burn module that computes covariances between points. Stationary kernels use the
//! fused operation of [`ops`](crate::ops). Sums, products, scaled, periodic and deep kernels,
//! kernels on some input dimensions, change points and comparisons are built from other kernels. [`AnyKernel`]
//! is a kernel of any type, and [`KernelConfig`] is the configuration of any kernel.

mod active_dimensions;
mod any;
mod arc_cosine;
mod blocks;
mod change_point;
mod columns;
mod combination;
mod config;
mod constant;
mod convolutional;
mod cosine;
mod damped_oscillator;
mod deep;
mod definition;
mod distances;
mod exchangeable;
mod expected_products;
mod functions;
mod gibbs;
mod gneiting;
mod index;
mod inputs;
mod levels;
mod linear;
mod low_rank;
mod matern;
mod ordinal;
mod parts;
mod patches;
mod periodic;
mod points;
mod polynomial;
mod positive_numbers;
mod preference;
mod prior_features;
mod products;
mod rational_quadratic;
mod scaled;
mod spectral_mixture;
mod spectrum;
mod state_space;
mod stationary;
mod structure;
mod white;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

pub use active_dimensions::{ActiveDimensions, ActiveDimensionsConfig};
pub use any::AnyKernel;
pub use arc_cosine::{ArcCosine, ArcCosineConfig, ArcCosineOrder};
pub use blocks::block_covariance;
pub use change_point::{Change, ChangePoint, ChangePointConfig};
pub use columns::matrix_columns;
pub use combination::{Product, ProductConfig, Sum, SumConfig};
pub use config::KernelConfig;
pub use constant::{Constant, ConstantConfig};
pub use convolutional::Convolutional;
pub use cosine::{Cosine, CosineConfig};
pub use damped_oscillator::{DampedOscillator, DampedOscillatorConfig};
pub use deep::{DeepConfig, DeepKernel};
pub use definition::KernelDefinition;
pub use exchangeable::{Exchangeable, ExchangeableConfig};
pub use expected_products::{ExpectedProducts, NoExpectedProducts};
pub use functions::{KernelOfEach, Kernels, StackedKernel};
pub use gibbs::{Gibbs, GibbsConfig};
pub use gneiting::{Gneiting, GneitingConfig};
pub use index::{Index, IndexConfig};
pub use inputs::KernelInputs;
pub use linear::{Linear, LinearConfig};
pub use low_rank::{Basis, FeatureMap, LowRankKernel, RandomFourier, squared_norms};
pub use matern::{Matern, MaternConfig};
pub use ordinal::{OrdinalKernel, OrdinalKernelConfig};
pub use parts::{KernelParameter, KernelPart, KernelUnits, PartInputs};
pub use patches::{patch_covariance, patch_variance};
pub use periodic::{Periodic, PeriodicConfig};
pub use polynomial::{Polynomial, PolynomialConfig};
#[doc(hidden)]
pub use positive_numbers::{check_positive, read_numbers, write_numbers};
pub use preference::{Preference, PreferenceConfig};
pub use prior_features::{NoFunctionDraws, PriorFeatures};
pub use products::{covariance_product, rough_matrix_product};
pub use rational_quadratic::{RationalQuadratic, RationalQuadraticConfig};
pub use scaled::{Scaled, ScaledConfig};
pub use spectral_mixture::{SpectralComponent, SpectralMixture, SpectralMixtureConfig};
pub use spectrum::{NoSpectrum, SpectralSample};
pub(crate) use state_space::precise;
pub use state_space::{Harmonics, NoStateSpace, StateSpace, StateSpaceMatrices, StateSpaceNumbers};
pub use stationary::{StationaryConfig, StationaryKernel};
pub use structure::{InputScales, StationaryParameters, Structure};
pub use white::{White, WhiteConfig};

use points::one_set;
use prior_features::FourierFeatures;

use crate::{
    custom::{AnyModule, of_type, of_type_mut},
    ops::number,
    parameter::{Hyperparameter, hyperparameters},
};

/// The prior of one or several functions: a shared kernel, or separate kernels.
pub trait FunctionPrior: Module + ModuleDisplay + Sync + 'static {
    /// The hyperparameters with their constrained values.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;

    /// The variance of the functions, averaged over `x`, `[N, D]`, if it is known.
    fn mean_variance(&self, _x: Tensor<2>) -> Option<f64> {
        None
    }
}

/// A kernel as a type parameter, and its covariances of a single set of points. Every kernel type implements
/// it, and so does [`AnyKernel`].
pub trait KernelModule: Kernel + Module + ModuleDisplay {
    /// [`Kernel::covariance`] of one pair of sets: `[N1, D]` and `[N2, D]` to `[N1, N2]`.
    fn covariance_at(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        (self.covariance(one_set(x1), one_set(x2))).squeeze_dim(0)
    }

    /// [`Kernel::matrix`] of one set of points: `[N, D]` to `[N, N]`.
    fn matrix_at(&self, x: Tensor<2>) -> Tensor<2> {
        self.matrix(one_set(x)).squeeze_dim(0)
    }

    /// [`Kernel::diagonal`] of one set of points: `[N, D]` to `[N]`.
    fn diagonal_at(&self, x: Tensor<2>) -> Tensor<1> {
        self.diagonal(one_set(x)).squeeze_dim(0)
    }
}

impl<K: Kernel + Module + ModuleDisplay> KernelModule for K {}

impl<K: KernelModule> FunctionPrior for K {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(number(self.diagonal_at(x).mean()))
    }
}

/// A covariance function `k(x, x′)`.
///
/// It is computed for B sets of points in one call; [`KernelModule`] has the same for a single set. Two
/// arguments with B sets and with one set are allowed: the one set is then that of all B pairs.
///
/// The covariance depends on the identity of points, not only on their locations. For the white
/// kernel, for example, [`matrix`](Self::matrix) is not `covariance(x, x)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Kernel, Linear};
///
/// let device = Device::default();
/// let kernel = Linear::new(&[2.0], &device);
/// // Two sets of one point each, and a set of three points that both are compared with.
/// let sets = Tensor::<3>::from_data([[[1.0]], [[5.0]]], &device);
/// let points = Tensor::<3>::from_data([[[1.0], [2.0], [3.0]]], &device);
/// assert_eq!(kernel.covariance(sets, points).dims(), [2, 1, 3]);
/// ```
pub trait Kernel: AnyModule {
    /// The covariances between two distinct sets of points, for each of B pairs of sets.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[B, N1, D]` or `[1, N1, D]`, `x2`: `[B, N2, D]` or `[1, N2, D]`
    /// - result: `[B, N1, N2]`
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3>;

    /// The symmetric covariance matrix of each of B sets of points.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]`
    /// - result: `[B, N, N]`
    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        self.covariance(x.clone(), x)
    }

    /// The diagonals of [`matrix`](Self::matrix), without computing the matrices.
    ///
    /// # Shapes
    ///
    /// - `x`: `[B, N, D]`
    /// - result: `[B, N]`
    fn diagonal(&self, x: Tensor<3>) -> Tensor<2>;

    /// What operations may exploit, such as [`covariance_product`]. The default is
    /// [`Structure::General`].
    fn structure(&self) -> Structure<'_> {
        Structure::General
    }

    /// The variance, and the lengthscales of the `dimensions` inputs, of a kernel that depends only on the differences of
    /// inputs in units of these. Nearest neighbors are found in these units. The default is `None`, also
    /// for kernels whose [`structure`](Self::structure) has them.
    fn input_scales(&self, _dimensions: usize) -> Option<InputScales> {
        None
    }

    /// The kernel of one input as a linear state-space model, for inference in linear time
    /// ([`Markov`](crate::inference::Markov)). The default returns an error, for kernels that have none.
    ///
    /// # Errors
    ///
    /// [`NoStateSpace`], which names the kernel.
    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        Err(NoStateSpace::of::<Self>())
    }

    /// The expectations of covariances and of their products over normal inputs, for latent inputs
    /// ([`BayesianGplvm`](crate::latent_inputs::BayesianGplvm)). The default returns an error, for kernels whose
    /// expectations have no closed form here: there is one for the squared exponential, linear and scaled kernels.
    ///
    /// # Errors
    ///
    /// [`NoExpectedProducts`], which names the kernel.
    fn expected_products(&self) -> Result<ExpectedProducts, NoExpectedProducts> {
        Err(NoExpectedProducts::of::<Self>())
    }

    /// The kernel as one of any type.
    fn boxed(self) -> AnyKernel
    where
        Self: Sized,
    {
        AnyKernel::new(
            self,
            |module| of_type::<Self>(module),
            |module| of_type_mut::<Self>(module),
        )
    }

    /// The kernel as a sum of components that have spectra, with `count` frequencies drawn from
    /// each, for inputs of `dimensions` dimensions. The default returns an error, for kernels that
    /// are not stationary or whose functions are not continuous.
    ///
    /// # Errors
    ///
    /// [`NoSpectrum`], which names the kernel.
    fn spectrum(
        &self,
        _dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        Err(NoSpectrum::of::<Self>())
    }

    /// Draws features of the kernel, from which functions are drawn, for inputs of `dimensions`
    /// dimensions: `count` random features of each kind, or all if there are finitely many. The
    /// default draws Fourier features from the [`spectrum`](Self::spectrum). Their gradients do not
    /// reach the hyperparameters.
    ///
    /// # Errors
    ///
    /// When the kernel has no features, or too many.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let components = self.spectrum(dimensions, count, random)?;
        Ok(FourierFeatures::new(components, (count, dimensions), options).into())
    }
}
