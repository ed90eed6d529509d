//! A column that says more about each target.

use serde::{Deserialize, Serialize};

/// What a column besides the target says about each target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Companion {
    /// The standard deviation of all its noise, which is positive.
    Noise,
    /// The standard deviation of its known noise besides noise that is trained, not negative.
    RowNoise,
    /// The number of trials, of which the target counts the successes.
    Trials,
    /// The upper limit of the interval that holds it; the target is the lower one.
    Upper,
}

impl Companion {
    /// The word for it in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise | Self::RowNoise => "noise",
            Self::Trials => "trials",
            Self::Upper => "upper limit",
        }
    }
}

/// The column with the [`Companion`] of each target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionColumn {
    /// What the column says.
    pub kind: Companion,
    /// The name of the column; that of its kind if the source has no names.
    pub name: String,
    /// The position among all columns of the source, from 0.
    pub position: usize,
}
