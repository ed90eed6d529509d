//! Training on all rows and on mini-batches.

use burn_gp_models::training::{FullBatchOptimizer, FullBatchTraining, MiniBatchTraining};

use crate::settings::{Length, VariationalSettings};

/// Mini-batch steps unless told otherwise, or …
const DEFAULT_STEPS: usize = 6000;

/// … this many passes over the training rows, if those are more steps.
const DEFAULT_EPOCHS: usize = 10;

pub(super) fn full_batch(
    length: Option<Length>,
    optimizer: Option<FullBatchOptimizer>,
) -> FullBatchTraining {
    let default = FullBatchTraining {
        optimizer: optimizer.unwrap_or_default(),
        ..FullBatchTraining::default()
    };
    match length {
        Some(Length::Epochs(iterations) | Length::Steps(iterations)) => FullBatchTraining {
            iterations,
            ..default
        },
        None => default,
    }
}

pub(super) fn mini_batch(
    variational: &VariationalSettings,
    length: Option<Length>,
    rows: usize,
    seed: u64,
) -> MiniBatchTraining {
    let mut training = MiniBatchTraining {
        batch_size: variational.batch_size,
        learning_rate: variational.learning_rate,
        schedule: variational.schedule,
        plateau: variational.plateau,
        gradient_norm: variational.gradient_norm,
        natural_gradient: variational.natural_gradient,
        inducing: variational.inducing,
        seed,
        ..MiniBatchTraining::new(DEFAULT_STEPS)
    };
    training.steps = match length {
        Some(Length::Epochs(epochs)) => training.steps_in_epochs(epochs, rows),
        Some(Length::Steps(steps)) => steps,
        None => DEFAULT_STEPS.max(training.steps_in_epochs(DEFAULT_EPOCHS, rows)),
    };
    training
}
