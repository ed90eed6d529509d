//! What inducing variables see of a prior.

use burn::tensor::{Int, Tensor};

use crate::{inducing::InducingVariables, kernels::Kernel};

/// The covariances of inducing variables `I` under a prior: under a kernel that all functions share
/// one matrix for all (`D = 2`, `[M, N]`), under kernels of their own one each (`D = 3`,
/// `[P, M, N]`).
pub(crate) trait PriorCovariances<I, const D: usize> {
    /// How many inducing variables there are, M.
    fn count(&self, u: &I) -> usize;

    /// `Cov[u, u]`.
    fn kuu(&self, u: &I) -> Tensor<D>;

    /// Some columns of `Cov[u, u]`.
    fn kuu_columns(&self, u: &I, columns: Tensor<1, Int>) -> Tensor<D>;

    /// `Cov[u, v]`.
    fn kuv(&self, u: &I, v: &I) -> Tensor<D>;

    /// `Cov[u, f(x)]`, at `x`, `[N, D]`.
    fn kuf(&self, u: &I, x: Tensor<2>) -> Tensor<D>;

    /// The variances of `f(x)`: `[N, 1]`, or `[N, P]`.
    fn variances(&self, x: Tensor<2>) -> Tensor<2>;

    /// All sets as one.
    fn union(&self, sets: &[I]) -> I;
}

impl<K: Kernel, I: InducingVariables<K>> PriorCovariances<I, 2> for K {
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
