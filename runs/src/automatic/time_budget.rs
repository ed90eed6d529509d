//! The length of training for a given time.

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_models::training::AnyTrainer;

use super::choice::STEPS;
use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::plan::resolve;
use crate::preparation::PreparedData;

/// Passes over the rows on mini-batches, if that takes more than the default number of steps.
const EPOCHS: usize = 10;
/// The number of mini-batch steps whose time is measured, after as many steps that allocate memory. Full-batch
/// iterations take longer, so that one is enough.
const TRIAL_STEPS: usize = 10;

/// The options with a number of steps that takes at most about `seconds`, unless the user gave a number of
/// steps.
pub fn within_time(
    options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
    seconds: f64,
) -> Result<RunOptions, Failure> {
    if options.steps.is_some() || options.epochs.is_some() {
        return Ok(options);
    }
    let mut trainer = resolve(&options, data)?.1.trainer(data, place)?;
    let (trial, wanted) = match trainer {
        AnyTrainer::FullBatch(_) => (1, trainer.steps_planned()),
        AnyTrainer::MiniBatch(_) => {
            let of_epochs = EPOCHS * trainer.steps_per_epoch();
            (TRIAL_STEPS, of_epochs.max(STEPS as usize))
        }
    };
    let mut took = 0.0;
    for _ in 0..2 {
        let began = Instant::now();
        for _ in 0..trial {
            if trainer.step().is_err() {
                // Training will report the same error with advice.
                return Ok(options);
            }
        }
        took = began.elapsed().as_secs_f64();
    }
    let most = (seconds * trial as f64 / took.max(f64::MIN_POSITIVE)) as usize;
    Ok(RunOptions {
        steps: Some(wanted.min(most).max(1)),
        ..options
    })
}
