//! Box-shaped domains.

use serde::{Deserialize, Serialize};

/// A box in D dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Bounds that do not define a box.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("each upper bound must exceed its lower bound; found {lower:?} and {upper:?}")]
pub struct DomainError {
    /// The lower bounds.
    pub lower: Vec<f64>,
    /// The upper bounds.
    pub upper: Vec<f64>,
}

impl Domain {
    /// Creates the box between the lower and upper bounds, one of each per dimension.
    ///
    /// # Errors
    ///
    /// [`DomainError`], unless all bounds are finite and every upper bound is above the lower one.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, DomainError> {
        let sound = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && a < b;
        let same = !lower.is_empty() && lower.len() == upper.len();
        if same && lower.iter().zip(&upper).all(sound) {
            Ok(Self { lower, upper })
        } else {
            Err(DomainError { lower, upper })
        }
    }

    /// The number of dimensions, D.
    pub fn dimensions(&self) -> usize {
        self.lower.len()
    }

    /// The volume.
    pub fn volume(&self) -> f64 {
        self.sides().map(|(lower, upper)| upper - lower).product()
    }

    /// The lower and upper bound of every dimension.
    pub fn sides(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lower.iter().copied().zip(self.upper.iter().copied())
    }
}
