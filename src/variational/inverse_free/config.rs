//! Configuration of inverse-free posteriors.

use burn::tensor::DType;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        AnyPosterior, Posterior, PosteriorDefinition, PosteriorInit, PseudoObservationsConfig,
        definition::exactly,
    },
    InverseFree,
};
use crate::{inducing::AnyInducing, ops::NotPositiveDefinite, optim::NaturalInversion, register};

/// How an [`InverseFree`](super::InverseFree) posterior updates its auxiliary matrix `T = LLᵀ`,
/// which approximates `K̃⁻¹`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AuxiliaryUpdate {
    /// By natural-gradient inversion after every step; L receives no gradients.
    NaturalGradient(NaturalInversion),
    /// As a parameter that the optimizer trains, like earlier methods. This is slower, and less
    /// accurate if the mean is preconditioned.
    Optimizer {
        /// The initial L is this multiple of the identity.
        start: f64,
    },
}

impl AuxiliaryUpdate {
    /// The optimizer trains L, starting at `1e-3·I`.
    pub const TRAINED: Self = Self::Optimizer { start: 1e-3 };
}

impl Default for AuxiliaryUpdate {
    fn default() -> Self {
        Self::NaturalGradient(NaturalInversion::default())
    }
}

/// Configuration of an [`InverseFree`](super::InverseFree) posterior.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::{Kernels, StationaryConfig},
///     ops::{Jitter, NotPositiveDefinite, Stationary},
///     variational::{InverseFree, InverseFreeConfig, PosteriorConfig, PseudoObservationsConfig},
/// };
///
/// # fn main() -> Result<(), NotPositiveDefinite> {
/// let device = Device::default();
/// let prior = Kernels::from(StationaryConfig::new(Stationary::Matern52).init(1, &device));
/// let inducing = || InducingPoints::new(Tensor::from_data([[0.0], [1.0], [2.0]], &device));
/// let jitter = Jitter::for_precision(DType::F32);
/// let observations = PseudoObservationsConfig { variance: 1e4, ..Default::default() };
/// let config = InverseFreeConfig { observations, ..Default::default() };
/// let posterior = PosteriorConfig::from(config).init(vec![inducing()], &prior, 1, jitter, &device)?;
/// assert!(posterior.downcast_ref::<InverseFree>().is_some());
/// let evaluation = posterior.evaluate(&prior, Tensor::from_data([[0.5], [1.5]], &device))?;
/// assert_eq!(evaluation.marginals.mean.dims(), [2, 1]);
/// // Observations with this much noise carry no information.
/// assert!(evaluation.kl.into_scalar::<f64>().abs() < 1e-3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default, deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct InverseFreeConfig {
    /// The pseudo-observations `m̃` and `S̃`.
    pub observations: PseudoObservationsConfig,
    /// The update of T.
    pub auxiliary: AuxiliaryUpdate,
    /// The random vectors for estimating the traces of the KL divergence in training. If absent,
    /// the traces are exact.
    #[setters(strip_option)]
    pub probes: Option<super::TraceProbes>,
}

register!(
    Posterior,
    "inverse-free",
    InverseFreeConfig,
    "Pseudo-observations with matrix products only (R-SVGP), as in inverse-free"
);

impl PosteriorDefinition for InverseFreeConfig {
    #[track_caller]
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let [inducing] = exactly(sets);
        let observations = start.observations(&self.observations, &inducing);
        let prior = (start.prior, start.first);
        Ok(InverseFree::at_start(inducing, observations, prior, self).into())
    }

    fn positive(&self) -> Vec<(&'static str, Option<f64>)> {
        self.observations.positive()
    }

    fn fix_precision(&mut self, precision: DType) {
        self.observations = self.observations.with_floor_of(precision);
    }
}
