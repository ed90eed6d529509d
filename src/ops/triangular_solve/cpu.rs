//! Triangular solves on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, prelude::ReborrowMut};

use super::{TriangleSolveBackward, TriangleSolveOps, TriangularSolveBackward, TriangularSolveOps};
use crate::ops::{
    cpu::{
        CpuMemory, Scalar, Side, add_lower_product_of_triangles, copy_lower, lower_product,
        map_members, matrix_dims, member, member_mut, on_threads, solve_for_lower, solve_in_place,
        threads, update_members, with_element, write,
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
}

impl<B: CpuMemory> TriangularSolveBackward for B {
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

impl<B: CpuMemory> TriangleSolveOps for B {
    fn factor_solve_triangle(factor: FloatTensor<B>, triangle: FloatTensor<B>) -> FloatTensor<B> {
        count_decomposition();
        with_element!(factor, T => {
            let (factors, triangles) = (B::read::<T>(&factor), B::read::<T>(&triangle));
            map_members::<B, T>(&triangle, |index, mut out| {
                let size = out.nrows();
                let [factor, given] = [&factors, &triangles].map(|all| member(all, index, size, size));
                on_threads(size * size * size / 6, || {
                    copy_lower(given, out.rb_mut());
                    solve_for_lower(factor, out);
                });
            })
        })
    }
}

impl<B: CpuMemory> TriangleSolveBackward for B {
    fn negative_product_of_triangles(
        gradient: FloatTensor<B>,
        solution: FloatTensor<B>,
    ) -> FloatTensor<B> {
        with_element!(gradient, T => {
            let (gradients, solutions) = (B::read::<T>(&gradient), B::read::<T>(&solution));
            let minus = <T as Scalar>::from_f64(-1.0);
            map_members::<B, T>(&gradient, |index, out| {
                let size = out.nrows();
                let [left, right] = [&gradients, &solutions].map(|all| member(all, index, size, size));
                on_threads(size * size * size / 6, || {
                    add_lower_product_of_triangles(left, right, out, minus);
                });
            })
        })
    }
}
