//! Weights of training rows.

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::ImpossibleTarget, ops::numbers};

/// The targets, `[N, T]`, and the weights, `[N]`, of which a matrix consists.
///
/// # Panics
///
/// If there is a single column.
#[track_caller]
pub fn split_weights(targets: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let [rows, columns] = targets.dims();
    assert!(
        columns > 1,
        "row weights: targets of shape [{rows}, {columns}]; expected the weights behind the targets"
    );
    let weights = targets.clone().narrow(1, columns - 1, 1);
    (targets.narrow(1, 0, columns - 1), weights.squeeze_dim(1))
}

/// Fails on the first weight that is negative or not finite. The weights are the target column of this
/// number.
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
