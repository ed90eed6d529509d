//! Products of a matrix with its own transpose.

use burn::{backend::Dispatch, tensor::Tensor};

use super::extension::LinearAlgebra;

/// The symmetric `A·Aᵀ`, at half the cost of a product of two matrices.
///
/// # Shapes
///
/// - `basis` (A): `[M, N]`
/// - result: `[M, M]`
pub fn gram(basis: Tensor<2>) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::gram(basis.into_dispatch()))
}
