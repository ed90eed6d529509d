//! A model wrapped for burn's learner.

use std::{
    fmt,
    panic::resume_unwind,
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
    module::{Module, ModuleDisplay, ModuleMapper, Param},
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, ExecutionError, Tensor},
    train::{
        InferenceStep, Interrupter, ItemLazy, TrainOutput, TrainStep,
        metric::{Adaptor, LossInput},
    },
};

/// A model with its training state, for burn's learner.
///
/// burn's traits cannot return errors. The state therefore keeps the first error, stops the learner
/// and discards all later gradients.
#[derive(Module, Debug)]
pub struct LearnedModel<M: Module> {
    model: M,
    /// The number of steps of this replica.
    #[module(skip)]
    made: usize,
    #[module(skip)]
    state: Arc<TrainingState>,
}

impl<M: Module> LearnedModel<M> {
    pub(super) fn new(model: M, state: Arc<TrainingState>) -> Self {
        let made = state.made.load(Ordering::Relaxed);
        Self { model, made, state }
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }
}

/// The state of a training run.
pub(super) struct TrainingState {
    pub computation: MiniBatchStep,
    /// The number of steps so far.
    pub made: Arc<AtomicUsize>,
    pub interrupter: Interrupter,
    /// How a batch is divided among devices.
    pub division: Option<Division>,
    /// Whether each device trains its own replica.
    pub replicates: bool,
    failure: Mutex<Option<TrainingError>>,
}

/// The parts of a batch that devices differentiate at the same time.
pub(super) struct Division {
    /// The number of parts.
    parts: usize,
    /// The rows of the batch.
    rows: usize,
    /// The parts' shares of the loss of a step so far.
    losses: Mutex<Vec<f64>>,
    /// The loss of the last whole batch.
    last: Mutex<f64>,
}

impl Division {
    pub fn new(parts: usize, rows: usize) -> Self {
        Self {
            parts,
            rows,
            losses: Mutex::default(),
            last: Mutex::new(f64::NAN),
        }
    }

    /// The loss of the last whole batch.
    pub fn loss(&self) -> f64 {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the losses of a step in which a part failed.
    pub fn clear(&self) {
        (self.losses.lock().unwrap_or_else(PoisonError::into_inner)).clear();
    }

    /// The loss of the batch, if this is the loss of the last part of it.
    fn add(&self, loss: f64, rows: usize) -> Option<f64> {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        losses.push(loss * rows as f64 / self.rows as f64);
        (losses.len() == self.parts).then(|| {
            // The sum does not depend on which device was faster.
            losses.sort_by(f64::total_cmp);
            losses.drain(..).sum()
        })
    }
}

impl fmt::Debug for TrainingState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("TrainingState");
        text.field("made", &self.made).finish_non_exhaustive()
    }
}

impl TrainingState {
    pub fn new(
        computation: MiniBatchStep,
        made: Arc<AtomicUsize>,
        interrupter: Interrupter,
        division: Option<Division>,
        replicates: bool,
    ) -> Self {
        Self {
            computation,
            made,
            interrupter,
            division,
            replicates,
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

    /// The negative objective per data point of a batch, or of a part of it, and the gradients.
    fn differentiate<M: Module + Model>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(f64, GradientsParams), TrainingError> {
        let Some(division) = &self.division else {
            return self.computation.differentiate(model, batch);
        };
        let (made, [rows, _]) = (batch.step, batch.inputs.dims());
        let report = |loss| {
            if let Some(whole) = division.add(loss, rows) {
                *(division.last.lock()).unwrap_or_else(PoisonError::into_inner) = whole;
                let trains_inducing = self.computation.trains_inducing(made);
                self.computation.rates.observe(whole, trains_inducing);
            }
        };
        (self.computation).differentiate_part(model, batch, division.rows, report)
    }

    /// Keeps the first error and stops the learner. With replicas, the other devices would wait for this
    /// one in their backward passes: only a panic ends burn's workers.
    fn fail(&self, error: TrainingError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        drop(failure);
        self.interrupter.stop(Some("a step failed"));
        if self.replicates {
            resume_unwind(Box::new("a step failed"));
        }
    }
}

impl<M: Module + ModuleDisplay + Model> TrainStep for LearnedModel<M> {
    type Input = Batch;
    type Output = LearnedStep;

    fn step(&self, batch: Batch) -> TrainOutput<LearnedStep> {
        let step = batch.step + 1;
        let (loss, grads) = match self.state.differentiate(&self.model, batch) {
            Ok(computed) => computed,
            Err(error) => {
                self.state.fail(error);
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
        if self.state.has_failed() {
            return self;
        }
        let (step, adam) = (self.made, (optimizer, rate));
        let updated = (self.state.computation).update(step, &self.model, gradients, adam);
        match updated {
            Ok(model) => {
                let made = step + 1;
                self.state.made.fetch_max(made, Ordering::Relaxed);
                let model = match self.state.replicates {
                    true => model.map(&mut Reduced),
                    false => model,
                };
                Self {
                    model,
                    made,
                    ..self
                }
            }
            Err(error) => {
                self.state.fail(error);
                self
            }
        }
    }
}

/// Marks the parameters whose gradients burn sums over the devices. Natural gradients and the updates
/// after a step create new tensors without the mark.
struct Reduced;

impl ModuleMapper for Reduced {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let id = param.id;
        param.map(|value| match value.is_require_grad() {
            true => value.set_distributed(id),
            false => value,
        })
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

impl<M: Module + ModuleDisplay + Model> InferenceStep for LearnedModel<M> {
    type Input = Examination<M>;
    type Output = ExaminedModel;

    fn step(&self, examination: Examination<M>) -> ExaminedModel {
        let score = examination(&self.model).unwrap_or_else(|error| {
            let step = self.state.made.load(Ordering::Relaxed);
            (self.state).fail(TrainingError::of_prediction(error, step, &self.model));
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
