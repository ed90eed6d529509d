//! Mini-batch training in burn's own training loop.

mod learned_model;
mod loader;
mod renderer;
mod replicas;
mod several_devices;

use std::{
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering},
};

use burn::{
    data::dataloader::DataLoader,
    lr_scheduler::LrSchedulerRecord,
    module::{Module, ModuleDisplay},
    optim::OptimizerRecord,
    store::ModuleRecord,
    tensor::Device,
    tensor::distributed::{DistributedConfig, ReduceOperation},
    train::{ExecutionStrategy, Interrupter, Learner, SupervisedTraining},
};
use burn_gp_core::parameter::Priors;

use super::{
    Batch, MiniBatchTrainer, MiniBatchTraining, Model, TrainingData, TrainingError,
    checkpoint::{CheckpointFiles, files, record, write_files},
};
pub use learned_model::{Examination, LearnedModel, LearnerOutput};
use learned_model::{TrainingState, lock};
use loader::Loader;
pub(super) use loader::Part;
pub use renderer::StepRenderer;
use replicas::{check_replicas, parts_of_batches};
use several_devices::check_parts;
pub(super) use several_devices::on_several_devices;

/// Takes the same steps as a [`MiniBatchTrainer`](super::MiniBatchTrainer), bit for bit, in burn's
/// [`SupervisedTraining`], so that burn's checkpoints, metrics, renderers and early stopping work
/// for every model.
///
/// Here, a burn epoch is a round of steps. The caller chooses its length, which is independent of
/// the passes over the data. A batch depends only on the seed and the step. On a GPU, the CPU waits
/// for the loss of every step; [`run`](trait.Trainer.html#method.run) does not.
///
/// ```no_run
/// # use burn::train::SupervisedTraining;
/// # use burn_gp_models::{AnySvgp, training::*};
/// # fn fit(model: AnySvgp, data: TrainingData) -> Result<AnySvgp, TrainingError> {
/// let mut learner = MiniBatchLearner::new(model, data, MiniBatchTraining::new(5000));
/// let batches = learner.batches(|steps| steps.is_multiple_of(100));
/// let examinations = learner.examinations(|_steps| None);
/// let training = SupervisedTraining::new("folder", batches, examinations)
///     .num_epochs(50)
///     .renderer(Box::new(StepRenderer::silent()))
///     .with_default_checkpointers();
/// learner.fit(training)?;
/// # Ok(learner.into_model())
/// # }
/// ```
pub struct MiniBatchLearner<M> {
    /// Has the model, the settings and the step before and after training; its loop is not used.
    trainer: MiniBatchTrainer<M>,
    /// The number of steps so far, which burn's threads share.
    made: Arc<AtomicUsize>,
    /// The devices that train their own replicas of the model, if any.
    replicas: Vec<Device>,
}

impl<M: Module + ModuleDisplay + Model> Deref for MiniBatchLearner<M> {
    type Target = MiniBatchTrainer<M>;

    fn deref(&self) -> &MiniBatchTrainer<M> {
        &self.trainer
    }
}

