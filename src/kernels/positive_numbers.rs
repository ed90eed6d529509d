//! A macro that defines kernels whose parameters are positive numbers.

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};
use std::collections::BTreeMap;

/// Defines a kernel in another crate whose parameters are positive numbers: the module, its
/// configuration, and its name in files. Implement [`Kernel`](crate::kernels::Kernel) for the module.
///
/// ```text
/// kernel! { struct Module, Config = "name", "line of help" { parameter = initial value => Units, … } }
/// ```
///
/// The units, one of [`KernelUnits`](crate::kernels::KernelUnits), may be left out. `Variance` lets the
/// initial value follow the scale of the targets.
///
/// Every parameter is a [`Positive`](crate::parameter::Positive) in the module and an `f64`, its initial
/// value, in the configuration. The configuration has a `Default`, is registered under the name, and
/// becomes a [`KernelConfig`](crate::kernels::KernelConfig) by `into()`. A kernel with parameters of
/// another kind needs a [`KernelDefinition`](crate::kernels::KernelDefinition) and
/// [`register!`](crate::register).
///
/// ```
/// use burn::tensor::Tensor;
/// use burn_gp_core::kernels::{Kernel, KernelConfig, LinearConfig};
///
/// burn_gp_core::kernel! {
///     /// Brownian motion, `k(x, x′) = v·min(x, x′)`, for one positive input.
///     pub struct Brownian, BrownianConfig = "brownian", "Brownian motion" {
///         /// The variance per unit of the input.
///         variance = 1.0 => Variance,
///     }
/// }
///
/// impl Kernel for Brownian {
///     fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
///         let ([first, rows, _], [second, columns, _]) = (x1.dims(), x2.dims());
///         let shape = [first.max(second), rows, columns]; // [B, N1, N2]
///         let earlier = x1.expand(shape).min_pair(x2.transpose().expand(shape));
///         earlier * self.variance.aligned()
///     }
///
///     fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
///         x.squeeze_dim::<2>(2) * self.variance.aligned()
///     }
/// }
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let kernel = KernelConfig::from(BrownianConfig { variance: 2.0 }).plus(LinearConfig::default());
/// let text = serde_json::to_string(&kernel)?;
/// assert!(text.contains(r#"{"kernel":"brownian","variance":2.0}"#));
/// assert_eq!(serde_json::from_str::<KernelConfig>(&text)?, kernel);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! kernel {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $kernel:ident, $config:ident = $name:literal, $help:literal {
            $($(#[$of_field:meta])* $field:ident = $default:expr $(=> $units:ident)?),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(burn::module::Module, Debug)]
        $visibility struct $kernel {
            $($(#[$of_field])* $field: $crate::parameter::Positive,)+
        }

        #[doc = concat!("Configuration of a [`", stringify!($kernel), "`] kernel.")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        $visibility struct $config {
            $($(#[$of_field])* $visibility $field: f64,)+
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $crate::custom::serde::Serialize for $config {
            fn serialize<S: $crate::custom::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                $crate::kernels::write_numbers(&[$((stringify!($field), self.$field)),+], serializer)
            }
        }

        impl<'de> $crate::custom::serde::Deserialize<'de> for $config {
            fn deserialize<D: $crate::custom::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let mut config = Self::default();
                $crate::kernels::read_numbers(
                    &mut [$((stringify!($field), &mut config.$field)),+],
                    deserializer,
                )?;
                Ok(config)
            }
        }

        impl $crate::kernels::KernelDefinition for $config {
            fn build(
                &self,
                _inputs: $crate::kernels::KernelInputs,
                options: $crate::custom::TensorCreationOptions,
            ) -> $crate::kernels::AnyKernel {
                let kernel = $kernel {
                    $($field: $crate::parameter::Positive::new(&[self.$field], options.clone()),)+
                };
                $crate::kernels::Kernel::boxed(kernel)
            }

            fn parameters(&self) -> Vec<$crate::kernels::KernelParameter<'_>> {
                vec![$($($crate::kernels::KernelParameter::new(
                    stringify!($field),
                    $crate::kernels::KernelUnits::$units,
                ),)?)+]
            }

            fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
                vec![$((stringify!($field), Some(self.$field))),+]
            }

            fn check(&self) -> Result<(), String> {
                $crate::kernels::check_positive(&[$((stringify!($field), self.$field)),+])
            }
        }

        $crate::register!($crate::kernels::Kernel, $name, $config, $help);
    };
}

/// Writes named fields.
#[doc(hidden)]
pub fn write_numbers<S: Serializer>(
    fields: &[(&'static str, f64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().copied())
}

/// Reads named fields. Absent fields keep their values.
///
/// # Errors
///
/// When a name is unknown or a value is not a number.
#[doc(hidden)]
pub fn read_numbers<'de, D: Deserializer<'de>>(
    fields: &mut [(&'static str, &mut f64)],
    deserializer: D,
) -> Result<(), D::Error> {
    for (name, value) in BTreeMap::<String, f64>::deserialize(deserializer)? {
        match fields.iter_mut().find(|(field, _)| *field == name) {
            Some((_, field)) => **field = value,
            None => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                return Err(D::Error::custom(format!(
                    "unknown field `{name}`, expected one of {names}"
                )));
            }
        }
    }
    Ok(())
}

/// Checks initial values.
///
/// # Errors
///
/// The reason, if one is not a positive number.
#[doc(hidden)]
pub fn check_positive(fields: &[(&'static str, f64)]) -> Result<(), String> {
    let wrong = fields
        .iter()
        .find(|(_, value)| !(value.is_finite() && *value > 0.0));
    wrong.map_or(Ok(()), |(name, value)| {
        Err(format!("{name} is {value}; it must be a positive number"))
    })
}
