//! Hyperparameters: positive values behind an unconstrained parameter, and how they are reported.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions, TensorData},
};

use crate::ops::{host::special::softplus_inverse, softplus};

/// The smallest value of a positive hyperparameter.
pub const LOWER_BOUND: f64 = 1e-6;

/// A vector of positive hyperparameters, `lower bound + softplus(raw)` with `raw` trained.
#[derive(Module, Debug)]
pub struct Positive {
    raw: Param<Tensor<1>>,
}

impl Positive {
    /// Starts at the given values.
    ///
    /// # Panics
    ///
    /// If a value does not lie above [`LOWER_BOUND`].
    #[track_caller]
    pub fn new(values: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        assert!(
            values
                .iter()
                .all(|&value| value > LOWER_BOUND && value.is_finite()),
            "positive hyperparameters must be finite and above {LOWER_BOUND:e}, got {values:?}"
        );
        let raw: Vec<f64> = values
            .iter()
            .map(|&value| softplus_inverse(value - LOWER_BOUND))
            .collect();
        Self {
            raw: Param::from_tensor(vector(&raw, options)),
        }
    }

    /// The constrained values, tracked by autodiff.
    pub fn value(&self) -> Tensor<1> {
        softplus(self.raw.val()).add_scalar(LOWER_BOUND)
    }

    /// The constrained values as numbers.
    pub fn to_vec(&self) -> Vec<f64> {
        numbers(self.value())
    }
}

/// One reported hyperparameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameter {
    /// Its path, such as `kernel.lengthscale`.
    pub path: String,
    /// Its constrained values.
    pub values: Vec<f64>,
}

impl Hyperparameter {
    /// A hyperparameter with the given path and values.
    pub fn new(path: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            path: path.into(),
            values,
        }
    }

    /// The same hyperparameter seen from one level further up.
    pub fn within(mut self, prefix: &str) -> Self {
        self.path = format!("{prefix}.{}", self.path);
        self
    }
}

/// A vector of the given numbers.
pub fn vector(values: &[f64], options: impl Into<TensorCreationOptions>) -> Tensor<1> {
    Tensor::from_data(TensorData::from(values), options)
}

/// A tensor's values as numbers, row-major.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
