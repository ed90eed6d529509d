//! Weights and known noise of training rows.

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::ImpossibleTarget, ops::numbers};

/// Fails on the first value of a row, such as its weight, that is negative or not finite. `column` is the position of the
/// values among the target columns.
pub fn check_not_negative(
    values: Tensor<1>,
    column: usize,
    (likelihood, what): (&'static str, &str),
) -> Result<(), ImpossibleTarget> {
    let values = numbers(values);
    let is_wrong = |value: &f64| !(value.is_finite() && *value >= 0.0);
    match values.iter().position(is_wrong) {
        None => Ok(()),
        Some(row) => Err(ImpossibleTarget {
            row,
            column,
            value: values[row],
            likelihood,
            expected: format!("{what} that are not negative"),
            rounded: None,
        }),
    }
}
