//! Triangular solves under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{TriangleSolveBackward, TriangleSolveOps, TriangularSolveBackward, TriangularSolveOps};
use crate::ops::{
    backward::{CheckpointStrategy, Record, backward_step, split},
    cpu::Side,
};

backward_step!(
    /// With `X = L⁻¹B`: `B̄ = L⁻ᵀX̄` and `LᵀL̄ = −X̄Xᵀ`. With `X = L⁻ᵀB`: `B̄ = L⁻¹X̄` and
    /// `LᵀL̄ = −B·B̄ᵀ`. The saved tensor is `X` in the first case, `B` in the second.
    SolveStep: TriangularSolveBackward [2](
        state: (FloatTensor<B>, FloatTensor<B>, Side),
        gradient
    ) -> |wanted: [bool; 2]| {
        let (factor, saved, side) = state;
        let solve = |gradient| B::factor_solve(factor, gradient, side.opposite());
        match side {
            Side::Lower => {
                // The product comes first, so that the solve can use the memory of the gradient.
                let product = || B::negative_lower_product(gradient.clone(), saved);
                let cotangent = wanted[0].then(product);
                [cotangent, wanted[1].then(|| solve(gradient))]
            }
            Side::Transposed => {
                let rhs = solve(gradient);
                let cotangent =
                    wanted[0].then(|| B::negative_lower_product(saved, rhs.clone()));
                [cotangent, Some(rhs)]
            }
        }
    }
);

impl<B: TriangularSolveBackward, C: CheckpointStrategy> TriangularSolveOps for Autodiff<B, C> {
    fn factor_solve(
        factor: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self> {
        let ([factor, rhs], nodes) = split::<B, C, _>([factor, rhs]);
        // The solve reuses the memory of the right-hand sides if they need not be kept.
        let kept = (side == Side::Transposed).then(|| rhs.clone());
        let solution = B::factor_solve(factor.clone(), rhs, side);
        let saved = kept.unwrap_or_else(|| solution.clone());
        SolveStep.record::<C>(nodes, (factor, saved, side), solution)
    }
}

backward_step!(
    /// With `X = L⁻¹W`: the lower triangles of `W̄ = L⁻ᵀX̄` and `LᵀL̄ = −X̄Xᵀ`.
    TriangleStep: TriangleSolveBackward [2](
        state: (FloatTensor<B>, FloatTensor<B>),
        gradient
    ) -> |wanted: [bool; 2]| {
        let (factor, solution) = state;
        let cotangent =
            wanted[0].then(|| B::negative_product_of_triangles(gradient.clone(), solution));
        [cotangent, wanted[1].then(|| B::factor_from_lower_backward(factor, gradient))]
    }
);

impl<B: TriangleSolveBackward, C: CheckpointStrategy> TriangleSolveOps for Autodiff<B, C> {
    fn factor_solve_triangle(
        factor: FloatTensor<Self>,
        triangle: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let ([factor, triangle], nodes) = split::<B, C, _>([factor, triangle]);
        let solution = B::factor_solve_triangle(factor.clone(), triangle);
        TriangleStep.record::<C>(nodes, (factor, solution.clone()), solution)
    }
}
