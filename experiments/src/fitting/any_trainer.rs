//! The trainer of any ready-made model.

use std::path::Path;

use burn::{module::Module, tensor::Tensor};
use burn_gp::{ops::NotPositiveDefinite, parameter::Priors};
use burn_gp_models::{
    AnyModel, InitError, inputs_at_once,
    training::{
        FullBatchTrainer, MiniBatchLearner, Model, NothingToTrain, Trainer, Training, TrainingData,
        TrainingError,
    },
};

use crate::plan::Plan;
use crate::progress::RowProgress;

/// The trainer of any ready-made model, with its data.
pub enum AnyTrainer {
    /// On all data at once, in a loop of the caller's.
    FullBatch(Box<FullBatchTrainer<AnyModel>>),
    /// Adam on mini-batches, in burn's loop.
    MiniBatch(Box<MiniBatchLearner<AnyModel>>),
}

/// Forwards to the trainer within.
macro_rules! forward {
    ($self:ident, $trainer:ident => $call:expr) => {
        match $self {
            AnyTrainer::FullBatch($trainer) => $call,
            AnyTrainer::MiniBatch($trainer) => $call,
        }
    };
}

impl AnyTrainer {
    /// A trainer of the planned model at its first step.
    ///
    /// # Errors
    ///
    /// When the model cannot be made from the data.
    pub fn new(plan: &Plan, data: TrainingData) -> Result<Self, InitError> {
        let (model, data) = plan.model.init(data)?;
        Ok(match plan.training.clone() {
            Training::FullBatch(training) => {
                Self::FullBatch(Box::new(FullBatchTrainer::new(model, data, training)))
            }
            Training::MiniBatch(training) => {
                Self::MiniBatch(Box::new(MiniBatchLearner::new(model, data, *training)))
            }
        })
    }

    /// The data.
    pub fn data(&self) -> &TrainingData {
        forward!(self, trainer => trainer.data())
    }

    /// The model as it is now.
    pub fn model(&self) -> &AnyModel {
        forward!(self, trainer => trainer.model())
    }

    /// Whether training is over, or there is nothing to train: every parameter is fixed.
    pub fn is_finished(&self) -> bool {
        let is_fixed = NothingToTrain::of(self.model()).is_some();
        is_fixed || forward!(self, trainer => trainer.is_finished())
    }

    /// Steps made so far.
    pub fn steps_made(&self) -> usize {
        forward!(self, trainer => trainer.steps_made())
    }

    /// Steps made at most.
    pub fn steps_planned(&self) -> usize {
        forward!(self, trainer => trainer.steps_planned())
    }

    /// Steps in one pass over the data.
    pub fn steps_per_epoch(&self) -> usize {
        match self {
            Self::FullBatch(_) => 1,
            Self::MiniBatch(learner) => learner.steps_per_epoch(),
        }
    }

    /// Writes everything needed to go on into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        match self {
            Self::FullBatch(trainer) => trainer.save(folder),
            Self::MiniBatch(learner) => learner.record().save(folder),
        }
    }

    /// Goes on from a folder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not fit the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        forward!(self, trainer => trainer.restore(folder))
    }

    /// The negative objective per datum over all training rows, priors included: of `best`, or of
    /// the model as it is now; `progress` is that over the rows.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(
        &self,
        best: Option<&AnyModel>,
        progress: RowProgress,
    ) -> Result<f64, NotPositiveDefinite> {
        match self {
            Self::FullBatch(trainer) => trainer.loss(),
            Self::MiniBatch(learner) => {
                let model = best.unwrap_or(learner.model());
                loss_in_chunks(model, learner.data(), learner.priors(), progress)
            }
        }
    }
}

/// Chunk by chunk where the objective is a sum over them.
fn loss_in_chunks(
    model: &AnyModel,
    data: &TrainingData,
    priors: &Priors,
    mut progress: RowProgress,
) -> Result<f64, NotPositiveDefinite> {
    let model = model.valid();
    let rows = data.len();
    let (mut fit, mut kl) = (0.0, 0.0);
    let most = match model.needs_all_data() {
        true => rows,
        false => inputs_at_once(model.rows_per_datum()),
    };
    for start in (0..rows).step_by(most) {
        progress.update(start);
        let chunk = |tensor: &Tensor<2>| {
            let count = most.min(rows - start);
            tensor.clone().inner().narrow(0, start, count)
        };
        let (inputs, targets) = (chunk(&data.inputs), chunk(&data.targets));
        let [count, _] = targets.dims();
        let objective = model.objective(inputs, targets, count)?;
        fit += objective.fit.into_scalar::<f64>();
        kl = objective.kl.map_or(0.0, |term| term.into_scalar());
    }
    let log_prior = priors.log_density(&model);
    let log_prior = log_prior.map_or(0.0, |term| term.into_scalar::<f64>());
    Ok((kl - fit - log_prior) / rows as f64)
}
