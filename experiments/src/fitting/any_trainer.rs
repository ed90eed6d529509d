//! The trainer of any ready-made model.

use std::path::Path;

use burn::{module::Module, tensor::Tensor};
use burn_gp::{inference::FullBatch, ops::NotPositiveDefinite, parameter::Priors};
use burn_gp_models::{
    AnyMiniBatch, InitError, TrainedModel, inputs_at_once,
    training::{
        FullBatchTrainer, FullBatchTraining, MiniBatchLearner, MiniBatchModel, MiniBatchTraining,
        NothingToTrain, TrainingData, TrainingError,
    },
};

use super::AnyFullBatch;
use crate::plan::Plan;
use crate::progress::RowProgress;

/// The trainer of any ready-made model, with its data.
pub struct AnyTrainer {
    /// What makes the steps.
    pub kind: TrainerKind,
    data: TrainingData,
}

/// What makes the steps.
pub enum TrainerKind {
    /// L-BFGS on all data, in a loop of the caller's.
    FullBatch(Box<AnyFullBatch>),
    /// Adam on mini-batches, in burn's loop.
    MiniBatch(Box<MiniBatchLearner<AnyMiniBatch>>),
}

/// Forwards to the trainer within.
macro_rules! forward {
    ($self:ident, $trainer:ident => $call:expr) => {
        match &$self.kind {
            TrainerKind::FullBatch($trainer) => $call,
            TrainerKind::MiniBatch($trainer) => $call,
        }
    };
}

impl AnyTrainer {
    /// A trainer of the planned model at its first step.
    ///
    /// # Errors
    ///
    /// When the model cannot be made from the data.
    pub fn new(plan: &Plan, mut data: TrainingData) -> Result<Self, InitError> {
        let kind = match plan {
            Plan::Exact(config, training) => {
                let [_, dimensions] = data.inputs.dims();
                let options = (&data.inputs.device(), data.inputs.dtype());
                let model = config.init(dimensions, options)?;
                let trainer = full_batch(model, &data, training);
                TrainerKind::FullBatch(Box::new(AnyFullBatch::Exact(trainer)))
            }
            Plan::ComputationAware(config, training) => {
                let (model, arranged) = config.init(data)?;
                data = arranged;
                let trainer = full_batch(model, &data, training);
                TrainerKind::FullBatch(Box::new(AnyFullBatch::ComputationAware(trainer)))
            }
            Plan::ConjugateGradients(config, training) => {
                let trainer = full_batch(config.init(&data)?, &data, training);
                TrainerKind::FullBatch(Box::new(AnyFullBatch::ConjugateGradients(trainer)))
            }
            Plan::Sgpr(config, training) => {
                let trainer = full_batch(config.init(&data)?, &data, training);
                TrainerKind::FullBatch(Box::new(AnyFullBatch::Sgpr(trainer)))
            }
            Plan::SolveCollapsed(config, training) => {
                let trainer = full_batch(config.init(&data)?, &data, training);
                TrainerKind::FullBatch(Box::new(AnyFullBatch::SolveCollapsed(trainer)))
            }
            Plan::Svgp(config, training) => {
                let model = config.init(&data)?.into();
                learner(model, &data, training)
            }
            Plan::DeepGp(config, training) => {
                let model = config.init(&data)?.into();
                learner(model, &data, training)
            }
            Plan::Network(config, training) => {
                let model = AnyMiniBatch::Network(config.init(&data)?);
                learner(model, &data, training)
            }
        };
        Ok(Self { kind, data })
    }

    /// The data.
    pub fn data(&self) -> &TrainingData {
        &self.data
    }

    /// Whether training is over, or there is nothing to train: every parameter is fixed.
    pub fn is_finished(&self) -> bool {
        let is_fixed = match &self.kind {
            TrainerKind::FullBatch(trainer) => trainer.is_fixed(),
            TrainerKind::MiniBatch(learner) => NothingToTrain::of(learner.model()).is_some(),
        };
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
        match &self.kind {
            TrainerKind::FullBatch(_) => 1,
            TrainerKind::MiniBatch(learner) => learner.steps_per_epoch(),
        }
    }

    /// Writes everything needed to go on into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        match &self.kind {
            TrainerKind::FullBatch(trainer) => trainer.save(folder),
            TrainerKind::MiniBatch(learner) => learner.record().save(folder),
        }
    }

    /// Goes on from a folder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not fit the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        match &mut self.kind {
            TrainerKind::FullBatch(trainer) => trainer.restore(folder),
            TrainerKind::MiniBatch(learner) => learner.restore(folder),
        }
    }

    /// The model as it is now, for models that Adam trains.
    pub fn variational(&self) -> Option<&AnyMiniBatch> {
        match &self.kind {
            TrainerKind::MiniBatch(learner) => Some(learner.model()),
            TrainerKind::FullBatch(_) => None,
        }
    }

    /// The model as it is now, ready for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn trained(&self) -> Result<TrainedModel, NotPositiveDefinite> {
        match &self.kind {
            TrainerKind::FullBatch(trainer) => trainer.trained(&self.data),
            TrainerKind::MiniBatch(learner) => learner.model().trained(&self.data),
        }
    }

    /// The negative objective per datum over all training rows, priors included: of `best`, or of
    /// the model as it is now; `progress` is that over the rows.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(
        &self,
        best: Option<&AnyMiniBatch>,
        progress: RowProgress,
    ) -> Result<f64, NotPositiveDefinite> {
        match &self.kind {
            TrainerKind::FullBatch(trainer) => trainer.loss(),
            TrainerKind::MiniBatch(learner) => {
                let model = best.unwrap_or(learner.model());
                self.loss_in_chunks(model, learner.priors(), progress)
            }
        }
    }

    /// Chunk by chunk where the objective is a sum over them.
    fn loss_in_chunks(
        &self,
        model: &AnyMiniBatch,
        priors: &Priors,
        mut progress: RowProgress,
    ) -> Result<f64, NotPositiveDefinite> {
        let model = model.valid();
        let rows = self.data.len();
        let (mut fit, mut kl) = (0.0, 0.0);
        let most = match model.is_on_all_data() {
            true => rows,
            false => inputs_at_once(model.rows_per_datum()),
        };
        for start in (0..rows).step_by(most) {
            progress.update(start);
            let chunk = |tensor: &Tensor<2>| {
                let count = most.min(rows - start);
                tensor.clone().inner().narrow(0, start, count)
            };
            let (inputs, targets) = (chunk(&self.data.inputs), chunk(&self.data.targets));
            let [count, _] = targets.dims();
            let objective = model.objective(inputs, targets, count)?;
            fit += objective.fit.into_scalar::<f64>();
            kl = objective.kl.map_or(0.0, |term| term.into_scalar());
        }
        let log_prior = priors.log_density(&model);
        let log_prior = log_prior.map_or(0.0, |term| term.into_scalar::<f64>());
        Ok((kl - fit - log_prior) / rows as f64)
    }
}

/// The trainer of a model on all data.
fn full_batch<M: FullBatch>(
    model: M,
    data: &TrainingData,
    training: &FullBatchTraining,
) -> FullBatchTrainer<M> {
    FullBatchTrainer::new(model, data.clone(), training.clone())
}

/// The trainer by Adam before its first step.
fn learner(model: AnyMiniBatch, data: &TrainingData, training: &MiniBatchTraining) -> TrainerKind {
    let learner = MiniBatchLearner::new(model, data.clone(), training.clone());
    TrainerKind::MiniBatch(Box::new(learner))
}
