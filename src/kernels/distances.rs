//! Squared distances for kernels without a fused operation.

use burn::tensor::Tensor;

use super::points::covariance_shape;

/// `Σ_d (x_d − x′_d)²`, summed over the differences. It is exactly zero at coincident points and
/// avoids the cancellation of `‖x‖² + ‖x′‖² − 2xᵀx′`.
///
/// # Shapes
///
/// - `x1`: `[B, N1, D]`, `x2`: `[B, N2, D]`, or one set of points for all
/// - result: `[B, N1, N2]`
#[track_caller]
pub(super) fn squared_distances(x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
    let [_, _, dimensions] = x1.dims();
    let zeros = Tensor::zeros(covariance_shape(&x1, &x2), (&x1.device(), x1.dtype()));
    (0..dimensions).fold(zeros, |sum, d| {
        sum + differences(x1.clone(), x2.clone(), d).square()
    })
}

/// `x_d − x′_d`, `[B, N1, N2]`.
pub(super) fn differences(x1: Tensor<3>, x2: Tensor<3>, d: usize) -> Tensor<3> {
    x1.narrow(2, d, 1) - x2.narrow(2, d, 1).transpose()
}
