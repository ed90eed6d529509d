//! Posteriors of functions with kernels of their own: the batched forms of the whitened and the
//! unwhitened one.

use burn::{module::Module, tensor::Tensor};

use super::{SeparateKernels, SeparateProcess};
use crate::{
    inducing::SeparateInducing,
    kernels::Kernel,
    likelihoods::Marginals,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, batch_column_squares, cholesky},
    variational::{Evaluation, Moments, Posterior, Scale, Unwhitened, Whitened, nonnegative},
};

/// The marginals of `q(f)` and the divergence for whitened `moments`, function by function:
/// `Λ_p = L_p⁻¹K_uf`, `μ_p = Λ_pᵀm_p`, `σ_p² = k_p − colsum(Λ_p²) + colsum((W_pᵀΛ_p)²)`.
fn evaluate<K: Kernel>(
    inducing: &impl SeparateInducing<K>,
    kernels: &SeparateKernels<K>,
    factor: &CholeskyFactor<3>,
    moments: Moments,
    x: Tensor<2>,
) -> Evaluation {
    let prior_variance = kernels.diagonals(x.clone()); // [P, N]
    let features = factor.solve(inducing.kuf(kernels, x)); // Λ, [P, M, N]
    let residual = prior_variance - batch_column_squares(features.clone());
    let (mean, explained) = moments.clone().project_each(features); // [N, P]
    Evaluation {
        marginals: Marginals {
            mean,
            variance: nonnegative(explained + residual.transpose()),
        },
        divergence: moments.divergence_from_standard(),
    }
}

fn condition<K: Kernel, I: SeparateInducing<K>>(
    inducing: I,
    kernels: SeparateKernels<K>,
    factor: CholeskyFactor<3>,
    moments: Moments,
) -> SeparateProcess<K, I> {
    let (mean, scale) = moments.into_full();
    SeparateProcess::new(kernels, inducing, factor, mean, scale)
}

fn factorize<K: Kernel>(
    inducing: &impl SeparateInducing<K>,
    kernels: &SeparateKernels<K>,
    jitter: Jitter,
) -> Result<CholeskyFactor<3>, NotPositiveDefinite> {
    cholesky(inducing.kuu(kernels), jitter)
}

impl<K: Kernel, I: SeparateInducing<K>> Posterior<SeparateKernels<K>> for Whitened<I> {
    type Process = SeparateProcess<K, I>;

    fn evaluate(
        &self,
        kernels: &SeparateKernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        let factor = factorize(self.inducing(), kernels, self.jitter())?;
        let moments = self.distribution().moments();
        Ok(evaluate(self.inducing(), kernels, &factor, moments, x))
    }

    fn condition(
        &self,
        kernels: &SeparateKernels<K>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernels) = (self.valid(), kernels.valid());
        let factor = factorize(this.inducing(), &kernels, this.jitter())?;
        let moments = this.distribution().moments();
        Ok(condition(this.inducing().clone(), kernels, factor, moments))
    }
}

/// `L_p⁻¹m_p` and `L_p⁻¹W_p`.
fn whitened_moments<I: Module>(posterior: &Unwhitened<I>, factor: &CholeskyFactor<3>) -> Moments {
    let distribution = posterior.distribution();
    let mean = factor.solve(distribution.mean().unsqueeze_dim(2)); // [P, M, 1]
    Moments {
        mean: mean.squeeze_dim(2),
        scale: Scale::Full(factor.solve(distribution.scale())),
    }
}

impl<K: Kernel, I: SeparateInducing<K>> Posterior<SeparateKernels<K>> for Unwhitened<I> {
    type Process = SeparateProcess<K, I>;

    fn evaluate(
        &self,
        kernels: &SeparateKernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        let factor = factorize(self.inducing(), kernels, self.jitter())?;
        let moments = whitened_moments(self, &factor);
        Ok(evaluate(self.inducing(), kernels, &factor, moments, x))
    }

    fn condition(
        &self,
        kernels: &SeparateKernels<K>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let (this, kernels) = (self.valid(), kernels.valid());
        let factor = factorize(this.inducing(), &kernels, this.jitter())?;
        let moments = whitened_moments(&this, &factor);
        Ok(condition(this.inducing().clone(), kernels, factor, moments))
    }
}
