//! Values between 0 and 1, parameterized without constraints.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::{numbers, vector};
use crate::ops::{sigmoid, special::functions::softplus};

/// A vector of hyperparameters between 0 and 1, `1/(1 + e^{−raw})` with `raw` trained.
#[derive(Module, Debug)]
pub struct Fraction {
    raw: Param<Tensor<1>>,
}

impl Fraction {
    /// The bounds of a value.
    pub(crate) const RANGE: (f64, f64) = (0.0, 1.0);

    /// Starts at the given values.
    ///
    /// # Panics
    ///
    /// If a value does not lie between 0 and 1.
    #[track_caller]
    pub fn new(values: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        assert!(
            values.iter().all(|&value| value > 0.0 && value < 1.0),
            "fractions must lie between 0 and 1, got {values:?}"
        );
        let raw: Vec<f64> = values.iter().copied().map(unconstrained).collect();
        Self {
            raw: Param::from_tensor(vector(&raw, options)),
        }
    }

    /// The constrained values, tracked by autodiff.
    pub fn value(&self) -> Tensor<1> {
        constrained(self.raw.val())
    }

    /// The constrained values as numbers.
    pub fn to_vec(&self) -> Vec<f64> {
        numbers(self.value())
    }
}

/// Maps the stored numbers `raw` of a [`Fraction`] to its values.
pub(super) fn constrained(raw: Tensor<1>) -> Tensor<1> {
    sigmoid(raw)
}

/// Like [`constrained`], for a single number.
pub(super) fn constrained_number(raw: f64) -> f64 {
    (-softplus(-raw).0).exp()
}

/// The stored number for a value between 0 and 1 in a [`Fraction`].
pub(super) fn unconstrained(value: f64) -> f64 {
    (value / (1.0 - value)).ln()
}
