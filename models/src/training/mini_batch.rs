//! Adam on mini-batches, with natural gradients for `q(u)` on request.

use std::path::Path;

use burn::{
    grad_clipping::GradientClipping,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::{Gradients, Int, Tensor},
};
use burn_gp::{optim::NaturalGradient, parameter::Priors};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use serde::{Deserialize, Serialize};

use super::{
    MiniBatchModel, Objective, Schedule, StepReport, Trainer, TrainingData, TrainingError,
    check_optimizer_type, checkpoint_error, describe, files, restore_state, save_state,
    with_log_prior,
};

/// How a model is trained on mini-batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MiniBatchTraining {
    /// Optimiser steps.
    pub steps: usize,
    /// Data in a batch; all of them if there are fewer.
    pub batch_size: usize,
    /// The first learning rate of Adam.
    pub learning_rate: f64,
    /// How the learning rate goes down.
    pub schedule: Schedule,
    /// Gradients of each parameter are scaled down to at most this norm.
    pub gradient_norm: Option<f64>,
    /// The seed of the batches.
    pub seed: u64,
    /// Natural gradients for the Gaussians `q(u)`; Adam trains the other parameters.
    #[serde(default)]
    pub natural_gradient: Option<NaturalGradient>,
}

impl MiniBatchTraining {
    /// `steps` steps with batches of 256, learning rate 0.01 and seed 0.
    pub fn new(steps: usize) -> Self {
        Self {
            steps,
            batch_size: 256,
            learning_rate: 0.01,
            schedule: Schedule::Constant,
            gradient_norm: None,
            seed: 0,
            natural_gradient: None,
        }
    }

    /// Steps in `epochs` passes over `data_count` data, rounded up.
    pub fn steps_in_epochs(&self, epochs: usize, data_count: usize) -> usize {
        (epochs * data_count).div_ceil(self.batch_size.clamp(1, data_count.max(1)))
    }
}

/// Trains a model with Adam on shuffled mini-batches, all parameters or those that natural
/// gradients leave; both see the gradients of the same batch at the same point.
///
/// An epoch is one pass over a permutation of the data that depends on the seed and the epoch. All
/// batches have the same size: what is left of an epoch is filled up from the next, since a small
/// batch's gradient, scaled up to all data, would be as noisy as it is small.
pub struct MiniBatchTrainer<M> {
    model: M,
    optimizer: ModuleOptimizer,
    training: MiniBatchTraining,
    data: TrainingData,
    priors: Priors,
    step: usize,
    /// The epoch of `order`, and the order of the data in it.
    order: (usize, Vec<i64>),
}

/// Adam's constants as in its paper (D. Kingma and J. Ba, arXiv:1412.6980).
const ADAM_EPSILON: f32 = 1e-8;

#[derive(Serialize, Deserialize)]
struct Progress {
    step: usize,
}

