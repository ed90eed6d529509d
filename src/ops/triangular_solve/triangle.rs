//! Solves for triangles on the CPU. On GPUs they are solves for full matrices.

use burn::{backend::tensor::FloatTensor, tensor::Tensor};
use faer::prelude::ReborrowMut;

use crate::ops::{
    backward::{record, split},
    cholesky::CholeskyOps,
    cpu::{
        CpuMemory, Scalar, add_lower_product_of_triangles, copy_lower, map_members, member,
        on_threads, solve_for_lower, with_element,
    },
    declaration::{dispatch, operations},
    decompositions::count_decomposition,
};

operations! {
    /// Backend implementation of the solves.
    trait TriangleSolveOps: CholeskyOps on cpu {
        /// `X = L⁻¹W` for the lower triangle W of a matrix, zeros above the diagonal. The gradients are the lower
        /// triangles of `W̄ = L⁻ᵀX̄` and `LᵀL̄ = −X̄Xᵀ`.
        fn factor_solve_triangle(factor, triangle) -> FloatTensor<Self>,
            {
                let ([factor, triangle], nodes) = split::<B, C, _>([factor, triangle]);
                let solution = B::factor_solve_triangle(factor.clone(), triangle);
                let state = (factor, solution.clone());
                record::<B, C, _, _>(nodes, state, solution, |state, gradient, wanted: [bool; 2]| {
                    let (factor, solution) = state;
                    let cotangent = wanted[0]
                        .then(|| B::negative_product_of_triangles(gradient.clone(), solution));
                    [cotangent, wanted[1].then(|| B::factor_from_lower_backward(factor, gradient))]
                })
            };
    } backward {
        /// The lower triangle of `−ḠXᵀ`, from the lower triangles of Ḡ and X.
        fn negative_product_of_triangles(gradient, solution) -> FloatTensor<Self>;
    }
}

/// `L⁻¹W`
pub fn solve<const D: usize>(factor: Tensor<D>, triangle: Tensor<D>) -> Tensor<D> {
    dispatch!(factor_solve_triangle(factor, triangle))
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
