//! How models are usually trained.

use super::{FullBatchOptimizer, Schedule};

/// How a model is trained unless the caller says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UsualTraining {
    /// By Adam on mini-batches.
    MiniBatches(AdamRates),
    /// By Adam with all data as one batch.
    OneBatch(AdamRates),
    /// By L-BFGS or Adam on an objective of all data.
    FullBatch(FullBatchOptimizer),
}

/// The learning rates of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamRates {
    /// The rate of all parameters but network weights.
    pub learning_rate: f64,
    /// The training of network weights, if the model has a network.
    pub network: Option<NetworkTraining>,
}

/// The training of network weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkTraining {
    /// The learning rate.
    pub learning_rate: f64,
    /// The penalty `½λ‖θ‖²` in the loss per data point.
    pub weight_decay: f64,
}

impl UsualTraining {
    /// The learning rate of Adam.
    pub const LEARNING_RATE: f64 = 0.05;

    /// The same for the other parameters of models with networks.
    pub const RATE_BESIDE_NETWORKS: f64 = 3e-2;

    /// The same for models that choose actions by iteration. They initially count computation that
    /// they left out as noise, and a thousand small steps do not correct this.
    pub const RATE_OF_ITERATIONS: f64 = 0.2;

    /// The number of rows in a batch.
    pub const BATCH_SIZE: usize = 256;

    /// The number of mini-batch steps, or …
    pub const STEPS: usize = 6000;

    /// … this many passes over the training rows, if those are more steps.
    pub const EPOCHS: usize = 10;

    /// The number of steps of Adam with all data as one batch.
    pub const ONE_BATCH_STEPS: usize = 2000;

    /// The final learning rate of a smooth schedule, as a fraction of the initial one.
    pub const FINAL_FRACTION: f64 = 0.01;

    /// The usual schedule.
    pub const SCHEDULE: Schedule = Schedule::Cosine {
        final_fraction: Self::FINAL_FRACTION,
    };

    /// Adam on mini-batches, for models without networks.
    pub const MINI_BATCHES: Self = Self::MiniBatches(AdamRates {
        learning_rate: Self::LEARNING_RATE,
        network: None,
    });

    /// L-BFGS on an objective of all data.
    pub const L_BFGS: Self = Self::FullBatch(FullBatchOptimizer::L_BFGS);
}

impl AdamRates {
    /// For a network as a basis.
    pub const BASIS: Self = Self::beside(NetworkTraining::BASIS);

    /// For a network in front of a kernel.
    pub const DEEP_KERNEL: Self = Self::beside(NetworkTraining::DEEP_KERNEL);

    const fn beside(network: NetworkTraining) -> Self {
        Self {
            learning_rate: UsualTraining::RATE_BESIDE_NETWORKS,
            network: Some(network),
        }
    }
}

impl NetworkTraining {
    /// The weight decay of arXiv:2505.18526.
    pub const WEIGHT_DECAY: f64 = 1e-4;

    /// Networks in basis models. The rate is much smaller than that of the other parameters, because
    /// the noise should be learned before the network fits it.
    pub const BASIS: Self = Self {
        learning_rate: 3e-4,
        weight_decay: Self::WEIGHT_DECAY,
    };

    /// Networks in deep kernels. The rate is smaller still, because the initial model is already
    /// good.
    pub const DEEP_KERNEL: Self = Self {
        learning_rate: 1e-4,
        weight_decay: Self::WEIGHT_DECAY,
    };
}
