//! Errors of new and removed observations.

use super::ConditionError;

/// The reason why a process does not take new observations, or does not give up old ones.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UpdateError {
    /// A row is earlier than the last observation of a [`MarkovFilter`](super::MarkovFilter).
    #[error(
        "the time {time} of row {row} is before {last}, that of the last observation; condition the model on all rows \
         again"
    )]
    Earlier {
        /// The zero-based row.
        row: usize,
        /// Its time.
        time: f64,
        /// The time of the last observation.
        last: f64,
    },
    /// The noise variance of a row is not a positive number.
    #[error("the noise variance of row {row} is {variance}; expected a positive number")]
    Noise {
        /// The zero-based row.
        row: usize,
        /// The variance.
        variance: f64,
    },
    /// The process is conditioned on other variables than the values of rows.
    #[error(
        "the process is not conditioned on the values of single rows; condition the model on all rows again"
    )]
    NoRows,
    /// An input or a target is not finite, or a matrix or a variance is not positive.
    #[error(transparent)]
    Condition(#[from] ConditionError),
}

impl From<crate::ops::NotPositiveDefinite> for UpdateError {
    fn from(error: crate::ops::NotPositiveDefinite) -> Self {
        Self::Condition(error.into())
    }
}
