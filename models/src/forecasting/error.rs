//! Reasons why a series has no forecast.

use burn_gp_core::{inference::ConditionError, ops::StateSpaceError};

use crate::{InitError, training::TrainingError};

/// A reason why a series has no forecast.
#[derive(Debug, thiserror::Error)]
pub enum ForecastError {
    /// A time or a value is not finite.
    #[error("the value {value} at time {time} is not finite")]
    NotFinite {
        /// The time.
        time: f64,
        /// The value.
        value: f64,
    },
    /// There are no values.
    #[error("the series has no values")]
    Empty,
    /// There are too few values for a model.
    #[error("the length of the series is {found}; a model needs at least {needed}")]
    TooShort {
        /// The number of values.
        found: usize,
        /// The number that a model needs.
        needed: usize,
    },
    /// All values are equal.
    #[error("all values of the series are {value}; there is nothing to learn")]
    Constant {
        /// The value.
        value: f64,
    },
    /// A logarithm of a value that is not positive.
    #[error("the logarithm needs positive values, but the series contains {value}")]
    NotPositive {
        /// The value.
        value: f64,
    },
    /// A covariate has two values at one time.
    #[error("{covariate} has two values at time {time}")]
    TwoValues {
        /// The name.
        covariate: String,
        /// The time, in steps.
        time: f64,
    },
    /// A covariate has no value where the model needs one.
    #[error("{covariate} has no value at time {time}")]
    Unknown {
        /// The name.
        covariate: String,
        /// The time, in steps.
        time: f64,
    },
    /// The model cannot be made.
    #[error(transparent)]
    Init(#[from] InitError),
    /// Training failed.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The filter failed.
    #[error(transparent)]
    Filter(#[from] StateSpaceError),
    /// The trained model has no predictions.
    #[error(transparent)]
    Condition(#[from] ConditionError),
}
