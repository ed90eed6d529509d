//! Nyström features.

use burn::{module::Module, tensor::Tensor};

use super::InducingVariables;
use crate::{
    kernels::{FeatureMap, FunctionPrior, KernelModule, LowRankKernel},
    ops::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky},
    parameter::{Hyperparameter, hyperparameters},
};

/// A Nyström approximation of a kernel with inducing variables: features `φ(x) = L⁻¹k_u(x)`,
/// `LLᵀ = Cov[u, u]`, so that `φ(x)ᵀφ(x′)` is the Nyström approximation, and
/// `c(x) = k(x, x) − ‖φ(x)‖²`.
///
/// As the kernel of [`LowRankRegression`](crate::inference::LowRankRegression) it gives sparse
/// regression, with the bound of [`Collapsed`](crate::inference::Collapsed) and the predictions of
/// either Collapsed or FITC. As the kernel of [`WeightSpace`](crate::variational::WeightSpace) it
/// gives a whitened variational posterior. With a kernel on the outputs of a network it gives
/// sparse deep kernel learning.
#[derive(Module, Debug)]
pub struct Nystrom<K: Module, I: Module> {
    kernel: K,
    inducing: I,
    #[module(skip)]
    jitter: Jitter,
}

impl<K: KernelModule, I: InducingVariables<K>> Nystrom<K, I> {
    /// Approximates `kernel` with inducing variables; `jitter` is for their covariance.
    pub fn new(kernel: K, inducing: I, jitter: Jitter) -> Self {
        Self {
            kernel,
            inducing,
            jitter,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }
}

impl<K: KernelModule, I: InducingVariables<K>> FunctionPrior for Nystrom<K, I> {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}

impl<K: KernelModule, I: InducingVariables<K>> LowRankKernel for Nystrom<K, I> {
    type Map = NystromMap<K, I>;

    fn feature_map(&self) -> Result<Self::Map, NotPositiveDefinite> {
        Ok(NystromMap {
            factor: cholesky(self.inducing.kuu(&self.kernel), self.jitter)?,
            kernel: self.kernel.clone(),
            inducing: self.inducing.clone(),
        })
    }
}

/// The features of a [`Nystrom`] kernel.
#[derive(Clone, Debug)]
pub struct NystromMap<K, I> {
    kernel: K,
    inducing: I,
    factor: CholeskyFactor<2>,
}

impl<K: KernelModule, I: InducingVariables<K>> FeatureMap for NystromMap<K, I> {
    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        let covariance = self.inducing.kuf(&self.kernel, x);
        self.factor.solve(covariance).transpose()
    }

    fn prior_variance(&self, x: Tensor<2>) -> Option<Tensor<1>> {
        Some(self.kernel.diagonal(x))
    }
}
