//! A model wrapped for burn's learner.

use std::{
    any::Any,
    fmt,
    panic::resume_unwind,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use burn::{
    lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    module::{Module, ModuleDisplay},
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, ExecutionError, Tensor},
    train::metric::{Adaptor, LossInput},
    train::{InferenceStep, Interrupter, ItemLazy, TrainOutput, TrainStep},
};

use super::replicas::marked_for_sums;
use crate::{
    PredictionError,
    training::{
        Batch, Model, TrainingError,
        mini_batch_step::{Differentiate, MiniBatchStep},
    },
};

/// A model with its training state, for burn's learner.
///
/// burn's traits cannot return errors. The state therefore keeps the first error, stops the learner
/// and discards all later gradients.
#[derive(Module, Debug)]
pub struct LearnedModel<M: Module> {
    pub(super) model: M,
    /// The number of steps of this replica.
    #[module(skip)]
    pub(super) made: usize,
    #[module(skip)]
    pub(super) state: Arc<TrainingState>,
}

/// The state of a training run.
pub(super) struct TrainingState {
    pub computation: MiniBatchStep,
    /// [`Differentiate`] for the type of the model, which burn forbids to name here.
    pub differentiate: Arc<dyn Any + Send + Sync>,
    /// The number of steps so far, which burn's threads share.
    pub made: Arc<AtomicUsize>,
    pub interrupter: Interrupter,
    /// Whether each device trains its own replica.
    pub replicates: bool,
    pub failure: Mutex<Option<TrainingError>>,
}

impl fmt::Debug for TrainingState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TrainingState({:?})", self.made)
    }
}

impl TrainingState {
    /// Keeps the first error and stops the learner. With replicas, the other devices would wait for this
    /// one in their backward passes: only a panic ends burn's workers.
    fn fail(&self, error: TrainingError) {
        lock(&self.failure).get_or_insert(error);
        self.interrupter.stop(Some("a step failed"));
        if self.replicates {
            resume_unwind(Box::new("a step failed"));
        }
    }
}

/// The value behind a lock, even if another thread panicked with it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Module + ModuleDisplay + Model> TrainStep for LearnedModel<M> {
    type Input = Batch;
    type Output = LearnerOutput;

    fn step(&self, batch: Batch) -> TrainOutput<LearnerOutput> {
        let (state, step) = (&self.state, batch.step + 1);
        let Some(differentiate) = state.differentiate.downcast_ref::<Differentiate<M>>() else {
            unreachable!("the state is that of a model of this type")
        };
        let computed = differentiate(&state.computation, &self.model, batch);
        let (value, grads) = computed.unwrap_or_else(|error| {
            state.fail(error);
            (f64::NAN, GradientsParams::new())
        });
        let item = LearnerOutput { step, value };
        TrainOutput { grads, item }
    }

    fn optimize(
        mut self,
        optimizer: &mut ModuleOptimizer,
        rate: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        let (state, adam) = (Arc::clone(&self.state), (optimizer, rate));
        if lock(&state.failure).is_some() {
            return self;
        }
        match (state.computation).update(self.made, &self.model, gradients, adam) {
            Ok(model) if state.replicates => self.model = marked_for_sums(model),
            Ok(model) => self.model = model,
            Err(error) => {
                state.fail(error);
                return self;
            }
        }
        self.made += 1;
        state.made.fetch_max(self.made, Ordering::Relaxed);
        self
    }
}

/// The examination of a model after a round of steps, for example its score on held-out data.
pub type Examination<M> = Box<dyn FnOnce(&M) -> Result<f64, PredictionError> + Send>;

impl<M: Module + ModuleDisplay + Model> InferenceStep for LearnedModel<M> {
    type Input = Examination<M>;
    type Output = LearnerOutput;

    fn step(&self, examination: Examination<M>) -> LearnerOutput {
        let (model, step) = (&self.model, self.made);
        let value = examination(model).unwrap_or_else(|error| {
            (self.state).fail(TrainingError::of_prediction(error, step, model));
            f64::NAN
        });
        LearnerOutput { step, value }
    }
}

/// The output of a step or of an examination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnerOutput {
    /// The number of steps so far, including this one.
    pub step: usize,
    /// The negative objective per data point, or the score of the examination. It is NaN if the
    /// computation failed, which ends training.
    pub value: f64,
}

impl ItemLazy for LearnerOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

/// For custom metrics.
impl Adaptor<LearnerOutput> for LearnerOutput {
    fn adapt(&self) -> LearnerOutput {
        *self
    }
}

/// For burn's `LossMetric`.
impl Adaptor<LossInput> for LearnerOutput {
    fn adapt(&self) -> LossInput {
        LossInput::new(Tensor::from_data([self.value], &Device::default()))
    }
}
