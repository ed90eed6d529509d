//! The trainer for any settings.

use std::path::Path;

use burn::tensor::Tensor;
use burn_gp_core::{
    ops::{NotPositiveDefinite, number},
    parameter::Priors,
};

use super::{
    FullBatchTrainer, MiniBatchTrainer, Model, NothingToTrain, StepReport, Trainer, Training,
    TrainingData, TrainingError,
};
use crate::chunks::inputs_at_once;

/// The trainer of a model for any [`Training`].
pub enum AnyTrainer<M> {
    /// L-BFGS or Adam on all data at once.
    FullBatch(Box<FullBatchTrainer<M>>),
    /// Adam on mini-batches.
    MiniBatch(Box<MiniBatchTrainer<M>>),
}

/// Forwards to the wrapped trainer.
macro_rules! forward {
    ($self:ident, $trainer:ident => $call:expr) => {
        match $self {
            AnyTrainer::FullBatch($trainer) => $call,
            AnyTrainer::MiniBatch($trainer) => $call,
        }
    };
}

impl<M: Model> AnyTrainer<M> {
    /// A trainer before its first step. The model must be on an autodiff device, the data on the
    /// same device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: Training) -> Self {
        match training {
            Training::FullBatch(training) => {
                Self::FullBatch(Box::new(FullBatchTrainer::new(model, data, training)))
            }
            Training::MiniBatch(training) => {
                Self::MiniBatch(Box::new(MiniBatchTrainer::new(model, data, *training)))
            }
        }
    }

    /// The data.
    pub fn data(&self) -> &TrainingData {
        forward!(self, trainer => trainer.data())
    }

    /// Whether there is nothing to train: every parameter is fixed.
    pub fn is_fixed(&self) -> bool {
        NothingToTrain::of(self.model()).is_some()
    }

    /// The number of steps per pass over the data.
    pub fn steps_per_epoch(&self) -> usize {
        match self {
            Self::FullBatch(_) => 1,
            Self::MiniBatch(trainer) => trainer.steps_per_epoch(),
        }
    }

    /// The negative objective per data point over all data, including priors: of the current model,
    /// or of `other`, an earlier model of training on mini-batches. Calls `watch` with the number
    /// of finished rows before each chunk of data.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(
        &self,
        other: Option<&M>,
        watch: impl FnMut(usize),
    ) -> Result<f64, NotPositiveDefinite> {
        match self {
            Self::FullBatch(trainer) => trainer.loss(),
            Self::MiniBatch(trainer) => {
                let model = other.unwrap_or(trainer.model());
                loss_in_chunks(model, trainer.data(), trainer.priors(), watch)
            }
        }
    }
}

/// The loss of `model`, in chunks if the objective is a sum over them.
fn loss_in_chunks<M: Model>(
    model: &M,
    data: &TrainingData,
    priors: &Priors,
    mut watch: impl FnMut(usize),
) -> Result<f64, NotPositiveDefinite> {
    let model = model.valid();
    let rows = data.len();
    let (mut fit, mut kl) = (0.0, 0.0);
    let most = match model.needs_all_data() {
        true => rows,
        false => inputs_at_once(model.rows_per_datum()),
    };
    for start in (0..rows).step_by(most) {
        watch(start);
        let chunk = |tensor: &Tensor<2>| {
            let count = most.min(rows - start);
            tensor.clone().inner().narrow(0, start, count)
        };
        let (inputs, targets) = (chunk(&data.inputs), chunk(&data.targets));
        let [count, _] = targets.dims();
        let objective = model.objective(inputs, targets, count)?;
        fit += number(objective.fit);
        kl = objective.kl.map_or(0.0, number);
    }
    let log_prior = priors.log_density(&model);
    let log_prior = log_prior.map_or(0.0, number);
    Ok((kl - fit - log_prior) / rows as f64)
}

impl<M: Model> Trainer for AnyTrainer<M> {
    type Model = M;

    fn advance(&mut self) -> Result<Option<StepReport>, TrainingError> {
        forward!(self, trainer => trainer.advance())
    }

    fn read_reports(&mut self) -> Result<Vec<StepReport>, TrainingError> {
        forward!(self, trainer => trainer.read_reports())
    }

    fn are_reports_due(&self) -> bool {
        forward!(self, trainer => trainer.are_reports_due())
    }

    fn skipped_steps(&self) -> usize {
        forward!(self, trainer => trainer.skipped_steps())
    }

    fn is_finished(&self) -> bool {
        forward!(self, trainer => trainer.is_finished())
    }

    fn steps_made(&self) -> usize {
        forward!(self, trainer => trainer.steps_made())
    }

    fn steps_planned(&self) -> usize {
        forward!(self, trainer => trainer.steps_planned())
    }

    fn model(&self) -> &M {
        forward!(self, trainer => trainer.model())
    }

    fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        forward!(self, trainer => trainer.save(folder))
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        forward!(self, trainer => trainer.restore(folder))
    }
}
