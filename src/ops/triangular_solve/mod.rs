//! Solves with a Cholesky factor or another triangular matrix.

mod backward;
mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{Backend, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    cholesky::{CholeskyFactor, SingularTriangle},
    cpu::triangular::Side,
    dispatch::dispatch,
};

/// Backend implementation of the solves.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait TriangularSolveOps: Backend {
    /// `L⁻¹B` or `L⁻ᵀB`.
    fn factor_solve(
        factor: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self>;
}

/// Gradient of the factor.
pub trait TriangularSolveBackward: TriangularSolveOps {
    /// The lower triangle of `−A·Bᵀ`.
    fn negative_lower_product(
        left: FloatTensor<Self>,
        right: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

impl<const D: usize> CholeskyFactor<D> {
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
        dispatch!(TriangularSolveOps::factor_solve(self.triangle.clone(), rhs; side))
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
