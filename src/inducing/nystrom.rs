//! Nyström features.

use burn::{module::Module, tensor::Tensor};

use super::AnyInducing;
use crate::{
    kernels::{AnyKernel, FeatureMap, FunctionPrior, Kernel, KernelModule, Kernels, LowRankKernel},
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
pub struct Nystrom {
    kernel: Kernels,
    inducing: AnyInducing,
    #[module(skip)]
    jitter: Jitter,
}

impl Nystrom {
    /// Approximates `kernel` with inducing variables; `jitter` is for their covariance.
    pub fn new(kernel: impl Kernel, inducing: impl Into<AnyInducing>, jitter: Jitter) -> Self {
        Self {
            kernel: kernel.into(),
            inducing: inducing.into(),
            jitter,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &AnyKernel {
        self.kernel.first()
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }
}

impl FunctionPrior for Nystrom {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}

impl LowRankKernel for Nystrom {
    type Map = NystromMap;

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
pub struct NystromMap {
    kernel: Kernels,
    inducing: AnyInducing,
    factor: CholeskyFactor<3>,
}

impl FeatureMap for NystromMap {
    fn features(&self, x: Tensor<2>) -> Tensor<2> {
        let covariance = self.inducing.kuf(&self.kernel, x);
        self.factor
            .solve(covariance)
            .squeeze_dim::<2>(0)
            .transpose()
    }

    fn prior_variance(&self, x: Tensor<2>) -> Option<Tensor<1>> {
        Some(self.kernel.first().diagonal_at(x))
    }
}
