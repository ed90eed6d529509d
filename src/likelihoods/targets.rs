//! Targets that a likelihood cannot take.

/// A target value that the likelihood gives no probability.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "target {value} in row {row}, column {column} is not possible under the {likelihood} likelihood, which takes {expected}"
)]
pub struct ImpossibleTarget {
    /// The row, counted from zero.
    pub row: usize,
    /// The column of the targets, counted from zero.
    pub column: usize,
    /// The value found.
    pub value: f64,
    /// The likelihood's name.
    pub likelihood: &'static str,
    /// What it takes.
    pub expected: String,
}
