//! What a step on a mini-batch computes, whatever loop makes it.

use burn::{
    lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    optim::{GradientsParams, ModuleOptimizer},
};
use burn_gp::{optim::NaturalGradient, parameter::Priors};

use super::{
    Batch, InducingTraining, MiniBatchModel, Objective, TrainingError, describe,
    nothing_to_train::gradients, rates::Rates, with_log_prior,
};

/// A step of Adam, with a natural-gradient step for `q(u)` on request; both see the gradients of the
/// same batch at the same point.
#[derive(Clone, Debug)]
pub(super) struct MiniBatchStep {
    /// The number of data, N.
    pub data_count: usize,
    /// The priors in the objective, once, whatever the batch.
    pub priors: Priors,
    pub natural_gradient: Option<NaturalGradient>,
    /// How the inducing points are trained, where that is apart from the other parameters.
    pub inducing: Option<InducingTraining>,
    /// What the losses are reported to.
    pub rates: Rates,
}

impl MiniBatchStep {
    /// The negative objective per datum, which is finite, and its gradients.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    pub fn differentiate<M: MiniBatchModel>(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(f64, GradientsParams), TrainingError> {
        let (made, step) = (batch.step, batch.step + 1);
        let objective = model
            .objective(batch.inputs, batch.targets, self.data_count)
            .map_err(|source| TrainingError::Factorization {
                step,
                source,
                hyperparameters: describe(&model.hyperparameters()),
            })?;
        // Per datum, so that the learning rate and the clipping mean the same for all data.
        let log_prior = self.priors.log_density(model);
        let total = with_log_prior(objective.value(), log_prior.clone());
        let loss = total * (-1.0 / self.data_count as f64);
        let value: f64 = loss.clone().into_scalar();
        if !value.is_finite() {
            return Err(TrainingError::NonFinite {
                step,
                loss: value,
                term: Objective::broken_term(objective, log_prior),
                hyperparameters: describe(&model.hyperparameters()),
            });
        }
        let mut gradients = gradients(&loss, model)
            .map_err(|source| TrainingError::NothingToTrain { step, source })?;
        let is_held = (self.inducing).is_some_and(|inducing| made < inducing.frozen_steps);
        if is_held {
            InducingTraining::hold(model, &mut gradients);
        }
        self.rates.observe(value, !is_held);
        Ok((value, gradients))
    }

    /// The model after the step, counted from zero.
    ///
    /// # Errors
    ///
    /// When the natural-gradient step cannot be made; the optimizer is then as it was.
    pub fn update<M: MiniBatchModel>(
        &self,
        step: usize,
        model: &M,
        mut gradients: GradientsParams,
        (optimizer, rate): (&mut ModuleOptimizer, ModuleLearningRate),
    ) -> Result<M, TrainingError> {
        let model = self.natural_step(step, model, &mut gradients)?;
        Ok(optimizer.step(rate, model, gradients).after_step())
    }

    /// The model after the natural-gradient step, if there is one to make; the gradients that it
    /// leaves are Adam's.
    fn natural_step<M: MiniBatchModel>(
        &self,
        step: usize,
        model: &M,
        gradients: &mut GradientsParams,
    ) -> Result<M, TrainingError> {
        let natural = match self.natural_gradient {
            Some(natural) if !gradients.is_empty() => natural,
            _ => return Ok(model.clone()),
        };
        // The loss is per datum.
        let stepped = (natural.step(step, model.clone(), gradients, self.data_count as f64))
            .map_err(|source| TrainingError::NaturalGradient {
                step: step + 1,
                source,
                hyperparameters: describe(&model.hyperparameters()),
            })?;
        if stepped.distributions == 0 {
            return Err(TrainingError::NoDistribution);
        }
        Ok(stepped.module)
    }
}
