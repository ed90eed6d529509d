//! A model as burn's learner takes it.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    PredictionError,
    training::{Batch, MiniBatchModel, TrainingError, describe, mini_batch_step::MiniBatchStep},
};
use burn::{
    lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, ExecutionError, Tensor},
    train::{
        InferenceStep, Interrupter, ItemLazy, TrainOutput, TrainStep,
        metric::{Adaptor, LossInput},
    },
};

/// A model with the course of its training, so that burn's learner can make its steps.
///
/// burn's traits have no errors: the first one is kept in the course, stops the learner, and keeps
/// every later gradient from the parameters.
#[derive(Module, Debug)]
pub struct LearnedModel<M: Module> {
    model: M,
    #[module(skip)]
    course: Arc<Course>,
}

impl<M: Module> LearnedModel<M> {
    pub(super) fn new(model: M, course: Arc<Course>) -> Self {
        Self { model, course }
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }
}

/// The course of a training run.
pub(super) struct Course {
    pub computation: MiniBatchStep,
    /// Steps made so far.
    pub made: Arc<AtomicUsize>,
    pub interrupter: Interrupter,
    failure: Mutex<Option<TrainingError>>,
}

impl fmt::Debug for Course {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Course");
        text.field("made", &self.made).finish_non_exhaustive()
    }
}

impl Course {
    pub fn new(
        computation: MiniBatchStep,
        made: Arc<AtomicUsize>,
        interrupter: Interrupter,
    ) -> Self {
        Self {
            computation,
            made,
            interrupter,
            failure: Mutex::new(None),
        }
    }

    /// Takes the error that ended training.
    pub fn take_failure(&self) -> Option<TrainingError> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    fn has_failed(&self) -> bool {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.is_some()
    }

    /// Keeps the first error and stops the learner.
    fn fail(&self, error: TrainingError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.interrupter.stop(Some("a step cannot be made"));
    }
}

impl<M: MiniBatchModel + 'static> TrainStep for LearnedModel<M> {
    type Input = Batch;
    type Output = LearnedStep;

    fn step(&self, batch: Batch) -> TrainOutput<LearnedStep> {
        let step = batch.step + 1;
        let (loss, grads) = match self.course.computation.differentiate(&self.model, batch) {
            Ok(computed) => computed,
            Err(error) => {
                self.course.fail(error);
                (f64::NAN, GradientsParams::new())
            }
        };
        TrainOutput {
            grads,
            item: LearnedStep { step, loss },
        }
    }

    fn optimize(
        self,
        optimizer: &mut ModuleOptimizer,
        rate: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        if self.course.has_failed() {
            return self;
        }
        let step = self.course.made.load(Ordering::Relaxed);
        let adam = (optimizer, rate);
        let updated = (self.course.computation).update(step, &self.model, gradients, adam);
        match updated {
            Ok(model) => {
                self.course.made.store(step + 1, Ordering::Relaxed);
                Self { model, ..self }
            }
            Err(error) => {
                self.course.fail(error);
                self
            }
        }
    }
}

/// What a step of burn's learner says about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedStep {
    /// Steps made so far, this one included.
    pub step: usize,
    /// The negative objective per datum; NaN where it could not be computed, which ends training.
    pub loss: f64,
}

impl ItemLazy for LearnedStep {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

/// For metrics of one's own.
impl Adaptor<LearnedStep> for LearnedStep {
    fn adapt(&self) -> LearnedStep {
        *self
    }
}

/// For burn's `LossMetric`.
impl Adaptor<LossInput> for LearnedStep {
    fn adapt(&self) -> LossInput {
        LossInput::new(Tensor::from_data([self.loss], &Device::default()))
    }
}

/// What is asked of the model after a round of steps, such as its score on data held out.
pub type Examination<M> = Box<dyn FnOnce(&M) -> Result<f64, PredictionError> + Send>;

impl<M: MiniBatchModel + 'static> InferenceStep for LearnedModel<M> {
    type Input = Examination<M>;
    type Output = ExaminedModel;

    fn step(&self, examination: Examination<M>) -> ExaminedModel {
        let score = examination(&self.model).unwrap_or_else(|error| {
            self.course.fail(match error {
                PredictionError::Target(impossible) => impossible.into(),
                PredictionError::Factorization(source) => TrainingError::Factorization {
                    step: self.course.made.load(Ordering::Relaxed),
                    source,
                    hyperparameters: describe(&self.model.hyperparameters()),
                },
            });
            f64::NAN
        });
        ExaminedModel { score }
    }
}

/// What an examination found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExaminedModel {
    /// The score; NaN where it could not be computed, which ends training.
    pub score: f64,
}

impl ItemLazy for ExaminedModel {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

/// For metrics of one's own.
impl Adaptor<ExaminedModel> for ExaminedModel {
    fn adapt(&self) -> ExaminedModel {
        *self
    }
}
