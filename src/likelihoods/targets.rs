//! Targets that are impossible under a likelihood.

use core::fmt;

use burn::tensor::{DType, Tensor, TensorData};

use crate::ops::first_not_finite;

/// A target value that is impossible under the likelihood.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "target {value}{} in row {row}, column {column} is not possible under the {likelihood} likelihood, which takes {expected}",
    Rounding(.rounded)
)]
pub struct ImpossibleTarget {
    /// The zero-based row.
    pub row: usize,
    /// The zero-based target column.
    pub column: usize,
    /// The value found.
    pub value: f64,
    /// The value after rounding and the name of the precision, if only the rounded value is
    /// impossible.
    pub rounded: Option<(f64, &'static str)>,
    /// The name of the likelihood.
    pub likelihood: &'static str,
    /// A description of the valid targets.
    pub expected: String,
}

struct Rounding<'a>(&'a Option<(f64, &'static str)>);

impl fmt::Display for Rounding<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((value, precision)) => write!(formatter, ", {value} in {precision},"),
            None => Ok(()),
        }
    }
}

/// Checks that all targets of a model with Gaussian noise are finite.
///
/// # Shapes
///
/// - `targets`: `[N, P]`
///
/// # Errors
///
/// [`ImpossibleTarget`] for the first value that is not finite.
pub fn check_finite(targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
    match first_not_finite(targets) {
        None => Ok(()),
        Some((row, column, value)) => Err(ImpossibleTarget {
            row,
            column,
            value,
            rounded: None,
            likelihood: "gaussian",
            expected: "finite numbers".into(),
        }),
    }
}

/// Rounds values to the given precision.
pub(super) fn in_precision(values: &[f64], precision: DType) -> Vec<f64> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    data.convert_dtype(precision).iter::<f64>().collect()
}
