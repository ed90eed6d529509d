//! The models that the paper compares.

use burn_gp_core::{
    kernels::{KernelConfig, StationaryConfig},
    ops::Stationary,
    process::CovarianceShape,
    variational::{
        OrthogonallyDecoupledConfig, Parameterization, PosteriorConfig, SolveGpConfig,
        UnwhitenedConfig, WhitenedConfig,
    },
};

/// A posterior with full covariances.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Svgp,
    Odvgp,
    Solve,
}

impl Compared {
    pub fn title(self) -> &'static str {
        match self {
            Self::Svgp => "SVGP",
            Self::Odvgp => "ODVGP",
            Self::Solve => "SOLVE-GP",
        }
    }

    pub fn posterior(self, parameterization: Parameterization) -> PosteriorConfig {
        let covariance = CovarianceShape::Full;
        match (self, parameterization) {
            (Self::Svgp, Parameterization::Whitened) => {
                PosteriorConfig::from(WhitenedConfig { covariance })
            }
            (Self::Svgp, Parameterization::Unwhitened) => {
                PosteriorConfig::from(UnwhitenedConfig { covariance })
            }
            (Self::Odvgp, parameterization) => PosteriorConfig::from(OrthogonallyDecoupledConfig {
                covariance,
                parameterization,
                columns: None,
                seed: 0,
            }),
            (Self::Solve, parameterization) => PosteriorConfig::from(SolveGpConfig {
                covariance,
                parameterization,
            }),
        }
    }
}

/// A kernel with one lengthscale, initially one.
pub(super) fn isotropic(kind: Stationary) -> KernelConfig {
    (StationaryConfig::new(kind).isotropic())
        .with_lengthscale(1.0)
        .into()
}
