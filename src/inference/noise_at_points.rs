//! Kernels with noise at every point.

use burn::tensor::{DType, Tensor};

use crate::{kernels::KernelModule, ops::number};

/// Whether the variance of the value at a point differs from the covariance of two values there, as it does for the white
/// kernel and sums with it.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
pub(super) fn has_noise_at_points(kernel: &impl KernelModule, inputs: Tensor<2>) -> bool {
    // Rounding of squared distances moves the covariance.
    let tolerance = match inputs.dtype() {
        DType::F64 => 1e-9,
        _ => 1e-5,
    };
    let inputs = inputs.without_autodiff();
    let variance = kernel.diagonal_at(inputs.clone());
    // Each point by itself: N pairs of sets of one point.
    let points = inputs.unsqueeze_dim::<3>(1); // [N, 1, D]
    let covariance = kernel.covariance(points.clone(), points).flatten::<1>(0, 2); // [N]
    let excess = (variance.clone() - covariance).abs() - variance.abs() * tolerance;
    number(excess.max()) > 0.0
}
