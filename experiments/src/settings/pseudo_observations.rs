//! The posteriors l-svgp and inverse-free.

use burn_gp::{
    optim::{NaturalInversion, StepSizes},
    variational::{
        AuxiliaryUpdate, InverseFreeConfig, MeanForm, PseudoObservationsConfig, TraceProbes,
    },
};

use super::{SettingError, above_lower_bound, at_least_one, positive};
use crate::arguments::{AuxiliaryName, InversionName, PseudoObservationOptions, RunOptions};

/// The pseudo-observation settings in `options`.
pub fn pseudo_observations(
    options: &PseudoObservationOptions,
) -> Result<PseudoObservationsConfig, SettingError> {
    let default = PseudoObservationsConfig::default();
    let checked = |option, value: Option<f64>| match value {
        Some(value) => above_lower_bound(option, value).map(Some),
        None => Ok(None),
    };
    let floor = checked("--pseudo-noise-floor", options.pseudo_noise_floor)?;
    let variance = checked("--pseudo-noise", options.pseudo_noise)?;
    Ok(PseudoObservationsConfig {
        mean: match options.plain_mean {
            Some(true) => MeanForm::Plain,
            _ => MeanForm::Preconditioned,
        },
        variance: variance.unwrap_or(default.variance),
        floor,
    })
}

/// The inverse-free posterior in `options`.
pub fn inverse_free(options: &RunOptions) -> Result<InverseFreeConfig, SettingError> {
    let own = &options.pseudo_observations;
    let count = at_least_one("--probes", own.probes)?;
    Ok(InverseFreeConfig {
        observations: pseudo_observations(own)?,
        auxiliary: auxiliary(own)?,
        probes: count.map(|count| TraceProbes {
            count,
            seed: options.seed.unwrap_or(0),
        }),
    })
}

fn auxiliary(options: &PseudoObservationOptions) -> Result<AuxiliaryUpdate, SettingError> {
    let default = NaturalInversion::default();
    let steps = at_least_one("--inversion-steps", options.inversion_steps)?;
    let tolerance = (options.inversion_tolerance)
        .map(|tolerance| positive("--inversion-tolerance", tolerance))
        .transpose()?;
    if options.auxiliary == Some(AuxiliaryName::Adam) {
        return match options.inversion.is_some() || steps.is_some() || tolerance.is_some() {
            true => Err(SettingError::InversionByAdam),
            false => Ok(AuxiliaryUpdate::TRAINED),
        };
    }
    Ok(AuxiliaryUpdate::NaturalGradient(NaturalInversion {
        step_sizes: match options.inversion {
            Some(InversionName::LogLinear) => StepSizes::LOG_LINEAR,
            Some(InversionName::Full) | None => StepSizes::FULL,
        },
        tolerance: tolerance.unwrap_or(default.tolerance),
        max_steps: steps.unwrap_or(default.max_steps),
        ..default
    }))
}

/// Converts the pseudo-observation settings back to options, with all defaults filled in.
pub fn pseudo_observation_options(
    observations: &PseudoObservationsConfig,
) -> PseudoObservationOptions {
    PseudoObservationOptions {
        plain_mean: Some(observations.mean == MeanForm::Plain),
        pseudo_noise: Some(observations.variance),
        pseudo_noise_floor: observations.floor,
        ..PseudoObservationOptions::default()
    }
}

/// Converts the inverse-free settings back to options, with all defaults filled in.
pub fn inverse_free_options(config: &InverseFreeConfig) -> PseudoObservationOptions {
    let options = PseudoObservationOptions {
        probes: config.probes.map(|probes| probes.count),
        ..pseudo_observation_options(&config.observations)
    };
    match config.auxiliary {
        AuxiliaryUpdate::Optimizer { .. } => PseudoObservationOptions {
            auxiliary: Some(AuxiliaryName::Adam),
            ..options
        },
        AuxiliaryUpdate::NaturalGradient(inversion) => PseudoObservationOptions {
            auxiliary: Some(AuxiliaryName::Natural),
            inversion: Some(match inversion.step_sizes {
                StepSizes::Constant { .. } => InversionName::Full,
                StepSizes::LogLinear { .. } => InversionName::LogLinear,
            }),
            inversion_tolerance: Some(inversion.tolerance),
            inversion_steps: Some(inversion.max_steps),
            ..options
        },
    }
}
