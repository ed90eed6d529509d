//! L-BFGS on all data.

use std::path::Path;

use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::{GradientsParams, LBFGS, LBFGSConfig, LineSearchFn},
    tensor::Tensor,
};
use burn_gp::{inference::FullBatch, parameter::Priors};
use serde::{Deserialize, Serialize};

use super::{
    StepReport, Trainer, TrainingData, TrainingError, check_optimizer_type, checkpoint_error,
    describe, files, restore_state, save_state, with_log_prior,
};

/// How a model is trained on all data at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullBatchTraining {
    /// L-BFGS iterations at most.
    pub iterations: usize,
    /// Training is over when an iteration improves the objective by less than this fraction of its
    /// value (or of one, if that is more).
    pub tolerance: f64,
}

impl Default for FullBatchTraining {
    fn default() -> Self {
        Self {
            iterations: 1000,
            tolerance: 1e-9,
        }
    }
}

/// Iterations between two reports. A call of burn's L-BFGS evaluates its starting point once more,
/// which this makes a small part of the work.
const ITERATIONS_A_STEP: usize = 10;

/// Gradients below this are zero.
const GRADIENT_TOLERANCE: f64 = 1e-6;

/// Trains a model with L-BFGS and a strong-Wolfe line search; one step is a few iterations.
pub struct FullBatchTrainer<M> {
    model: M,
    optimizer: LBFGS,
    training: FullBatchTraining,
    data: TrainingData,
    priors: Priors,
    progress: Progress,
}

#[derive(Clone, Serialize, Deserialize)]
struct Progress {
    iterations: usize,
    loss: Option<f64>,
    converged: bool,
}

impl<M: FullBatch> FullBatchTrainer<M> {
    /// A trainer at its first step. The model must be on an autodiff device, the data on the same
    /// device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: FullBatchTraining) -> Self {
        let config = LBFGSConfig::new()
            .with_max_iter(ITERATIONS_A_STEP)
            .with_history_size(20)
            .with_max_eval(Some(ITERATIONS_A_STEP * 5 / 2))
            .with_tolerance_grad(GRADIENT_TOLERANCE)
            .with_tolerance_change(0.0)
            .with_line_search_fn(LineSearchFn::StrongWolfe);
        Self {
            model,
            optimizer: config.init(),
            training,
            data,
            priors: Priors::default(),
            progress: Progress {
                iterations: 0,
                loss: None,
                converged: false,
            },
        }
    }

    /// With the log density of these priors in the objective.
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

    /// Whether training ended because the objective no longer improved.
    pub fn has_converged(&self) -> bool {
        self.progress.converged
    }

    fn evaluate(
        data: &TrainingData,
        priors: &Priors,
        model: &M,
    ) -> Result<(f64, GradientsParams), EvaluationError> {
        let objective = model
            .objective(data.inputs.clone(), data.targets.clone())
            .map_err(EvaluationError::Factorization)?;
        let loss = with_log_prior(objective, priors.log_density(model)).neg();
        let value: f64 = loss.clone().into_scalar();
        if !value.is_finite() {
            return Err(EvaluationError::NonFinite(value));
        }
        let gradients = if loss.is_tracked() {
            GradientsParams::from_grads(loss.backward(), model)
        } else {
            // Every parameter is frozen.
            GradientsParams::new()
        };
        Ok((value, with_zeros(gradients, model)))
    }
}

enum EvaluationError {
    Factorization(burn_gp::ops::NotPositiveDefinite),
    NonFinite(f64),
}

impl EvaluationError {
    fn at_step<M: FullBatch>(self, step: usize, model: &M) -> TrainingError {
        let hyperparameters = describe(&model.hyperparameters());
        match self {
            Self::Factorization(source) => TrainingError::Factorization {
                step,
                source,
                hyperparameters,
            },
            Self::NonFinite(loss) => TrainingError::NonFinite {
                step,
                loss,
                term: "log evidence",
                hyperparameters,
            },
        }
    }
}

impl<M: FullBatch> Trainer for FullBatchTrainer<M> {
    type Model = M;

    fn step(&mut self) -> Result<StepReport, TrainingError> {
        let step = self.progress.iterations + ITERATIONS_A_STEP;
        // The first evaluation is that of the starting point, which must be sound; a trial point of
        // the line search that is not sends the search back towards it.
        let mut start = None;
        let (data, priors) = (&self.data, &self.priors);
        let closure = |model: M| match (Self::evaluate(data, priors, &model), start.is_none()) {
            (Ok((loss, gradients)), first) => {
                if first {
                    start = Some(Ok(loss));
                }
                (loss, gradients)
            }
            (Err(error), first) => {
                if first {
                    start = Some(Err(error.at_step(step, &model)));
                }
                (f64::INFINITY, with_zeros(GradientsParams::new(), &model))
            }
        };
        let (model, loss) = self.optimizer.step(1.0, self.model.clone(), closure);
        let before = start.transpose()?.unwrap_or(loss);
        let improvement = before - loss;
        if loss.is_finite() && improvement >= 0.0 {
            self.model = model;
        }
        let scale = before.abs().max(1.0) * ITERATIONS_A_STEP as f64;
        self.progress = Progress {
            iterations: step,
            loss: Some(loss.min(before)),
            converged: improvement.is_nan() || improvement <= self.training.tolerance * scale,
        };
        Ok(StepReport {
            step,
            loss: loss.min(before) / self.data.len() as f64,
            learning_rate: 1.0,
        })
    }

    fn is_finished(&self) -> bool {
        self.progress.converged || self.progress.iterations >= self.training.iterations
    }

    fn steps_made(&self) -> usize {
        self.progress.iterations
    }

    fn steps_planned(&self) -> usize {
        self.training.iterations
    }

    fn model(&self) -> &M {
        &self.model
    }

    fn save(&self, folder: &Path) -> Result<(), TrainingError> {
        save_state(folder, &self.model, &self.progress)?;
        let error = checkpoint_error(folder, files::OPTIMIZER, "written");
        (self.optimizer.save(folder.join(files::OPTIMIZER)))
            .map_err(|reason| error(reason.to_string()))
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let (model, progress) = restore_state(folder, self.model.clone())?;
        check_optimizer_type(folder, self.data.inputs.dtype())?;
        let error = checkpoint_error(folder, files::OPTIMIZER, "read");
        self.optimizer = (self.optimizer.clone().load(folder.join(files::OPTIMIZER)))
            .map_err(|reason| error(reason.to_string()))?;
        (self.model, self.progress) = (model, progress);
        Ok(())
    }
}

/// The gradients, and zero for every parameter that has none, which burn's L-BFGS expects of all.
fn with_zeros<M: Module>(gradients: GradientsParams, model: &M) -> GradientsParams {
    struct Zeros(GradientsParams);
    impl ModuleVisitor for Zeros {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.0.get::<D>(param.id).is_none() {
                let zeros = param.val().inner().zeros_like();
                self.0.register::<D>(param.id, zeros);
            }
        }
    }
    let mut zeros = Zeros(gradients);
    model.visit(&mut zeros);
    zeros.0
}
