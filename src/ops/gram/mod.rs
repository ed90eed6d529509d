//! Products of a matrix with its own transpose.

mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    cpu::triangular::Side,
    declaration::{dispatch, operations},
};

operations! {
    /// Backend implementation of the products.
    trait GramOps on devices {
        /// `AAᵀ`, [M, M], or `AᵀA`, [N, N], for the transposed side; one per batch member.
        fn gram(basis; side: Side) -> FloatTensor<Self> = {
                let size = match side {
                    Side::Lower => rows(basis),
                    Side::Transposed => columns(basis),
                };
                matrices(basis, size, size)
            },
            |gradient, _| [Some(B::gram_backward(basis, gradient, side))];
    } backward {
        /// The gradient of A: `(G + Gᵀ)·A`, or `A·(G + Gᵀ)`.
        fn gram_backward(basis, gradient; side: Side) -> FloatTensor<Self> = like(basis);
    }
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
    dispatch!(gram(basis; side))
}
