//! The optimizer of full-batch models.

use burn_gp_models::training::FullBatchOptimizer;

use super::{DEFAULT_LEARNING_RATE, SettingError, positive, schedule};
use crate::arguments::{ModelName, OptimizerName, RunOptions};

/// The Adam learning rate of models that choose actions by iteration. They initially count
/// computation that they left out as noise, and a thousand small steps do not correct this.
const RATE_OF_ITERATIONS: f64 = 0.2;

/// The optimizer in `options`; `None` for mini-batch models.
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

/// The optimizer of a full-batch model. Adam is the default where each evaluation chooses new
/// actions, because the objective is then not a single function along a line search.
pub(super) fn optimizer_of(options: &RunOptions, model: ModelName) -> OptimizerName {
    let default = match model.has_iterations() {
        true => OptimizerName::Adam,
        false => OptimizerName::LBfgs,
    };
    options.full_batch.optimizer.unwrap_or(default)
}

/// The name of an optimizer.
pub(super) fn optimizer_name(optimizer: FullBatchOptimizer) -> OptimizerName {
    match optimizer {
        FullBatchOptimizer::LBfgs { .. } => OptimizerName::LBfgs,
        FullBatchOptimizer::Adam { .. } => OptimizerName::Adam,
    }
}
