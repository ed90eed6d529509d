//! The optimizer of models on all rows, from its options.

use burn_gp_models::training::FullBatchOptimizer;

use super::{DEFAULT_LEARNING_RATE, SettingError, positive, schedule};
use crate::arguments::{ModelName, OptimizerName, RunOptions};

/// Of models that choose combinations of rows by iteration: these count what they have not computed as
/// noise at first, and a thousand small steps do not take it back.
const RATE_OF_ITERATIONS: f64 = 0.2;

/// The optimizer that `options` ask for; none for models on mini-batches.
pub(super) fn optimizer(
    options: &RunOptions,
    model: ModelName,
) -> Result<Option<FullBatchOptimizer>, SettingError> {
    if model.is_mini_batch() {
        return Ok(None);
    }
    Ok(Some(match optimizer_of(options, model) {
        OptimizerName::LBfgs => FullBatchOptimizer::LBfgs {
            learning_rate: positive(
                "--learning-rate",
                (options.learning_rate).unwrap_or(FullBatchOptimizer::QUASI_NEWTON_STEP),
            )?,
        },
        OptimizerName::Adam => FullBatchOptimizer::Adam {
            learning_rate: positive(
                "--learning-rate",
                options
                    .learning_rate
                    .unwrap_or(match model.has_iterations() {
                        true => RATE_OF_ITERATIONS,
                        false => DEFAULT_LEARNING_RATE,
                    }),
            )?,
            schedule: schedule(options, false)?,
        },
    }))
}

/// The optimizer of a model on all rows. Where combinations of rows are chosen anew in every
/// evaluation the objective is not one function along a line, and Adam is the default.
pub(super) fn optimizer_of(options: &RunOptions, model: ModelName) -> OptimizerName {
    let default = match model.has_iterations() {
        true => OptimizerName::Adam,
        false => OptimizerName::LBfgs,
    };
    options.all_rows.optimizer.unwrap_or(default)
}

/// What an optimizer is called.
pub(super) fn optimizer_name(optimizer: FullBatchOptimizer) -> OptimizerName {
    match optimizer {
        FullBatchOptimizer::LBfgs { .. } => OptimizerName::LBfgs,
        FullBatchOptimizer::Adam { .. } => OptimizerName::Adam,
    }
}
