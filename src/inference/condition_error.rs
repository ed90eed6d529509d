//! Errors of conditioning on data.

use burn::tensor::Tensor;

use crate::{
    likelihoods::{ImpossibleTarget, check_finite},
    ops::{NotPositiveDefinite, first_not_finite},
};

/// The reason why there is no process given the data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// An input is NaN or infinite.
    #[error("input {value} in row {row}, column {column} is not a finite number")]
    Input {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A target is NaN or infinite.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// A covariance matrix cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
}

impl ConditionError {
    /// Checks that inputs, `[N, D]`, are finite.
    ///
    /// # Errors
    ///
    /// [`ConditionError::Input`] for the first that is not.
    pub fn check_inputs(inputs: &Tensor<2>) -> Result<(), Self> {
        match first_not_finite(inputs) {
            None => Ok(()),
            Some((row, column, value)) => Err(Self::Input { row, column, value }),
        }
    }

    /// Checks that inputs, `[N, D]`, and targets, `[N, P]`, are finite.
    ///
    /// # Errors
    ///
    /// When one is not.
    pub fn check(inputs: &Tensor<2>, targets: &Tensor<2>) -> Result<(), Self> {
        Self::check_inputs(inputs)?;
        Ok(check_finite(targets)?)
    }
}
