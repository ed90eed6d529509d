//! The unwhitened posterior.

use burn::{module::Module, tensor::Tensor};

use super::{
    ConditionedProcess, Evaluation, Posterior, Spread, VariationalGaussian,
    distribution::{Moments, Scale},
    whitened::evaluate_whitened,
};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky},
};

/// `q(u) = N(m, S)`, `S = WWᵀ`, over the inducing variables themselves.
///
/// It is evaluated in whitened coordinates, `L⁻¹m` and `L⁻¹W`, which costs one triangular solve
/// with M right-hand sides instead of one with N, and gives the divergence in the same form:
/// `KL = ½(‖L⁻¹W‖²_F + ‖L⁻¹m‖² − M) + Σ log L_ii − Σ log|W_ii|`
/// (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).
#[derive(Module, Debug)]
pub struct Unwhitened<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

impl<I: Module> Unwhitened<I> {
    /// A posterior with the given inducing variables, distribution over `u` and jitter.
    pub fn new(inducing: I, distribution: VariationalGaussian, jitter: Jitter) -> Self {
        Self {
            inducing,
            distribution,
            jitter,
        }
    }

    /// A posterior equal to the prior under `kernel`, for `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn at_prior<K: Kernel>(
        inducing: I,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite>
    where
        I: InducingVariables<K>,
    {
        let kuu = inducing.kuu(kernel).detach();
        let factor = cholesky(kuu, jitter)?.lower(); // [M, M]
        let [size, _] = factor.dims();
        let mean = Tensor::zeros([outputs, size], (&factor.device(), factor.dtype()));
        let scale = factor.unsqueeze::<3>().repeat_dim(0, outputs);
        Ok(Self::new(
            inducing,
            VariationalGaussian::full(mean, scale),
            jitter,
        ))
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The jitter of `Cov[u, u]`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The distribution over `u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }

    /// `L⁻¹m` and `L⁻¹W`.
    fn whitened_moments(&self, factor: &CholeskyFactor<2>) -> Moments {
        let scale = self.distribution.scale(); // [P, M, M]
        let [outputs, size, _] = scale.dims();
        let mean = factor.solve(self.distribution.mean().transpose());
        let scale = if outputs == 1 {
            factor.solve(scale.reshape([size, size])).unsqueeze()
        } else {
            let columns = scale.swap_dims(0, 1).reshape([size, outputs * size]);
            factor
                .solve(columns)
                .reshape([size, outputs, size])
                .swap_dims(0, 1)
        };
        Moments {
            mean: mean.transpose(),
            scale: Scale::Full(scale),
        }
    }
}

impl<K: Kernel, I: InducingVariables<K>> Posterior<K> for Unwhitened<I> {
    type Process = ConditionedProcess<K, I>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(kernel), self.jitter)?;
        let moments = self.whitened_moments(&factor);
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
        let (mean, scale) = this.whitened_moments(&factor).into_full();
        Ok(ConditionedProcess::new(
            kernel,
            this.inducing,
            factor,
            mean,
            Spread::Factor(scale),
        ))
    }
}
