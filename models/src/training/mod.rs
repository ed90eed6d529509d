//! Training loops.
//!
//! A trainer takes one step at a time. [`MiniBatchTrainer`] runs Adam on mini-batches, [`FullBatchTrainer`]
//! runs L-BFGS or Adam on all data, and [`AnyTrainer`] is one of them. There is one loop over the steps,
//! [`run`](trait.Trainer.html#method.run), which [`fit`] calls; callbacks evaluate the model, save it and decide
//! when to stop. With the feature `learner`, `MiniBatchLearner` takes
//! the steps of the mini-batch trainer in burn's own loop, with its checkpoints, metrics and early stopping.
//! Rows that do not fit into memory are read in blocks ([`RowBlocks`], [`MiniBatchTrainer::on_blocks`]). All
//! random draws of a trainer depend only on its seed and the step. A trainer restored from a checkpoint
//! continues bit for bit.
//!
//! Adam is restored in the type of its checkpoint. burn 0.22 restores L-BFGS in the default
//! floating-point type of `Device::default()`. To restore L-BFGS in another type, call
//! `Device::default().configure(FloatDType::F64)` before creating any tensor; [`Trainer::restore`]
//! fails if the types differ.

mod any_trainer;
mod batches;
mod callback;
mod checkpoint;
mod device_failure;
mod evaluations;
mod fit;
mod full_batch;
mod full_batch_training;
mod gate;
mod inducing;
#[cfg(feature = "learner")]
mod learner;
mod long_steps;
mod mini_batch;
mod mini_batch_step;
mod mini_batch_training;
mod nothing_to_train;
mod plateau;
mod rates;
mod row_blocks;
mod schedule;
mod settings;
mod unread;
mod usual;
mod validation;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
};

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    likelihoods::ImpossibleTarget,
    ops::NotPositiveDefinite,
    optim::NaturalStepError,
    parameter::{AtFloor, Hyperparameter, at_floor},
};

use crate::PredictionError;
pub use crate::{
    data::{TrainingData, matrix},
    model::{Model, Objective},
};
pub use any_trainer::{AnyTrainer, LossError};
pub use batches::Batch;
pub use callback::Callback;
pub use device_failure::{DeviceFailure, on_device};
pub use fit::fit;
pub use full_batch::FullBatchTrainer;
pub use full_batch_training::{FullBatchOptimizer, FullBatchTraining};
pub use inducing::InducingTraining;
#[cfg(feature = "learner")]
pub use learner::{
    Examination, LearnedModel, LearnerOutput, LearnerRecord, MiniBatchLearner, StepRenderer,
};
pub use mini_batch::MiniBatchTrainer;
pub use mini_batch_training::MiniBatchTraining;
pub use nothing_to_train::NothingToTrain;
pub use plateau::Plateau;
pub use row_blocks::{BlockRows, RowBlocks, UnreadableRows};
pub use schedule::{Schedule, ScheduledRate};
pub use settings::Training;
pub use usual::{AdamRates, NetworkTraining, TrainingDefaults};
pub use validation::{HeldOutRows, Validation, ValidationProgress};

/// Adds the log density of the priors of the parameters to an objective.
fn with_log_prior(objective: Tensor<1>, log_prior: Option<Tensor<1>>) -> Tensor<1> {
    match log_prior {
        Some(log_prior) => objective + log_prior,
        None => objective,
    }
}

/// The report of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// The number of steps so far, including this one.
    pub step: usize,
    /// The loss of this step: the negative objective per data point.
    pub loss: f64,
    /// The learning rate of this step.
    pub learning_rate: f64,
}

/// The reason why training stopped.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// An input is NaN or infinite.
    #[error("input {value} in row {row}, column {column} is not a finite number")]
    Input {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A covariance matrix has no Cholesky factor.
    #[error("step {step}: {source} Hyperparameters: {hyperparameters}.")]
    Factorization {
        /// The step that failed.
        step: usize,
        /// The matrix entry that failed and its error.
        source: NotPositiveDefinite,
        /// The hyperparameters of that step.
        hyperparameters: String,
    },
    /// The loss is NaN or infinite.
    #[error(
        "step {step}: the loss is {loss} because the {term} is not finite; lower the learning rate \
         or use f64. Hyperparameters: {hyperparameters}."
    )]
    NonFinite {
        /// The step that failed.
        step: usize,
        /// The loss.
        loss: f64,
        /// The term of the objective that is not finite.
        term: &'static str,
        /// The hyperparameters of that step.
        hyperparameters: String,
    },
    /// A natural-gradient step does not lead to a valid covariance.
    #[error("step {step}: {source}. Hyperparameters: {hyperparameters}.")]
    NaturalGradient {
        /// The step that failed.
        step: usize,
        /// The step sizes tried.
        source: NaturalStepError,
        /// The hyperparameters of that step.
        hyperparameters: String,
    },
    /// No step would change the model.
    #[error("step {step}: {source}")]
    NothingToTrain {
        /// The step.
        step: usize,
        /// The reason.
        source: NothingToTrain,
    },
    /// Natural gradients are configured, but no Gaussian `q(u)` is trained.
    #[error("natural gradients need a trained Gaussian q(u), and this model has none")]
    NoDistribution,
    /// The device failed.
    #[error("step {step}: {source}.")]
    Device {
        /// The step that failed.
        step: usize,
        /// The failure.
        source: DeviceFailure,
    },
    /// Rows cannot be read.
    #[error("step {step}: {source}.")]
    Rows {
        /// The step.
        step: usize,
        /// The reason.
        source: UnreadableRows,
    },
    /// A device cannot have a replica of the model.
    #[cfg(feature = "learner")]
    #[error(
        "the device {device} has no collective operations, which burn supports on CUDA devices only; \
         divide batches among other devices with `on_devices`"
    )]
    NoCollectives {
        /// The device.
        device: String,
    },
    /// burn's learner stopped because a metric or a checkpointer failed.
    #[cfg(feature = "learner")]
    #[error("burn's learner: {0}")]
    Learner(std::sync::Arc<burn::train::TrainingError>),
    /// A checkpoint cannot be written or read.
    #[error("the checkpoint {path} cannot be {action}: {reason}")]
    Checkpoint {
        /// The file or folder.
        path: PathBuf,
        /// `written` or `read`.
        action: &'static str,
        /// The cause.
        reason: String,
    },
}

