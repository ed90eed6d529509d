//! Linear combinations of covariances as functions.

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

use crate::{inducing::AnyInducing, kernels::Kernels, means::Mean, process::product_of_each};

/// `Σ_j a_pj·Cov[v_j, f_p(x)]`: a fixed linear combination of the covariances with inducing
/// variables `v`, used as the mean function of a process.
#[derive(Module, Debug)]
pub struct Expansion {
    prior: Kernels,
    inducing: AnyInducing,
    /// a, [P, M]
    weights: Param<Tensor<2>>,
}

impl Expansion {
    /// Combines the covariances under `prior` with the given weights, `[P, M]`.
    pub fn new(prior: Kernels, inducing: impl Into<AnyInducing>, weights: Tensor<2>) -> Self {
        Self {
            prior,
            inducing: inducing.into(),
            weights: Param::from_tensor(weights),
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The weights, `[P, M]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }
}

/// `K_fv·a`, `[N, P]`, at `x`, `[N, D]`, for weights a, `[P, M]`.
pub(super) fn expand(
    prior: &Kernels,
    inducing: &AnyInducing,
    weights: Tensor<2>,
    x: Tensor<2>,
) -> Tensor<2> {
    let kvf = inducing.kuf(prior, x); // [B, M, N]
    product_of_each(kvf.transpose(), weights).transpose()
}

impl Mean for Expansion {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        expand(&self.prior, &self.inducing, self.weights(), x)
    }
}
