//! Exact Gaussian process regression.

use burn::{module::Module, tensor::Tensor};

use super::{ConditionError, check_rows, parts::parts};
use crate::{
    inducing::InducingPoints,
    kernels::KernelModule,
    likelihoods::Gaussian,
    means::AnyMean,
    ops::{Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, gaussian_log_density},
    parameter::Priors,
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};

/// The noise acts as jitter. More is added only if rounding still makes a pivot negative.
const JITTER: Jitter = Jitter::NONE;

/// Exact regression: with `L` the Cholesky factor of `K + σ²I` and `r = y − m(X)`,
/// `log p(y) = −½‖L⁻¹r‖² − ½log|K + σ²I| − ½N·log 2π` (Rasmussen and Williams, *Gaussian Processes
/// for Machine Learning*, 2006, algorithm 2.1).
///
/// Time N³ and memory N².
#[derive(Module, Debug)]
pub struct Exact<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    priors: Priors,
}

parts!(Exact<K: KernelModule>);

impl<K: KernelModule> Exact<K> {
    /// Creates exact regression with the given prior and noise.
    pub fn new(kernel: K, mean: impl Into<AnyMean>, likelihood: Gaussian) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            priors: Priors::default(),
        }
    }

    /// `K + σ²I`
    pub(super) fn covariance(&self, inputs: Tensor<2>) -> Tensor<2> {
        add_to_diagonal(self.kernel.matrix_at(inputs), self.likelihood.noise())
    }
}

impl<K: KernelModule> Exact<K> {
    /// `Σ_p log N(y_p | m_p, K + σ²I)`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let residual = self.mean.residual(targets, inputs.clone()); // [N, P]
        gaussian_log_density(self.covariance(inputs), residual, JITTER)
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<ConditionedProcess>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let residual = this.mean.residual(targets, inputs.clone());
        let factor = cholesky(this.covariance(inputs.clone()), JITTER)?;
        let mean = factor.solve(residual).transpose(); // [P, N]
        let process = ConditionedProcess::new(
            this.kernel,
            InducingPoints::new(inputs),
            factor,
            mean,
            WhitenedCovariance::Known,
        );
        Ok(WithMean::new(process, this.mean))
    }
}
