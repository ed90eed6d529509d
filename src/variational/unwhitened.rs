//! The unwhitened posterior.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

use serde::{Deserialize, Serialize};

use super::{
    Coordinates, FunctionMatrices, InducingGaussians, PriorCovariances,
    definition::{Build, Start, exactly},
    prior_gaussian,
};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    ops::{Jitter, NotPositiveDefinite, cholesky},
    process::{CovarianceShape, VariationalGaussian},
};

/// `q(u) = N(m, S)`, `S = WWᵀ`, over the inducing variables themselves.
///
/// It is evaluated in whitened coordinates, `L⁻¹m` and `L⁻¹W`. This costs one triangular solve with
/// M right-hand sides instead of one with N, and gives the KL divergence in the same form:
/// `KL = ½(‖L⁻¹W‖²_F + ‖L⁻¹m‖² − M) + Σ log L_ii − Σ log|W_ii|` (L. Tiao, *A Handbook for Sparse
/// Variational Gaussian Processes*, 2020).
#[derive(Module, Debug)]
pub struct Unwhitened<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of an [`Unwhitened`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnwhitenedConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
}

impl Build for UnwhitenedConfig {
    type Posterior<I: Module> = Unwhitened<I>;

    #[track_caller]
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &Start<'_, impl PriorCovariances<I, D>>,
    ) -> Result<Unwhitened<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let [inducing] = exactly(sets);
        let gaussians = start.gaussians(&[&inducing], self.covariance, Coordinates::Unwhitened)?;
        let [gaussian] = exactly(gaussians);
        Ok(Unwhitened::new(inducing, gaussian, start.jitter))
    }
}

impl<I: Module> Unwhitened<I> {
    /// Creates a posterior from inducing variables, a distribution over `u` and a jitter.
    pub fn new(inducing: I, distribution: VariationalGaussian, jitter: Jitter) -> Self {
        Self {
            inducing,
            distribution,
            jitter,
        }
    }

    /// A posterior equal to the prior under `kernel`, for `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn at_prior<K: Kernel>(
        inducing: I,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite>
    where
        I: InducingVariables<K>,
    {
        let factor = cholesky(inducing.kuu(kernel), jitter)?;
        let distribution = prior_gaussian(&factor, outputs);
        Ok(Self::new(inducing, distribution, jitter))
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The jitter of `Cov[u, u]`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The distribution over `u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }
}

impl<I: Module + ModuleDisplay> InducingGaussians for Unwhitened<I> {
    type Inducing = I;

    fn sets(&self) -> Vec<(&I, &VariationalGaussian)> {
        vec![(&self.inducing, &self.distribution)]
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates::Unwhitened
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}
