//! Linear combinations of covariances as functions.

use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

use super::{FunctionMatrices, PriorCovariances};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, SeparateKernels},
    means::Mean,
    ops::ExactMatmul,
};

/// `Σ_j a_pj·Cov[v_j, f_p(x)]`: a fixed linear combination of the covariances with inducing
/// variables `v`, used as the mean function of a process.
#[derive(Module, Debug)]
pub struct Expansion<K: Module, I: Module> {
    prior: K,
    inducing: I,
    /// a, [P, M]
    weights: Param<Tensor<2>>,
}

impl<K: Module, I: Module> Expansion<K, I> {
    /// Combines the covariances under `prior` with the given weights, `[P, M]`.
    pub fn new(prior: K, inducing: I, weights: Tensor<2>) -> Self {
        Self {
            prior,
            inducing,
            weights: Param::from_tensor(weights),
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The weights, `[P, M]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.val()
    }
}

/// `K_fv·a`, `[N, P]`, at `x`, `[N, D]`, for weights a, `[P, M]`.
pub(crate) fn expand<const D: usize, I>(
    prior: &impl PriorCovariances<I, D>,
    inducing: &I,
    weights: Tensor<2>,
    x: Tensor<2>,
) -> Tensor<2>
where
    Tensor<D>: FunctionMatrices,
{
    let columns = prior.kuf(inducing, x); // [M, N]
    weighted(columns.transpose(), weights).transpose()
}

/// `B·a_p`, `[P, N]`, for weights a, `[P, M]`, and one shared matrix B, `[N, M]`, or one per
/// function.
pub(crate) fn weighted<const D: usize>(matrix: Tensor<D>, weights: Tensor<2>) -> Tensor<2>
where
    Tensor<D>: FunctionMatrices,
{
    let [outputs, _] = weights.dims();
    let weights = Tensor::<D>::right_hand_sides(weights.unsqueeze_dim(2));
    matrix.exact_matmul(weights).of_each(outputs).squeeze_dim(2)
}

impl<K: KernelModule, I: InducingVariables<K>> Mean for Expansion<K, I> {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        expand::<2, I>(&self.prior, &self.inducing, self.weights(), x)
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> Mean for Expansion<SeparateKernels<K>, I> {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        expand::<3, I>(&self.prior, &self.inducing, self.weights(), x)
    }
}
