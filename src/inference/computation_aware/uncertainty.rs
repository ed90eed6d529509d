//! The uncertainty due to limited data and due to limited computation.

use burn::tensor::Tensor;

use super::{ActionPolicy, ComputationAware};
use crate::{
    inference::{ConditionError, ConjugateGradients, ConjugateGradientsSettings},
    kernels::KernelModule,
    process::Process,
};

/// The two parts of the variance of a computation-aware posterior:
/// `k_I(x, x) = k_*(x, x) + k(x, X)(K̂⁻¹ − C_I)k(X, x)`.
#[derive(Clone, Debug)]
pub struct Uncertainty {
    /// The variance of the exact posterior, which more data would reduce, `[N]`.
    pub mathematical: Tensor<1>,
    /// The additional variance, which more computation would remove, `[N]`.
    pub computational: Tensor<1>,
}

impl<K: KernelModule, A: ActionPolicy> ComputationAware<K, A> {
    /// The two parts of the variances at `x` (J. Wenger et al., *Computation-Aware Gaussian
    /// Processes*, arXiv:2411.01036, Section 2). Conjugate gradients compute the exact variance
    /// without storing an N×N matrix, in time N² per iteration.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`, `x`: `[N′, D]`
    /// - result: `[N′]` each
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn uncertainty(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        x: Tensor<2>,
        settings: ConjugateGradientsSettings,
    ) -> Result<Uncertainty, ConditionError> {
        let exact = ConjugateGradients::new(
            self.kernel.clone(),
            self.mean.clone(),
            self.likelihood.clone(),
            settings,
        );
        let exact = exact.with_row_columns(self.row_columns);
        let first = |variance: Tensor<2>| variance.narrow(1, 0, 1).squeeze_dim::<1>(1);
        let process = exact.condition(inputs.clone(), targets.clone())?;
        let mathematical = first(process.marginals(x.clone()).variance);
        let total = first(self.condition(inputs, targets)?.marginals(x).variance);
        Ok(Uncertainty {
            computational: (total - mathematical.clone()).clamp_min(0.0),
            mathematical,
        })
    }
}
