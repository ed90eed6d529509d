//! The products of natural-gradient matrix inversion. They have no gradients.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod products;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    declaration::{dispatch, operations},
    numbers,
};

operations! {
    /// Backend implementation of the products.
    trait InversionOps on devices {
        /// The lower triangle of `LᵀAL`, [M, M]. The entries above the diagonal are unspecified.
        fn congruence(matrix, lower) -> FloatTensor<Self> = like(matrix),
            { Self::from_inner(B::congruence(matrix.into_primitive(), lower.into_primitive())) };

        /// `[‖H − I‖_F, max_i H_ii]` from the lower triangle of H.
        fn identity_distance(matrix) -> FloatTensor<Self> = vector(matrix, 2),
            { Self::from_inner(B::identity_distance(matrix.into_primitive())) };

        /// `L − γ·L·(tril(H) − ½(I + diag H))` from the lower triangle of H.
        fn inversion_step(lower, matrix; step_size: f64) -> FloatTensor<Self> = like(lower),
            {
                let (lower, matrix) = (lower.into_primitive(), matrix.into_primitive());
                Self::from_inner(B::inversion_step(lower, matrix, step_size))
            };
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
        lower: dispatch!(congruence(matrix, lower)),
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
        Tensor::from_dispatch(<Dispatch as Dispatched>::identity_distance(lower))
    }

    /// `L − γ·L·Φ` with `Φ = tril(H) − ½(I + diag H)`, `[M, M]`, in `M³/3` operations.
    pub fn descend(&self, lower: Tensor<2>, step_size: f64) -> Tensor<2> {
        dispatch!(inversion_step(lower, self.lower.clone(); step_size))
    }
}
