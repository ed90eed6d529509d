//! Why rows cannot be divided into parts.

use crate::counted::{agreeing, counted};

/// Rows cannot be divided into training, validation and test rows. The message is one sentence that
/// says what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A fraction is not strictly between 0 and 1.
    #[error("the {part} fraction is {value} but must lie between 0 and 1, both excluded; try 0.1")]
    Fraction {
        /// `test`, `validation`, ….
        part: &'static str,
        /// The given fraction.
        value: f64,
    },
    /// Rounding left a part without rows.
    #[error(
        "{} {} too few: a {divided} fraction of {fraction} leaves no {part} rows; choose another fraction or give more rows",
        counted(*.rows, "row"),
        agreeing(*.rows, ["is", "are"])
    )]
    EmptyPart {
        /// The number of rows to split.
        rows: usize,
        /// The empty part.
        part: &'static str,
        /// The part whose fraction caused this.
        divided: &'static str,
        /// The fraction of that part.
        fraction: f64,
    },
    /// There are fewer rows with different inputs, or groups, than folds.
    #[error(
        "{folds} folds need at least {folds} rows with different inputs, or groups, but there {} {found}; choose fewer folds or give more rows",
        agreeing(*.found, ["is", "are"])
    )]
    TooManyFolds {
        /// The number of folds.
        folds: usize,
        /// The number of rows with different inputs, or of groups.
        found: usize,
    },
    /// All rows have equal inputs and cannot be split.
    #[error(
        "all {rows} rows have the same inputs, so they cannot be divided into training and {part} rows; give data whose inputs differ"
    )]
    SameInputs {
        /// The number of rows to split.
        rows: usize,
        /// `test` or `validation`.
        part: &'static str,
    },
    /// All rows have the same time.
    #[error(
        "all {0} rows have the same time, so they cannot be split by time; choose another column"
    )]
    SameTimes(usize),
}
