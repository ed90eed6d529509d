//! The cost of an approximate inverse to a bound with a Gaussian likelihood.

use burn::tensor::Tensor;

use crate::ops::{
    ExactMatmul, column_squares, number, transposed_triangular_product, triangular_product,
};

/// The gap between an upper and a lower bound of the variances `σ_n² = k_nn − k_nᵀA⁻¹k_n`, for an
/// approximation T of `A⁻¹`, where `A = B + σ²I` with a positive semidefinite B:
/// `G_n = U_n − L_n = ‖(I − AT)k_n‖²/σ²`, `U_n = k_nn − k_nᵀ(2T − TAT)k_n` (arXiv:2604.00697,
/// proposition 3).
///
/// With Gaussian noise `σ²_obs`, the approximation costs the bound at most `Σ_n G_n/(2σ²_obs)`
/// nats.
#[derive(Clone, Debug)]
pub struct VarianceGap {
    /// k_n, `[M, N]`.
    pub covariances: Tensor<2>,
    /// σ², at most the smallest eigenvalue of A, for which the smallest variance of S̃ serves.
    pub floor: f64,
    /// The noise variance of the likelihood, `σ²_obs`.
    pub noise: f64,
    /// The number of nats by which the bound may fall short.
    pub tolerance: f64,
}

impl VarianceGap {
    /// `G_n`, `[N]`, for `matrix` (A) and `T = LLᵀ`, both `[M, M]`.
    pub fn of(&self, matrix: &Tensor<2>, lower: &Tensor<2>) -> Tensor<1> {
        let columns = self.covariances.clone();
        let weights = transposed_triangular_product(lower.clone(), columns.clone());
        let weights = triangular_product(lower.clone(), weights); // T·k_n
        let missing = columns - matrix.clone().exact_matmul(weights);
        column_squares(missing) * (1.0 / self.floor)
    }

    /// Whether `Σ_n G_n ≤ 2σ²_obs·tolerance`.
    pub(super) fn is_closed(&self, matrix: &Tensor<2>, lower: &Tensor<2>) -> bool {
        let total = number(self.of(matrix, lower).sum());
        total <= 2.0 * self.noise * self.tolerance
    }
}
