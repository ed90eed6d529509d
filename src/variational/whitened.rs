//! The whitened posterior.

use super::{Coordinates, one_gaussian::one_gaussian};

one_gaussian! {
    /// `q(u) = N(L·m, L·S·Lᵀ)`, where `L` is the Cholesky factor of `Cov[u, u]`. The distribution is
    /// over the whitened variables `L⁻¹u`, whose prior is standard normal.
    ///
    /// With `Λ = L⁻¹K_uf`: `μ = Λᵀm`, `σ² = k_ff − colsum(Λ²) + colsum((WᵀΛ)²)`, `S = WWᵀ`
    /// (L. Tiao, *A Handbook for Sparse Variational Gaussian Processes*, 2020).
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inducing::InducingPoints,
    ///     kernels::StationaryConfig,
    ///     ops::{Jitter, NotPositiveDefinite, Stationary},
    ///     process::{CovarianceShape, VariationalGaussian},
    ///     variational::{Posterior, Whitened, WhitenedConfig},
    /// };
    ///
    /// # fn main() -> Result<(), NotPositiveDefinite> {
    /// let device = Device::default();
    /// let kernel = StationaryConfig::new(Stationary::Matern52).init(1, &device);
    /// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
    /// let jitter = Jitter::for_precision(DType::F32);
    /// let distribution = || VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
    /// let posterior = Whitened::new(inducing(), distribution(), jitter);
    /// assert_eq!(WhitenedConfig::default().covariance, CovarianceShape::Full);
    /// let evaluation = posterior.evaluate(&kernel, Tensor::from_data([[0.5], [1.5]], &device))?;
    /// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
    /// // A standard normal over whitened variables is the prior.
    /// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
    /// # Ok(())
    /// # }
    /// ```
    Whitened, WhitenedConfig, Coordinates::Whitened, over "`L⁻¹u`"
}
