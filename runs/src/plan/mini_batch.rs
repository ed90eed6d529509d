//! Training by Adam, on mini-batches or on all rows as one batch.

use burn_gp_models::training::{MiniBatchTraining, Plateau};

use super::{
    EarlyStopping, inducing_training::inducing_training, natural_gradient::natural_gradient,
    schedule::schedule,
};
use crate::arguments::{KeepName, RunOptions};
use crate::option_error::OptionError;

const DEFAULT_PATIENCE: usize = 20;

/// The patience of the search for the number of steps, which comes before training on all rows.
const PATIENCE_OF_SEARCH: usize = 12;

/// The settings of training that do not depend on the number of rows.
pub(super) fn mini_batch(resolved: &mut RunOptions) -> Result<MiniBatchTraining, OptionError> {
    let mut model = resolved.model_fields();
    model.fill(resolved)?;
    let early_stopping = EarlyStopping::of(resolved);
    resolved.early_stopping = early_stopping.option(&model);
    let training = model.mini_batches()?;
    resolved.learning_rate.get_or_insert(training.learning_rate);
    let training = MiniBatchTraining {
        schedule: schedule(resolved, early_stopping)?,
        plateau: resolved.plateau.map(Plateau::new),
        natural_gradient: natural_gradient(resolved)?,
        inducing: inducing_training(resolved),
        seed: resolved.seed(),
        ..training
    };
    validation(resolved, early_stopping);
    Ok(training)
}

/// Fills in the options of validation, or removes them if no rows are held out.
fn validation(resolved: &mut RunOptions, early_stopping: EarlyStopping) {
    let is_stopped = early_stopping.is_on();
    if resolved.validation_rows().is_none() && !is_stopped {
        (resolved.validation_epochs, resolved.patience, resolved.keep) = (None, None, None);
        return;
    }
    let default_patience = match is_stopped {
        true => PATIENCE_OF_SEARCH,
        false => DEFAULT_PATIENCE,
    };
    let keep = resolved.keep.unwrap_or(KeepName::Best);
    let patience = resolved.patience.unwrap_or(default_patience);
    resolved.patience = (keep == KeepName::Best).then_some(patience);
    resolved.keep = (!is_stopped).then_some(keep);
}

/// Adds the settings that depend on the number of rows.
pub(super) fn for_rows(
    training: MiniBatchTraining,
    resolved: &mut RunOptions,
    rows: usize,
) -> MiniBatchTraining {
    let defaults = resolved.model_fields().config().default_training();
    let mut training = defaults.for_rows(training, rows);
    training.steps = match resolved.epochs {
        Some(epochs) => training.steps_in_epochs(epochs, rows),
        None => *resolved.steps.get_or_insert(training.steps),
    };
    training
}
