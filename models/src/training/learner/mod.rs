//! Mini-batch training in burn's own training loop.

mod learned_model;
mod loaders;
mod renderer;
mod several_devices;

use std::{
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use burn::{
    data::dataloader::DataLoader,
    lr_scheduler::{LrSchedulerRecord, module_lr_scheduler::ModuleLrScheduler},
    module::{Module, ModuleDisplay},
    optim::OptimizerRecord,
    store::ModuleRecord,
    tensor::{
        Device,
        distributed::{DistributedConfig, ReduceOperation},
    },
    train::{ExecutionStrategy, Interrupter, Learner, MultiDeviceOptim, SupervisedTraining},
};
use burn_gp_core::parameter::Priors;

use super::{
    Batch, MiniBatchTrainer, MiniBatchTraining, Model, TrainingData, TrainingError,
    checkpoint::{CheckpointFiles, files, record, write_files},
};
use learned_model::{Division, TrainingState};
pub use learned_model::{Examination, ExaminedModel, LearnedModel, LearnedStep};
use loaders::{BatchLoader, Examinations};
pub use renderer::StepRenderer;
pub(super) use several_devices::SeveralDevices;
use several_devices::{check_parts, check_replicas};

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
    /// Empty if only the model's own device is used.
    devices: Vec<Device>,
    /// Whether each device trains its own replica.
    replicates: bool,
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
            devices: Vec::new(),
            replicates: false,
        }
    }

    /// Divides every batch among devices, with autodiff, by burn-train's strategy for several devices.
    /// The optimizer runs on the first device, which also has the model after training. A device can be
    /// listed more than once, for example the CPU for several threads. A single device must be the
    /// model's own.
    ///
    /// The objective of each part is weighted by its share of the rows, so that the gradients sum to the
    /// gradient of the whole batch: the steps are the same as on one device, up to rounding. Models with
    /// random draws in their objective draw different values on each device. With more than two devices,
    /// the last digits depend on the order in which they finish.
    ///
    /// # Panics
    ///
    /// If a batch has fewer rows than there are devices.
    #[track_caller]
    pub fn on_devices(mut self, devices: &[Device]) -> Self {
        check_parts(devices, self.batch_rows());
        self.devices = devices.to_vec();
        self.replicates = false;
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
    pub fn distributed_on(self, devices: &[Device]) -> Result<Self, TrainingError> {
        check_replicas(devices)?;
        let learner = self.on_devices(devices);
        Ok(Self {
            replicates: !devices.is_empty(),
            ..learner
        })
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
        Arc::new(BatchLoader {
            batches: Arc::new(Mutex::new(self.training.batches(self.data().clone()))),
            made: Arc::clone(&self.made),
            steps: self.training.steps,
            round_ends: Arc::new(round_ends),
            devices: self.devices.len().max(1),
            part: None,
        })
    }

    /// The examinations. After each round, `due` returns the examination for the number of steps so
    /// far, if any.
    pub fn examinations(
        &self,
        due: impl Fn(usize) -> Option<Examination<M>> + Send + Sync + 'static,
    ) -> Arc<dyn DataLoader<Examination<M>>> {
        Arc::new(Examinations {
            due: Arc::new(due),
            made: Arc::clone(&self.made),
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
        let state = self.state(training.interrupter());
        let model = LearnedModel::new(self.model.clone(), Arc::clone(&state));
        let rates = self.scheduler();
        let training = match self.strategy() {
            Some(strategy) => training.with_training_strategy(strategy.into()),
            None => training,
        };
        let learner = Learner::new(model, self.optimizer.clone(), rates);
        let launched = catch_unwind(AssertUnwindSafe(|| training.launch(learner)));
        let result = launched.or_else(|panic| {
            self.made.store(self.trainer.step, Ordering::Relaxed);
            state
                .take_failure()
                .map_or_else(|| resume_unwind(panic), Err)
        })?;
        self.trainer.model = result.model.train().into_model();
        self.trainer.step = self.made.load(Ordering::Relaxed);
        match (state.take_failure(), result.error) {
            (Some(failure), _) => Err(failure),
            (None, Some(error)) => Err(TrainingError::Learner(error)),
            (None, None) => Ok(()),
        }
    }

    /// Everything needed to resume training, as burn's checkpointers receive it.
    pub fn record(&self) -> LearnerRecord {
        LearnerRecord {
            model: self.learned().into_record(),
            optimizer: self.optimizer.to_record(),
            scheduler: self.scheduler().to_record(),
        }
    }

    /// Resumes from a folder that [`LearnerRecord::save`] wrote.
    ///
    /// # Errors
    ///
    /// When a file is missing or does not match the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let saved = CheckpointFiles::open(folder)?;
        let model = saved.model(self.learned())?;
        let optimizer = self.restored_optimizer(&saved, folder)?;
        let step = self.rates.restore_learner(&saved)?;
        self.trainer.model = model.into_model();
        (self.trainer.optimizer, self.trainer.step) = (optimizer, step);
        self.made.store(step, Ordering::Relaxed);
        Ok(())
    }

    /// The strategy for replicas or several devices, if any.
    fn strategy(&self) -> Option<ExecutionStrategy> {
        let (devices, all_reduce_op) = (self.devices.clone(), ReduceOperation::Sum);
        if self.replicates {
            let config = DistributedConfig { all_reduce_op };
            return Some(ExecutionStrategy::ddp(devices, config));
        }
        let optimizer = MultiDeviceOptim::OptimMainDevice;
        (devices.len() > 1).then(|| ExecutionStrategy::multi(devices, optimizer))
    }

    fn scheduler(&self) -> ModuleLrScheduler {
        self.rates.scheduler(self.step)
    }

    fn state(&self, interrupter: Interrupter) -> Arc<TrainingState> {
        let made = Arc::clone(&self.made);
        let parts = self.devices.len();
        let division = (parts > 1).then(|| Division::new(parts, self.batch_rows()));
        Arc::new(TrainingState::new(
            self.computation.clone(),
            made,
            interrupter,
            division,
            self.replicates,
        ))
    }

    fn learned(&self) -> LearnedModel<M> {
        LearnedModel::new(self.model.clone(), self.state(Interrupter::new()))
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