impl<M: Module + ModuleDisplay + Model> MiniBatchLearner<M> {
    /// A learner before its first step. The model must be on an autodiff device, the data on the
    /// same device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: MiniBatchTraining) -> Self {
        Self {
            trainer: MiniBatchTrainer::new(model, data, training),
            made: Arc::default(),
            replicas: Vec::new(),
        }
    }

    /// Divides every batch among devices, with autodiff, by burn-train's workers for several devices.
    /// The first is the model's own, and the optimizer runs on it. A device can be listed more than once,
    /// for example the CPU for several threads. A single device changes nothing.
    ///
    /// The objective of each part is weighted by its share of the rows, so that the gradients sum to the
    /// gradient of the whole batch: the steps are the same as on one device, up to rounding. Models with
    /// random draws in their objective draw different values on each device.
    ///
    /// # Panics
    ///
    /// If a batch has fewer rows than there are devices.
    #[track_caller]
    pub fn on_devices(mut self, devices: &[Device]) -> Self {
        self.trainer = self.trainer.on_devices(devices);
        self.replicas.clear();
        self
    }

    /// Divides every batch among different CUDA devices by burn-train's distributed data parallelism.
    /// Every device trains its own replica of the model with the gradients of the whole batch, which
    /// NCCL sums in the backward pass. The steps are the same as with [`on_devices`](Self::on_devices),
    /// but no parameters are transferred. The first device has the examinations, the checkpoints, and
    /// the model after training.
    ///
    /// This is untested for lack of several CUDA devices. To end such training early, use only burn's
    /// early stopping: a stop through an [`Interrupter`] may reach one device a step before another, which
    /// then waits forever. If training fails, the model is the one before training, and burn's workers
    /// panic with messages on standard error.
    ///
    /// # Errors
    ///
    /// When a device has no collective operations.
    ///
    /// # Panics
    ///
    /// If a batch has fewer rows than there are devices, or if a device is named twice.
    #[track_caller]
    pub fn distributed_on(mut self, devices: &[Device]) -> Result<Self, TrainingError> {
        check_replicas(devices)?;
        check_parts(devices, self.batch_rows());
        self.replicas = devices.to_vec();
        Ok(self)
    }

    /// Adds the log density of these priors to the objective, in addition to [those of the
    /// model](Model::priors). It counts once for any batch size. If a parameter has both, this
    /// prior applies.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.trainer = self.trainer.with_priors(priors);
        self
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.trainer.model
    }

    /// The batches of the remaining steps. A round ends when `round_ends` returns true for the
    /// number of steps so far, and after the last step.
    pub fn batches(
        &self,
        round_ends: impl Fn(usize) -> bool + Send + Sync + 'static,
    ) -> Arc<dyn DataLoader<Batch>> {
        let (steps, parts) = (self.training.steps, self.replicas.len().max(1));
        let batches = Mutex::new(self.training.batches(self.data().clone()));
        self.loader(parts, move |made, taken, part| {
            let is_over = taken > 0 && round_ends(made);
            (!is_over && made < steps).then(|| lock(&batches).batch(made).part(part, parts))
        })
    }

    /// The examinations. After each round, `due` returns the examination for the number of steps so
    /// far, if any.
    pub fn examinations(
        &self,
        due: impl Fn(usize) -> Option<Examination<M>> + Send + Sync + 'static,
    ) -> Arc<dyn DataLoader<Examination<M>>> {
        self.loader(1, move |made, taken, _part| match taken {
            0 => due(made),
            _ => None,
        })
    }

    /// Runs `training`, built from this learner's batches and examinations, and keeps the final
    /// model. The training must have neither gradient accumulation nor a strategy: it uses one
    /// device, or those of [`on_devices`](Self::on_devices) or
    /// [`distributed_on`](Self::distributed_on).
    ///
    /// burn owns the optimizer state, which is part of its checkpoints. To resume training,
    /// [`restore`](Self::restore) a checkpoint.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, when a step fails (the model is then the one
    /// before the step, or before training with replicas), or when something else stopped the learner.
    pub fn fit(
        &mut self,
        training: SupervisedTraining<LearnedModel<M>>,
    ) -> Result<(), TrainingError> {
        self.model.check_targets(&self.data().targets)?;
        let model = self.learned(training.interrupter());
        let state = Arc::clone(&model.state);
        let training = match self.replicas.as_slice() {
            [] => training,
            devices => {
                let all_reduce_op = ReduceOperation::Sum;
                let config = DistributedConfig { all_reduce_op };
                let strategy = ExecutionStrategy::ddp(devices.to_vec(), config);
                training.with_training_strategy(strategy.into())
            }
        };
        let rates = self.rates.scheduler(self.step);
        let learner = Learner::new(model, self.optimizer.clone(), rates);
        let launched = catch_unwind(AssertUnwindSafe(|| training.launch(learner)));
        let result = launched.or_else(|panic| {
            self.made.store(self.trainer.step, Ordering::Relaxed);
            let failure = lock(&state.failure).take();
            failure.map_or_else(|| resume_unwind(panic), Err)
        })?;
        let learned = result.model.train();
        (self.trainer.model, self.trainer.step) = (learned.model, learned.made);
        match (lock(&state.failure).take(), result.error) {
            (Some(failure), _) => Err(failure),
            (None, Some(error)) => Err(TrainingError::Learner(error)),
            (None, None) => Ok(()),
        }
    }

    /// Everything needed to resume training, as burn's checkpointers receive it.
    pub fn record(&self) -> LearnerRecord {
        LearnerRecord {
            model: self.learned(Interrupter::new()).into_record(),
            optimizer: self.optimizer.to_record(),
            scheduler: self.rates.scheduler(self.step).to_record(),
        }
    }

    /// Resumes from a folder that [`LearnerRecord::save`] wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not match the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let saved = CheckpointFiles::open(folder)?;
        let learned = saved.model(self.learned(Interrupter::new()))?;
        (self.trainer).restore_rest(learned.model, &saved, folder)?;
        self.made.store(self.trainer.step, Ordering::Relaxed);
        Ok(())
    }

    /// A loader for the remaining steps.
    fn loader<T: 'static>(
        &self,
        parts: usize,
        next: impl Fn(usize, usize, Option<&Part>) -> Option<T> + Send + Sync + 'static,
    ) -> Arc<dyn DataLoader<T>> {
        Arc::new(Loader {
            made: Arc::clone(&self.made),
            steps: self.training.steps,
            parts,
            part: None,
            next: Arc::new(next),
        })
    }

    /// The model for burn's learner.
    fn learned(&self, interrupter: Interrupter) -> LearnedModel<M> {
        let parts = self.replicas.len().max(1);
        let state = TrainingState {
            computation: self.computation.clone(),
            differentiate: Arc::new(match parts > 1 {
                true => parts_of_batches(parts, self.batch_rows()),
                false => self.differentiation(),
            }),
            made: Arc::clone(&self.made),
            interrupter,
            replicates: !self.replicas.is_empty(),
            failure: Mutex::new(None),
        };
        LearnedModel {
            model: self.model.clone(),
            made: self.step,
            state: Arc::new(state),
        }
    }
}

/// The records of one checkpoint of burn's learner.
pub struct LearnerRecord {
    /// The model.
    pub model: ModuleRecord,
    /// The optimizer.
    pub optimizer: OptimizerRecord,
    /// The learning rate, which includes the step.
    pub scheduler: LrSchedulerRecord,
}

impl LearnerRecord {
    /// Writes the records into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(self, folder: &Path) -> Result<(), TrainingError> {
        let files = [
            (files::MODEL, record(self.model.into_bytes())),
            (files::OPTIMIZER, record(self.optimizer.into_bytes())),
            (files::SCHEDULER, record(self.scheduler.into_bytes())),
        ];
        write_files(folder, files)
    }
}
