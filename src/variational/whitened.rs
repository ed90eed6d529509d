//! The whitened posterior.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

use serde::{Deserialize, Serialize};

use super::{
    Coordinates, FunctionMatrices, InducingGaussians, PriorCovariances,
    definition::{Build, Start, exactly},
};
use crate::{
    ops::{Jitter, NotPositiveDefinite},
    process::{CovarianceShape, VariationalGaussian},
};

/// `q(u) = N(L·m, L·S·Lᵀ)`, where `L` is the Cholesky factor of `Cov[u, u]`. The distribution is
/// over the whitened variables `L⁻¹u`, whose prior is standard normal.
///
/// With `Λ = L⁻¹K_uf`: `μ = Λᵀm`, `σ² = k_ff − colsum(Λ²) + colsum((WᵀΛ)²)`, `S = WWᵀ`
/// (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).
#[derive(Module, Debug)]
pub struct Whitened<I: Module> {
    inducing: I,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of a [`Whitened`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WhitenedConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
}

impl Build for WhitenedConfig {
    type Posterior<I: Module> = Whitened<I>;

    #[track_caller]
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &Start<'_, impl PriorCovariances<I, D>>,
    ) -> Result<Whitened<I>, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let [inducing] = exactly(sets);
        let gaussians = start.gaussians(&[&inducing], self.covariance, Coordinates::Whitened)?;
        let [gaussian] = exactly(gaussians);
        Ok(Whitened::new(inducing, gaussian, start.jitter))
    }
}

impl<I: Module> Whitened<I> {
    /// Creates a posterior from inducing variables, a distribution over `L⁻¹u` and a jitter.
    pub fn new(inducing: I, distribution: VariationalGaussian, jitter: Jitter) -> Self {
        Self {
            inducing,
            distribution,
            jitter,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        &self.inducing
    }

    /// The jitter of `Cov[u, u]`.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The distribution over `L⁻¹u`.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }
}

impl<I: Module + ModuleDisplay> InducingGaussians for Whitened<I> {
    type Inducing = I;

    fn sets(&self) -> Vec<(&I, &VariationalGaussian)> {
        vec![(&self.inducing, &self.distribution)]
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates::Whitened
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}
