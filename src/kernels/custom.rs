//! Kernels of other crates.

use burn::tensor::TensorCreationOptions;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Kernel, KernelConfig,
    definition::{ConfigBuild, Definition},
    inputs::Inputs,
    object::KernelObject,
};
use crate::custom::{
    self, BoxedModule, CustomConfig, Fields, Registration, checked, of_type, read,
};

/// The configuration of a kernel of another crate. After registration, which takes one line, the
/// kernel works like those of this crate: in sums and products, in configurations of models, and in
/// files.
///
/// The linker collects the registrations of the program and of the crates it uses. A crate that
/// only registers kernels must be named once: `use my_kernels as _;`.
///
/// ```
/// use burn::tensor::TensorCreationOptions;
/// use burn_gp_core::kernels::{KernelConfig, KernelDefinition, LinearConfig, White};
/// use serde::{Deserialize, Serialize};
///
/// /// White noise whose first deviation is given, not its variance.
/// #[derive(Serialize, Deserialize)]
/// struct NoiseConfig {
///     deviation: f64,
/// }
///
/// impl KernelDefinition for NoiseConfig {
///     const NAME: &'static str = "noise";
///     type Kernel = White; // or a type of your own
///
///     fn init(&self, _dimensions: usize, options: TensorCreationOptions) -> White {
///         White::new(self.deviation.powi(2), options)
///     }
/// }
///
/// burn_gp_core::register_kernel!(NoiseConfig);
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let noise = KernelConfig::custom(NoiseConfig { deviation: 0.5 });
/// let kernel = noise.plus(LinearConfig::default());
/// let text = serde_json::to_string(&kernel)?;
/// assert!(text.contains(r#"{"kernel":"noise","deviation":0.5}"#));
/// assert_eq!(serde_json::from_str::<KernelConfig>(&text)?, kernel);
/// # Ok(())
/// # }
/// ```
pub trait KernelDefinition: Serialize + DeserializeOwned + 'static {
    /// The name in configurations. It should be unique: a configuration with a name that is
    /// registered twice is an error.
    const NAME: &'static str;

    /// Checks the values of a configuration that was read.
    ///
    /// # Errors
    ///
    /// The reason, if a value is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The kernel.
    type Kernel: Kernel;

    /// Makes the kernel for inputs of `dimensions` dimensions.
    fn init(&self, dimensions: usize, options: TensorCreationOptions) -> Self::Kernel;

    /// Shares one parameter among all input dimensions wherever there is one per dimension. The
    /// default changes nothing, for kernels without such parameters.
    fn isotropic(self) -> Self {
        self
    }
}

/// A kernel of another crate.
pub type CustomKernel = BoxedModule<dyn KernelObject>;

/// The configuration of a kernel of another crate, with its name.
pub type CustomKernelConfig = CustomConfig<KernelFunctions>;

/// A registered kernel of another crate.
pub type KernelRegistration = Registration<KernelFunctions>;

/// The functions of a registered kernel.
pub struct KernelFunctions {
    init: fn(&Fields, usize, TensorCreationOptions) -> CustomKernel,
    isotropic: fn(&Fields) -> CustomKernelConfig,
}

custom::kind!(
    "kernel",
    KernelConfig,
    KernelFunctions,
    KernelDefinition,
    "register_kernel"
);

impl KernelRegistration {
    /// Describes a kernel for [`register_kernel!`](crate::register_kernel), which registers it.
    pub const fn of<D: KernelDefinition>() -> Self {
        Self::new(
            D::NAME,
            |fields| read::<D>(fields)?.check(),
            KernelFunctions {
                init: |fields, dimensions, options| {
                    let kernel = checked::<D>(fields).init(dimensions, options);
                    BoxedModule::new(kernel, |module| of_type::<D::Kernel>(module))
                },
                isotropic: |fields| CustomConfig::new(D::NAME, &checked::<D>(fields).isotropic()),
            },
        )
    }
}

/// Registers the configuration of a kernel, a
/// [`KernelDefinition`](crate::kernels::KernelDefinition).
#[macro_export]
macro_rules! register_kernel {
    ($definition:ty) => {
        $crate::custom::inventory::submit! {
            $crate::kernels::KernelRegistration::of::<$definition>()
        }
    };
}

impl Definition for CustomKernelConfig {
    fn problem(&self) -> Option<String> {
        self.check().err()
    }

    fn share_parameters(&mut self) {
        let (functions, fields) = self.parts();
        *self = (functions.isotropic)(fields);
    }
}

impl ConfigBuild for CustomKernelConfig {
    type Kernel = CustomKernel;

    #[track_caller]
    fn build(&self, inputs: Inputs, options: TensorCreationOptions) -> CustomKernel {
        let (functions, fields) = self.parts();
        (functions.init)(fields, inputs.columns(), options)
    }
}
