//! Solves with a Cholesky factor or another triangular matrix.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod triangle;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    backward::{record, split},
    cholesky::{CholeskyFactor, SingularTriangle},
    cpu::{is_on_cpu, triangular::Side},
    declaration::{dispatch, operations},
    triangular_product::TriangularProductOps,
};

operations! {
    /// Backend implementation of the solves.
    trait TriangularSolveOps: TriangularProductOps on devices {
        /// `L⁻¹B` or `L⁻ᵀB`. With `X = L⁻¹B`: `B̄ = L⁻ᵀX̄` and `LᵀL̄ = −X̄Xᵀ`. With `X = L⁻ᵀB`: `B̄ = L⁻¹X̄` and
        /// `LᵀL̄ = −B·B̄ᵀ`.
        fn factor_solve(factor, rhs; side: Side) -> FloatTensor<Self> = like(rhs),
            {
                let ([factor, rhs], nodes) = split::<B, C, _>([factor, rhs]);
                // The solve reuses the memory of the right-hand sides if they need not be kept.
                let kept = (side == Side::Transposed).then(|| rhs.clone());
                let solution = B::factor_solve(factor.clone(), rhs, side);
                // X in the first case, B in the second.
                let saved = kept.unwrap_or_else(|| solution.clone());
                record::<B, C, _, _>(nodes, (factor, saved, side), solution, solve_gradients::<B>)
            };
    }
}

fn solve_gradients<B: TriangularSolveOps>(
    (factor, saved, side): (FloatTensor<B>, FloatTensor<B>, Side),
    gradient: FloatTensor<B>,
    wanted: [bool; 2],
) -> [Option<FloatTensor<B>>; 2] {
    let solve = |gradient| B::factor_solve(factor, gradient, side.opposite());
    match side {
        Side::Lower => {
            // The product comes first, so that the solve can use the memory of the gradient.
            let product = || B::lower_of_product(gradient.clone(), saved, -1.0);
            let cotangent = wanted[0].then(product);
            [cotangent, wanted[1].then(|| solve(gradient))]
        }
        Side::Transposed => {
            let rhs = solve(gradient);
            let cotangent = wanted[0].then(|| B::lower_of_product(saved, rhs.clone(), -1.0));
            [cotangent, Some(rhs)]
        }
    }
}

impl<const D: usize> CholeskyFactor<D> {
    /// `L⁻¹·W` for the lower triangle W of a matrix, whose other entries are ignored. On the CPU it takes a
    /// third of the operations of [`solve`](Self::solve), and so do the gradients.
    ///
    /// # Shapes
    ///
    /// - `lower` (W): `[…, M, M]`, batch dimensions as in the factor
    #[track_caller]
    pub fn solve_lower(&self, lower: Tensor<D>) -> Tensor<D> {
        let (factor, given) = (self.triangle.dims(), lower.dims());
        assert!(
            factor == given,
            "CholeskyFactor::solve_lower: factor {factor:?}, triangle {given:?}; expected the same \
             shape"
        );
        if is_on_cpu(&lower) {
            return triangle::solve(self.triangle.clone(), lower);
        }
        self.solve(lower.tril(0))
    }

    /// `L⁻¹·B`.
    ///
    /// # Shapes
    ///
    /// - `rhs` (B): `[…, M, N]`, batch dimensions as in the factor
    #[track_caller]
    pub fn solve(&self, rhs: Tensor<D>) -> Tensor<D> {
        self.solve_side(rhs, Side::Lower)
    }

    /// `L⁻ᵀ·B`; shapes as in [`solve`](Self::solve).
    #[track_caller]
    pub fn solve_transposed(&self, rhs: Tensor<D>) -> Tensor<D> {
        self.solve_side(rhs, Side::Transposed)
    }

    #[track_caller]
    fn solve_side(&self, rhs: Tensor<D>, side: Side) -> Tensor<D> {
        let (factor, given) = (self.triangle.dims(), rhs.dims());
        assert!(
            factor[..D - 1] == given[..D - 1],
            "CholeskyFactor::solve: factor {factor:?}, right-hand side {given:?}; expected \
             [..., M, M] and [..., M, N]"
        );
        dispatch!(factor_solve(self.triangle.clone(), rhs; side))
    }
}

/// Solves `T·X = B` or `Tᵀ·X = B` for a triangular `T`, with gradients for both arguments.
///
/// # Shapes
///
/// - `matrix` (T): `[…, M, M]`; `upper` selects the triangle to read
/// - `rhs` (B): `[…, M, N]`
///
/// # Errors
///
/// [`SingularTriangle`] when a diagonal entry is zero or not finite.
#[track_caller]
pub fn solve_triangular<const D: usize>(
    matrix: Tensor<D>,
    rhs: Tensor<D>,
    upper: bool,
    transposed: bool,
) -> Result<Tensor<D>, SingularTriangle> {
    let lower = if upper { matrix.transpose() } else { matrix };
    let factor = CholeskyFactor::from_lower(lower)?;
    Ok(if upper == transposed {
        factor.solve(rhs)
    } else {
        factor.solve_transposed(rhs)
    })
}
