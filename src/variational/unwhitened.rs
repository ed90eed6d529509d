//! The unwhitened posterior.

use burn::module::Module;

use super::{Coordinates, one_gaussian::one_gaussian, prior_gaussian};
use crate::{
    inducing::InducingVariables,
    kernels::KernelModule,
    ops::{Jitter, NotPositiveDefinite, cholesky},
};

one_gaussian! {
    /// `q(u) = N(m, S)`, `S = WWᵀ`, over the inducing variables themselves.
    ///
    /// It is evaluated in whitened coordinates, `L⁻¹m` and `L⁻¹W`. This costs one triangular solve
    /// with M right-hand sides instead of one with N, and gives the KL divergence in the same form:
    /// `KL = ½(‖L⁻¹W‖²_F + ‖L⁻¹m‖² − M) + Σ log L_ii − Σ log|W_ii|` (L. Tiao, *A Handbook for Sparse
    /// Variational Gaussian Processes*, 2020).
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inducing::InducingPoints,
    ///     kernels::StationaryConfig,
    ///     ops::{Jitter, NotPositiveDefinite, Stationary},
    ///     process::{CovarianceShape, VariationalGaussian},
    ///     variational::{Posterior, Unwhitened, UnwhitenedConfig},
    /// };
    ///
    /// # fn main() -> Result<(), NotPositiveDefinite> {
    /// let device = Device::default();
    /// let kernel = StationaryConfig::new(Stationary::Matern52).init(1, &device);
    /// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
    /// let jitter = Jitter::for_precision(DType::F32);
    /// let distribution = || VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
    /// let posterior = Unwhitened::new(inducing(), distribution(), jitter);
    /// assert_eq!(UnwhitenedConfig::default().covariance, CovarianceShape::Full);
    /// let evaluation = posterior.evaluate(&kernel, Tensor::from_data([[0.5], [1.5]], &device))?;
    /// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
    /// // Independent inducing variables are not the prior.
    /// assert!(evaluation.kl.into_scalar::<f64>() > 0.1);
    /// # Ok(())
    /// # }
    /// ```
    Unwhitened, UnwhitenedConfig, Coordinates::Unwhitened, over "`u`"
}

impl<I: Module> Unwhitened<I> {
    /// A posterior equal to the prior under `kernel`, for `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn at_prior<K: KernelModule>(
        inducing: I,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite>
    where
        I: InducingVariables<K>,
    {
        let factor = cholesky(inducing.kuu(kernel), jitter)?;
        Ok(Self::new(
            inducing,
            prior_gaussian(&factor, outputs),
            jitter,
        ))
    }
}
