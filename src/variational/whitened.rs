//! The whitened posterior.

use burn::{module::Module, tensor::Tensor};

use super::{
    ConditionedProcess, Evaluation, Posterior, Spread, VariationalGaussian, distribution::Moments,
    nonnegative,
};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    likelihoods::Marginals,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky, column_squares},
};

/// `q(u) = N(L·m, L·S·Lᵀ)` with `L` the Cholesky factor of `Cov[u, u]`: the distribution is over
/// the whitened variables `L⁻¹u`, whose prior is standard normal.
///
/// With `Λ = L⁻¹K_uf`: `μ = Λᵀm`, `σ² = k_ff − colsum(Λ²) + colsum((WᵀΛ)²)`, `S = WWᵀ`
/// (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).
#[derive(Module, Debug)]
pub struct Whitened<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

impl<I: Module> Whitened<I> {
    /// A posterior with the given inducing variables, distribution over `L⁻¹u` and jitter.
    pub fn new(inducing: I, distribution: VariationalGaussian, jitter: Jitter) -> Self {
        Self {
            inducing,
            distribution,
            jitter,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The jitter of `Cov[u, u]`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The distribution over `L⁻¹u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }
}

/// The marginals of `q(f)` and the divergence for whitened `moments`.
pub(super) fn evaluate_whitened<K: Kernel, I: InducingVariables<K>>(
    inducing: &I,
    kernel: &K,
    factor: &CholeskyFactor<2>,
    moments: Moments,
    x: Tensor<2>,
) -> Evaluation {
    let prior_variance = kernel.diagonal(x.clone()); // [N]
    let features = factor.solve(inducing.kuf(kernel, x)); // Λ, [M, N]
    let residual = prior_variance - column_squares(features.clone()); // [N]
    let (mean, explained) = moments.clone().project(features); // [N, P]
    Evaluation {
        marginals: Marginals {
            mean,
            variance: nonnegative(explained + residual.unsqueeze_dim(1)),
        },
        divergence: moments.divergence_from_standard(),
    }
}

impl<K: Kernel, I: InducingVariables<K>> Posterior<K> for Whitened<I> {
    type Process = ConditionedProcess<K, I>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(kernel), self.jitter)?;
        let moments = self.distribution.moments();
        Ok(evaluate_whitened(
            &self.inducing,
            kernel,
            &factor,
            moments,
            x,
        ))
    }

    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        let this = self.valid();
        let kernel = kernel.valid();
        let factor = cholesky(this.inducing.kuu(&kernel), this.jitter)?;
        let (mean, scale) = (this.distribution.mean(), this.distribution.scale());
        Ok(ConditionedProcess::new(
            kernel,
            this.inducing,
            factor,
            mean,
            Spread::Factor(scale),
        ))
    }
}
