//! Posteriors with orthogonal sets of inducing variables.

use burn::module::Module;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    AnyPosterior, InducingGaussians, Parameterization, Posterior, PosteriorDefinition,
    PosteriorInit,
};
use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{Jitter, NotPositiveDefinite},
    process::{CovarianceShape, VariationalGaussian},
    register,
};

/// A set of inducing variables and the Gaussians over it.
#[derive(Module, Debug)]
pub struct InducingSet {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
}

impl InducingSet {
    /// Combines inducing variables with a distribution over them.
    pub fn new(inducing: impl Into<AnyInducing>, distribution: VariationalGaussian) -> Self {
        Self {
            inducing: inducing.into(),
            distribution,
        }
    }

    /// The inducing variables.
    pub fn inducing(&self) -> &AnyInducing {
        &self.inducing
    }

    /// The distribution.
    pub fn distribution(&self) -> &VariationalGaussian {
        &self.distribution
    }

    /// The inducing variables and the distribution over them.
    pub fn into_parts(self) -> (AnyInducing, VariationalGaussian) {
        (self.inducing, self.distribution)
    }
}

/// SOLVE-GP: independent Gaussians over T sets of inducing variables. Each set models the part of
/// the functions that the sets before it do not explain.
///
/// For two sets, `u = f(Z)` and `v = f(O) − E[f(O) | u]`, let `c = k − k(·, Z)·K_uu⁻¹·k(Z, ·)` be
/// the residual covariance given Z and `C_vv` its matrix at O:
/// `μ(x) = k(x, Z)·K_uu⁻¹·m_u + c(x, O)·C_vv⁻¹·m_v`,
/// `σ²(x) = k(x, Z)·K_uu⁻¹·S_u·K_uu⁻¹·k(Z, x) + c(x, x) + c(x, O)·C_vv⁻¹(S_v − C_vv)C_vv⁻¹·c(O,
/// x)`,
/// `KL = KL[N(m_u, S_u) ‖ N(0, K_uu)] + KL[N(m_v, S_v) ‖ N(0, C_vv)]`
/// (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for Gaussian
/// Processes*, arXiv:1910.10596, eqs. 33 to 36). The two factorizations cost a quarter of one
/// factorization of M + M2 variables, and coupling the sets costs most of the rest. The lasting
/// saving is that the moments and the KL divergence need no covariance between u and v. One set
/// gives the whitened or unwhitened posterior; further sets repeat the decomposition on the
/// residual.
///
/// The computation follows the paper's algorithm 1 (see [`InducingGaussians`] for the formulas). If
/// the Gaussians are over unwhitened variables, their moments are whitened first, `L⁻¹m` and
/// `Pm = L⁻¹W`. The KL divergence needs both anyway, and `(Pm)ᵀΛ` equals the paper's F (H for v)
/// without its solves for E and G, which have one column per input.
///
/// In whitened coordinates this is a whitened posterior on the union of the sets, with a
/// block-diagonal covariance and a prior factor made of the blocks above.
/// [`condition`](super::Posterior::condition) returns it in that form.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::{
///         InducingSet, SolveGp, SolveGpConfig, Posterior, UnwhitenedSolveGpConfig,
///     },
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let distribution = || VariationalGaussian::standard(3, 1, CovarianceShape::Full, &device);
/// let second = InducingPoints::new(Tensor::from_data([[0.5], [1.5], [2.5]], &device));
/// let sets = [inducing(), second].map(|inducing| InducingSet::new(inducing, distribution()));
/// let parameterization = SolveGpConfig::default().parameterization;
/// let posterior = SolveGp::new(sets.into(), parameterization, jitter);
/// assert_eq!(posterior.inducing_sets().len(), 2);
/// assert_eq!(UnwhitenedSolveGpConfig::default().covariance, CovarianceShape::Full);
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // By default the Gaussians are over whitened variables: this is the prior.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct SolveGp {
    sets: Vec<InducingSet>,
    #[module(skip)]
    parameterization: Parameterization,
    #[module(skip)]
    jitter: Jitter,
}

/// Configuration of a [`SolveGp`] posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct SolveGpConfig {
    /// Full or diagonal covariances.
    pub covariance: CovarianceShape,
    /// Whether the Gaussians are over whitened or unwhitened variables.
    pub parameterization: Parameterization,
}

register!(
    Posterior,
    "solve",
    SolveGpConfig,
    "With a second, orthogonal set of inducing points (SOLVE-GP), as in solve"
);

/// Configuration of a [`SolveGp`] posterior over unwhitened variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct UnwhitenedSolveGpConfig {
    /// Full or diagonal covariances.
    pub covariance: CovarianceShape,
}

register!(
    Posterior,
    "solve-unwhitened",
    UnwhitenedSolveGpConfig,
    "SOLVE-GP over unwhitened inducing variables, as in solve-unwhitened"
);

impl PosteriorDefinition for SolveGpConfig {
    fn has_orthogonal_set(&self) -> bool {
        true
    }

    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let sets = start.inducing_sets(sets, self.covariance, self.parameterization)?;
        Ok(SolveGp::new(sets, self.parameterization, start.jitter).into())
    }
}

impl PosteriorDefinition for UnwhitenedSolveGpConfig {
    fn has_orthogonal_set(&self) -> bool {
        true
    }

    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let solve = SolveGpConfig {
            covariance: self.covariance,
            parameterization: Parameterization::Unwhitened,
        };
        solve.build(sets, start)
    }
}

impl SolveGp {
    /// Creates a posterior from sets in the order in which they are orthogonalized.
    ///
    /// # Panics
    ///
    /// If `sets` is empty.
    #[track_caller]
    pub fn new(sets: Vec<InducingSet>, parameterization: Parameterization, jitter: Jitter) -> Self {
        assert!(
            !sets.is_empty(),
            "SolveGp: no set of inducing variables given"
        );
        Self {
            sets,
            parameterization,
            jitter,
        }
    }

    /// A posterior over the whitened inducing variables that equals the prior under every kernel, for
    /// `outputs` functions. The type is that of the covariances under `prior`.
    ///
    /// # Panics
    ///
    /// If `inducing` is empty.
    #[track_caller]
    pub fn at_prior<I: Into<AnyInducing>>(
        inducing: Vec<I>,
        prior: &Kernels,
        outputs: usize,
        jitter: Jitter,
    ) -> Self {
        let sets = inducing.into_iter().map(|inducing| {
            let inducing = inducing.into();
            let kuu = inducing.kuu(prior);
            let (options, shape) = ((&kuu.device(), kuu.dtype()), CovarianceShape::Full);
            let standard = VariationalGaussian::standard(inducing.count(), outputs, shape, options);
            InducingSet::new(inducing, standard)
        });
        Self::new(sets.collect(), Parameterization::Whitened, jitter)
    }

    /// The sets, in the order in which they are orthogonalized.
    pub fn inducing_sets(&self) -> &[InducingSet] {
        &self.sets
    }
}

impl InducingGaussians for SolveGp {
    fn sets(&self) -> Vec<(&AnyInducing, &VariationalGaussian)> {
        let sets = self.sets.iter();
        sets.map(|set| (&set.inducing, &set.distribution)).collect()
    }

    fn parameterization(&self) -> Parameterization {
        self.parameterization
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}
