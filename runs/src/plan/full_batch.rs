//! Training on the full batch.

use burn_gp_models::training::{FullBatchOptimizer, FullBatchTraining, TrainingDefaults};

use super::{EarlyStopping, schedule::schedule};
use crate::arguments::{OptimizerName, RunOptions};
use crate::option_error::OptionError;

/// The settings of training on the full batch.
pub(super) fn full_batch(resolved: &mut RunOptions) -> Result<FullBatchTraining, OptionError> {
    let model = resolved.model_fields();
    let (name, default) = (model.optimizer(), model.full_batch());
    resolved.optimizer = Some(name);
    let default_rate = match (name, default.optimizer) {
        (OptimizerName::LBfgs, _) => FullBatchOptimizer::QUASI_NEWTON_STEP,
        (OptimizerName::Adam, FullBatchOptimizer::Adam { learning_rate, .. }) => learning_rate,
        (OptimizerName::Adam, _) => TrainingDefaults::LEARNING_RATE,
    };
    let learning_rate = *resolved.learning_rate.get_or_insert(default_rate);
    Ok(FullBatchTraining {
        iterations: (resolved.epochs.or(resolved.steps)).unwrap_or(default.iterations),
        optimizer: match name {
            OptimizerName::LBfgs => FullBatchOptimizer::LBfgs { learning_rate },
            OptimizerName::Adam => FullBatchOptimizer::Adam {
                learning_rate,
                schedule: schedule(resolved, EarlyStopping::Off)?,
            },
        },
        tolerance: resolved.objective_tolerance.unwrap_or(default.tolerance),
        // A given tolerance is the only one.
        nats: resolved.objective_tolerance.map_or(default.nats, |_| 0.0),
    })
}
