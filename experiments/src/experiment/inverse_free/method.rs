//! The models that the paper compares.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::arguments::{InversionName, ModelName, PseudoObservationOptions, RunOptions};

/// Jitter of the covariances that W-SVGP factors; the others have none.
pub(super) const JITTER: f64 = 1e-6;

/// A model of Section 4, with preconditioned mean and natural gradients where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// W-SVGP: whitened, by Cholesky factors
    W,
    /// L-SVGP: pseudo-observations, by Cholesky factors
    L,
    /// R-SVGP: the same by matrix products alone
    R,
}

impl Method {
    /// Its name in the paper.
    pub fn title(self) -> &'static str {
        match self {
            Self::W => "W-SVGP",
            Self::L => "L-SVGP",
            Self::R => "R-SVGP",
        }
    }

    /// `options` with the model, and for R-SVGP what else the protocol says of it.
    pub fn with_model(self, options: RunOptions, relaxed: &Relaxed) -> RunOptions {
        match self {
            Self::W => RunOptions {
                model: Some(ModelName::Svgp),
                jitter: Some(JITTER),
                ..options
            },
            Self::L => RunOptions {
                model: Some(ModelName::LSvgp),
                ..options
            },
            Self::R => relaxed.with_model(options),
        }
    }
}

/// What a protocol says of R-SVGP alone.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Relaxed {
    /// The step sizes of an inversion.
    pub inversion: InversionName,
    /// The residual at which an inversion stops.
    pub tolerance: f64,
    /// Random vectors for the traces, unless they are exact.
    pub probes: Option<usize>,
    /// How the inducing points are trained, unless as everything else.
    pub damping: Option<Damping>,
}

/// How the inducing points of R-SVGP are trained (Section 3.4).
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Damping {
    /// They stay where they are for so many steps.
    pub frozen: usize,
    /// Their first learning rate.
    pub rate: f64,
    /// β₁ of their Adam.
    pub momentum: f64,
    /// Steps without a lower loss after which their learning rate goes down.
    pub plateau: usize,
}

impl Relaxed {
    fn with_model(&self, options: RunOptions) -> RunOptions {
        RunOptions {
            model: Some(ModelName::InverseFree),
            pseudo_observations: PseudoObservationOptions {
                inversion: Some(self.inversion),
                inversion_tolerance: Some(self.tolerance),
                probes: self.probes,
                ..PseudoObservationOptions::default()
            },
            inducing_frozen: self.damping.map(|damping| damping.frozen),
            inducing_rate: self.damping.map(|damping| damping.rate),
            inducing_momentum: self.damping.map(|damping| damping.momentum),
            inducing_plateau: self.damping.map(|damping| damping.plateau),
            ..options
        }
    }
}
