//! The computation of a mini-batch step, shared by all training loops.

use std::sync::Arc;

use burn::{
    lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Bool, Tensor},
};
use burn_gp_core::{
    ops::{NotPositiveDefinite, is_on_cpu, number},
    optim::{NaturalGradient, NaturalStepError},
    parameter::Priors,
};

use super::{
    Batch, InducingTraining, Model, Objective, TrainingError, describe, gate::Gate,
    nothing_to_train::gradients, rates::Rates, with_log_prior,
};

/// An Adam step, optionally with a natural-gradient step for `q(u)`. Both use the gradients of the
/// same batch at the same point.
#[derive(Clone, Debug)]
pub(super) struct MiniBatchStep {
    /// The number of data, N.
    pub data_count: usize,
    /// The priors in the objective. They count once for any batch size.
    pub priors: Priors,
    pub natural_gradient: Option<NaturalGradient>,
    /// Separate settings of the inducing points, if any.
    pub inducing: Option<InducingTraining>,
    /// The learning rates, which depend on the losses.
    pub rates: Rates,
    /// The gate of the optimizer.
    pub gate: Gate,
}

/// The negative objective per data point of a batch, and its gradients: as
/// [`MiniBatchStep::differentiate`], or on several devices.
pub(super) type Differentiate<M> = Arc<
    dyn Fn(&MiniBatchStep, &M, Batch) -> Result<(f64, GradientsParams), TrainingError>
        + Send
        + Sync,
>;

/// The objective of a batch.
struct Evaluation {
    objective: Objective,
    log_prior: Option<Tensor<1>>,
    /// The negative objective per data point, which makes the learning rate and the clipping norm
    /// independent of the number of data, `[1]`.
    loss: Tensor<1>,
}

