//! What every regression model on all data is made of.

use burn::{module::Module, tensor::Tensor};

use crate::{
    kernels::Kernel,
    likelihoods::{Gaussian, Likelihood},
    means::Mean,
    parameter::Hyperparameter,
};

/// The prior of a regression: a kernel, a mean and Gaussian noise,
/// `y = f + ε`, `f ~ GP(m, k)`, `ε ~ N(0, σ²)`.
#[derive(Module, Debug)]
pub struct RegressionPrior<K: Module, M: Module> {
    kernel: K,
    mean: M,
    likelihood: Gaussian,
}

impl<K: Kernel, M: Mean> RegressionPrior<K, M> {
    /// A prior of the given pieces.
    pub fn new(kernel: K, mean: M, likelihood: Gaussian) -> Self {
        Self {
            kernel,
            mean,
            likelihood,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The mean function.
    pub fn mean(&self) -> &M {
        &self.mean
    }

    /// The likelihood.
    pub fn likelihood(&self) -> &Gaussian {
        &self.likelihood
    }

    /// The noise variance σ², `[1]`.
    pub(super) fn noise(&self) -> Tensor<1> {
        self.likelihood.noise()
    }

    /// `y − m(X)`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[N, P]`
    pub(super) fn residual(&self, inputs: Tensor<2>, targets: Tensor<2>) -> Tensor<2> {
        self.mean.residual(targets, inputs)
    }

    /// The kernel and the mean, for a process.
    pub(super) fn into_process_parts(self) -> (K, M) {
        (self.kernel, self.mean)
    }

    /// The hyperparameters, in the units people read.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let parts = [
            ("kernel", self.kernel.hyperparameters()),
            ("mean", self.mean.hyperparameters()),
            ("likelihood", self.likelihood.hyperparameters()),
        ];
        let within = |(part, parameters): (&'static str, Vec<Hyperparameter>)| {
            (parameters.into_iter()).map(move |parameter| parameter.within(part))
        };
        parts.into_iter().flat_map(within).collect()
    }
}
