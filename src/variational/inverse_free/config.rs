//! Configuration of inverse-free posteriors.

use serde::{Deserialize, Serialize};

use super::super::PseudoObservationsConfig;
use crate::optim::NaturalInversion;

/// How the auxiliary matrix `T = LLᵀ` of an [`InverseFree`](super::InverseFree) posterior follows
/// `K̃⁻¹`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AuxiliaryUpdate {
    /// By natural-gradient inversion after every step; gradients never reach L.
    NaturalGradient(NaturalInversion),
    /// As one more parameter that the optimizer trains, as before: slower, and worse where the mean
    /// is preconditioned.
    Optimizer {
        /// L starts at this multiple of the identity.
        start: f64,
    },
}

impl AuxiliaryUpdate {
    /// An L that the optimizer trains, from `1e-3·I`.
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
    /// `m̃` and `S̃`.
    pub observations: PseudoObservationsConfig,
    /// How T follows `K̃⁻¹`.
    pub auxiliary: AuxiliaryUpdate,
    /// The random vectors that estimate the traces of the divergence in training; if absent, the
    /// traces are exact.
    pub probes: Option<super::TraceProbes>,
}
