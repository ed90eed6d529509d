//! Checks of the options for held-out rows and the length of training.

use super::EarlyStopping;
use crate::arguments::{KeepName, RunOptions};
use crate::option_error::OptionError;
use crate::ranges::within;

/// Checks the length of training.
pub(super) fn check_length(options: &RunOptions) -> Result<(), OptionError> {
    let both = options.epochs.is_some() && options.steps.is_some();
    exclude(["epochs", "steps"], both)
}

/// Checks the options for test and validation rows.
pub(super) fn check(options: &RunOptions) -> Result<(), OptionError> {
    let both = options.split.is_some() && options.test_fraction.is_some();
    exclude(["split", "test_fraction"], both)?;
    for (other, is_given) in [
        ("split", options.split.is_some()),
        ("test_fraction", options.test_fraction.is_some()),
        ("time_split", options.time_split.is_some()),
    ] {
        exclude(["test", other], options.test.is_some() && is_given)?;
        exclude(["folds", other], options.folds.is_some() && is_given)?;
    }
    let both = options.folds.is_some() && options.test.is_some();
    exclude(["folds", "test"], both)?;
    check_fold(options)?;
    let both = options.validation.is_some() && options.validation_fraction.is_some();
    exclude(["validation", "validation_fraction"], both)?;
    if let (Some(true), Some(other)) = (options.stream, options.unstreamed()) {
        exclude(["stream", other], true)?;
    }
    let is_calibrated = options.calibration_share().is_some();
    for (other, is_given) in [
        ("noise_column", options.noise_column.is_some()),
        ("trials", options.trials.is_some()),
        ("upper_column", options.upper_column.is_some()),
    ] {
        exclude(["calibrate", other], is_calibrated && is_given)?;
    }
    if options.input_noise.is_some() {
        check_input_noise(options)?;
    }
    if options.score_every.is_some() && options.test_fraction == Some(0.0) {
        return Err(OptionError::NoTestRows("--score-every"));
    }
    if !options.is_mini_batch() {
        return Ok(());
    }
    let both = options.patience.is_some() && options.keep == Some(KeepName::Last);
    exclude(["patience", "keep last"], both)?;
    let is_stopped = EarlyStopping::of(options).is_on();
    if let Some(rows) = options.validation_rows() {
        return exclude(["early_stopping", rows], is_stopped);
    }
    let unusable = [
        ("--patience", options.patience.is_some() && !is_stopped),
        (
            "--validation-epochs",
            options.validation_epochs.is_some() && !is_stopped,
        ),
        ("--keep", options.keep.is_some()),
    ];
    match unusable.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(OptionError::WithoutValidation(option)),
        None => Ok(()),
    }
}

/// Refuses options that do not go with the repeated training of errors of the inputs.
fn check_input_noise(options: &RunOptions) -> Result<(), OptionError> {
    let is_stopped = options.early_stopping.is_some_and(|share| share > 0.0);
    for (other, is_given) in [
        ("validation", options.validation.is_some()),
        ("validation_fraction", options.validation_fraction.is_some()),
        ("early_stopping", is_stopped),
        ("calibrate", options.calibration_share().is_some()),
        ("score_every", options.score_every.is_some()),
        (
            "devices",
            options.devices.as_ref().is_some_and(|all| all.len() > 1),
        ),
    ] {
        exclude(["input_noise", other], is_given)?;
    }
    Ok(())
}

/// Checks the number of folds and the fold to test on.
fn check_fold(options: &RunOptions) -> Result<(), OptionError> {
    match (options.fold, options.folds) {
        (Some(_), None) => Err(OptionError::WithoutFolds),
        (None, Some(_)) => Err(OptionError::OpenFold),
        (Some(fold), Some(folds)) => {
            let range = format!("be from 1 to {folds}, the number of folds");
            within("--fold", fold, (1..=folds).contains(&fold), range).map(|_| ())
        }
        (None, None) => Ok(()),
    }
}

fn exclude([first, second]: [&'static str; 2], both: bool) -> Result<(), OptionError> {
    match both {
        true => Err(OptionError::Exclusive { first, second }),
        false => Ok(()),
    }
}
