//! The products of natural-gradient matrix inversion. Nothing here is differentiated.

use burn::{backend::Dispatch, tensor::Tensor};

use super::extension::LinearAlgebra;

/// A symmetric matrix `H = LᵀAL` of which the lower triangle counts.
#[derive(Clone, Debug)]
pub struct Congruence {
    lower: Tensor<2>,
}

/// `LᵀAL` by `5/3·M³` operations where two full products take `4·M³`.
///
/// # Shapes
///
/// - `matrix` (A): `[M, M]`, symmetric
/// - `lower` (L): `[M, M]`, zeros above the diagonal
///
/// # Panics
///
/// If the shapes do not fit together.
#[track_caller]
pub fn congruence(matrix: Tensor<2>, lower: Tensor<2>) -> Congruence {
    let ([rows, columns], triangle) = (matrix.dims(), lower.dims());
    assert!(
        rows == columns && triangle == [rows, rows],
        "congruence: matrix [{rows}, {columns}], triangle {triangle:?}; expected [M, M] twice"
    );
    Congruence {
        lower: Tensor::from_dispatch(<Dispatch as LinearAlgebra>::congruence(
            matrix.into_dispatch(),
            lower.into_dispatch(),
        )),
    }
}

impl Congruence {
    /// The lower triangle of H, zeros above the diagonal, `[M, M]`.
    pub fn lower(&self) -> Tensor<2> {
        self.lower.clone().tril(0)
    }

    /// `‖H − I‖_F` and the largest diagonal entry of H.
    pub fn distance_from_identity(&self) -> (f64, f64) {
        let distance =
            <Dispatch as LinearAlgebra>::identity_distance(self.lower.clone().into_dispatch());
        let values: Vec<f64> = Tensor::<1>::from_dispatch(distance)
            .into_data()
            .iter::<f64>()
            .collect();
        (values[0], values[1])
    }

    /// `L − γ·L·Φ`, `Φ = tril(H) − ½(I + diag H)`, `[M, M]`: `M³/3` operations.
    pub fn descend(&self, lower: Tensor<2>, step_size: f64) -> Tensor<2> {
        Tensor::from_dispatch(<Dispatch as LinearAlgebra>::inversion_step(
            lower.into_dispatch(),
            self.lower.clone().into_dispatch(),
            step_size,
        ))
    }
}
