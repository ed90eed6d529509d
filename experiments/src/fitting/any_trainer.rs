//! The trainer of any ready-made model.

use std::path::Path;

use burn::{module::Module, tensor::Tensor};
use burn_gp::ops::NotPositiveDefinite;
use burn_gp_models::{
    AnyExact, AnySgpr, AnySolveCollapsed, AnySvgp, InitError, TrainedModel,
    training::{
        FullBatchTrainer, MiniBatchModel, MiniBatchTrainer, StepReport, Trainer, TrainingData,
        TrainingError,
    },
};

use crate::plan::Plan;

/// Rows whose part of the objective is computed together.
const CHUNK: usize = 2048;

/// The trainer of any ready-made model, with its data.
pub struct AnyTrainer {
    kind: Kind,
    data: TrainingData,
}

enum Kind {
    Exact(FullBatchTrainer<AnyExact>),
    Sgpr(FullBatchTrainer<AnySgpr>),
    SolveCollapsed(FullBatchTrainer<AnySolveCollapsed>),
    Svgp(MiniBatchTrainer<AnySvgp>),
}

/// Forwards to the trainer within.
macro_rules! forward {
    ($self:ident, $trainer:ident => $call:expr) => {
        match &$self.kind {
            Kind::Exact($trainer) => $call,
            Kind::Sgpr($trainer) => $call,
            Kind::SolveCollapsed($trainer) => $call,
            Kind::Svgp($trainer) => $call,
        }
    };
}

/// As [`forward`], for calls that change the trainer.
macro_rules! forward_mut {
    ($self:ident, $trainer:ident => $call:expr) => {
        match &mut $self.kind {
            Kind::Exact($trainer) => $call,
            Kind::Sgpr($trainer) => $call,
            Kind::SolveCollapsed($trainer) => $call,
            Kind::Svgp($trainer) => $call,
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
        let kind = match plan {
            Plan::Exact(config, training) => {
                let [_, dimensions] = data.inputs.dims();
                let options = (&data.inputs.device(), data.inputs.dtype());
                let model = config.init(dimensions, options)?.train();
                let trainer = FullBatchTrainer::new(model, data.clone(), training.clone());
                Kind::Exact(trainer.with_priors(config.parameters.priors.clone()))
            }
            Plan::Sgpr(config, training) => {
                let model = config.init(&data)?;
                let trainer = FullBatchTrainer::new(model, data.clone(), training.clone());
                Kind::Sgpr(trainer.with_priors(config.parameters.priors.clone()))
            }
            Plan::SolveCollapsed(config, training) => {
                let model = config.init(&data)?;
                let trainer = FullBatchTrainer::new(model, data.clone(), training.clone());
                Kind::SolveCollapsed(trainer.with_priors(config.parameters.priors.clone()))
            }
            Plan::Svgp(config, training) => {
                let model = config.init(&data)?;
                let trainer = MiniBatchTrainer::new(model, data.clone(), training.clone());
                Kind::Svgp(trainer.with_priors(config.parameters.priors.clone()))
            }
        };
        Ok(Self { kind, data })
    }

    /// Makes one step.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    pub fn step(&mut self) -> Result<StepReport, TrainingError> {
        forward_mut!(self, trainer => trainer.step())
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

    /// Steps in one pass over the data.
    pub fn steps_per_epoch(&self) -> usize {
        match &self.kind {
            Kind::Exact(_) | Kind::Sgpr(_) | Kind::SolveCollapsed(_) => 1,
            Kind::Svgp(trainer) => trainer.steps_per_epoch(),
        }
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
        forward_mut!(self, trainer => trainer.restore(folder))
    }

    /// The variational model as it is now, for models on mini-batches.
    pub fn variational(&self) -> Option<&AnySvgp> {
        match &self.kind {
            Kind::Svgp(trainer) => Some(trainer.model()),
            Kind::Exact(_) | Kind::Sgpr(_) | Kind::SolveCollapsed(_) => None,
        }
    }

    /// The model as it is now, ready for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn trained(&self) -> Result<TrainedModel, NotPositiveDefinite> {
        match &self.kind {
            Kind::Exact(trainer) => Ok(TrainedModel::exact(trainer.model().clone(), &self.data)),
            Kind::Sgpr(trainer) => TrainedModel::collapsed(trainer.model(), &self.data),
            Kind::SolveCollapsed(trainer) => {
                TrainedModel::collapsed_orthogonal(trainer.model(), &self.data)
            }
            Kind::Svgp(trainer) => Ok(TrainedModel::variational(trainer.model())),
        }
    }

    /// The negative objective, priors included, per datum of a variational model on all data,
    /// chunk by chunk.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(&self, model: &AnySvgp) -> Result<f64, NotPositiveDefinite> {
        let model = model.valid();
        let rows = self.data.len();
        let (mut fit, mut divergence) = (0.0, 0.0);
        for start in (0..rows).step_by(CHUNK) {
            let chunk = |tensor: &Tensor<2>| {
                let count = CHUNK.min(rows - start);
                tensor.clone().inner().narrow(0, start, count)
            };
            let (inputs, targets) = (chunk(&self.data.inputs), chunk(&self.data.targets));
            let [count, _] = targets.dims();
            let objective = model.objective(inputs, targets, count)?;
            fit += objective.fit.into_scalar::<f64>();
            divergence = objective.divergence.map_or(0.0, |term| term.into_scalar());
        }
        let log_prior = forward!(self, trainer => trainer.priors().log_density(&model));
        let log_prior = log_prior.map_or(0.0, |term| term.into_scalar::<f64>());
        Ok((divergence - fit - log_prior) / rows as f64)
    }
}
