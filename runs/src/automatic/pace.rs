//! The length of training that fits a time.

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_models::training::{AnyTrainer, Trainer};

use super::choice::STEPS;
use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::plan::resolve;
use crate::preparation::PreparedData;

/// Passes over the rows on mini-batches, if they take more than the usual number of steps.
const EPOCHS: usize = 10;
/// Steps whose time is measured, after as many others that allocate memory. An iteration on all rows
/// takes longer, so one is enough.
const TRIAL_STEPS: usize = 10;

/// The options with a number of steps that takes at most about this many seconds, unless the user
/// gave a number.
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
                // Training meets the same error, and says what to do.
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
