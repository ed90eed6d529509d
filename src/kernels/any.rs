//! Kernels chosen at run time.

use burn::{
    module::Module,
    tensor::{Int, Tensor, TensorCreationOptions},
};
use rand::rngs::ChaCha8Rng;

// A glob import, since every kernel is named in the list below.
use super::{
    definition::{ConfigBuild, Definition},
    inputs::Inputs,
    object::{self, forward, with_methods},
    *,
};
use crate::{custom::configs, ops::Blocks, patches::PatchGrid};

/// Defines [`KernelConfig`] and [`AnyKernel`] from the list of kernels of this crate.
macro_rules! kernels {
    ($($(#[$attribute:meta])* $name:literal $variant:ident($config:ty => $kernel:ty)),+ $(,)?) => {
        configs! {
            /// Configuration of any kernel, as stored in a model file.
            ///
            /// Missing fields take their defaults: one parameter per input dimension (ARD), variances
            /// of one, and lengthscales of one, or `√D` for the stationary, rational quadratic and Gibbs
            /// kernels.
            ///
            /// ```
            /// use burn_gp_core::{kernels::{KernelConfig, LinearConfig, StationaryConfig}, ops::Stationary};
            ///
            /// let smooth = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
            /// let kernel = smooth.plus(LinearConfig::default());
            /// # assert!(matches!(kernel, KernelConfig::Sum { .. }));
            /// ```
            KernelConfig(CustomKernelConfig), tag = "kernel":
            $(
                #[doc = concat!("See [`", stringify!($variant), "`](super::", stringify!($config), ").")]
                $(#[$attribute])*
                $name $variant($config)
            ),+
        }

        impl KernelConfig {
            pub(super) fn build(
                &self,
                inputs: Inputs,
                options: &TensorCreationOptions,
            ) -> AnyKernel {
                match self {
                    $(Self::$variant(config) => {
                        AnyKernel::$variant(config.build(inputs, options.clone()))
                    })+
                    Self::Custom(config) => AnyKernel::Custom(config.build(inputs, options.clone())),
                }
            }

            pub(super) fn definition(&self) -> &dyn Definition {
                match self {
                    $(Self::$variant(config) => config,)+
                    Self::Custom(config) => config,
                }
            }

            pub(super) fn definition_mut(&mut self) -> &mut dyn Definition {
                match self {
                    $(Self::$variant(config) => config,)+
                    Self::Custom(config) => config,
                }
            }
        }

        /// A kernel chosen at run time.
        #[derive(Module, Debug)]
        pub enum AnyKernel {
            $(
                #[doc = concat!("A [`", stringify!($kernel), "`].")]
                $variant($kernel),
            )+
            /// A kernel of another crate.
            Custom(CustomKernel),
        }

        impl AnyKernel {
            fn object(&self) -> &dyn object::KernelObject {
                match self {
                    $(Self::$variant(kernel) => kernel,)+
                    Self::Custom(kernel) => kernel.piece(),
                }
            }

            fn enlarged(self, decades: i64) -> Self {
                match self {
                    $(Self::$variant(kernel) => Self::$variant(Kernel::in_larger_unit(kernel, decades)),)+
                    Self::Custom(kernel) => {
                        Self::Custom(kernel.with(|piece| piece.enlarged(decades)))
                    }
                }
            }
        }
    };
}

kernels! {
    "stationary" Stationary(StationaryConfig => StationaryKernel),
    "rational-quadratic" RationalQuadratic(RationalQuadraticConfig => RationalQuadratic),
    "linear" Linear(LinearConfig => Linear),
    "polynomial" Polynomial(PolynomialConfig => Polynomial),
    "arc-cosine" ArcCosine(ArcCosineConfig => ArcCosine),
    "cosine" Cosine(CosineConfig => Cosine),
    "spectral-mixture" SpectralMixture(SpectralMixtureConfig => SpectralMixture),
    "gibbs" Gibbs(GibbsConfig => Gibbs),
    "constant" Constant(ConstantConfig => Constant),
    "white" White(WhiteConfig => White),
    "scaled" Scaled(ScaledConfig => Scaled<BoxedKernel>),
    "sum" Sum(SumConfig => Sum<BoxedKernel, BoxedKernel>),
    "product" Product(ProductConfig => Product<BoxedKernel, BoxedKernel>),
    "active-dimensions" ActiveDimensions(ActiveDimensionsConfig => ActiveDimensions<BoxedKernel>),
    "periodic" Periodic(PeriodicConfig => Periodic<BoxedKernel>),
    "deep" Deep(DeepConfig => DeepKernel<BoxedKernel>),
    "change-point" ChangePoint(ChangePointConfig => ChangePoint<BoxedKernel, BoxedKernel>),
}

impl Kernel for AnyKernel {
    with_methods!(forward);

    /// Computes all covariances in one operation if all kernels are stationary and of the same kind.
    fn covariances(kernels: &[Self], x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        match stationary(kernels) {
            Some(kernels) => StationaryKernel::fused(&kernels, x1, x2),
            None => one_by_one(kernels, |kernel, index| {
                Kernel::covariance(kernel, member(&x1, index), member(&x2, index))
            }),
        }
    }

    fn matrices(kernels: &[Self], x: Tensor<3>) -> Tensor<3> {
        match stationary(kernels) {
            Some(kernels) => StationaryKernel::fused(&kernels, x.clone(), x),
            None => one_by_one(kernels, |kernel, index| {
                Kernel::matrix(kernel, member(&x, index))
            }),
        }
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        self.enlarged(decades)
    }
}

/// The stationary kernels, if all kernels are stationary with a fused operation.
fn stationary(kernels: &[AnyKernel]) -> Option<Vec<&StationaryKernel>> {
    let each = kernels.iter().map(|kernel| match kernel {
        AnyKernel::Stationary(kernel) => Some(kernel),
        _ => None,
    });
    each.collect()
}

/// A kernel within a kernel. It is stored in a vector with exactly one element, because modules can
/// hold vectors of modules but no boxes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{AnyKernel, BoxedKernel, Kernel, KernelConfig, LinearConfig, Sum};
///
/// let device = Device::default();
/// let kernel: AnyKernel = KernelConfig::from(LinearConfig::default()).init(1, &device);
/// let kernel = BoxedKernel::from(kernel);
/// let twice = Sum::new(kernel.clone(), kernel);
/// let values: Vec<f64> = twice.diagonal(Tensor::from_data([[3.0]], &device)).into_data().iter().collect();
/// assert!((values[0] - 18.0).abs() < 1e-4);
/// ```
#[derive(Module, Debug)]
pub struct BoxedKernel {
    kernel: Vec<AnyKernel>,
}

impl From<AnyKernel> for BoxedKernel {
    fn from(kernel: AnyKernel) -> Self {
        Self {
            kernel: vec![kernel],
        }
    }
}

impl BoxedKernel {
    fn object(&self) -> &dyn object::KernelObject {
        &self.kernel[0]
    }
}

impl Kernel for BoxedKernel {
    with_methods!(forward);

    fn in_larger_unit(self, decades: i64) -> Self {
        let kernel = self.kernel.into_iter();
        Self {
            kernel: kernel.map(|kernel| kernel.enlarged(decades)).collect(),
        }
    }
}
