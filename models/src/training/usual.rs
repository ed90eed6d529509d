//! The default training of models.

use super::{FullBatchTraining, MiniBatchTraining, Schedule};

/// The default training of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainingDefaults {
    /// Adam on mini-batches.
    MiniBatches(AdamRates),
    /// Adam with all data as one batch.
    OneBatch(AdamRates),
    /// L-BFGS or Adam on an objective of all data.
    FullBatch(FullBatchTraining),
}

/// The learning rates of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamRates {
    /// The rate of all parameters except network weights.
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

impl TrainingDefaults {
    /// Adam's learning rate for models without networks.
    pub const LEARNING_RATE: f64 = 0.05;

    /// Adam's learning rate for all parameters except network weights, in models with networks.
    pub const RATE_BESIDE_NETWORKS: f64 = 3e-2;

    /// Adam's learning rate for models that choose actions by iteration. They initially mistake the
    /// computation that they leave out for noise, and a thousand small steps do not correct this.
    pub const RATE_OF_ITERATIONS: f64 = 0.2;

    /// The number of rows in a batch.
    pub const BATCH_SIZE: usize = 256;

    /// The minimum number of mini-batch steps. Training lasts this long or
    /// [`EPOCHS`](Self::EPOCHS), whichever is longer.
    pub const STEPS: usize = 6000;

    /// The minimum number of passes over the training rows in mini-batch training; see
    /// [`STEPS`](Self::STEPS).
    pub const EPOCHS: usize = 10;

    /// The number of steps of Adam with all data as one batch.
    pub const ONE_BATCH_STEPS: usize = 2000;

    /// The final learning rate of a smooth schedule, as a fraction of the initial one.
    pub const FINAL_FRACTION: f64 = 0.01;

    /// The default learning-rate schedule.
    pub const SCHEDULE: Schedule = Schedule::Cosine {
        final_fraction: Self::FINAL_FRACTION,
    };

    /// Adam on mini-batches, for models without networks.
    pub const MINI_BATCHES: Self = Self::MiniBatches(AdamRates {
        learning_rate: Self::LEARNING_RATE,
        network: None,
    });

    /// L-BFGS on an objective of all data.
    pub const L_BFGS: Self = Self::FullBatch(FullBatchTraining::L_BFGS);

    /// Training by Adam on `rows` rows, with the default number of steps. If all data are one batch, it has this size.
    pub fn for_rows(&self, mut training: MiniBatchTraining, rows: usize) -> MiniBatchTraining {
        training.steps = match self {
            Self::OneBatch(_) => {
                training.batch_size = rows;
                Self::ONE_BATCH_STEPS
            }
            _ => Self::STEPS.max(training.steps_in_epochs(Self::EPOCHS, rows)),
        };
        training
    }
}

impl AdamRates {
    /// The rates for a network as a basis.
    pub const BASIS: Self = Self::beside(NetworkTraining::BASIS);

    /// The rates for a network in front of a kernel.
    pub const DEEP_KERNEL: Self = Self::beside(NetworkTraining::DEEP_KERNEL);

    /// Training with these rates, or with `learning_rate` for all parameters, and the defaults of the other settings.
    pub fn training(self, learning_rate: Option<f64>) -> MiniBatchTraining {
        let of_network = self.network.filter(|_| learning_rate.is_none());
        MiniBatchTraining {
            batch_size: TrainingDefaults::BATCH_SIZE,
            learning_rate: learning_rate.unwrap_or(self.learning_rate),
            network_rate: of_network.map(|network| network.learning_rate),
            weight_decay: self.network.map_or(0.0, |network| network.weight_decay),
            schedule: TrainingDefaults::SCHEDULE,
            ..MiniBatchTraining::new(TrainingDefaults::STEPS)
        }
    }

    const fn beside(network: NetworkTraining) -> Self {
        Self {
            learning_rate: TrainingDefaults::RATE_BESIDE_NETWORKS,
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
