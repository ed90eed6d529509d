//! Adam on mini-batches, optionally with natural gradients for `q(u)`.

use std::{path::Path, sync::Arc, time::Instant};

use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::tensor::Bytes;
#[cfg(feature = "learner")]
use burn::{module::ModuleDisplay, tensor::Device};
use burn_gp_core::{
    ops::{is_on_cpu, with_threads_awake},
    parameter::Priors,
};
use serde::{Deserialize, Serialize};

#[cfg(feature = "learner")]
use super::learner::on_several_devices;
use super::{
    Batch, MiniBatchTraining, Model, StepReport, Trainer, TrainingData, TrainingError,
    batches::Batches,
    checkpoint::{CheckpointFiles, check_default_device, files, save_state},
    long_steps::LongSteps,
    mini_batch_step::{Differentiate, MiniBatchStep},
    rates::{Rates, RatesProgress},
    row_blocks::{RowBlocks, StreamedBatches},
    unread::{PendingStep, READ_TOGETHER, Unobserved},
};

/// Trains a model with Adam on shuffled mini-batches. Adam trains all parameters except those with
/// natural gradients. The caller runs the loop, one step at a time. `MiniBatchLearner` takes the
/// same steps in burn's loop.
pub struct MiniBatchTrainer<M> {
    pub(super) model: M,
    pub(super) optimizer: ModuleOptimizer,
    pub(super) training: MiniBatchTraining,
    pub(super) rates: Rates,
    source: BatchSource,
    pub(super) computation: MiniBatchStep,
    /// Whether the targets have been checked.
    targets_checked: bool,
    pub(super) step: usize,
    /// Steps whose losses are still on the device.
    unread: Vec<PendingStep>,
    /// Losses not yet passed to the learning rates.
    unobserved: Unobserved,
    /// The number of steps that the device has skipped.
    skipped: usize,
    long_steps: LongSteps,
    /// Differentiates batches on several devices.
    several_devices: Option<Differentiate<M>>,
}

/// Where the batches come from.
enum BatchSource {
    /// Rows in memory.
    Memory(Batches),
    /// Rows that are read in blocks.
    Blocks(StreamedBatches),
}

