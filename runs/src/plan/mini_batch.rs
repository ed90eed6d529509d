//! Training by Adam, on mini-batches or on all rows as one batch.

use burn_gp_models::training::{MiniBatchTraining, Plateau};

use super::{
    DEFAULT_LEARNING_RATE, EarlyStopping, inducing_training::inducing_training,
    natural_gradient::natural_gradient, schedule::schedule,
};
use crate::arguments::{KeepName, RunOptions};
use crate::ranges::{at_least_one, count, positive};
use crate::setting_error::SettingError;

const DEFAULT_BATCH_SIZE: usize = 256;

/// The learning rate of the other parameters in models with networks.
const RATE_BESIDE_NETWORKS: f64 = 3e-2;

/// The default number of mini-batch steps, or …
const DEFAULT_STEPS: usize = 6000;

/// … this many passes over the training rows, if those are more steps.
const DEFAULT_EPOCHS: usize = 10;

/// The default number of steps on all rows.
const DEFAULT_FULL_BATCH_STEPS: usize = 2000;

const DEFAULT_PATIENCE: usize = 20;

/// The patience of early stopping before a second training on all rows.
const PATIENCE_OF_SEARCH: usize = 12;

/// The training of the model, without what depends on the number of rows.
pub(super) fn mini_batch(resolved: &mut RunOptions) -> Result<MiniBatchTraining, SettingError> {
    let model = resolved.model();
    let default_rate = match model.has_network() {
        true => RATE_BESIDE_NETWORKS,
        false => DEFAULT_LEARNING_RATE,
    };
    let batch_size = count("--batch-size", &mut resolved.batch_size, DEFAULT_BATCH_SIZE)?;
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
        ..MiniBatchTraining::new(DEFAULT_STEPS)
    };
    at_least_one("--validation-epochs", resolved.validation_epochs)?;
    validation(resolved, early_stopping);
    Ok(training)
}

/// Fills in when training stops and what is kept; leaves it out if no rows are held out.
fn validation(resolved: &mut RunOptions, early_stopping: EarlyStopping) {
    let is_stopped = early_stopping.is_on();
    if resolved.validation_fraction.is_none() && !is_stopped {
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

/// Adds what depends on the number of rows.
pub(super) fn for_rows(
    mut training: MiniBatchTraining,
    resolved: &mut RunOptions,
    rows: usize,
) -> MiniBatchTraining {
    let default = match resolved.model().has_batches() {
        true => DEFAULT_STEPS.max(training.steps_in_epochs(DEFAULT_EPOCHS, rows)),
        false => {
            training.batch_size = rows;
            DEFAULT_FULL_BATCH_STEPS
        }
    };
    training.steps = match resolved.epochs {
        Some(epochs) => training.steps_in_epochs(epochs, rows),
        None => *resolved.steps.get_or_insert(default),
    };
    training
}
