//! The optimizer of the generated examples.

use burn_gp_models::training::{FullBatchOptimizer, Schedule};

/// Adam, whose learning rate goes down in a straight line from 0.1 to a tenth of it.
pub(super) const ADAM: FullBatchOptimizer = FullBatchOptimizer::Adam {
    learning_rate: 0.1,
    schedule: Schedule::Linear {
        final_fraction: 0.1,
    },
};
