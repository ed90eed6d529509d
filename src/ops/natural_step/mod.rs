//! The products of a natural-gradient step on a full covariance. They have no gradients.
//!
//! On the CPU they are operations on triangles; on GPUs they are composed of other operations.

mod cpu;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    CholeskyFactor, ExactMatmul,
    declaration::{dispatch, operations},
    is_on_cpu,
};

operations! {
    /// Backend implementation of the products.
    trait NaturalStepOps on cpu without autodiff {
        /// The lower triangles of `WᵀY`, [P, M, M]. The entries above the diagonal are unspecified.
        fn lower_of_transposed_product(lower, right) -> FloatTensor<Self>;

        /// The lower triangles of `J(I + γG)J`, from those of G.
        fn reversed_precision(curvature; step_size: f64) -> FloatTensor<Self>;

        /// `W·JR⁻ᵀJ`, zeros above the diagonal.
        fn solve_reversed(lower, factor) -> FloatTensor<Self>;
    }
}

/// The lower triangles of `WᵀY` for lower-triangular W and Y. Entries above the diagonals are ignored, and
/// unspecified in the result.
///
/// # Shapes
///
/// - `lower` (W), `right` (Y): `[P, M, M]`, without autodiff
pub(crate) fn lower_of_transposed_product(lower: Tensor<3>, right: Tensor<3>) -> Tensor<3> {
    if is_on_cpu(&lower) {
        return dispatch!(lower_of_transposed_product(lower, right));
    }
    lower
        .tril(0)
        .transpose()
        .exact_matmul(right.tril(0))
        .tril(0)
}

/// The lower triangles of `J(I + γG)J` with the reversal J of rows and columns, from those of a
/// symmetric G. The entries above the diagonal are unspecified.
///
/// # Shapes
///
/// - `curvature` (G): `[P, M, M]`, without autodiff
pub(crate) fn reversed_precision(curvature: Tensor<3>, step_size: f64) -> Tensor<3> {
    if is_on_cpu(&curvature) {
        return dispatch!(reversed_precision(curvature; step_size));
    }
    let size = curvature.dims()[1];
    let identity = Tensor::<2>::eye(size, &curvature.device()).cast(curvature.dtype());
    let precision = curvature * step_size + identity.unsqueeze();
    // The reversal swaps the triangles, hence the transpose.
    precision.transpose().flip([1, 2])
}

/// `W·JR⁻ᵀJ` for a lower-triangular W, whose entries above the diagonal are ignored, and a factor R. The
/// result is lower triangular, with zeros above the diagonal.
///
/// # Shapes
///
/// - `lower` (W): `[P, M, M]`, without autodiff, like the factor
pub(crate) fn solve_reversed(lower: Tensor<3>, factor: &CholeskyFactor<3>) -> Tensor<3> {
    if is_on_cpu(&lower) {
        let factor = factor.triangle.clone();
        return dispatch!(solve_reversed(lower, factor));
    }
    let rows = factor.solve(lower.tril(0).transpose().flip([1])); // R⁻¹JWᵀ
    rows.flip([1]).transpose().tril(0)
}
