//! The remainder `B − AᵀX` of a matrix after a product is subtracted.

#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{TensorMetadata, tensor::FloatTensor},
    tensor::Tensor,
};
use faer::Accum;

use crate::ops::{
    backward::{record, split},
    cpu::{CpuMemory, map_members, matrix_dims, member, product, update_members, with_element},
    declaration::{dispatch, operations},
};

/// `B − AᵀX`. With `A = L⁻¹K_uv` and `X = L⁻¹K_uf` this is the covariance `B = K_vf` conditioned on
/// u.
///
/// # Shapes
///
/// - `matrix` (B): `[…, R, N]`, `left` (A): `[…, M, R]`, `right` (X): `[…, M, N]`
/// - result: `[…, R, N]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn subtract_product<const D: usize>(
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
        "subtract_product: matrix {b:?}, left {a:?}, right {x:?}; expected [..., R, N], [..., M, R], \
         [..., M, N]"
    );
    dispatch!(subtract_product(matrix, left, right))
}

operations! {
    /// Backend implementation of the remainder.
    trait SubtractProductOps on devices {
        /// `B − AᵀX`, [R, N] for A, [M, R], and X, [M, N]; or with a leading batch dimension.
        fn subtract_product(matrix, left, right) -> FloatTensor<Self> = like(matrix),
            {
                let ([matrix, left, right], nodes) = split::<B, C, _>([matrix, left, right]);
                let output = B::subtract_product(matrix, left.clone(), right.clone());
                record::<B, C, _, _>(nodes, [left, right], output, |factors, gradient, wanted| {
                    let [_, of_left, of_right] = wanted;
                    let [left, right] =
                        B::subtract_product_backward(factors, gradient.clone(), [of_left, of_right]);
                    [Some(gradient), left, right]
                })
            };
    } backward {
        /// The gradients of A, `−X·Gᵀ`, and of X, `−A·G`, each only if needed.
        fn subtract_product_backward([left, right], gradient; wanted: [bool; 2])
            -> [Option<FloatTensor<Self>>; 2] = wanted_of([left, right], wanted);
    }
}

impl<B: CpuMemory> SubtractProductOps for B {
    fn subtract_product(
        matrix: FloatTensor<B>,
        left: FloatTensor<B>,
        right: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let (_, inner, rows) = matrix_dims(&left.shape());
        let (_, _, columns) = matrix_dims(&right.shape());
        with_element!(matrix, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            update_members::<B, T>(matrix, |index, out| {
                let left = member(&lefts, index, inner, rows).transpose();
                let right = member(&rights, index, inner, columns);
                product(out, Accum::Add, left, right, -1.0);
            })
        })
    }

    fn subtract_product_backward(
        [left, right]: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        let (_, inner, rows) = matrix_dims(&left.shape());
        let (_, _, columns) = matrix_dims(&right.shape());
        with_element!(left, T => {
            let gradients = B::read::<T>(&gradient);
            let of_left = wanted[0].then(|| {
                let rights = B::read::<T>(&right);
                map_members::<B, T>(&left, |index, out| {
                    let gradient = member(&gradients, index, rows, columns).transpose();
                    let right = member(&rights, index, inner, columns);
                    product(out, Accum::Replace, right, gradient, -1.0);
                })
            });
            let of_right = wanted[1].then(|| {
                let lefts = B::read::<T>(&left);
                map_members::<B, T>(&right, |index, out| {
                    let gradient = member(&gradients, index, rows, columns);
                    let left = member(&lefts, index, inner, rows);
                    product(out, Accum::Replace, left, gradient, -1.0);
                })
            });
            [of_left, of_right]
        })
    }
}
