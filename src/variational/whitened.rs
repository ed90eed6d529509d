//! The whitened posterior.

use burn::module::{Module, ModuleDisplay};

use super::{Coordinates, InducingGaussians};
use crate::{ops::Jitter, process::VariationalGaussian};

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
