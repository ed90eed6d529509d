//! The whitened posterior.

use burn::{module::Module, tensor::Tensor};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyPosterior, Evaluation, Parameterization, Posterior, PosteriorDefinition, PosteriorInit,
    definition::exactly,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{Jitter, NotPositiveDefinite, cholesky},
    process::{
        ConditionedProcess, CovarianceShape, LinearObservations, Marginals, SamplePaths,
        VariationalGaussian, WhitenedCovariance, nonnegative, prior_variances,
    },
    register,
};

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
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{Posterior, Whitened, WhitenedConfig},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
/// let posterior = Whitened::new(inducing, distribution, jitter);
/// assert_eq!(WhitenedConfig::default().covariance, CovarianceShape::Full);
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // A standard normal over whitened variables is the prior.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Whitened {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of a [`Whitened`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct WhitenedConfig {
    /// Full or diagonal covariance.
    pub covariance: CovarianceShape,
}

register!(
    Posterior,
    "whitened",
    WhitenedConfig,
    "A Gaussian over whitened inducing variables, as in the model svgp"
);

impl PosteriorDefinition for WhitenedConfig {
    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let [inducing] = exactly(sets);
        let gaussians =
            start.gaussians(&[&inducing], self.covariance, Parameterization::Whitened)?;
        let [gaussian] = exactly(gaussians);
        Ok(Whitened::new(inducing, gaussian, start.jitter).into())
    }
}

impl Whitened {
    /// Creates a posterior from inducing variables, a distribution over `L⁻¹u` and a jitter.
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

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
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

    /// The posterior given further rows with Gaussian noise, without autodiff:
    /// `S′⁻¹ = S⁻¹ + ΛΣ⁻¹Λᵀ`, `m′ = m + S′ΛΣ⁻¹(y − Λᵀm)` (T. Bui, C. Nguyen and R. Turner, *Streaming Sparse Gaussian
    /// Process Approximations*, arXiv:1705.07131, with the same inducing points and parameters). The covariance becomes a
    /// full one. If `q(u)` was optimal for the rows so far, it is for all.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `residual` (y, the targets less their mean): `[N, P]`, `noise`: the variances, `[N]`
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored.
    pub fn condition_on_observations(
        &self,
        prior: &Kernels,
        inputs: Tensor<2>,
        residual: Tensor<2>,
        noise: Tensor<1>,
    ) -> Result<Self, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let factor = cholesky(this.inducing.kuu(&prior), this.jitter)?;
        let cross = this.inducing.kuf(&prior, inputs.without_autodiff());
        let observed = LinearObservations {
            basis: factor.solve(cross), // Λ, [B, M, N]
            values: residual.without_autodiff(),
            noise: noise.without_autodiff(),
        };
        Ok(Self {
            distribution: this.distribution.given(&observed)?,
            ..this
        })
    }
}

impl Posterior for Whitened {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let kff = prior_variances(prior, x.clone()); // k_ff, [N, B]
        let factor = cholesky(self.inducing.kuu(prior), self.jitter)?; // K_uu = LLᵀ, [B, M, M]
        let kuf = self.inducing.kuf(prior, x); // [B, M, N]
        let q = self.distribution.moments();
        // Λ = L⁻¹K_uf: μ = Λᵀm, change = colsum((WᵀΛ)²) − colsum(Λ²), [N, P]
        let (mean, change) = q.clone().solve_and_project_relative(&factor, kuf);
        Ok(Evaluation {
            marginals: Marginals {
                mean,
                variance: nonnegative(change + kff),
            },
            kl: q.kl_from_standard(), // ½(‖W‖²_F + ‖m‖² − M) − Σ log|W_ii|
        })
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let (this, prior) = (self.valid(), prior.valid());
        let factor = cholesky(this.inducing.kuu(&prior), this.jitter)?;
        let (mean, scale) = this.distribution.moments().into_full();
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
