//! The trainer of any model that is trained on all data at once.

use std::path::Path;

use burn_gp::ops::NotPositiveDefinite;
use burn_gp_models::{
    AnyComputationAware, AnyConjugateGradients, AnyExact, AnySgpr, AnySolveCollapsed, TrainedModel,
    training::{
        FullBatchTrainer, NothingToTrain, StepReport, Trainer, TrainingData, TrainingError,
    },
};

/// The trainer of any model that is trained on all data at once.
pub enum AnyFullBatch {
    /// Exact regression.
    Exact(FullBatchTrainer<AnyExact>),
    /// Computation-aware regression.
    ComputationAware(FullBatchTrainer<AnyComputationAware>),
    /// Regression by conjugate gradients.
    ConjugateGradients(FullBatchTrainer<AnyConjugateGradients>),
    /// Collapsed regression.
    Sgpr(FullBatchTrainer<AnySgpr>),
    /// Collapsed regression with two sets of inducing points.
    SolveCollapsed(FullBatchTrainer<AnySolveCollapsed>),
}

/// Forwards to the trainer within.
macro_rules! forward {
    ($self:ident, $trainer:ident => $call:expr) => {
        match $self {
            Self::Exact($trainer) => $call,
            Self::ComputationAware($trainer) => $call,
            Self::ConjugateGradients($trainer) => $call,
            Self::Sgpr($trainer) => $call,
            Self::SolveCollapsed($trainer) => $call,
        }
    };
}

impl AnyFullBatch {
    /// Makes one step.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    pub fn step(&mut self) -> Result<StepReport, TrainingError> {
        forward!(self, trainer => trainer.step())
    }

    /// Whether training is over.
    pub fn is_finished(&self) -> bool {
        forward!(self, trainer => trainer.is_finished())
    }

    /// Steps made so far.
    pub fn steps_made(&self) -> usize {
        forward!(self, trainer => trainer.steps_made())
    }

    /// Steps made at most.
    pub fn steps_planned(&self) -> usize {
        forward!(self, trainer => trainer.steps_planned())
    }

    /// Whether every parameter is fixed.
    pub fn is_fixed(&self) -> bool {
        forward!(self, trainer => NothingToTrain::of(trainer.model()).is_some())
    }

    /// The negative objective per datum of the model as it is now, priors included.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(&self) -> Result<f64, NotPositiveDefinite> {
        forward!(self, trainer => trainer.loss())
    }

    /// Writes everything needed to go on into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        forward!(self, trainer => trainer.save(folder))
    }

    /// Goes on from a folder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not fit the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        forward!(self, trainer => trainer.restore(folder))
    }

    /// The model as it is now, given the data, ready for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn trained(&self, data: &TrainingData) -> Result<TrainedModel, NotPositiveDefinite> {
        match self {
            Self::Exact(trainer) => Ok(TrainedModel::exact(trainer.model().clone(), data)),
            Self::ComputationAware(trainer) => {
                let model = trainer.model().clone();
                Ok(TrainedModel::computation_aware(model, data))
            }
            Self::ConjugateGradients(trainer) => {
                let model = trainer.model().clone();
                Ok(TrainedModel::conjugate_gradients(model, data))
            }
            Self::Sgpr(trainer) => TrainedModel::collapsed(trainer.model(), data),
            Self::SolveCollapsed(trainer) => {
                TrainedModel::collapsed_orthogonal(trainer.model(), data)
            }
        }
    }
}
