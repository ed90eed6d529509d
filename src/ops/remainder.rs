//! What a product leaves of a matrix.

use burn::{backend::Dispatch, tensor::Tensor};

use super::extension::LinearAlgebra;

/// `B − AᵀX`: with `A = L⁻¹K_uv` and `X = L⁻¹K_uf` what u leaves of the covariance `B = K_vf`.
///
/// # Shapes
///
/// - `matrix` (B): `[…, R, N]`, `left` (A): `[…, M, R]`, `right` (X): `[…, M, N]`
/// - result: `[…, R, N]`
///
/// # Panics
///
/// If the shapes do not fit together.
#[track_caller]
pub fn remainder<const D: usize>(
    matrix: Tensor<D>,
    left: Tensor<D>,
    right: Tensor<D>,
) -> Tensor<D> {
    let (b, a, x) = (matrix.dims(), left.dims(), right.dims());
    let fits = D >= 2
        && [a[D - 1], x[D - 1]] == b[D - 2..]
        && a[D - 2] == x[D - 2]
        && a[..D - 2] == b[..D - 2]
        && x[..D - 2] == b[..D - 2];
    assert!(
        fits,
        "remainder: matrix {b:?}, left {a:?}, right {x:?}; expected [..., R, N], [..., M, R], \
         [..., M, N]"
    );
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::remainder(
        matrix.into_dispatch(),
        left.into_dispatch(),
        right.into_dispatch(),
    ))
}
