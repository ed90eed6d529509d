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
    cholesky::{CholeskyBackward, CholeskyFactor, SingularTriangle},
    cpu::{is_on_cpu, triangular::Side},
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

/// Backend implementation of solves for triangles. On GPUs they are solves for full matrices.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
)]
pub trait TriangleSolveOps: Backend {
    /// `L⁻¹W` for the lower triangle W of a matrix, zeros above the diagonal.
    fn factor_solve_triangle(
        factor: FloatTensor<Self>,
        triangle: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

/// Gradients of the solves for triangles.
pub trait TriangleSolveBackward: TriangleSolveOps + CholeskyBackward {
    /// The lower triangle of `−ḠXᵀ`, from the lower triangles of Ḡ and X.
    fn negative_product_of_triangles(
        gradient: FloatTensor<Self>,
        solution: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
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
            let factor = self.triangle.clone();
            return dispatch!(TriangleSolveOps::factor_solve_triangle(factor, lower));
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
