//! The computation of a mini-batch step, shared by all training loops.

use burn::{
    lr_scheduler::module_lr_scheduler::ModuleLearningRate,
    optim::{GradientsParams, ModuleOptimizer},
};
use burn_gp::{optim::NaturalGradient, parameter::Priors};

use super::{
    Batch, InducingTraining, Model, Objective, TrainingError, describe,
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
}

impl MiniBatchStep {
    /// The negative objective per data point and its gradients. The objective is finite.
    ///
    /// # Errors
    ///
    /// When the objective cannot be computed or is not finite.
    pub fn differentiate<M: Model>(
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
        // The loss is per data point, which makes the learning rate and the clipping norm
        // independent of the number of data.
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

    /// The model after a step. Steps are counted from zero.
    ///
    /// # Errors
    ///
    /// When the natural-gradient step fails. The optimizer then stays as it was.
    pub fn update<M: Model>(
        &self,
        step: usize,
        model: &M,
        mut gradients: GradientsParams,
        (optimizer, rate): (&mut ModuleOptimizer, ModuleLearningRate),
    ) -> Result<M, TrainingError> {
        let model = self.natural_step(step, model, &mut gradients)?;
        Ok(optimizer.step(rate, model, gradients).after_step())
    }

    /// The model after the natural-gradient step, if there is one. The remaining gradients are for
    /// Adam.
    fn natural_step<M: Model>(
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
