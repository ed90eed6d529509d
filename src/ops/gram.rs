//! Products of a matrix with its own transpose.

use burn::{backend::Dispatch, tensor::Tensor};

use super::{extension::LinearAlgebra, host::triangular::Side};

/// The symmetric `A·Aᵀ`, at half the cost of a product of two matrices.
///
/// # Shapes
///
/// - `basis` (A): `[…, M, N]`
/// - result: `[…, M, M]`
pub fn gram<const D: usize>(basis: Tensor<D>) -> Tensor<D> {
    product(basis, Side::Lower)
}

/// The symmetric `Aᵀ·A`, at half the cost of a product of two matrices.
///
/// # Shapes
///
/// - `basis` (A): `[…, M, N]`
/// - result: `[…, N, N]`
pub fn transposed_gram<const D: usize>(basis: Tensor<D>) -> Tensor<D> {
    product(basis, Side::Transposed)
}

fn product<const D: usize>(basis: Tensor<D>, side: Side) -> Tensor<D> {
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::gram(
        basis.into_dispatch(),
        side,
    ))
}
