//! Exact Gaussian-process regression.

use core::f64::consts::PI;

use burn::{module::Module, tensor::Tensor};

use super::{FullBatch, RegressionPrior, check_rows};
use crate::{
    inducing::InducingPoints,
    kernels::Kernel,
    likelihoods::Gaussian,
    means::Mean,
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky},
    parameter::Hyperparameter,
    variational::{ConditionedProcess, Spread, WithMean},
};

/// Exact regression: with `L` the Cholesky factor of `K + σ²I` and `r = y − m(X)`,
/// `log p(y) = −½‖L⁻¹r‖² − ½log|K + σ²I| − ½N·log 2π`
/// (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, algorithm 2.1).
///
/// Time N³ and memory N².
#[derive(Module, Debug)]
pub struct Exact<K: Module, M: Module> {
    prior: RegressionPrior<K, M>,
}

impl<K: Kernel, M: Mean> Exact<K, M> {
    /// Exact regression with the given prior and noise.
    pub fn new(kernel: K, mean: M, likelihood: Gaussian) -> Self {
        Self {
            prior: RegressionPrior::new(kernel, mean, likelihood),
        }
    }

    /// The kernel, the mean and the noise.
    pub fn prior(&self) -> &RegressionPrior<K, M> {
        &self.prior
    }

    /// The factor of `K + σ²I`. The noise is its jitter: more is added only where rounding makes a
    /// pivot negative all the same.
    fn factor(&self, inputs: Tensor<2>) -> Result<CholeskyFactor<2>, NotPositiveDefinite> {
        let covariance = add_to_diagonal(self.prior.kernel().matrix(inputs), self.prior.noise());
        cholesky(covariance, Jitter::NONE)
    }
}

impl<K: Kernel, M: Mean> FullBatch for Exact<K, M> {
    type Process = WithMean<ConditionedProcess<K, InducingPoints>, M>;

    /// `Σ_p log N(y_p | m_p, K + σ²I)`.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let [rows, outputs] = targets.dims();
        let residual = self.prior.residual(inputs.clone(), targets); // [N, P]
        let factor = self.factor(inputs)?;
        let squares = factor.solve(residual).square().sum();
        let normaliser = factor.log_determinant() + rows as f64 * (2.0 * PI).ln();
        Ok((squares + normaliser * outputs as f64) * -0.5)
    }

    fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let residual = this.prior.residual(inputs.clone(), targets);
        let factor = this.factor(inputs.clone())?;
        let mean = factor.solve(residual).transpose(); // [P, N]
        let (kernel, prior_mean) = this.prior.into_process_parts();
        let process = ConditionedProcess::new(
            kernel,
            InducingPoints::new(inputs),
            factor,
            mean,
            Spread::Known,
        );
        Ok(WithMean::new(process, prior_mean))
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.prior.hyperparameters()
    }
}
