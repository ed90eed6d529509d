//! Training by Adam, on mini-batches or on all rows as one batch.

use burn_gp_models::training::{MiniBatchTraining, NetworkTraining, Plateau, TrainingDefaults};

use super::{
    EarlyStopping, inducing_training::inducing_training, natural_gradient::natural_gradient,
    schedule::schedule,
};
use crate::arguments::{KeepName, RunOptions};
use crate::option_error::OptionError;

const DEFAULT_PATIENCE: usize = 20;

/// The patience of the search for the number of steps, which comes before training on all rows.
const PATIENCE_OF_SEARCH: usize = 12;

/// The settings of training that do not depend on the number of rows. `given` are the options without defaults.
pub(super) fn mini_batch(
    given: &RunOptions,
    resolved: &mut RunOptions,
) -> Result<MiniBatchTraining, OptionError> {
    let model = resolved.model_fields();
    let default_rate =
        (model.rates()).map_or(TrainingDefaults::LEARNING_RATE, |rates| rates.learning_rate);
    let early_stopping = EarlyStopping::of(resolved);
    resolved.early_stopping = early_stopping.option(&model);
    let mut training = MiniBatchTraining {
        batch_size: *(resolved.batch_size).get_or_insert(TrainingDefaults::BATCH_SIZE),
        learning_rate: *resolved.learning_rate.get_or_insert(default_rate),
        schedule: schedule(resolved, early_stopping)?,
        plateau: resolved.plateau.map(Plateau::new),
        gradient_norm: resolved.gradient_norm,
        natural_gradient: natural_gradient(resolved)?,
        inducing: inducing_training(resolved),
        seed: resolved.seed(),
        ..MiniBatchTraining::new(TrainingDefaults::STEPS)
    };
    if let Some(network) = model.network() {
        add_network(&mut training, network, (given, resolved));
    }
    validation(resolved, early_stopping);
    Ok(training)
}

/// Adds the settings of the network. It has the rate of the other parameters if only that rate is given.
fn add_network(
    training: &mut MiniBatchTraining,
    default: NetworkTraining,
    (given, resolved): (&RunOptions, &mut RunOptions),
) {
    training.weight_decay = *(resolved.weight_decay).get_or_insert(default.weight_decay);
    if given.learning_rate.is_none() {
        resolved.network_rate.get_or_insert(default.learning_rate);
    }
    training.network_rate = resolved.network_rate;
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
    let default = match resolved.model_fields().has_batches() {
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
