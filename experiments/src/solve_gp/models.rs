//! The models that the paper compares.

use burn_gp_core::{
    kernels::{KernelConfig, StationaryConfig},
    ops::Stationary,
    process::CovarianceShape,
    variational::{
        Coordinates, OrthogonalConfig, OrthogonallyDecoupledConfig, PosteriorConfig,
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

    pub fn posterior(self, coordinates: Coordinates) -> PosteriorConfig {
        let covariance = CovarianceShape::Full;
        match (self, coordinates) {
            (Self::Svgp, Coordinates::Whitened) => {
                PosteriorConfig::from(WhitenedConfig { covariance })
            }
            (Self::Svgp, Coordinates::Unwhitened) => {
                PosteriorConfig::from(UnwhitenedConfig { covariance })
            }
            (Self::Odvgp, coordinates) => PosteriorConfig::from(OrthogonallyDecoupledConfig {
                covariance,
                coordinates,
                columns: None,
                seed: 0,
            }),
            (Self::Solve, coordinates) => PosteriorConfig::from(OrthogonalConfig {
                covariance,
                coordinates,
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
