//! Squared distances for kernels without a fused operation.

use burn::tensor::Tensor;

/// `Σ_d (x_d − x′_d)²`, summed over the differences. It is exactly zero at coincident points and
/// avoids the cancellation of `‖x‖² + ‖x′‖² − 2xᵀx′`.
///
/// # Shapes
///
/// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
/// - result: `[N1, N2]`
#[track_caller]
pub(super) fn squared_distances(x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
    let ([rows, d1], [columns, d2]) = (x1.dims(), x2.dims());
    assert!(
        d1 == d2,
        "points with {d1} and {d2} dimensions; expected equally many"
    );
    let zeros = Tensor::zeros([rows, columns], (&x1.device(), x1.dtype()));
    (0..d1).fold(zeros, |sum, d| {
        sum + differences(x1.clone(), x2.clone(), d).square()
    })
}

/// `x_d − x′_d`, `[N1, N2]`.
pub(super) fn differences(x1: Tensor<2>, x2: Tensor<2>, d: usize) -> Tensor<2> {
    x1.narrow(1, d, 1) - x2.narrow(1, d, 1).transpose()
}
