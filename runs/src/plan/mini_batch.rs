//! Training by Adam, on mini-batches or on all rows as one batch.

use burn_gp_models::training::{MiniBatchTraining, Plateau, TrainingDefaults};

use super::{
    EarlyStopping, inducing_training::inducing_training, natural_gradient::natural_gradient,
    schedule::schedule,
};
use crate::arguments::{KeepName, RunOptions};
use crate::option_error::OptionError;
use crate::ranges::{MOST_STEPS, at_least_one, count, positive};

const DEFAULT_PATIENCE: usize = 20;

/// The patience of the search for the number of steps, which comes before training on all rows.
const PATIENCE_OF_SEARCH: usize = 12;

/// The settings of training that do not depend on the number of rows.
pub(super) fn mini_batch(resolved: &mut RunOptions) -> Result<MiniBatchTraining, OptionError> {
    let model = resolved.model();
    let default_rate = match model.has_network() {
        true => TrainingDefaults::RATE_BESIDE_NETWORKS,
        false => TrainingDefaults::LEARNING_RATE,
    };
    let default_size = TrainingDefaults::BATCH_SIZE;
    let batch_size = count(
        MOST_STEPS,
        "--batch-size",
        &mut resolved.batch_size,
        default_size,
    )?;
    let early_stopping = EarlyStopping::of(resolved)?;
    resolved.early_stopping = early_stopping.option(model);
    at_least_one("--patience", resolved.patience)?;
    let plateau = at_least_one("--plateau", resolved.plateau)?.map(Plateau::new);
    let learning_rate = *resolved.learning_rate.get_or_insert(default_rate);
    let training = MiniBatchTraining {
        batch_size,
        learning_rate: positive("--learning-rate", learning_rate)?,
        schedule: schedule(resolved, early_stopping)?,
        plateau,
        gradient_norm: (resolved.gradient_norm)
            .map(|norm| positive("--gradient-norm", norm))
            .transpose()?,
        natural_gradient: natural_gradient(resolved)?,
        inducing: inducing_training(resolved)?,
        seed: resolved.seed(),
        ..MiniBatchTraining::new(TrainingDefaults::STEPS)
    };
    at_least_one("--validation-epochs", resolved.validation_epochs)?;
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
    mut training: MiniBatchTraining,
    resolved: &mut RunOptions,
    rows: usize,
) -> MiniBatchTraining {
    let default = match resolved.model().has_batches() {
        true => {
            TrainingDefaults::STEPS.max(training.steps_in_epochs(TrainingDefaults::EPOCHS, rows))
        }
        false => {
            training.batch_size = rows;
            TrainingDefaults::ONE_BATCH_STEPS
        }
    };
    training.steps = match resolved.epochs {
        Some(epochs) => training.steps_in_epochs(epochs, rows),
        None => *resolved.steps.get_or_insert(default),
    };
    training
}
