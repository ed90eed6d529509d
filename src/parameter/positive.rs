//! Positive values behind an unconstrained parameter.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::{numbers, vector};
use crate::ops::{
    host::special::{self, softplus_inverse},
    softplus,
};

/// The smallest value of a positive hyperparameter.
pub const LOWER_BOUND: f64 = 1e-6;

/// A vector of positive hyperparameters, `lower bound + softplus(raw)` with `raw` trained.
#[derive(Module, Debug)]
pub struct Positive {
    raw: Param<Tensor<1>>,
    #[module(skip)]
    repeats: usize,
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
        let raw: Vec<f64> = values.iter().copied().map(unconstrained).collect();
        Self {
            raw: Param::from_tensor(vector(&raw, options)),
            repeats: 1,
        }
    }

    /// The same parameters, standing for `repeats` blocks of equal values. A single value stands
    /// for any number of them as it is.
    pub fn repeated(mut self, repeats: usize) -> Self {
        let [count] = self.raw.lazy_shape().dims();
        if count > 1 {
            self.repeats *= repeats;
        }
        self
    }

    /// The constrained values, tracked by autodiff.
    pub fn value(&self) -> Tensor<1> {
        let values = constrained(self.raw.val());
        if self.repeats == 1 {
            values
        } else {
            values.repeat(&[self.repeats])
        }
    }

    /// How many values there are, repetitions included.
    pub(crate) fn count(&self) -> usize {
        let [count] = self.raw.lazy_shape().dims();
        count * self.repeats
    }

    /// The constrained values as numbers, one for each of `count` dimensions: a single value stands for
    /// all of them.
    pub(crate) fn for_each(&self, count: usize) -> Vec<f64> {
        match self.to_vec() {
            values if values.len() == 1 => vec![values[0]; count],
            values => values,
        }
    }

    /// The constrained values as numbers.
    pub fn to_vec(&self) -> Vec<f64> {
        numbers(self.value())
    }
}

/// The values that the numbers `raw` of a [`Positive`] stand for.
pub(super) fn constrained(raw: Tensor<1>) -> Tensor<1> {
    softplus(raw).add_scalar(LOWER_BOUND)
}

/// As [`constrained`], for one number.
pub(super) fn constrained_number(raw: f64) -> f64 {
    special::softplus(raw).0 + LOWER_BOUND
}

/// The number that stands for a value above [`LOWER_BOUND`] in a [`Positive`].
pub(super) fn unconstrained(value: f64) -> f64 {
    softplus_inverse(value - LOWER_BOUND)
}
