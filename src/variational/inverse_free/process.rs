//! The process of an inverse-free posterior, ready for prediction.

use burn::tensor::Tensor;

use super::{
    super::{FunctionMatrices, PriorCovariances, expansion::weighted},
    Relaxation, as_batch,
};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, SeparateKernels},
    ops::ExactMatmul,
    process::{Joint, Marginals, Process, dummy_row_if_empty, nonnegative},
};

/// The process conditioned on an [`InverseFree`](super::InverseFree) posterior: `μ = K_fu·v`,
/// `Σ = K_ff − K_fu·P_R·K_uf`, `P_R = 2T − TK̃T`, using matrix products only.
#[derive(Clone, Debug)]
pub struct InverseFreeProcess<K, I> {
    prior: K,
    inducing: I,
    /// K_uu, [1, M, M] or [P, M, M]
    kuu: Tensor<3>,
    /// L with T = LLᵀ, of the same shape
    lower: Tensor<3>,
    /// v, [P, M]
    weights: Tensor<2>,
    /// s̃, flat
    variances: Tensor<1>,
}

/// One column per function as rows, `[P, M]`.
pub(super) fn shaped<const D: usize>(columns: Tensor<D>, outputs: usize) -> Tensor<2>
where
    Tensor<D>: FunctionMatrices,
{
    columns.of_each(outputs).squeeze_dim(2)
}

impl<K, I> InverseFreeProcess<K, I> {
    /// Creates the process from `K_uu`, L, v and s̃.
    pub(super) fn new<const D: usize>(
        prior: K,
        inducing: I,
        (kuu, lower, weights, variances): (Tensor<D>, Tensor<3>, Tensor<2>, Tensor<1>),
    ) -> Self {
        Self {
            prior,
            inducing,
            kuu: as_batch(kuu),
            lower,
            weights,
            variances,
        }
    }

    /// The prior.
    pub fn prior(&self) -> &K {
        &self.prior
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The weights v of the mean, `[P, M]`.
    pub fn weights(&self) -> Tensor<2> {
        self.weights.clone()
    }

    /// The variances s̃, flat.
    pub(crate) fn variances(&self) -> Tensor<1> {
        self.variances.clone()
    }

    fn relaxation<const D: usize>(&self, shape: [usize; D]) -> Relaxation<D>
    where
        Tensor<D>: FunctionMatrices,
    {
        let kuu = self.kuu.clone().reshape(shape);
        Relaxation::new(kuu, self.variances.clone(), self.lower.clone())
    }

    /// `T·X` for columns, `[M, N]`, when all functions share one T.
    pub(crate) fn inverse(&self, columns: Tensor<2>) -> Tensor<2> {
        let [size, _] = columns.dims();
        self.relaxation([size, size]).inverse(columns)
    }

    /// `K_fu·v`, [N, P].
    fn means<const D: usize>(&self, kuf: Tensor<D>) -> Tensor<2>
    where
        Tensor<D>: FunctionMatrices,
    {
        weighted(kuf.transpose(), self.weights()).transpose()
    }

    fn marginals_under<const D: usize>(
        &self,
        shape: [usize; D],
        prior: &impl PriorCovariances<I, D>,
        x: Tensor<2>,
    ) -> Marginals
    where
        Tensor<D>: FunctionMatrices,
    {
        let ([rows, _], [outputs, _]) = (x.dims(), self.weights.dims());
        let relaxation = self.relaxation(shape);
        let kuf = prior.kuf(&self.inducing, x.clone());
        let weights = relaxation.inverse(kuf.clone());
        let (_, products) = relaxation.products(weights.clone());
        let explained = Relaxation::explained(kuf.clone(), weights, products);
        Marginals {
            mean: self.means(kuf),
            variance: nonnegative(prior.variances(x) - explained).expand([rows, outputs]),
        }
    }

    /// The means and `K_fu·P_R·K_uf`, `[N, N]` or `[P, N, N]`.
    fn joint_under<const D: usize>(
        &self,
        shape: [usize; D],
        prior: &impl PriorCovariances<I, D>,
        x: Tensor<2>,
    ) -> (Tensor<2>, Tensor<D>)
    where
        Tensor<D>: FunctionMatrices,
    {
        let relaxation = self.relaxation(shape);
        let kuf = prior.kuf(&self.inducing, x);
        let weights = relaxation.inverse(kuf.clone()); // T·K_uf
        let (_, products) = relaxation.products(weights.clone());
        // K_fu·T·(2K_uf − K̃T·K_uf)
        let explained = weights
            .transpose()
            .exact_matmul(kuf.clone() * 2.0 - products);
        (self.means(kuf), explained)
    }
}

impl<K: KernelModule, I: InducingVariables<K>> Process for InverseFreeProcess<K, I> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let [_, size] = self.weights.dims();
        self.marginals_under([size, size], &self.prior, x)
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let [outputs, size] = self.weights.dims();
        let prior = self.prior.matrix(x.clone()); // [N, N]
        let (mean, explained) = self.joint_under([size, size], &self.prior, x);
        let covariance = prior - explained;
        Joint {
            mean,
            covariance: covariance.unsqueeze::<3>().repeat_dim(0, outputs),
        }
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> InverseFreeProcess<SeparateKernels<K>, I> {
    /// The process of each function by itself.
    pub(crate) fn functions(&self) -> Vec<InverseFreeProcess<K, I::Member>> {
        let [_, size] = self.weights.dims();
        let kernels = self.prior.kernels().iter().enumerate();
        kernels
            .map(|(output, kernel)| InverseFreeProcess {
                prior: kernel.clone(),
                inducing: self.inducing.member(output),
                kuu: self.kuu.clone().narrow(0, output, 1),
                lower: self.lower.clone().narrow(0, output, 1),
                weights: self.weights.clone().narrow(0, output, 1),
                variances: self.variances.clone().narrow(0, output * size, size),
            })
            .collect()
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> Process
    for InverseFreeProcess<SeparateKernels<K>, I>
{
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        self.marginals_under(self.kuu.dims(), &self.prior, x)
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let ([outputs, _], [rows, dimensions]) = (self.weights.dims(), x.dims());
        let repeated = (x.clone().unsqueeze::<3>()).expand([outputs, rows, dimensions]);
        let prior = self.prior.matrices(repeated); // [P, N, N]
        let (mean, explained) = self.joint_under(self.kuu.dims(), &self.prior, x);
        Joint {
            mean,
            covariance: prior - explained,
        }
    }
}
