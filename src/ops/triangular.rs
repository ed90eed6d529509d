//! Products with triangular matrices.

use burn::{backend::Dispatch, tensor::Tensor};

use super::{extension::LinearAlgebra, host::triangular::Side};

/// `L·B` for a lower-triangular L, at half the cost of a full product.
///
/// Only the lower triangle of L receives a gradient.
///
/// # Shapes
///
/// - `lower` (L): `[…, M, M]`, zeros above the diagonal
/// - `rhs` (B): `[…, M, N]`, batch dimensions as those of L
///
/// # Panics
///
/// If the shapes do not fit together.
#[track_caller]
pub fn triangular_product<const D: usize>(lower: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    product(lower, rhs, Side::Lower)
}

/// `Lᵀ·B`; all else as in [`triangular_product`].
#[track_caller]
pub fn transposed_triangular_product<const D: usize>(
    lower: Tensor<D>,
    rhs: Tensor<D>,
) -> Tensor<D> {
    product(lower, rhs, Side::Transposed)
}

#[track_caller]
fn product<const D: usize>(lower: Tensor<D>, rhs: Tensor<D>, side: Side) -> Tensor<D> {
    let (triangle, given) = (lower.dims(), rhs.dims());
    assert!(
        D >= 2 && triangle[D - 2] == triangle[D - 1] && triangle[..D - 1] == given[..D - 1],
        "triangular_product: triangle {triangle:?}, right-hand side {given:?}; expected \
         [..., M, M] and [..., M, N]"
    );
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::triangular_product(
        lower.into_dispatch(),
        rhs.into_dispatch(),
        side,
    ))
}
