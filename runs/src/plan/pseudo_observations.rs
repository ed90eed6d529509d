//! The posteriors l-svgp and inverse-free.

use burn_gp_core::{
    optim::{NaturalInversion, StepSizes},
    variational::{AuxiliaryUpdate, MeanForm, TraceProbes},
};

use crate::arguments::{AuxiliaryName, InversionName, RunOptions};
use crate::option_error::OptionError;

/// The form of the mean.
pub(super) fn mean(resolved: &mut RunOptions) -> MeanForm {
    match *resolved.plain_mean.get_or_insert(false) {
        true => MeanForm::Plain,
        false => MeanForm::Preconditioned,
    }
}

/// The probe vectors of an inverse-free posterior.
pub(super) fn probes(resolved: &RunOptions) -> Option<TraceProbes> {
    let seed = resolved.seed();
    (resolved.probes).map(|count| TraceProbes { count, seed })
}

/// The update of an approximate inverse.
pub(super) fn auxiliary(resolved: &mut RunOptions) -> Result<AuxiliaryUpdate, OptionError> {
    let default = NaturalInversion::default();
    match *(resolved.auxiliary).get_or_insert(AuxiliaryName::Natural) {
        AuxiliaryName::Adam
            if resolved.inversion.is_some()
                || resolved.inversion_steps.is_some()
                || resolved.inversion_tolerance.is_some() =>
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
        max_steps: *(resolved.inversion_steps).get_or_insert(default.max_steps),
        ..default
    }))
}
