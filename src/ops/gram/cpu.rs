//! `AAᵀ` and `AᵀA` on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::GramOps;
use crate::ops::cpu::{
    CpuMemory, Element, Side, in_parts, lower_product, map_members, matrix_dims, member,
    member_mut, mirror_lower, product, threads, transpose_into, with_element, with_matrix_dims,
    write,
};

/// Matrix size from which two threads are faster than one at adding its transpose.
const PARALLEL_FROM: usize = 1 << 16;

impl<B: CpuMemory> GramOps for B {
    fn gram(basis: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        let (batch, rows, columns) = matrix_dims(&basis.shape());
        let size = match side {
            Side::Lower => rows,
            Side::Transposed => columns,
        };
        let shape = with_matrix_dims(basis.shape(), size, size);
        with_element!(basis, T => {
            let values = B::read::<T>(&basis);
            let mut out = vec![T::default(); batch * size * size];
            for index in 0..batch {
                let basis = member(&values, index, rows, columns);
                let left = match side {
                    Side::Lower => basis,
                    Side::Transposed => basis.transpose(),
                };
                let mut target = member_mut(&mut out, index, size, size);
                lower_product(target.rb_mut(), Accum::Replace, left, left.transpose(), 1.0);
                mirror_lower(target);
            }
            write::<B, T>(out, shape, &basis.device())
        })
    }

    fn gram_backward(
        basis: FloatTensor<B>,
        gradient: FloatTensor<B>,
        side: Side,
    ) -> FloatTensor<B> {
        let (_, rows, columns) = matrix_dims(&basis.shape());
        let (_, size, _) = matrix_dims(&gradient.shape());
        with_element!(basis, T => {
            let (values, gradients) = (B::read::<T>(&basis), B::read::<T>(&gradient));
            map_members::<B, T>(&basis, |index, out| {
                let gradient = &gradients[index * size * size..][..size * size];
                let symmetric = with_transpose(gradient, size);
                let symmetric = member(&symmetric, 0, size, size);
                let basis = member(&values, index, rows, columns);
                let (left, right) = match side {
                    Side::Lower => (symmetric, basis),
                    Side::Transposed => (basis, symmetric),
                };
                product(out, Accum::Replace, left, right, 1.0);
            })
        })
    }
}

/// `G + Gᵀ`
fn with_transpose<T: Element>(gradient: &[T], size: usize) -> Vec<T> {
    let whole = MatRef::from_row_major_slice(gradient, size, size);
    let mut sum = vec![T::default(); size * size];
    let parts = threads::count_for(sum.len(), PARALLEL_FROM);
    in_parts(&mut sum, size, parts, &|rows, first| {
        let count = rows.len() / size.max(1);
        let part = MatMut::from_row_major_slice_mut(rows, count, size);
        transpose_into(whole.subcols(first, count), part);
        for (sum, &entry) in rows.iter_mut().zip(&gradient[first * size..]) {
            *sum += entry;
        }
    });
    sum
}
