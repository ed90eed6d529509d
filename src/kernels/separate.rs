//! Kernels for each function.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use crate::{
    kernels::{FunctionPrior, Kernel},
    parameter::{Hyperparameter, hyperparameters},
};

/// The prior of P independent functions `f_p ~ GP(0, k_p)` with a kernel each.
///
/// A posterior over it has inducing variables for each function and does the linear algebra of all
/// of them as one batch, `[P, M, M]`; the covariances too are one operation where the kernels are
/// stationary and of one kind.
#[derive(Module, Debug)]
pub struct SeparateKernels<K: Module> {
    kernels: Vec<K>,
}

impl<K: Kernel> SeparateKernels<K> {
    /// One kernel a function.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn new(kernels: Vec<K>) -> Self {
        assert!(!kernels.is_empty(), "SeparateKernels: no kernel given");
        Self { kernels }
    }

    /// The same kernel, with the same parameters, for `outputs` functions: for inducing points of
    /// their own under one kernel.
    ///
    /// # Panics
    ///
    /// If `outputs` is zero.
    #[track_caller]
    pub fn tied(kernel: K, outputs: usize) -> Self {
        Self::new(vec![kernel; outputs])
    }

    /// The kernels.
    pub fn kernels(&self) -> &[K] {
        &self.kernels
    }

    /// How many functions there are, P.
    pub fn outputs(&self) -> usize {
        self.kernels.len()
    }

    /// `k_p(x1_p, x2_p)`: `[P, N1, N2]` from `[P, N1, D]` and `[P, N2, D]`.
    pub fn covariances(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        K::covariances(&self.kernels, x1, x2)
    }

    /// The symmetric matrices of `k_p` at `x_p`: `[P, N, N]` from `[P, N, D]`.
    pub fn matrices(&self, x: Tensor<3>) -> Tensor<3> {
        K::matrices(&self.kernels, x)
    }

    /// Some columns of each of [`matrices`](Self::matrices), the same of all: `[P, N, C]` from
    /// `[P, N, D]` and `[C]`.
    pub fn matrix_columns(&self, x: Tensor<3>, columns: Tensor<1, Int>) -> Tensor<3> {
        let each = self.kernels.iter().enumerate().map(|(output, kernel)| {
            let own = x.clone().narrow(0, output, 1).squeeze_dim(0);
            kernel.matrix_columns(own, columns.clone())
        });
        Tensor::stack(each.collect(), 0)
    }

    /// The diagonals of all matrices at the same points: `[P, N]` from `[N, D]`.
    pub fn diagonals(&self, x: Tensor<2>) -> Tensor<2> {
        let diagonals = self.kernels.iter().map(|kernel| kernel.diagonal(x.clone()));
        Tensor::stack(diagonals.collect(), 0)
    }
}

impl<K: Kernel> FunctionPrior for SeparateKernels<K> {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(self.diagonals(x).mean().into_scalar())
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        let kernels = self.kernels.into_iter();
        Self {
            kernels: kernels
                .map(|kernel| Kernel::in_larger_unit(kernel, decades))
                .collect(),
        }
    }
}

/// One kernel that all functions share, or one each.
#[derive(Module, Debug)]
pub enum Kernels<K: Module> {
    /// One for all.
    Shared(K),
    /// One each.
    Separate(SeparateKernels<K>),
}

impl<K: Kernel> FunctionPrior for Kernels<K> {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        match self {
            Self::Shared(kernel) => kernel.mean_variance(x),
            Self::Separate(kernels) => kernels.mean_variance(x),
        }
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        match self {
            Self::Shared(kernel) => Self::Shared(Kernel::in_larger_unit(kernel, decades)),
            Self::Separate(kernels) => Self::Separate(kernels.in_larger_unit(decades)),
        }
    }
}
