//! The trainer for any settings.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    ops::{NotPositiveDefinite, number},
    parameter::Priors,
};

use super::{
    FullBatchTrainer, MiniBatchTrainer, MiniBatchTraining, Model, NothingToTrain, RowBlocks,
    Trainer, Training, TrainingData, UnreadableRows,
};
use crate::chunks::inputs_at_once;

/// The trainer of a model for any [`Training`]: a [`Trainer`] behind a pointer.
pub enum AnyTrainer<M> {
    /// L-BFGS or Adam on all data at once.
    FullBatch(Box<FullBatchTrainer<M>>),
    /// Adam on mini-batches.
    MiniBatch(Box<MiniBatchTrainer<M>>),
}

impl<M: Module + Model> AnyTrainer<M> {
    /// A trainer before its first step. The model must be on an autodiff device, the data on the
    /// same device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: Training) -> Self {
        match training {
            Training::FullBatch(training) => {
                Self::FullBatch(Box::new(FullBatchTrainer::new(model, data, training)))
            }
            Training::MiniBatch(training) => {
                Self::MiniBatch(Box::new(MiniBatchTrainer::new(model, data, *training)))
            }
        }
    }

    /// A trainer on rows that are read in blocks ([`MiniBatchTrainer::on_blocks`]).
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
        let trainer = MiniBatchTrainer::on_blocks(model, sample, rows, training);
        Self::MiniBatch(Box::new(trainer))
    }

    /// The data; a sample of them if they are read in blocks.
    pub fn data(&self) -> &TrainingData {
        match self {
            Self::FullBatch(trainer) => trainer.data(),
            Self::MiniBatch(trainer) => trainer.data(),
        }
    }

    /// The number of data points, N.
    pub fn data_count(&self) -> usize {
        match self {
            Self::FullBatch(trainer) => trainer.data().len(),
            Self::MiniBatch(trainer) => trainer.data_count(),
        }
    }

    /// Whether there is nothing to train: every parameter is fixed.
    pub fn is_fixed(&self) -> bool {
        NothingToTrain::of(self.model()).is_some()
    }

    /// The number of steps per pass over the data.
    pub fn steps_per_epoch(&self) -> usize {
        match self {
            Self::FullBatch(_) => 1,
            Self::MiniBatch(trainer) => trainer.steps_per_epoch(),
        }
    }

    /// The negative objective per data point over all data, including priors: of the current model,
    /// or of `other`, an earlier model from mini-batch training. Calls `watch` with the number of
    /// finished rows before each chunk of data.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored, or rows cannot be read.
    pub fn loss(&self, other: Option<&M>, watch: impl FnMut(usize)) -> Result<f64, LossError> {
        match self {
            Self::FullBatch(trainer) => Ok(trainer.loss()?),
            Self::MiniBatch(trainer) => {
                let model = other.unwrap_or(trainer.model());
                let mut sum = LossSum::new(model, watch);
                match trainer.blocks() {
                    None => sum.add(trainer.data())?,
                    Some(rows) => {
                        for block in 0..rows.blocks() {
                            if let Some(data) = rows.block(block)? {
                                sum.add(&data)?;
                            }
                        }
                    }
                }
                Ok(sum.loss(trainer.priors()))
            }
        }
    }
}

/// The reason why the loss over all data cannot be computed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LossError {
    /// A covariance matrix has no Cholesky factor.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
    /// Rows cannot be read.
    #[error(transparent)]
    Rows(#[from] UnreadableRows),
}

/// The loss of a model, summed in chunks if the objective is a sum over them.
struct LossSum<M, W> {
    model: M,
    watch: W,
    rows: usize,
    fit: f64,
    kl: f64,
}

impl<M: Module + Model, W: FnMut(usize)> LossSum<M, W> {
    fn new(model: &M, watch: W) -> Self {
        Self {
            model: model.valid(),
            watch,
            rows: 0,
            fit: 0.0,
            kl: 0.0,
        }
    }

    fn add(&mut self, data: &TrainingData) -> Result<(), NotPositiveDefinite> {
        let rows = data.len();
        let most = match self.model.needs_all_data() {
            true => rows,
            false => inputs_at_once(self.model.rows_per_datum()),
        };
        for start in (0..rows).step_by(most) {
            (self.watch)(self.rows);
            let chunk = |tensor: &Tensor<2>| {
                let count = most.min(rows - start);
                tensor.clone().inner().narrow(0, start, count)
            };
            let (inputs, targets) = (chunk(&data.inputs), chunk(&data.targets));
            let [count, _] = targets.dims();
            let objective = self.model.objective(inputs, targets, count)?;
            self.fit += number(objective.fit);
            self.kl = objective.kl.map_or(0.0, number);
            self.rows += count;
        }
        Ok(())
    }

    fn loss(&self, priors: &Priors) -> f64 {
        let log_prior = priors.log_density(&self.model);
        let log_prior = log_prior.map_or(0.0, number);
        (self.kl - self.fit - log_prior) / self.rows as f64
    }
}

impl<M: Module + Model> Deref for AnyTrainer<M> {
    type Target = dyn Trainer<Model = M>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::FullBatch(trainer) => &**trainer,
            Self::MiniBatch(trainer) => &**trainer,
        }
    }
}

impl<M: Module + Model> DerefMut for AnyTrainer<M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::FullBatch(trainer) => &mut **trainer,
            Self::MiniBatch(trainer) => &mut **trainer,
        }
    }
}
