//! Weights and known noise of training rows.

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::ImpossibleTarget, ops::numbers};

/// Splits off the last column if rows have a value there, such as their weight: the targets, `[N, T]`, and the values,
/// `[N]`.
///
/// # Panics
///
/// If there is a single column.
#[track_caller]
pub fn split_last(
    targets: Tensor<2>,
    has_values: bool,
    what: &str,
) -> (Tensor<2>, Option<Tensor<1>>) {
    if !has_values {
        return (targets, None);
    }
    let [rows, columns] = targets.dims();
    assert!(
        columns > 1,
        "row {what}: targets of shape [{rows}, {columns}]; expected a column of {what} after the targets"
    );
    let values = targets.clone().narrow(1, columns - 1, 1);
    (
        targets.narrow(1, 0, columns - 1),
        Some(values.squeeze_dim(1)),
    )
}

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
