//! The variational posterior.

use burn_gp::{
    process::CovarianceShape,
    variational::{
        Coordinates, LSvgpConfig, OrthogonalConfig, OrthogonallyDecoupledConfig, PosteriorConfig,
        UnwhitenedConfig, WhitenedConfig,
    },
};

use super::pseudo_observations::{inverse_free, pseudo_observations};
use crate::arguments::{CovarianceName, ModelName, RunOptions};
use crate::ranges::at_least_one;
use crate::setting_error::SettingError;

/// The default number of columns of the orthogonal inducing points' covariance that a step uses.
const DEFAULT_COLUMNS: usize = 1024;

/// The posterior of the model, or of each of its layers.
pub(super) fn posterior(resolved: &mut RunOptions) -> Result<PosteriorConfig, SettingError> {
    let covariance = covariance(resolved);
    let coordinates = Coordinates::Unwhitened;
    Ok(match resolved.single_layer() {
        ModelName::SvgpUnwhitened => PosteriorConfig::Unwhitened(UnwhitenedConfig { covariance }),
        ModelName::Solve => PosteriorConfig::Solve(OrthogonalConfig {
            covariance,
            coordinates: Coordinates::Whitened,
        }),
        ModelName::SolveUnwhitened => PosteriorConfig::Solve(OrthogonalConfig {
            covariance,
            coordinates,
        }),
        ModelName::Odvgp => PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig {
            covariance,
            coordinates,
            columns: at_least_one("--columns", resolved.columns)?,
            seed: resolved.seed(),
        }),
        ModelName::LSvgp => PosteriorConfig::LSvgp(LSvgpConfig {
            observations: pseudo_observations(&mut resolved.pseudo_observations)?,
        }),
        ModelName::InverseFree => PosteriorConfig::InverseFree(inverse_free(resolved)?),
        _ => PosteriorConfig::Whitened(WhitenedConfig { covariance }),
    })
}

/// The posterior of the model for this many orthogonal inducing points.
pub(super) fn posterior_of(
    resolved: &mut RunOptions,
    orthogonal: usize,
) -> Result<PosteriorConfig, SettingError> {
    let mut posterior = posterior(resolved)?;
    if let PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig { columns, .. }) = &mut posterior {
        let count = *(resolved.columns).get_or_insert(DEFAULT_COLUMNS.min(orthogonal));
        if count > orthogonal {
            return Err(SettingError::TooManyColumns {
                columns: count,
                orthogonal,
            });
        }
        *columns = Some(count);
    }
    Ok(with_needed_columns(posterior, orthogonal))
}

/// The posterior with all columns, if there are no more than a step uses.
pub(super) fn with_needed_columns(
    mut posterior: PosteriorConfig,
    orthogonal: usize,
) -> PosteriorConfig {
    if let PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig { columns, .. }) = &mut posterior {
        *columns = columns.filter(|&columns| columns < orthogonal);
    }
    posterior
}

/// The shape of the variational covariance.
pub(super) fn covariance(resolved: &mut RunOptions) -> CovarianceShape {
    match *resolved.covariance.get_or_insert(CovarianceName::Full) {
        CovarianceName::Full => CovarianceShape::Full,
        CovarianceName::Diagonal => CovarianceShape::Diagonal,
    }
}
