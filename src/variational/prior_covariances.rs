//! Covariances of inducing variables under a prior.

use burn::tensor::{Int, Tensor};

use crate::{inducing::InducingVariables, kernels::KernelModule};

/// The covariances of inducing variables `I` under a prior. A shared kernel gives one matrix for
/// all functions (`D = 2`, `[M, N]`); separate kernels give one per function (`D = 3`,
/// `[P, M, N]`).
pub(crate) trait PriorCovariances<I, const D: usize> {
    /// The number of inducing variables, M.
    fn count(&self, u: &I) -> usize;

    /// `Cov[u, u]`.
    fn kuu(&self, u: &I) -> Tensor<D>;

    /// Selected columns of `Cov[u, u]`.
    fn kuu_columns(&self, u: &I, columns: Tensor<1, Int>) -> Tensor<D>;

    /// `Cov[u, v]`.
    fn kuv(&self, u: &I, v: &I) -> Tensor<D>;

    /// `Cov[u, f(x)]` at `x`, `[N, D]`.
    fn kuf(&self, u: &I, x: Tensor<2>) -> Tensor<D>;

    /// The variances of `f(x)`: `[N, 1]` or `[N, P]`.
    fn variances(&self, x: Tensor<2>) -> Tensor<2>;

    /// All sets merged into one.
    fn union(&self, sets: &[I]) -> I;
}

impl<K: KernelModule, I: InducingVariables<K>> PriorCovariances<I, 2> for K {
    fn count(&self, u: &I) -> usize {
        u.count()
    }

    fn kuu(&self, u: &I) -> Tensor<2> {
        u.kuu(self)
    }

    fn kuu_columns(&self, u: &I, columns: Tensor<1, Int>) -> Tensor<2> {
        u.kuu_columns(self, columns)
    }

    fn kuv(&self, u: &I, v: &I) -> Tensor<2> {
        u.kuv(self, v)
    }

    fn kuf(&self, u: &I, x: Tensor<2>) -> Tensor<2> {
        u.kuf(self, x)
    }

    fn variances(&self, x: Tensor<2>) -> Tensor<2> {
        self.diagonal(x).unsqueeze_dim(1)
    }

    fn union(&self, sets: &[I]) -> I {
        I::union(sets)
    }
}
