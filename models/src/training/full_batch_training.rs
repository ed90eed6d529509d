//! The settings of training on the full batch.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Model;
use super::Schedule;

/// Settings of full-batch training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct FullBatchTraining {
    /// The maximum number of L-BFGS iterations, or the number of Adam steps.
    pub iterations: usize,
    /// L-BFGS stops when the improvement of the objective per iteration, averaged over ten
    /// iterations, is less than this fraction of its value (or of one, if that is larger).
    pub tolerance: f64,
    /// L-BFGS also stops after two iterations in a row that each improve the objective by less than this many nats.
    /// No prediction shows such improvements: differences of a nat are within the uncertainty of the parameters.
    #[serde(default)]
    pub nats: f64,
    /// The optimizer.
    #[serde(default)]
    pub optimizer: FullBatchOptimizer,
}

/// Optimizers for full-batch training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "optimizer", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FullBatchOptimizer {
    /// L-BFGS with a strong-Wolfe line search. It takes few iterations, needs an objective that
    /// does not change between them, and works best in double precision. Single-layer variational
    /// models have such an objective. [`Model::after_step`] is not called: the draws of a deep
    /// model stay the same, and state that a model adapts between steps is not updated.
    LBfgs {
        /// The first step size of every line search, as a fraction of the quasi-Newton step. The
        /// very first search has no curvature yet and starts with a step whose parameter changes
        /// sum to this number. A search tries larger steps while the objective falls steeply. A
        /// small value costs evaluations, but keeps early steps away from vanishing gradients.
        #[serde(default = "quasi_newton_step")]
        learning_rate: f64,
    },
    /// Adam on the loss per data point: one evaluation per step. It also works in single precision,
    /// and for objectives that change between steps.
    Adam {
        /// The initial learning rate.
        learning_rate: f64,
        /// The learning-rate schedule.
        schedule: Schedule,
    },
}

impl FullBatchOptimizer {
    /// The default first step size of L-BFGS line searches: the full quasi-Newton step.
    pub const QUASI_NEWTON_STEP: f64 = 1.0;

    /// L-BFGS with the default first step size.
    pub const L_BFGS: Self = Self::LBfgs {
        learning_rate: Self::QUASI_NEWTON_STEP,
    };
}

impl Default for FullBatchOptimizer {
    fn default() -> Self {
        Self::L_BFGS
    }
}

fn quasi_newton_step() -> f64 {
    FullBatchOptimizer::QUASI_NEWTON_STEP
}

impl FullBatchTraining {
    /// L-BFGS until the objective no longer improves.
    pub const L_BFGS: Self = Self {
        iterations: 1000,
        tolerance: 1e-9,
        nats: 0.0,
        optimizer: FullBatchOptimizer::L_BFGS,
    };
}

impl Default for FullBatchTraining {
    fn default() -> Self {
        Self::L_BFGS
    }
}
