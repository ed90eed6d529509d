//! Parameters: positive values and fractions with unconstrained storage, access by path, bounds and
//! priors.

mod access;
mod bounds;
mod config;
mod error;
mod floor;
mod fraction;
mod hyperparameter;
mod no_fields;
mod positive;
mod prior;
mod tree;

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};

pub use access::Parameters;
pub use bounds::Bounds;
pub use config::ParameterConfig;
pub use error::ParameterError;
pub use floor::{AtFloor, at_floor};
pub use fraction::Fraction;
pub use hyperparameter::{Hyperparameter, hyperparameters};
#[doc(hidden)]
pub use no_fields::no_fields;
pub use positive::{LOWER_BOUND, Positive};
pub use prior::{Prior, Priors};

/// A vector tensor with the given numbers.
pub fn vector(values: &[f64], options: impl Into<TensorCreationOptions>) -> Tensor<1> {
    Tensor::from_data(TensorData::from(values), options)
}

/// The values of a tensor as numbers, row-major.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