impl<M: MiniBatchModel> MiniBatchTrainer<M> {
    /// A trainer at its first step. The model must be on an autodiff device, the data on the same
    /// device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: MiniBatchTraining) -> Self {
        let mut optimizer = AdamConfig::new().with_epsilon(ADAM_EPSILON).init();
        if let Some(norm) = training.gradient_norm {
            optimizer = optimizer.with_grad_clipping(GradientClipping::Norm(norm as f32));
        }
        let order = (0, permutation(data.len(), training.seed, 0));
        Self {
            model,
            optimizer,
            training,
            data,
            priors: Priors::default(),
            step: 0,
            order,
        }
    }

    /// With the log density of these priors in the objective, once, whatever the batch.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors = priors;
        self
    }

    /// The priors in the objective.
    pub fn priors(&self) -> &Priors {
        &self.priors
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }

    /// Steps in an epoch.
    pub fn steps_per_epoch(&self) -> usize {
        self.training.steps_in_epochs(1, self.data.len())
    }

    /// The rows of the data that a step, counted from zero, looks at.
    pub fn rows_of_step(&mut self, step: usize) -> Vec<i64> {
        let (count, size) = (self.data.len(), self.training.batch_size.max(1));
        if size >= count {
            return (0..count as i64).collect();
        }
        let first = step * size;
        let (epoch, start) = (first / count, first % count);
        let mut rows = self.order_of(epoch)[start..count.min(start + size)].to_vec();
        if rows.len() < size {
            let missing = size - rows.len();
            rows.extend_from_slice(&self.order_of(epoch + 1)[..missing]);
        }
        rows
    }

    /// The inputs and targets of the current step.
    fn batch(&mut self) -> (Tensor<2>, Tensor<2>) {
        if self.training.batch_size >= self.data.len() {
            return (self.data.inputs.clone(), self.data.targets.clone());
        }
        let rows = self.rows_of_step(self.step);
        let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &self.data.inputs.device());
        (
            self.data.inputs.clone().select(0, rows.clone()),
            self.data.targets.clone().select(0, rows),
        )
    }

    /// The model after the natural-gradient step, if there is one to make; the gradients that it
    /// leaves are Adam's.
    fn natural_step(&self, gradients: &mut Gradients) -> Result<M, TrainingError> {
        let model = self.model.clone();
        let Some(natural) = self.training.natural_gradient else {
            return Ok(model);
        };
        // The loss is per datum.
        let step = (natural.step(self.step, model, gradients, self.data.len() as f64)).map_err(
            |source| TrainingError::NaturalGradient {
                step: self.step + 1,
                source,
                hyperparameters: describe(&self.model.hyperparameters()),
            },
        )?;
        if step.distributions == 0 {
            return Err(TrainingError::NoDistribution);
        }
        Ok(step.module)
    }

    /// The order of the data in an epoch.
    fn order_of(&mut self, epoch: usize) -> &[i64] {
        if self.order.0 != epoch {
            let order = permutation(self.data.len(), self.training.seed, epoch);
            self.order = (epoch, order);
        }
        &self.order.1
    }
}

/// A permutation of `count` data that depends on the seed and the epoch alone.
fn permutation(count: usize, seed: u64, epoch: usize) -> Vec<i64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch as u64);
    let mut order: Vec<i64> = (0..count as i64).collect();
    order.shuffle(&mut random);
    order
}

impl<M: MiniBatchModel> Trainer for MiniBatchTrainer<M> {
    type Model = M;

    fn step(&mut self) -> Result<StepReport, TrainingError> {
        let step = self.step + 1;
        let count = self.data.len();
        let (inputs, targets) = self.batch();
        let objective = match self.model.objective(inputs, targets, count) {
            Ok(objective) => objective,
            Err(source) => {
                return Err(TrainingError::Factorization {
                    step,
                    source,
                    hyperparameters: describe(&self.model.hyperparameters()),
                });
            }
        };
        // Per datum, so that the learning rate and the clipping mean the same for all data.
        let log_prior = self.priors.log_density(&self.model);
        let total = with_log_prior(objective.value(), log_prior.clone());
        let loss = total * (-1.0 / count as f64);
        let value: f64 = loss.clone().into_scalar();
        if !value.is_finite() {
            return Err(TrainingError::NonFinite {
                step,
                loss: value,
                term: Objective::broken_term(objective, log_prior),
                hyperparameters: describe(&self.model.hyperparameters()),
            });
        }
        let (model, gradients) = if loss.is_tracked() {
            let mut gradients = loss.backward();
            let model = self.natural_step(&mut gradients)?;
            let gradients = GradientsParams::from_grads(gradients, &model);
            (model, gradients)
        } else {
            // Every parameter is frozen.
            (self.model.clone(), GradientsParams::new())
        };
        let fraction = (self.training.schedule).fraction(self.step, self.training.steps);
        let learning_rate = self.training.learning_rate * fraction;
        self.model = (self.optimizer.step(learning_rate, model, gradients)).after_step();
        self.step = step;
        Ok(StepReport {
            step,
            loss: value,
            learning_rate,
        })
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
        save_state(folder, &self.model, &Progress { step: self.step })?;
        let error = checkpoint_error(folder, files::OPTIMIZER, "written");
        (self.optimizer.save(folder.join(files::OPTIMIZER)))
            .map_err(|reason| error(reason.to_string()))
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let (model, progress): (M, Progress) = restore_state(folder, self.model.clone())?;
        check_optimizer_type(folder, self.data.inputs.dtype())?;
        let error = checkpoint_error(folder, files::OPTIMIZER, "read");
        self.optimizer = (self.optimizer.clone().load(folder.join(files::OPTIMIZER)))
            .map_err(|reason| error(reason.to_string()))?;
        self.model = model;
        self.step = progress.step;
        Ok(())
    }
}