impl MiniBatchStep {
    /// The negative objective per data point and its gradients. The objective is finite.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    pub fn differentiate<M: Module + Model>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(f64, GradientsParams), TrainingError> {
        let made = batch.step;
        let on_device = (!is_on_cpu(&batch.inputs)).then(|| batch.clone());
        let evaluation = self.evaluate(model, batch)?;
        let loss = evaluation.loss.clone();
        let value = (self.finite_loss(model, made, evaluation)).map_err(|error| {
            // A failed factorization may have silently produced NaN.
            let cause = on_device.and_then(|batch| self.check_again(model, batch).err());
            cause.unwrap_or(error)
        })?;
        let gradients = self.gradients(model, made, &loss)?;
        self.rates.observe(value, self.trains_inducing(made));
        Ok((value, gradients))
    }

    /// Like [`differentiate`](Self::differentiate), for one of the parts that a batch of `rows` rows has
    /// been divided into: the gradients are those of the part's share of the loss, so that the gradients
    /// of all parts sum to those of the batch. The loss is not passed to the rates. `report` gets the
    /// share of it before the backward pass, in which devices with collective operations wait for each
    /// other.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    #[cfg(feature = "learner")]
    pub fn differentiate_part<M: Module + Model>(
        &self,
        model: &M,
        part: Batch,
        rows: usize,
        report: impl FnOnce(f64),
    ) -> Result<(f64, GradientsParams), TrainingError> {
        let (made, count, rows) = (part.step, part.inputs.dims()[0] as f64, rows as f64);
        let evaluation = self.evaluate(model, part)?;
        let loss = evaluation.loss.clone() * (count / rows);
        let value = self.finite_loss(model, made, evaluation)?;
        report(value * count / rows);
        Ok((value, self.gradients(model, made, &loss)?))
    }

    /// Like [`differentiate`](Self::differentiate), with the loss on the device, `[1]`. It may not
    /// be finite, and it is not passed to the rates.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed.
    pub fn differentiate_unread<M: Module + Model>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(Tensor<1>, GradientsParams), TrainingError> {
        let made = batch.step;
        let loss = self.evaluate(model, batch)?.loss;
        let gradients = self.gradients(model, made, &loss)?;
        Ok((loss.without_autodiff(), gradients))
    }

    /// Whether a step after `made` steps trains the inducing points.
    pub fn trains_inducing(&self, made: usize) -> bool {
        self.inducing
            .is_none_or(|inducing| made >= inducing.frozen_steps)
    }

    /// The model after a step. Steps are counted from zero.
    ///
    /// # Errors
    ///
    /// When the natural-gradient step fails. The optimizer then stays as it was.
    pub fn update<M: Module + Model>(
        &self,
        step: usize,
        model: &M,
        mut gradients: GradientsParams,
        (optimizer, rate): (&mut ModuleOptimizer, ModuleLearningRate),
    ) -> Result<M, TrainingError> {
        let model = self.natural_step(step, model, &mut gradients)?;
        let mut model = optimizer.step(rate, model, gradients);
        model.after_step();
        Ok(model)
    }

    /// Like [`update`](Self::update), but the device skips the step if the loss, `[1]`, is not
    /// finite or the natural-gradient step fails. The flag, `[1]`, says whether the step was taken.
    ///
    /// # Errors
    ///
    /// When natural gradients have nothing to train.
    pub fn update_unread<M: Module + Model>(
        &self,
        step: usize,
        model: &M,
        mut gradients: GradientsParams,
        (optimizer, rate): (&mut ModuleOptimizer, ModuleLearningRate),
        loss: Tensor<1>,
    ) -> Result<(M, Tensor<1, Bool>), TrainingError> {
        let (mut model, mut made) = (model.clone(), loss.clone().is_finite());
        if let Some(natural) = self.natural_gradient.filter(|_| !gradients.is_empty()) {
            let divisor = self.data_count as f64;
            let stepped = natural.step_if(step, model, &mut gradients, divisor, made);
            if stepped.distributions == 0 {
                return Err(TrainingError::NoDistribution);
            }
            (model, made) = (stepped.module, stepped.made);
        }
        let ok = made.clone().float().cast(loss.dtype());
        let mut model = (self.gate).with(ok, || optimizer.step(rate, model, gradients));
        model.after_step();
        Ok((model, made))
    }

    /// Checks whether a step that the device has skipped fails with the current model, too.
    ///
    /// # Errors
    ///
    /// When the objective of the batch cannot be computed or is not finite, or when the
    /// natural-gradient step fails.
    pub fn check_again<M: Module + Model>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(), TrainingError> {
        let (made, plain) = (batch.step, model.valid());
        let without_autodiff = Batch {
            step: made,
            inputs: batch.inputs.clone().without_autodiff(),
            targets: batch.targets.clone().without_autodiff(),
        };
        // Without autodiff, factorizations report their failures on every device.
        let evaluation = self.evaluate(&plain, without_autodiff)?;
        self.finite_loss(&plain, made, evaluation)?;
        if self.natural_gradient.is_some() {
            let (_, mut gradients) = self.differentiate_unread(model, batch)?;
            self.natural_step(made, model, &mut gradients)?;
        }
        Ok(())
    }

    fn evaluate<M: Module + Model>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<Evaluation, TrainingError> {
        let step = batch.step + 1;
        let objective = model
            .objective(batch.inputs, batch.targets, self.data_count)
            .map_err(|source| not_positive_definite(step, model, source))?;
        let log_prior = self.priors.log_density(model);
        let total = with_log_prior(objective.value(), log_prior.clone());
        Ok(Evaluation {
            objective,
            log_prior,
            loss: total * (-1.0 / self.data_count as f64),
        })
    }

    /// The loss after `made` steps as a number.
    fn finite_loss<M: Module + Model>(
        &self,
        model: &M,
        made: usize,
        evaluation: Evaluation,
    ) -> Result<f64, TrainingError> {
        let loss = number(evaluation.loss);
        if loss.is_finite() {
            return Ok(loss);
        }
        Err(TrainingError::NonFinite {
            step: made + 1,
            loss,
            term: Objective::broken_term(evaluation.objective, evaluation.log_prior),
            hyperparameters: describe(&model.hyperparameters()),
        })
    }

    fn gradients<M: Module + Model>(
        &self,
        model: &M,
        made: usize,
        loss: &Tensor<1>,
    ) -> Result<GradientsParams, TrainingError> {
        let mut gradients =
            gradients(loss, model).map_err(|source| TrainingError::NothingToTrain {
                step: made + 1,
                source,
            })?;
        if !self.trains_inducing(made) {
            InducingTraining::hold(model, &mut gradients);
        }
        Ok(gradients)
    }

    /// The model after the natural-gradient step, if there is one. The remaining gradients are for
    /// Adam.
    fn natural_step<M: Module + Model>(
        &self,
        step: usize,
        model: &M,
        gradients: &mut GradientsParams,
    ) -> Result<M, TrainingError> {
        let natural = match self.natural_gradient {
            Some(natural) if !gradients.is_empty() => natural,
            _ => return Ok(model.clone()),
        };
        // The loss is per data point.
        let stepped = (natural.step(step, model.clone(), gradients, self.data_count as f64))
            .map_err(|source| no_natural_step(step + 1, model, source))?;
        if stepped.distributions == 0 {
            return Err(TrainingError::NoDistribution);
        }
        Ok(stepped.module)
    }
}

fn not_positive_definite<M: Module + Model>(
    step: usize,
    model: &M,
    source: NotPositiveDefinite,
) -> TrainingError {
    TrainingError::Factorization {
        step,
        source,
        hyperparameters: describe(&model.hyperparameters()),
    }
}

fn no_natural_step<M: Module + Model>(
    step: usize,
    model: &M,
    source: NaturalStepError,
) -> TrainingError {
    TrainingError::NaturalGradient {
        step,
        source,
        hyperparameters: describe(&model.hyperparameters()),
    }
}
