//! Separate kernels for several functions.

use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use crate::{
    kernels::{AnyKernel, FunctionPrior, Kernel, KernelModule, StationaryKernel},
    ops::number,
    parameter::{Hyperparameter, hyperparameters},
};

/// The prior of P independent functions `f_p ~ GP(0, k_p)`, each with its own kernel.
///
/// A posterior under this prior has inducing variables for each function and batches the linear
/// algebra of all functions, `[P, M, M]`. The covariances are also computed in one operation if the
/// kernels are stationary and of the same kind.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Linear, SeparateKernels};
///
/// let device = Device::default();
/// let kernels = [1.0, 4.0].map(|variance| Linear::new(&[variance], &device));
/// let kernels = SeparateKernels::new(kernels.into());
/// let x = Tensor::<2>::from_data([[1.0], [2.0], [3.0]], &device);
/// // A variance for each row and each of two functions.
/// assert_eq!(kernels.outputs(), 2);
/// assert_eq!(kernels.diagonals(x).dims().iter().product::<usize>(), 6);
/// ```
#[derive(Module, Debug)]
pub struct SeparateKernels<K: Module> {
    kernels: Vec<K>,
}

impl<K: KernelModule> SeparateKernels<K> {
    /// Creates the prior from one kernel per function.
    ///
    /// # Panics
    ///
    /// If `kernels` is empty.
    #[track_caller]
    pub fn new(kernels: Vec<K>) -> Self {
        assert!(!kernels.is_empty(), "SeparateKernels: no kernel given");
        Self { kernels }
    }

    /// Uses clones of one kernel, with the same parameters, for `outputs` functions. This gives
    /// functions under one kernel their own inducing points.
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

    /// The number of functions, P.
    pub fn outputs(&self) -> usize {
        self.kernels.len()
    }

    /// `k_p(x1_p, x2_p)`: `[P, N1, N2]` from `[P, N1, D]` and `[P, N2, D]`.
    pub fn covariances(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        self.fused(&x1, &x2).unwrap_or_else(|| {
            self.one_by_one(|kernel, output| {
                kernel.covariance(member(&x1, output), member(&x2, output))
            })
        })
    }

    /// The covariance matrices of `k_p` at `x_p`: `[P, N, N]` from `[P, N, D]`.
    pub fn matrices(&self, x: Tensor<3>) -> Tensor<3> {
        self.fused(&x, &x)
            .unwrap_or_else(|| self.one_by_one(|kernel, output| kernel.matrix(member(&x, output))))
    }

    /// The covariances in one operation, if all kernels are stationary and alike.
    fn fused(&self, x1: &Tensor<3>, x2: &Tensor<3>) -> Option<Tensor<3>> {
        let kernels: Option<Vec<_>> = self.kernels.iter().map(stationary).collect();
        StationaryKernel::fused(&kernels?, x1.clone(), x2.clone())
    }

    /// Evaluates each kernel and stacks the results.
    fn one_by_one(&self, covariance: impl Fn(&K, usize) -> Tensor<2>) -> Tensor<3> {
        let members = self.kernels.iter().enumerate();
        let members = members.map(|(output, kernel)| covariance(kernel, output));
        Tensor::stack(members.collect(), 0)
    }

    /// Selected columns of [`matrices`](Self::matrices), the same for every function: `[P, N, C]`
    /// from `[P, N, D]` and `[C]`.
    pub fn matrix_columns(&self, x: Tensor<3>, columns: Tensor<1, Int>) -> Tensor<3> {
        self.one_by_one(|kernel, output| kernel.matrix_columns(member(&x, output), columns.clone()))
    }

    /// The diagonals of the covariance matrices at shared points: `[P, N]` from `[N, D]`.
    pub fn diagonals(&self, x: Tensor<2>) -> Tensor<2> {
        let diagonals = self.kernels.iter().map(|kernel| kernel.diagonal(x.clone()));
        Tensor::stack(diagonals.collect(), 0)
    }
}

/// The kernel, if it is stationary with a fused operation.
fn stationary(kernel: &impl Kernel) -> Option<&StationaryKernel> {
    let own = kernel.as_any();
    let own = (own.downcast_ref::<AnyKernel>()).map_or(own, |kernel| kernel.piece().as_any());
    own.downcast_ref()
}

/// One matrix of a batch.
fn member(batch: &Tensor<3>, index: usize) -> Tensor<2> {
    batch.clone().narrow(0, index, 1).squeeze_dim(0)
}

impl<K: KernelModule> FunctionPrior for SeparateKernels<K> {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        Some(number(self.diagonals(x).mean()))
    }

    fn in_larger_unit(mut self, decades: i64) -> Self {
        for kernel in &mut self.kernels {
            Kernel::in_larger_unit(kernel, decades);
        }
        self
    }
}

/// A shared kernel, or separate kernels.
#[derive(Module, Debug)]
pub enum Kernels<K: Module> {
    /// One kernel that all functions share.
    Shared(K),
    /// One kernel per function.
    Separate(SeparateKernels<K>),
}

impl<K: KernelModule> FunctionPrior for Kernels<K> {
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
            Self::Shared(kernel) => Self::Shared(FunctionPrior::in_larger_unit(kernel, decades)),
            Self::Separate(kernels) => Self::Separate(kernels.in_larger_unit(decades)),
        }
    }
}
