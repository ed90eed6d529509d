//! Gaussians over whitened variables, given further observations.

use burn::tensor::Tensor;

use super::{
    VariationalGaussian, WhitenedCovariance,
    leading_axis::{means_of_each, product_of_each},
};
use crate::ops::{
    CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, gram,
};

/// Observations of linear combinations of variables, `y_p = A_pᵀv_p + ε` with independent `ε_n ~ N(0, σ_n²)`.
pub(crate) struct LinearObservations {
    /// A, [B, M, N]
    pub basis: Tensor<3>,
    /// y, [N, P]
    pub values: Tensor<2>,
    /// σ², [N]
    pub noise: Tensor<1>,
}

impl LinearObservations {
    /// `AΣ^{-½}`, [B, M, N].
    fn scaled_basis(&self) -> Tensor<3> {
        self.basis.clone() / self.noise.clone().sqrt().unsqueeze::<3>()
    }

    /// `AΣ⁻¹(y − Aᵀm)`, [P, M], for means m, [P, M].
    fn projected_errors(&self, mean: &Tensor<2>) -> Tensor<2> {
        let error = self.values.clone() - means_of_each(&self.basis, mean.clone()); // [N, P]
        let weighted = error.transpose() / self.noise.clone().unsqueeze::<2>(); // [P, N]
        product_of_each(self.basis.clone(), weighted)
    }
}

impl WhitenedCovariance {
    /// The means, `[P, M]`, and the uncertainty of variables `v_p ~ N(m_p, S_p)` given observations:
    /// `S′⁻¹ = S⁻¹ + AΣ⁻¹Aᵀ` and `m′ = m + S′AΣ⁻¹(y − Aᵀm)`.
    ///
    /// No covariance is inverted. With `S = WWᵀ` and `V = WᵀAΣ^{-½}`, `S′ = W(I + VVᵀ)⁻¹Wᵀ`, and with
    /// `S⁻¹ = RRᵀ` and `V = R⁻¹AΣ^{-½}`, `S′⁻¹ = R(I + VVᵀ)Rᵀ`. The eigenvalues of `I + VVᵀ` are at least one, so
    /// that it needs no jitter.
    pub(crate) fn given(
        &self,
        mean: &Tensor<2>,
        observed: &LinearObservations,
    ) -> Result<(Tensor<2>, Self), NotPositiveDefinite> {
        Ok(match self {
            Self::Known => (mean.clone(), Self::Known),
            Self::Factor(scale) => {
                let (mean, scale) = given(mean.clone(), scale.clone(), observed)?;
                (mean, Self::Factor(scale))
            }
            Self::Precision(factor) => {
                let columns = factor.solve(observed.scaled_basis().squeeze_dim(0)); // V, [M, N]
                let inner = cholesky(plus_identity(gram(columns)), Jitter::NONE)?;
                let lower = factor.lower().exact_matmul(inner.lower());
                let factor = CholeskyFactor::from_nonsingular(lower);
                let errors = observed.projected_errors(mean).transpose(); // [M, P]
                let change = factor.solve_transposed(factor.solve(errors));
                (mean.clone() + change.transpose(), Self::Precision(factor))
            }
        })
    }
}

impl VariationalGaussian {
    /// `N(m′_p, S′_p)`: the Gaussians given observations, with full covariances.
    pub(crate) fn given(&self, observed: &LinearObservations) -> Result<Self, NotPositiveDefinite> {
        let (mean, scale) = self.moments().into_full();
        let (mean, scale) = given(mean, scale, observed)?;
        Ok(Self::full(mean, scale))
    }
}

/// m′, [P, M], and the lower-triangular W′ with `S′ = W′W′ᵀ`, [P, M, M], from m and W.
fn given(
    mean: Tensor<2>,
    scale: Tensor<3>,
    observed: &LinearObservations,
) -> Result<(Tensor<2>, Tensor<3>), NotPositiveDefinite> {
    let [outputs, size, _] = scale.dims();
    let columns = (scale.clone().transpose()).exact_matmul(observed.scaled_basis()); // V, [P, M, N]
    // With J the reversal of rows, J(I + VVᵀ)J = RRᵀ gives (I + VVᵀ)⁻¹ = TTᵀ with T = JR⁻ᵀJ lower triangular, and so
    // W′ = WT is lower triangular, too.
    let reversed = cholesky(plus_identity(gram(columns)).flip([1, 2]), Jitter::NONE)?;
    let identity = Tensor::<2>::eye(size, &scale.device()).cast(scale.dtype());
    let identity = identity.unsqueeze::<3>().repeat_dim(0, outputs);
    let scale = scale.exact_matmul(reversed.solve_transposed(identity).flip([1, 2]));
    // m + W′W′ᵀAΣ⁻¹(y − Aᵀm)
    let errors = observed.projected_errors(&mean);
    let half = product_of_each(scale.clone().transpose(), errors);
    let mean = mean + product_of_each(scale.clone(), half);
    Ok((mean, scale))
}

/// `I + A` for each matrix, […, M, M].
fn plus_identity<const D: usize>(matrices: Tensor<D>) -> Tensor<D> {
    let members = matrices.dims()[..D - 2].iter().product::<usize>();
    let ones = Tensor::ones([members], (&matrices.device(), matrices.dtype()));
    add_to_diagonal(matrices, ones)
}
