//! The unwhitened posterior.

use burn::{module::Module, tensor::Tensor};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyPosterior, Evaluation, Parameterization, Posterior, PosteriorDefinition, PosteriorInit,
    definition::exactly,
    inducing_gaussians::{prior_gaussian, whitened_moments},
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{Jitter, NotPositiveDefinite, cholesky},
    process::{
        ConditionedProcess, CovarianceShape, Marginals, SamplePaths, VariationalGaussian,
        WhitenedCovariance, nonnegative, prior_variances,
    },
    register,
};

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
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{Posterior, Unwhitened, UnwhitenedConfig},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
/// let posterior = Unwhitened::new(inducing, distribution, jitter);
/// assert_eq!(UnwhitenedConfig::default().covariance, CovarianceShape::Full);
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // Independent inducing variables are not the prior.
/// assert!(evaluation.kl.into_scalar::<f64>() > 0.1);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Unwhitened {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of an [`Unwhitened`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct UnwhitenedConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
}

register!(
    Posterior,
    "unwhitened",
    UnwhitenedConfig,
    "A Gaussian over the inducing variables themselves, as in svgp-unwhitened"
);

impl PosteriorDefinition for UnwhitenedConfig {
    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let [inducing] = exactly(sets);
        let gaussians =
            start.gaussians(&[&inducing], self.covariance, Parameterization::Unwhitened)?;
        let [gaussian] = exactly(gaussians);
        Ok(Unwhitened::new(inducing, gaussian, start.jitter).into())
    }
}

impl Unwhitened {
    /// Creates a posterior from inducing variables, a distribution over `u` and a jitter.
    pub fn new(
        inducing: impl Into<AnyInducing>,
        distribution: VariationalGaussian,
        jitter: Jitter,
    ) -> Self {
        Self {
            inducing: inducing.into(),
            distribution,
            jitter,
        }
    }

    /// A posterior equal to the prior, for `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn at_prior(
        inducing: impl Into<AnyInducing>,
        prior: &Kernels,
        outputs: usize,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite> {
        let inducing = inducing.into();
        let factor = cholesky(inducing.kuu(prior), jitter)?;
        let distribution = prior_gaussian(&factor, outputs);
        Ok(Self::new(inducing, distribution, jitter))
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
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

impl Posterior for Unwhitened {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let factor = cholesky(self.inducing.kuu(prior), self.jitter)?; // K_uu = LLᵀ, [B, M, M]
        let q = whitened_moments(&factor, &self.distribution); // L⁻¹m and L⁻¹W
        let kff = prior_variances(prior, x.clone()); // k_ff, [N, B]
        let kuf = self.inducing.kuf(prior, x); // [B, M, N]
        // Λ = L⁻¹K_uf: μ = ΛᵀL⁻¹m, change = colsum((WᵀL⁻ᵀΛ)²) − colsum(Λ²), [N, P]
        let (mean, change) = q.clone().solve_and_project_relative(&factor, kuf);
        Ok(Evaluation {
            marginals: Marginals {
                mean,
                variance: nonnegative(change + kff),
            },
            kl: q.kl_from_standard(), // ½(‖L⁻¹W‖²_F + ‖L⁻¹m‖² − M) − Σ log|(L⁻¹W)_ii|
        })
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let factor = cholesky(this.inducing.kuu(&prior), this.jitter)?;
        let (mean, scale) = whitened_moments(&factor, &this.distribution).into_full();
        let spread = WhitenedCovariance::Factor(scale);
        let process = ConditionedProcess::new(prior, this.inducing, factor, mean, spread);
        Ok(Box::new(process))
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![&self.inducing]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![&self.distribution]
    }
}
