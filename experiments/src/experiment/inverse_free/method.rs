//! The models that the paper compares.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::arguments::{InversionName, ModelName, PseudoObservationOptions, RunOptions};

/// The jitter on the covariances that W-SVGP factors; the other models use none.
pub(super) const JITTER: f64 = 1e-6;

/// A model of Section 4. Those that can have a preconditioned mean and natural gradients have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// W-SVGP: whitened, with Cholesky factors
    W,
    /// L-SVGP: pseudo-observations, with Cholesky factors
    L,
    /// R-SVGP: pseudo-observations, with matrix products only
    R,
}

impl Method {
    /// The name in the paper.
    pub fn title(self) -> &'static str {
        match self {
            Self::W => "W-SVGP",
            Self::L => "L-SVGP",
            Self::R => "R-SVGP",
        }
    }

    /// Adds the model to `options`, and for R-SVGP the settings in `relaxed`.
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

/// The settings that a protocol has only for R-SVGP.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Relaxed {
    /// The step sizes of an inversion.
    pub inversion: InversionName,
    /// The residual at which an inversion stops.
    pub tolerance: f64,
    /// The number of random probes for the traces; `None` if they are exact.
    pub probes: Option<usize>,
    /// Separate training settings for the inducing points; `None` to train them like the other
    /// parameters.
    pub damping: Option<Damping>,
}

/// Training settings of the inducing points of R-SVGP (Section 3.4).
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Damping {
    /// Initial steps in which they are not trained.
    pub frozen: usize,
    /// The initial learning rate.
    pub rate: f64,
    /// The momentum β₁ of Adam.
    pub momentum: f64,
    /// Steps without a lower loss until the learning rate is lowered.
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
