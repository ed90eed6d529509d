//! The whitened posterior.

use super::{Coordinates, one_gaussian::one_gaussian};

one_gaussian! {
    /// `q(u) = N(L·m, L·S·Lᵀ)`, where `L` is the Cholesky factor of `Cov[u, u]`. The distribution is
    /// over the whitened variables `L⁻¹u`, whose prior is standard normal.
    ///
    /// With `Λ = L⁻¹K_uf`: `μ = Λᵀm`, `σ² = k_ff − colsum(Λ²) + colsum((WᵀΛ)²)`, `S = WWᵀ`
    /// (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).
    Whitened, WhitenedConfig, Coordinates::Whitened, over "`L⁻¹u`"
}
