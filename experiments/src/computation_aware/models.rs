//! The models of the synthetic examples and their training.

use burn_gp_core::{
    inference::{ActionStart, IterationRule},
    kernels::{KernelConfig, StationaryConfig},
    ops::Stationary,
};
use burn_gp_models::{
    ActionRows, ActionsConfig,
    training::{FullBatchOptimizer, FullBatchTraining, Schedule},
};

/// Adam with a learning rate that decreases linearly from 0.1 to 0.01.
pub(super) const ADAM: FullBatchOptimizer = FullBatchOptimizer::Adam {
    learning_rate: 0.1,
    schedule: Schedule::Linear {
        final_fraction: 0.1,
    },
};

/// Training with a number of steps of an optimizer.
pub(super) fn training(steps: usize, optimizer: FullBatchOptimizer) -> FullBatchTraining {
    FullBatchTraining {
        iterations: steps,
        optimizer,
        ..FullBatchTraining::default()
    }
}

/// A Matérn-3/2 kernel before training.
pub(super) fn kernel(lengthscale: f64) -> KernelConfig {
    StationaryConfig::new(Stationary::Matern32)
        .with_lengthscale(lengthscale)
        .into()
}

/// The actions of CaGP-CG.
pub(super) fn by_residuals(count: usize, tolerance: f64, seed: u64) -> ActionsConfig {
    ActionsConfig::Iterations {
        rule: IterationRule::Residuals,
        count,
        tolerance,
        seed,
    }
}

/// The actions of CaGP-Opt.
pub(super) fn trained(count: usize, seed: u64) -> ActionsConfig {
    ActionsConfig::Blocks {
        count,
        at_most: false,
        start: ActionStart::Normal,
        seed,
        rows: ActionRows::Given,
    }
}