impl TrainingError {
    /// A prediction with `model` failed after `step` steps.
    pub fn of_prediction(error: PredictionError, step: usize, model: &dyn Model) -> Self {
        match error {
            PredictionError::Target(impossible) => impossible.into(),
            PredictionError::Input { row, column, value } => Self::Input { row, column, value },
            PredictionError::Factorization(source) => Self::Factorization {
                step,
                source,
                hyperparameters: describe(&model.hyperparameters()),
            },
        }
    }
}

/// Hyperparameters as one line of text.
pub fn describe(hyperparameters: &[Hyperparameter]) -> String {
    let parts: Vec<String> = hyperparameters
        .iter()
        .map(|parameter| {
            let values: Vec<String> = (parameter.values.iter())
                .map(|value| format!("{value:.4e}"))
                .collect();
            match values.as_slice() {
                [value] => format!("{} = {value}", parameter.path),
                _ => format!("{} = [{}]", parameter.path, values.join(", ")),
            }
        })
        .collect();
    parts.join(", ")
}

/// The steps of a training loop, which [`run`](#method.run) takes.
pub trait Trainer {
    /// The model.
    type Model;

    /// Takes one step and returns its report. Unread reports of earlier steps are lost.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite; the step then does not change the
    /// model.
    fn step(&mut self) -> Result<StepReport, TrainingError> {
        loop {
            if let Some(report) = self.advance()? {
                return Ok(report);
            }
            if let Some(report) = self.read_reports()?.pop() {
                return Ok(report);
            }
        }
    }

    /// Takes one step. On a GPU, a mini-batch step does not wait for its loss: there is no report
    /// yet, and [`read_reports`](Self::read_reports) returns it later.
    ///
    /// If the loss of such a step is not finite, the device skips the step, which leaves the model
    /// unchanged.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed, or is known not to be finite.
    fn advance(&mut self) -> Result<Option<StepReport>, TrainingError>;

    /// Waits for the reports that [`advance`](Self::advance) has not returned yet, and returns them
    /// in order.
    ///
    /// A step that the device skipped is evaluated again on the current model. If that fails, too,
    /// the failure is returned as the error. Otherwise the step counts as
    /// [skipped](Self::skipped_steps).
    ///
    /// # Errors
    ///
    /// When the objective of a step cannot be computed or is not finite.
    fn read_reports(&mut self) -> Result<Vec<StepReport>, TrainingError> {
        Ok(Vec::new())
    }

    /// Whether the reports of [`advance`](Self::advance) should be read now.
    fn are_reports_due(&self) -> bool {
        true
    }

    /// The number of steps that a GPU has skipped because their losses were not finite.
    fn skipped_steps(&self) -> usize {
        0
    }

    /// Whether training is over.
    fn is_finished(&self) -> bool;

    /// The number of steps so far.
    fn steps_made(&self) -> usize;

    /// The maximum number of steps.
    fn steps_planned(&self) -> usize;

    /// The current model.
    fn model(&self) -> &Self::Model;

    /// The hyperparameters that are at their smallest possible value and that training would
    /// decrease further.
    fn at_floor(&self) -> Vec<AtFloor>
    where
        Self::Model: Module,
    {
        at_floor(self.model())
    }

    /// Writes everything needed to resume training into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    fn save(&self, folder: &Path) -> Result<(), TrainingError>;

    /// Resumes from a folder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not match the model.
    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError>;
}

impl<M: 'static> dyn Trainer<Model = M> {
    /// Takes steps until training is over or a callback stops it. All callbacks get the last step.
    ///
    /// On a GPU, the reports of several steps are read together, unless a callback
    /// [needs](Callback::needs_report) one earlier.
    ///
    /// # Errors
    ///
    /// When a step fails, which then does not change the model, or a callback fails.
    pub fn run<E: From<TrainingError>>(
        &mut self,
        callbacks: &mut [&mut dyn Callback<M, E>],
    ) -> Result<(), E> {
        while !self.is_finished() {
            for callback in callbacks.iter_mut() {
                callback.before_step(self);
            }
            // Training stops after a failure and does not use what the step has changed.
            let caught = catch_unwind(AssertUnwindSafe(|| match self.advance()? {
                Some(report) => Ok(vec![report]),
                None if self.are_reports_due()
                    || callbacks.iter().any(|callback| callback.needs_report(self)) =>
                {
                    self.read_reports()
                }
                None => Ok(Vec::new()),
            }));
            let reports = caught.unwrap_or_else(|panic| Err(self.failure_of_device(panic)))?;
            let mut stops = false;
            for report in reports {
                for callback in callbacks.iter_mut() {
                    stops |= callback.after_step(self, report)?.is_break();
                }
            }
            if stops {
                break;
            }
        }
        Ok(())
    }

    /// The failure of the device that a panic in a step reports. Other panics go on.
    fn failure_of_device(&self, panic: Box<dyn Any + Send>) -> TrainingError {
        match DeviceFailure::of_panic(&*panic) {
            Some(source) => TrainingError::Device {
                step: self.steps_made() + 1,
                source,
            },
            None => resume_unwind(panic),
        }
    }
}
