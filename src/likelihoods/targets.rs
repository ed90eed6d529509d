//! Targets that a likelihood cannot take.

use core::fmt;

use burn::tensor::{DType, Tensor, TensorData};

use crate::parameter::numbers;

/// A target value that the likelihood gives no probability.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "target {value}{} in row {row}, column {column} is not possible under the {likelihood} likelihood, which takes {expected}",
    Rounding(.rounded)
)]
pub struct ImpossibleTarget {
    /// The row, counted from zero.
    pub row: usize,
    /// The column of the targets, counted from zero.
    pub column: usize,
    /// The value found.
    pub value: f64,
    /// What the value is in the precision it is used in, where only that is impossible, and the name
    /// of the precision.
    pub rounded: Option<(f64, &'static str)>,
    /// The likelihood's name.
    pub likelihood: &'static str,
    /// What it takes.
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

/// Checks that all targets of a model with normal noise are finite.
///
/// # Shapes
///
/// - `targets`: `[N, P]`
///
/// # Errors
///
/// [`ImpossibleTarget`]: the first one that is not.
pub fn check_finite(targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
    let [_, columns] = targets.dims();
    let values = numbers(targets.clone());
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ImpossibleTarget {
            row: index / columns,
            column: index % columns,
            value: values[index],
            rounded: None,
            likelihood: "gaussian",
            expected: "finite numbers".into(),
        }),
    }
}

/// The numbers as a tensor of this type holds them.
pub(super) fn in_precision(values: &[f64], precision: DType) -> Vec<f64> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    data.convert_dtype(precision).iter::<f64>().collect()
}
