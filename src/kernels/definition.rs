//! The configuration of one kernel.

use burn::tensor::TensorCreationOptions;

use super::{AnyKernel, Kernel, KernelConfig, KernelInputs, KernelParameter, KernelPart};
use crate::{
    custom::{AnyDefinition, component_kind},
    features::PerceptronConfig,
};

/// The configuration of a kernel. [`register!`](crate::register) it, and the kernel works in sums and
/// products, in configurations of models, and in files.
///
/// The linker collects the registrations of the program and of the crates it uses. A crate that
/// only registers kernels must be named once: `use my_kernels as _;`.
///
/// ```
/// use burn::tensor::TensorCreationOptions;
/// use burn_gp_core::{
///     kernels::{
///         AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, LinearConfig, White,
///     },
///     register,
/// };
/// use serde::{Deserialize, Serialize};
///
/// /// White noise whose first standard deviation is given, not its variance.
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
/// struct NoiseConfig {
///     deviation: f64,
/// }
///
/// impl KernelDefinition for NoiseConfig {
///     fn build(&self, _inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
///         White::new(self.deviation.powi(2), options).boxed() // or a type of your own
///     }
/// }
///
/// register!(Kernel, "noise", NoiseConfig, "Independent noise");
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let noise = KernelConfig::from(NoiseConfig { deviation: 0.5 });
/// assert_eq!(serde_json::to_string(&noise)?, r#"{"kernel":"noise","deviation":0.5}"#);
/// let kernel = noise.plus(LinearConfig::default());
/// let text = serde_json::to_string(&kernel)?;
/// assert_eq!(serde_json::from_str::<KernelConfig>(&text)?, kernel);
/// # Ok(())
/// # }
/// ```
pub trait KernelDefinition: AnyDefinition {
    /// Makes the kernel for these inputs.
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel;

    /// Checks the values, apart from those of [`positive`](Self::positive) and
    /// [`parts`](Self::parts), whatever their units. Files with other values are refused.
    ///
    /// # Errors
    ///
    /// The reason, if one is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Checks the values in the units of the inputs of the kernel, before the kernel is made.
    ///
    /// # Errors
    ///
    /// The reason, if one is out of range.
    fn check_for_build(&self) -> Result<(), String> {
        Ok(())
    }

    /// The fields that must be positive, including sizes, with their values; `None` if absent.
    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        Vec::new()
    }

    /// The parameters with known units, apart from those of [`parts`](Self::parts).
    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        Vec::new()
    }

    /// The kernels that this one is built from.
    fn parts(&self) -> Vec<KernelPart<'_>> {
        Vec::new()
    }

    /// The kernels of [`parts`](Self::parts), to change them.
    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        Vec::new()
    }

    /// Shares one parameter among all input dimensions wherever there is one per dimension. The
    /// default does so in all parts.
    fn share_parameters(&mut self) {
        for part in self.parts_mut() {
            part.share_parameters();
        }
    }

    /// Shares one parameter among all input dimensions with equal numbers in `groups`. The numbers
    /// start at zero and have no gaps. The default does so in all parts.
    fn share_among(&mut self, groups: &[usize]) {
        for part in self.parts_mut() {
            part.share_among(groups);
        }
    }

    /// Adds another kernel. Every configuration has this and the following methods, like
    /// [`KernelConfig`].
    ///
    /// ```
    /// use burn_gp_core::kernels::{KernelDefinition, LinearConfig, StationaryConfig, SumConfig};
    ///
    /// let season = StationaryConfig::rbf().periodic(1.0);
    /// let kernel = LinearConfig::default().plus(season);
    /// assert!(kernel.downcast_ref::<SumConfig>().is_some());
    /// ```
    fn plus(self, other: impl Into<KernelConfig>) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().plus(other)
    }

    /// Multiplies by another kernel.
    fn times(self, other: impl Into<KernelConfig>) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().times(other)
    }

    /// Multiplies the kernel by a trained output scale.
    fn scaled(self, outputscale: f64) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().scaled(outputscale)
    }

    /// Applies the kernel to the given zero-based input dimensions.
    fn on_dimensions(self, dimensions: Vec<usize>) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().on_dimensions(dimensions)
    }

    /// Makes the kernel periodic, with one period per input dimension.
    fn periodic(self, period: f64) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().periodic(period)
    }

    /// Applies the kernel to the features of a network.
    fn deep(self, network: PerceptronConfig, features: usize) -> KernelConfig
    where
        Self: Into<KernelConfig> + Sized,
    {
        self.into().deep(network, features)
    }

    /// The largest zero-based input dimension that the kernel refers to and that inputs of
    /// `dimensions` dimensions lack. The default looks at the parts.
    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        let parts = self.parts().into_iter();
        parts
            .filter_map(|part| part.missing_dimension(dimensions))
            .max()
    }

    /// Checks the number of inputs. The default looks at the parts.
    ///
    /// # Errors
    ///
    /// The reason, if the kernel cannot have `dimensions` inputs.
    fn check_inputs(&self, dimensions: usize) -> Result<(), String> {
        let mut parts = self.parts().into_iter();
        parts.try_for_each(|part| part.check_inputs(dimensions))
    }

    /// Pairs of the zero-based ones of `dimensions` input dimensions that are the same quantity of two things, apart from
    /// those of [`parts`](Self::parts). They are standardized alike. By default there are none.
    fn equal_dimensions(&self, _dimensions: usize) -> Vec<[usize; 2]> {
        Vec::new()
    }

    /// The zero-based input dimension whose values are codes of levels, apart from those of
    /// [`parts`](Self::parts). Codes are not standardized. By default there is none.
    fn code_dimension(&self) -> Option<usize> {
        None
    }

    /// The zero-based ones of `dimensions` input dimensions whose values only tell categories apart, each with the
    /// number of its levels if the kernel has one, apart from those of [`parts`](Self::parts). A missing value there
    /// is an unknown level. By default, that of codes.
    fn level_dimensions(&self, _dimensions: usize) -> Vec<(usize, Option<usize>)> {
        self.code_dimension()
            .map(|dimension| (dimension, None))
            .into_iter()
            .collect()
    }
}

component_kind!(Kernel, KernelDefinition, "kernel");

/// Implements [`KernelDefinition::positive`] for fields of a configuration. The one in parentheses
/// may be absent.
macro_rules! positive {
    ($($field:ident)* $(($optional:ident))?) => {
        fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
            vec![
                $((stringify!($field), Some(self.$field as f64)),)*
                $((stringify!($optional), self.$optional),)?
            ]
        }
    };
}

pub(super) use positive;
