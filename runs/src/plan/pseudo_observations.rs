//! The posteriors l-svgp and inverse-free.

use burn_gp_core::{
    optim::{NaturalInversion, StepSizes},
    variational::{AuxiliaryUpdate, MeanForm, PseudoObservationsConfig, TraceProbes},
};

use crate::arguments::{AuxiliaryName, InversionName, RunOptions};
use crate::option_error::OptionError;
use crate::ranges::{MOST_SIZE, above_lower_bound, count, from_one_to, positive};

/// The pseudo-observations.
pub(super) fn pseudo_observations(
    resolved: &mut RunOptions,
) -> Result<PseudoObservationsConfig, OptionError> {
    let default = PseudoObservationsConfig::default();
    let floor = (resolved.pseudo_noise_floor)
        .map(|floor| above_lower_bound("--pseudo-noise-floor", floor))
        .transpose()?;
    let variance = *resolved.pseudo_noise.get_or_insert(default.variance);
    Ok(PseudoObservationsConfig {
        mean: match *resolved.plain_mean.get_or_insert(false) {
            true => MeanForm::Plain,
            false => MeanForm::Preconditioned,
        },
        variance: above_lower_bound("--pseudo-noise", variance)?,
        floor,
    })
}

/// The probe vectors of an inverse-free posterior.
pub(super) fn probes(resolved: &RunOptions) -> Result<Option<TraceProbes>, OptionError> {
    let seed = resolved.seed();
    let probes = from_one_to(MOST_SIZE, "--probes", resolved.probes)?;
    Ok(probes.map(|count| TraceProbes { count, seed }))
}

/// The update of an approximate inverse.
pub(super) fn auxiliary(resolved: &mut RunOptions) -> Result<AuxiliaryUpdate, OptionError> {
    let default = NaturalInversion::default();
    from_one_to(MOST_SIZE, "--inversion-steps", resolved.inversion_steps)?;
    let tolerance = (resolved.inversion_tolerance)
        .map(|tolerance| positive("--inversion-tolerance", tolerance))
        .transpose()?;
    match *(resolved.auxiliary).get_or_insert(AuxiliaryName::Natural) {
        AuxiliaryName::Adam
            if resolved.inversion.is_some()
                || resolved.inversion_steps.is_some()
                || tolerance.is_some() =>
        {
            return Err(OptionError::InversionByAdam);
        }
        AuxiliaryName::Adam => return Ok(AuxiliaryUpdate::TRAINED),
        AuxiliaryName::Natural => {}
    }
    Ok(AuxiliaryUpdate::NaturalGradient(NaturalInversion {
        step_sizes: match *resolved.inversion.get_or_insert(InversionName::Full) {
            InversionName::LogLinear => StepSizes::LOG_LINEAR,
            InversionName::Full => StepSizes::FULL,
        },
        tolerance: *(resolved.inversion_tolerance).get_or_insert(default.tolerance),
        max_steps: count(
            MOST_SIZE,
            "--inversion-steps",
            &mut resolved.inversion_steps,
            default.max_steps,
        )?,
        ..default
    }))
}
