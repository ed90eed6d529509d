//! Hyperparameters: positive values behind unconstrained parameters, and how they are reported.

mod hyperparameter;
mod positive;

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};

pub use hyperparameter::{Hyperparameter, hyperparameters};
pub use positive::{LOWER_BOUND, Positive};

/// A vector of the given numbers.
pub fn vector(values: &[f64], options: impl Into<TensorCreationOptions>) -> Tensor<1> {
    Tensor::from_data(TensorData::from(values), options)
}

/// A tensor's values as numbers, row-major.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
