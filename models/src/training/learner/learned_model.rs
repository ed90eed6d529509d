//! A model wrapped for burn's learner.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    PredictionError,
    training::{Batch, Model, TrainingError, mini_batch_step::MiniBatchStep},
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

/// A model with its training state, as burn's learner takes it.
///
/// burn's traits cannot return errors. The state therefore keeps the first error, stops the learner
/// and discards all later gradients.
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

/// The state of a training run.
pub(super) struct Course {
    pub computation: MiniBatchStep,
    /// The number of steps so far.
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

impl<M: Model + 'static> TrainStep for LearnedModel<M> {
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

/// The output of a learner step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedStep {
    /// The number of steps so far, including this one.
    pub step: usize,
    /// The negative objective per data point. It is NaN if the computation failed, which ends
    /// training.
    pub loss: f64,
}

impl ItemLazy for LearnedStep {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

/// For custom metrics.
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

/// The examination of a model after a round of steps, for example its score on held-out data.
pub type Examination<M> = Box<dyn FnOnce(&M) -> Result<f64, PredictionError> + Send>;

impl<M: Model + 'static> InferenceStep for LearnedModel<M> {
    type Input = Examination<M>;
    type Output = ExaminedModel;

    fn step(&self, examination: Examination<M>) -> ExaminedModel {
        let score = examination(&self.model).unwrap_or_else(|error| {
            let step = self.course.made.load(Ordering::Relaxed);
            (self.course).fail(TrainingError::of_prediction(error, step, &self.model));
            f64::NAN
        });
        ExaminedModel { score }
    }
}

/// The result of an examination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExaminedModel {
    /// The score. It is NaN if the computation failed, which ends training.
    pub score: f64,
}

impl ItemLazy for ExaminedModel {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

/// For custom metrics.
impl Adaptor<ExaminedModel> for ExaminedModel {
    fn adapt(&self) -> ExaminedModel {
        *self
    }
}
