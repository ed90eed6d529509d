//! The products of natural-gradient matrix inversion. They have no gradients.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod products;

use burn::{
    backend::{
        Autodiff, AutodiffBackend, Backend, Dispatch, backend_extension, tensor::FloatTensor,
    },
    tensor::Tensor,
};

use super::{backward::CheckpointStrategy, dispatch::dispatch, numbers};

/// Backend implementation of the first product.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait CongruenceOps: Backend {
    /// The lower triangle of `LᵀAL`, [M, M]. The entries above the diagonal are unspecified.
    fn congruence(matrix: FloatTensor<Self>, lower: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// Backend implementation of a step.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait InversionOps: Backend {
    /// `[‖H − I‖_F, max_i H_ii]` from the lower triangle of H.
    fn identity_distance(matrix: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `L − γ·L·(tril(H) − ½(I + diag H))` from the lower triangle of H.
    fn inversion_step(
        lower: FloatTensor<Self>,
        matrix: FloatTensor<Self>,
        step_size: f64,
    ) -> FloatTensor<Self>;
}

impl<B: CongruenceOps, C: CheckpointStrategy> CongruenceOps for Autodiff<B, C> {
    fn congruence(matrix: FloatTensor<Self>, lower: FloatTensor<Self>) -> FloatTensor<Self> {
        let (matrix, lower) = (matrix.into_primitive(), lower.into_primitive());
        Self::from_inner(B::congruence(matrix, lower))
    }
}

impl<B: InversionOps, C: CheckpointStrategy> InversionOps for Autodiff<B, C> {
    fn identity_distance(matrix: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::from_inner(B::identity_distance(matrix.into_primitive()))
    }

    fn inversion_step(
        lower: FloatTensor<Self>,
        matrix: FloatTensor<Self>,
        step_size: f64,
    ) -> FloatTensor<Self> {
        let (lower, matrix) = (lower.into_primitive(), matrix.into_primitive());
        Self::from_inner(B::inversion_step(lower, matrix, step_size))
    }
}

/// A symmetric matrix `H = LᵀAL`, given by its lower triangle.
#[derive(Clone, Debug)]
pub struct Congruence {
    lower: Tensor<2>,
}

/// `LᵀAL` in `5/3·M³` operations, where two full products take `4·M³`.
///
/// # Shapes
///
/// - `matrix` (A): `[M, M]`, symmetric
/// - `lower` (L): `[M, M]`, zeros above the diagonal
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn congruence(matrix: Tensor<2>, lower: Tensor<2>) -> Congruence {
    let ([rows, columns], triangle) = (matrix.dims(), lower.dims());
    assert!(
        rows == columns && triangle == [rows, rows],
        "congruence: matrix [{rows}, {columns}], triangle {triangle:?}; expected [M, M] twice"
    );
    Congruence {
        lower: dispatch!(CongruenceOps::congruence(matrix, lower)),
    }
}

impl Congruence {
    /// The lower triangle of H, with zeros above the diagonal, `[M, M]`.
    pub fn lower(&self) -> Tensor<2> {
        self.lower.clone().tril(0)
    }

    /// `‖H − I‖_F` and the largest diagonal entry of H.
    pub fn distance_from_identity(&self) -> (f64, f64) {
        let values = numbers(self.identity_distance());
        (values[0], values[1])
    }

    /// [`distance_from_identity`](Self::distance_from_identity) on the device, `[2]`.
    pub(crate) fn identity_distance(&self) -> Tensor<1> {
        let lower = self.lower.clone().into_dispatch();
        Tensor::from_dispatch(<Dispatch as InversionOps>::identity_distance(lower))
    }

    /// `L − γ·L·Φ` with `Φ = tril(H) − ½(I + diag H)`, `[M, M]`, in `M³/3` operations.
    pub fn descend(&self, lower: Tensor<2>, step_size: f64) -> Tensor<2> {
        dispatch!(InversionOps::inversion_step(lower, self.lower.clone(); step_size))
    }
}