impl BatchSource {
    /// The batch of a step, counted from zero.
    fn batch(&mut self, step: usize) -> Result<Batch, TrainingError> {
        match self {
            Self::Memory(batches) => Ok(batches.batch(step)),
            Self::Blocks(batches) => (batches.batch(step)).map_err(|source| TrainingError::Rows {
                step: step + 1,
                source,
            }),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Progress {
    step: usize,
    /// The progress of the learning rates.
    rates: RatesProgress,
    #[serde(default)]
    unobserved: Unobserved,
    #[serde(default)]
    skipped: usize,
}

impl<M: Module + Model> MiniBatchTrainer<M> {
    /// A trainer before its first step. The model must be on an autodiff device, the data on the
    /// same device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: MiniBatchTraining) -> Self {
        let count = data.len();
        let source = BatchSource::Memory(training.batches(data));
        Self::from_source(model, count, source, training)
    }

    /// A trainer on rows that are read in blocks, before its first step. `sample` has some of the rows,
    /// as tensors for [`new`](Self::new). The model must not need all data ([`Model::needs_all_data`]).
    ///
    /// # Panics
    ///
    /// If there are no rows.
    #[track_caller]
    pub fn on_blocks(
        model: M,
        sample: TrainingData,
        rows: Arc<dyn RowBlocks>,
        training: MiniBatchTraining,
    ) -> Self {
        let batches = StreamedBatches::new(rows, sample, training.batch_size, training.seed);
        let count = batches.len();
        assert!(
            count > 0,
            "MiniBatchTrainer: all {} blocks are empty; at least one must have rows",
            batches.blocks()
        );
        Self::from_source(model, count, BatchSource::Blocks(batches), training)
    }

    fn from_source(
        model: M,
        count: usize,
        source: BatchSource,
        training: MiniBatchTraining,
    ) -> Self {
        let rates = Rates::new(&training, &model);
        let computation = training.computation(&model, count, &rates);
        Self {
            optimizer: training.optimizer(&model, &computation.gate),
            computation,
            model,
            rates,
            source,
            training,
            targets_checked: false,
            step: 0,
            unread: Vec::new(),
            unobserved: Unobserved::default(),
            skipped: 0,
            long_steps: LongSteps::default(),
            several_devices: None,
        }
    }

    /// Divides every batch among devices, with autodiff, by burn-train's workers for several devices.
    /// The first is the model's own, and the optimizer runs on it. A device can be listed more than
    /// once, for example the CPU for several threads. A single device changes nothing.
    ///
    /// The objective of each part is weighted by its share of the rows, so that the gradients sum
    /// to the gradient of the whole batch: the steps are the same as on one device, up to rounding.
    /// Models with random draws in their objective draw different values on each device.
    ///
    /// # Panics
    ///
    /// If a batch has fewer rows than there are devices.
    #[cfg(feature = "learner")]
    #[track_caller]
    pub fn on_devices(mut self, devices: &[Device]) -> Self
    where
        M: ModuleDisplay,
    {
        let rows = self.batch_rows();
        self.several_devices = (devices.len() > 1).then(|| on_several_devices(devices, rows));
        self
    }

    /// How a batch is differentiated.
    #[cfg(feature = "learner")]
    pub(super) fn differentiation(&self) -> Differentiate<M> {
        let several_devices = self.several_devices.clone();
        several_devices.unwrap_or_else(|| Arc::new(MiniBatchStep::differentiate))
    }

    /// Whether the losses of steps stay on the device until several are read together.
    fn leaves_losses(&self, batch: &Batch) -> bool {
        self.several_devices.is_none() && !is_on_cpu(&batch.inputs)
    }

    /// Adds the log density of these priors to the objective, in addition to [those of the
    /// model](Model::priors). It counts once for any batch size. If a parameter has both, this
    /// prior applies.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.computation.priors.extend(priors);
        self
    }

    /// The priors in the objective.
    pub fn priors(&self) -> &Priors {
        &self.computation.priors
    }

    /// The data; a sample of them if they are read in blocks.
    pub fn data(&self) -> &TrainingData {
        match &self.source {
            BatchSource::Memory(batches) => batches.data(),
            BatchSource::Blocks(batches) => batches.sample(),
        }
    }

    /// The number of data points, N.
    pub fn data_count(&self) -> usize {
        self.computation.data_count
    }

    /// The number of rows of a mini-batch.
    pub fn batch_rows(&self) -> usize {
        self.training.batch_size.max(1).min(self.data_count())
    }

    /// The rows that are read in blocks.
    pub(super) fn blocks(&self) -> Option<&StreamedBatches> {
        match &self.source {
            BatchSource::Memory(_) => None,
            BatchSource::Blocks(batches) => Some(batches),
        }
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }

    /// The number of steps per epoch.
    pub fn steps_per_epoch(&self) -> usize {
        self.training
            .steps_in_epochs(1, self.computation.data_count)
    }

    /// The rows of a step's batch, counted over all blocks if they are read in blocks. Steps are
    /// counted from zero.
    pub fn rows_of_step(&mut self, step: usize) -> Vec<i64> {
        match &mut self.source {
            BatchSource::Memory(batches) => batches.rows_of_step(step),
            BatchSource::Blocks(batches) => batches.rows_of_step(step),
        }
    }

    /// Continues from a checkpoint in `folder` with a model that has been restored from it.
    pub(super) fn restore_rest(
        &mut self,
        model: M,
        saved: &CheckpointFiles<'_>,
        folder: &Path,
    ) -> Result<(), TrainingError> {
        check_default_device(folder, self.data().inputs.dtype())?;
        let optimizer = saved.restore(files::OPTIMIZER, |content| {
            let content = Bytes::from_bytes_vec(content);
            self.optimizer.clone().from_bytes(content)
        })?;
        (self.unread, self.unobserved, self.skipped) = Default::default();
        self.step = if saved.has(files::SCHEDULER) {
            self.rates.restore_learner(saved)?
        } else {
            let progress: Progress = saved.progress()?;
            self.rates.restore(progress.rates);
            (self.unobserved, self.skipped) = (progress.unobserved, progress.skipped);
            progress.step
        };
        (self.model, self.optimizer) = (model, optimizer);
        Ok(())
    }

    /// Takes a step and waits for its loss.
    fn read_step(&mut self, batch: Batch) -> Result<StepReport, TrainingError> {
        let (loss, gradients) = match &self.several_devices {
            Some(differentiate) => differentiate(&self.computation, &self.model, batch)?,
            None => self.computation.differentiate(&self.model, batch)?,
        };
        let rates = self.rates.at(self.step);
        let learning_rate = rates.base();
        let adam = (&mut self.optimizer, rates);
        self.model = (self.computation).update(self.step, &self.model, gradients, adam)?;
        self.step += 1;
        Ok(StepReport {
            step: self.step,
            loss,
            learning_rate,
        })
    }

    /// Takes a step whose loss stays on the device.
    fn unread_step(&mut self, batch: Batch) -> Result<(), TrainingError> {
        let (loss, gradients) = (self.computation).differentiate_unread(&self.model, batch)?;
        if self.step.is_multiple_of(READ_TOGETHER) {
            self.unobserved.observe(&self.rates);
        }
        let rates = self.rates.at(self.step);
        let learning_rate = rates.base();
        let adam = (&mut self.optimizer, rates);
        let (model, made) = (self.computation).update_unread(
            self.step,
            &self.model,
            gradients,
            adam,
            loss.clone(),
        )?;
        self.model = model;
        let trains_inducing = self.computation.trains_inducing(self.step);
        self.step += 1;
        self.unread.push(PendingStep {
            step: self.step,
            learning_rate,
            trains_inducing,
            loss,
            made,
        });
        Ok(())
    }

    /// The report of a step whose loss has been read.
    fn report(
        &mut self,
        step: &PendingStep,
        (loss, made): (f64, bool),
    ) -> Result<StepReport, TrainingError> {
        if !made {
            let batch = self.source.batch(step.step - 1)?;
            self.computation.check_again(&self.model, batch)?;
            self.skipped += 1;
        }
        if loss.is_finite() {
            self.unobserved.push(loss, step.trains_inducing);
        }
        Ok(StepReport {
            step: step.step,
            loss,
            learning_rate: step.learning_rate,
        })
    }
}

impl<M: Module + Model> Trainer for MiniBatchTrainer<M> {
    type Model = M;

