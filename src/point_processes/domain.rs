//! Boxes.

use serde::{Deserialize, Serialize};

/// A box in D dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Ends that are none of a box.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("no box lies between {lower:?} and {upper:?}: every upper end must be above the lower one")]
pub struct DomainError {
    /// The lower ends.
    pub lower: Vec<f64>,
    /// The upper ends.
    pub upper: Vec<f64>,
}

impl Domain {
    /// The box between lower and upper ends, one of each a dimension.
    ///
    /// # Errors
    ///
    /// [`DomainError`], unless every upper end is above the lower one, both finite.
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

    /// Lower and upper end of every dimension.
    pub fn sides(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lower.iter().copied().zip(self.upper.iter().copied())
    }
}
