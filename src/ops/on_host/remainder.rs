//! `B − AᵀX` and its reverse.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::Accum;

use super::{map_members, member, update_members};
use crate::ops::{
    host::{scalar::Scalar, triangular::product},
    host_access::{HostAccess, matrix_dims, with_element},
};

pub(super) fn forward<B: HostAccess>(
    matrix: FloatTensor<B>,
    left: FloatTensor<B>,
    right: FloatTensor<B>,
) -> FloatTensor<B> {
    if !B::IN_PLACE {
        return B::float_sub(matrix, B::float_matmul(B::float_transpose(left), right));
    }
    let (_, inner, rows) = matrix_dims(&left.shape());
    let (_, _, columns) = matrix_dims(&right.shape());
    with_element!(matrix, T => {
        let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
        update_members::<B, T>(matrix, |index, out| {
            let left = member(&lefts, index, inner, rows).transpose();
            let right = member(&rights, index, inner, columns);
            product(out, Accum::Add, left, right, <T as Scalar>::from_f64(-1.0));
        })
    })
}

/// The gradients of A, `−X·Gᵀ`, and of X, `−A·G`, each if it is wanted.
pub(super) fn reverse<B: HostAccess>(
    [left, right]: [FloatTensor<B>; 2],
    gradient: FloatTensor<B>,
    wanted: [bool; 2],
) -> [Option<FloatTensor<B>>; 2] {
    if !B::IN_PLACE {
        let transposed = B::float_transpose(gradient.clone());
        let of_left = wanted[0].then(|| B::float_neg(B::float_matmul(right, transposed)));
        return [
            of_left,
            wanted[1].then(|| B::float_neg(B::float_matmul(left, gradient))),
        ];
    }
    let (_, inner, rows) = matrix_dims(&left.shape());
    let (_, _, columns) = matrix_dims(&right.shape());
    with_element!(left, T => {
        let gradients = B::read::<T>(&gradient);
        let minus = <T as Scalar>::from_f64(-1.0);
        let of_left = wanted[0].then(|| {
            let rights = B::read::<T>(&right);
            map_members::<B, T>(&left, |index, out| {
                let gradient = member(&gradients, index, rows, columns).transpose();
                let right = member(&rights, index, inner, columns);
                product(out, Accum::Replace, right, gradient, minus);
            })
        });
        let of_right = wanted[1].then(|| {
            let lefts = B::read::<T>(&left);
            map_members::<B, T>(&right, |index, out| {
                let gradient = member(&gradients, index, rows, columns);
                let left = member(&lefts, index, inner, rows);
                product(out, Accum::Replace, left, gradient, minus);
            })
        });
        [of_left, of_right]
    })
}
