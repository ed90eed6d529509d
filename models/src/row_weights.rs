//! Weights of training rows.

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::ImpossibleTarget, ops::numbers};

/// Splits off the last column as weights: the targets, `[N, T]`, and the weights, `[N]`.
///
/// # Panics
///
/// If there is a single column.
#[track_caller]
pub fn split_weights(targets: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let [rows, columns] = targets.dims();
    assert!(
        columns > 1,
        "row weights: targets of shape [{rows}, {columns}]; expected a column of weights after the targets"
    );
    let weights = targets.clone().narrow(1, columns - 1, 1);
    (targets.narrow(1, 0, columns - 1), weights.squeeze_dim(1))
}

/// Fails on the first weight that is negative or not finite. `column` is the position of the weights
/// among the target columns.
pub fn check_weights(weights: Tensor<1>, column: usize) -> Result<(), ImpossibleTarget> {
    let weights = numbers(weights);
    let is_wrong = |weight: &f64| !(weight.is_finite() && *weight >= 0.0);
    match weights.iter().position(is_wrong) {
        None => Ok(()),
        Some(row) => Err(ImpossibleTarget {
            row,
            column,
            value: weights[row],
            likelihood: "weighted",
            expected: "weights that are not negative".into(),
            rounded: None,
        }),
    }
}
