//! Inducing points from a random subset of the inputs.

use burn::tensor::Tensor;

use super::initializer::{Candidates, SelectionError};

/// Selects `count` distinct rows of `inputs` uniformly at random.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
/// - result: `[M, D]`
///
/// # Errors
///
/// [`SelectionError`] when there are fewer than `count` distinct inputs.
pub fn subset(inputs: Tensor<2>, count: usize, seed: u64) -> Result<Tensor<2>, SelectionError> {
    let candidates = Candidates::new(&inputs, count, seed)?;
    Ok(candidates.points(&candidates.distinct[..count], &inputs))
}
