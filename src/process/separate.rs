//! Processes of functions with separate kernels.

use burn::tensor::Tensor;

use crate::{
    inducing::SeparateInducing,
    kernels::{KernelModule, SeparateKernels},
    ops::{CholeskyFactor, ExactMatmul, batch_relative_moments, transposed_gram},
    process::{
        ConditionedProcess, Joint, Marginals, Process, WhitenedCovariance, dummy_row_if_empty,
        nonnegative,
    },
};

/// P independent functions with separate kernels, each conditioned on its inducing variables with
/// `L_p⁻¹u_p ~ N(m_p, W_pW_pᵀ)`. This is the batched form of [`ConditionedProcess`].
#[derive(Clone, Debug)]
pub struct SeparateProcess<K: KernelModule, I> {
    kernels: SeparateKernels<K>,
    inducing: I,
    /// L, [P, M, M]
    factor: CholeskyFactor<3>,
    /// m, [P, M]
    mean: Tensor<2>,
    /// W, [P, M, M]
    scale: Tensor<3>,
}

impl<K: KernelModule, I: SeparateInducing<K>> SeparateProcess<K, I> {
    /// Creates the process from whitened means, `[P, M]`, and lower-triangular factors,
    /// `[P, M, M]`.
    pub fn new(
        kernels: SeparateKernels<K>,
        inducing: I,
        factor: CholeskyFactor<3>,
        mean: Tensor<2>,
        scale: Tensor<3>,
    ) -> Self {
        Self {
            kernels,
            inducing,
            factor,
            mean,
            scale,
        }
    }

    /// The kernels.
    pub fn kernels(&self) -> &SeparateKernels<K> {
        &self.kernels
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The process of each function by itself.
    pub fn functions(&self) -> Vec<ConditionedProcess<K, I::Member>> {
        let kernels = self.kernels.kernels().iter().enumerate();
        kernels
            .map(|(output, kernel)| {
                ConditionedProcess::new(
                    kernel.clone(),
                    self.inducing.member(output),
                    self.factor.member(output),
                    self.mean.clone().narrow(0, output, 1),
                    WhitenedCovariance::Factor(self.scale.clone().narrow(0, output, 1)),
                )
            })
            .collect()
    }

    /// `Λ_p = L_p⁻¹K_uf`, [P, M, N].
    fn features(&self, x: Tensor<2>) -> Tensor<3> {
        self.factor.solve(self.inducing.kuf(&self.kernels, x))
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> Process for SeparateProcess<K, I> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let prior_variance = self.kernels.diagonals(x.clone()); // [P, N]
        let features = self.features(x);
        let (mean, change) =
            batch_relative_moments(features, self.mean.clone(), self.scale.clone());
        Marginals {
            mean,
            variance: nonnegative(change + prior_variance.transpose()),
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let ([outputs, _, _], [rows, dimensions]) = (self.scale.dims(), x.dims());
        let repeated = x
            .clone()
            .unsqueeze::<3>()
            .expand([outputs, rows, dimensions]);
        let prior = self.kernels.matrices(repeated); // [P, N, N]
        let features = self.features(x);
        let projected = self
            .scale
            .clone()
            .transpose()
            .exact_matmul(features.clone());
        let means = (features.clone().transpose()).exact_matmul(self.mean.clone().unsqueeze_dim(2));
        Joint {
            mean: means.squeeze_dim::<2>(2).transpose(),
            covariance: prior - transposed_gram(features) + transposed_gram(projected),
        }
    }
}
