//! The optimizer of the synthetic examples.

use burn_gp_models::training::{FullBatchOptimizer, Schedule};

/// Adam with a learning rate that decreases linearly from 0.1 to 0.01.
pub(super) const ADAM: FullBatchOptimizer = FullBatchOptimizer::Adam {
    learning_rate: 0.1,
    schedule: Schedule::Linear {
        final_fraction: 0.1,
    },
};
