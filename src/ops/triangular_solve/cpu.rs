//! Triangular solves on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::Accum;

use super::TriangularSolveOps;
use crate::ops::{
    cpu::{
        CpuMemory, Side, lower_product, matrix_dims, member, member_mut, solve_in_place, threads,
        update_members, with_element, write,
    },
    decompositions::count_decomposition,
};

impl<B: CpuMemory> TriangularSolveOps for B {
    fn factor_solve(factor: FloatTensor<B>, rhs: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        count_decomposition();
        with_element!(factor, T => {
            let factors = B::read::<T>(&factor);
            update_members::<B, T>(rhs, |index, out| {
                let size = out.nrows();
                solve_in_place(member(&factors, index, size, size), side, out);
            })
        })
    }

    fn negative_lower_product(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        let mut shape = left.shape();
        let rank = shape.num_dims();
        let (batch, size, inner) = matrix_dims(&shape);
        shape.as_mut_slice()[rank - 1] = size;
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            let mut out: Vec<T> = threads::zeros(batch * size * size);
            for index in 0..batch {
                lower_product(
                    member_mut(&mut out, index, size, size),
                    Accum::Replace,
                    member(&lefts, index, size, inner),
                    member(&rights, index, size, inner).transpose(),
                    -1.0,
                );
            }
            write::<B, T>(out, shape, &left.device())
        })
    }
}
