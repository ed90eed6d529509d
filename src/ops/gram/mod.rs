//! Products of a matrix with its own transpose.

mod backward;
mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{Backend, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{cpu::triangular::Side, dispatch::dispatch};

/// Backend implementation of the products.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait GramOps: Backend {
    /// `AAᵀ`, [M, M], or `AᵀA`, [N, N], for the transposed side; one per batch member.
    fn gram(basis: FloatTensor<Self>, side: Side) -> FloatTensor<Self>;
}

/// Gradient of the products.
pub trait GramBackward: GramOps {
    /// The gradient of A: `(G + Gᵀ)·A`, or `A·(G + Gᵀ)`.
    fn gram_backward(
        basis: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self>;
}

/// The symmetric `A·Aᵀ`, at half the cost of a general matrix product.
///
/// # Shapes
///
/// - `basis` (A): `[…, M, N]`
/// - result: `[…, M, M]`
pub fn gram<const D: usize>(basis: Tensor<D>) -> Tensor<D> {
    product(basis, Side::Lower)
}

/// The symmetric `Aᵀ·A`, at half the cost of a general matrix product.
///
/// # Shapes
///
/// - `basis` (A): `[…, M, N]`
/// - result: `[…, N, N]`
pub fn transposed_gram<const D: usize>(basis: Tensor<D>) -> Tensor<D> {
    product(basis, Side::Transposed)
}

fn product<const D: usize>(basis: Tensor<D>, side: Side) -> Tensor<D> {
    dispatch!(GramOps::gram(basis; side))
}
