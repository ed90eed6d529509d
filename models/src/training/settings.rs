//! Settings of training.

use serde::{Deserialize, Serialize};

use super::{FullBatchTraining, MiniBatchTraining};

/// Settings of any training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "training", rename_all = "kebab-case")]
pub enum Training {
    /// L-BFGS or Adam on all data at once.
    FullBatch(FullBatchTraining),
    /// Adam on mini-batches.
    MiniBatch(Box<MiniBatchTraining>),
}

impl From<FullBatchTraining> for Training {
    fn from(training: FullBatchTraining) -> Self {
        Self::FullBatch(training)
    }
}

impl From<MiniBatchTraining> for Training {
    fn from(training: MiniBatchTraining) -> Self {
        Self::MiniBatch(Box::new(training))
    }
}
