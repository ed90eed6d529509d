//! Parameters: positive values, fractions and degrees of freedom with unconstrained storage, access by
//! path, bounds, priors, and the roles by which trainers and reports treat them.

mod access;
mod bounds;
mod config;
mod defaults;
mod degrees_of_freedom;
mod error;
mod floor;
mod fraction;
mod host_integer;
mod hyperparameter;
mod members;
mod no_fields;
mod part;
mod positive;
mod precision;
mod prior;
mod rescaling;
mod tracking;
mod tree;

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};

pub use access::Parameters;
pub use bounds::Bounds;
pub use config::ParameterConfig;
pub(crate) use defaults::defaults;
pub use degrees_of_freedom::DegreesOfFreedom;
pub use error::ParameterError;
pub use floor::{AtFloor, at_floor};
pub use fraction::Fraction;
pub(crate) use host_integer::HostInteger;
pub use hyperparameter::{Hyperparameter, hyperparameters};
pub(crate) use members::aligned;
pub use members::{member, stacked};
#[doc(hidden)]
pub use no_fields::no_fields;
pub use part::{Part, Role};
pub use positive::{LOWER_BOUND, Positive};
pub(crate) use precision::{require_precision, require_same_dtype};
pub use prior::{Prior, Priors};
pub use rescaling::rescaled;
pub(crate) use tracking::{both_tracked, tracked_like};

pub use crate::ops::numbers;

/// A vector tensor with the given values.
pub fn vector(values: &[f64], options: impl Into<TensorCreationOptions>) -> Tensor<1> {
    Tensor::from_data(TensorData::from(values), options)
}
