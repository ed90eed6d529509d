//! Degrees of freedom above 2, parameterized without constraints.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::{numbers, positive, vector};

/// The degrees of freedom above which a Student-t distribution has a variance.
pub(super) const FEWEST: f64 = 2.0;

/// A vector of degrees of freedom, `2 + 10⁻⁶ + softplus(raw)` with `raw` trained. A Student-t
/// distribution has a finite variance only above 2.
#[derive(Module, Debug)]
pub struct DegreesOfFreedom {
    raw: Param<Tensor<1>>,
}

impl DegreesOfFreedom {
    /// The lower bound. It keeps the variance of a Student-t distribution, `ν/(ν − 2)`, finite in single
    /// precision.
    pub const LOWER_BOUND: f64 = FEWEST + positive::LOWER_BOUND;

    /// Starts at the given values.
    ///
    /// # Panics
    ///
    /// If a value is not finite, or not above [`LOWER_BOUND`](Self::LOWER_BOUND).
    #[track_caller]
    pub fn new(values: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        assert!(
            values
                .iter()
                .all(|&value| value > Self::LOWER_BOUND && value.is_finite()),
            "degrees of freedom must be finite and above {}, got {values:?}",
            Self::LOWER_BOUND
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

/// Maps the stored numbers `raw` of [`DegreesOfFreedom`] to its values.
pub(super) fn constrained(raw: Tensor<1>) -> Tensor<1> {
    positive::constrained(raw) + FEWEST
}

/// Like [`constrained`], for a single number.
pub(super) fn constrained_number(raw: f64) -> f64 {
    positive::constrained_number(raw, 1.0) + FEWEST
}

/// The stored number for a value above the lower bound in [`DegreesOfFreedom`].
pub(super) fn unconstrained(value: f64) -> f64 {
    positive::unconstrained(value - FEWEST, 1.0)
}