    fn advance(&mut self) -> Result<Option<StepReport>, TrainingError> {
        if !self.targets_checked {
            self.model.check_targets(&self.data().targets)?;
            self.targets_checked = true;
        }
        let batch = self.source.batch(self.step)?;
        if self.blocks().is_some() {
            self.model.check_targets(&batch.targets)?;
        }
        if !self.leaves_losses(&batch) {
            let start = Instant::now();
            let report = match self.long_steps.are_expected() {
                true => with_threads_awake(|| self.read_step(batch)),
                false => self.read_step(batch),
            };
            self.long_steps.took(start.elapsed());
            return report.map(Some);
        }
        self.unread_step(batch)?;
        Ok(None)
    }

    fn read_reports(&mut self) -> Result<Vec<StepReport>, TrainingError> {
        let steps = std::mem::take(&mut self.unread);
        let outcomes = PendingStep::read(&steps);
        let reports = steps.iter().zip(outcomes);
        (reports.map(|(step, outcome)| self.report(step, outcome))).collect()
    }

    fn are_reports_due(&self) -> bool {
        self.is_finished() || self.step.is_multiple_of(READ_TOGETHER)
    }

    fn skipped_steps(&self) -> usize {
        self.skipped
    }

    fn is_finished(&self) -> bool {
        self.step >= self.training.steps
    }

    fn steps_made(&self) -> usize {
        self.step
    }

    fn steps_planned(&self) -> usize {
        self.training.steps
    }

    fn model(&self) -> &M {
        &self.model
    }

    fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        let progress = Progress {
            step: self.step,
            rates: self.rates.progress(),
            unobserved: self.unobserved.clone(),
            skipped: self.skipped,
        };
        save_state(folder, &self.model, &progress, self.optimizer.into_bytes())
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let saved = CheckpointFiles::open(folder)?;
        let model = saved.model(self.model.clone())?;
        self.restore_rest(model, &saved, folder)
    }
}
