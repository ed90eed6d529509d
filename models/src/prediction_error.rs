//! Errors of prediction and scoring.

use burn_gp_core::{
    inference::ConditionError, likelihoods::ImpossibleTarget, ops::NotPositiveDefinite,
};

/// The reason why rows cannot be predicted or scored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PredictionError {
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// An input that the model is conditioned on is NaN or infinite.
    #[error("input {value} in row {row}, column {column} is not a finite number")]
    Input {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A covariance matrix cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
}

impl From<ConditionError> for PredictionError {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Input { row, column, value } => Self::Input { row, column, value },
            ConditionError::Target(impossible) => Self::Target(impossible),
            ConditionError::Factorization(error) => Self::Factorization(error),
        }
    }
}
