//! Expected products in whitened coordinates.

use burn::tensor::Tensor;

use crate::{
    kernels::ExpectedProducts,
    ops::{CholeskyFactor, ExactMatmul, diagonals},
};

/// The expectations of a kernel over latent inputs, with `K_uu = LLᵀ`.
pub(super) struct Statistics {
    /// `Σ_n Ψ0_n`, [1]
    pub variance: Tensor<1>,
    /// `Λ = L⁻¹Ψ1ᵀ`, [M, N]
    pub covariances: Tensor<2>,
    /// `A = L⁻¹Ψ2L⁻ᵀ`, [M, M]
    pub products: Tensor<2>,
}

impl Statistics {
    /// For inputs with means and variances, [N, Q], and the inducing points, [M, Q].
    pub fn new(
        expected: &ExpectedProducts,
        (mean, variance): (Tensor<2>, Tensor<2>),
        points: Tensor<2>,
        factor: &CholeskyFactor<2>,
    ) -> Self {
        let covariances = expected.covariances(mean.clone(), variance.clone(), points.clone()); // Ψ1
        let products = expected.products(mean.clone(), variance.clone(), points); // Ψ2
        Self {
            variance: expected.variances(mean, variance).sum(),
            covariances: factor.solve(covariances.transpose()),
            products: whitened(factor, products),
        }
    }

    /// `Σ_n Ψ0_n − tr A`, [1]: the variance that the inducing variables do not explain.
    pub fn unexplained(&self) -> Tensor<1> {
        self.variance.clone() - trace(self.products.clone())
    }

    /// `Σ_p E[‖y_p − k_ufᵀL⁻ᵀb_p‖²] = Σ_p ‖y_p − Λᵀb_p‖² + b_pᵀ(A − ΛΛᵀ)b_p`, [1], for outputs, [N, P], and whitened
    /// values b of the inducing variables, [M, P].
    pub fn expected_squares(&self, outputs: Tensor<2>, values: Tensor<2>) -> Tensor<1> {
        let fitted = (self.covariances.clone().transpose()).exact_matmul(values.clone()); // Λᵀb, [N, P]
        let products = self.products.clone().exact_matmul(values.clone()); // Ab
        let uncertain = (values * products).sum() - fitted.clone().square().sum();
        (outputs - fitted).square().sum() + uncertain
    }
}

/// `L⁻¹CL⁻ᵀ` of a symmetric matrix C, [M, M].
pub(super) fn whitened(factor: &CholeskyFactor<2>, matrix: Tensor<2>) -> Tensor<2> {
    let half = factor.solve(matrix); // L⁻¹C
    factor.solve(half.transpose())
}

/// tr C, [1], of a matrix C, [M, M].
pub(super) fn trace(matrix: Tensor<2>) -> Tensor<1> {
    diagonals(matrix).sum()
}
