//! Configuration of inverse-free posteriors.

use serde::{Deserialize, Serialize};

use super::super::PseudoObservationsConfig;
use crate::optim::NaturalInversion;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InverseFreeConfig {
    /// The pseudo-observations `m̃` and `S̃`.
    pub observations: PseudoObservationsConfig,
    /// The update of T.
    pub auxiliary: AuxiliaryUpdate,
    /// The random vectors for estimating the traces of the KL divergence in training. If absent,
    /// the traces are exact.
    pub probes: Option<super::TraceProbes>,
}
