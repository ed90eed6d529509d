//! L-BFGS or Adam on all data.

use std::path::Path;

use burn::{
    optim::{GradientsParams, LBFGS, LBFGSConfig, LineSearchFn, ModuleOptimizer},
    tensor::Tensor,
};
use burn_gp::{inference::FullBatch, ops::NotPositiveDefinite, optim::Adam, parameter::Priors};
use serde::{Deserialize, Serialize};

use super::{
    NothingToTrain, Schedule, ScheduledRate, StepReport, Trainer, TrainingData, TrainingError,
    check_optimizer_type, checkpoint_error, describe,
    evaluations::{Evaluations, for_all},
    files,
    nothing_to_train::gradients,
    restore_state, save_state, with_log_prior,
};

/// How a model is trained on all data at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullBatchTraining {
    /// L-BFGS iterations at most, or steps of Adam.
    pub iterations: usize,
    /// L-BFGS is over when iterations, ten of them on average, improve the objective by less than this
    /// fraction of its value (or of one, if that is more).
    pub tolerance: f64,
    /// What makes the steps.
    #[serde(default)]
    pub optimizer: FullBatchOptimizer,
}

/// The optimizers of all data at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "optimizer", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FullBatchOptimizer {
    /// L-BFGS with a strong-Wolfe line search: few iterations, of an objective that does not change
    /// between them, best in double precision.
    LBfgs {
        /// Where every line search begins, as a part of the quasi-Newton step; the first of all, which
        /// has no curvature yet, begins where the parameters' changes sum to this. Searches go on to
        /// larger steps while the objective falls steeply: a small number costs evaluations, and keeps
        /// early steps, of little knowledge, from throwing parameters to where gradients vanish.
        #[serde(default = "quasi_newton_step")]
        learning_rate: f64,
    },
    /// Adam on the loss per datum: one evaluation a step, in single precision as well, and for
    /// objectives that are not the same function in every step.
    Adam {
        /// The first learning rate.
        learning_rate: f64,
        /// How it goes down.
        schedule: Schedule,
    },
}

impl FullBatchOptimizer {
    /// Where line searches of L-BFGS begin by default: at its whole step.
    pub const QUASI_NEWTON_STEP: f64 = 1.0;

    /// L-BFGS whose line searches begin there.
    pub const L_BFGS: Self = Self::LBfgs {
        learning_rate: Self::QUASI_NEWTON_STEP,
    };
}

impl Default for FullBatchOptimizer {
    fn default() -> Self {
        Self::L_BFGS
    }
}

fn quasi_newton_step() -> f64 {
    FullBatchOptimizer::QUASI_NEWTON_STEP
}

impl Default for FullBatchTraining {
    fn default() -> Self {
        Self {
            iterations: 1000,
            tolerance: 1e-9,
            optimizer: FullBatchOptimizer::default(),
        }
    }
}

/// Iterations of L-BFGS that are judged together: single ones of little use are no sign of the end.
const JUDGED_TOGETHER: usize = 10;

/// Evaluations of a search along a line at most.
const EVALUATIONS_A_SEARCH: usize = 25;

/// Gradients below this are zero.
const GRADIENT_TOLERANCE: f64 = 1e-6;

/// Trains a model with L-BFGS and a strong-Wolfe line search, one iteration a step, or with Adam.
pub struct FullBatchTrainer<M> {
    model: M,
    optimizer: Optimizer,
    training: FullBatchTraining,
    data: TrainingData,
    priors: Priors,
    /// Whether the model can take the targets.
    targets_checked: bool,
    /// Where L-BFGS has been last.
    evaluations: Evaluations,
    progress: Progress,
}

/// An optimizer with its state.
enum Optimizer {
    /// With where its line searches begin.
    LBfgs(Box<LBFGS>, f64),
    Adam(Box<ModuleOptimizer>, ScheduledRate),
}

impl Optimizer {
    /// That of `training` before its first step.
    fn new(training: &FullBatchTraining) -> Self {
        match training.optimizer {
            FullBatchOptimizer::LBfgs { learning_rate } => {
                Self::LBfgs(Box::new(l_bfgs()), learning_rate)
            }
            FullBatchOptimizer::Adam {
                learning_rate,
                schedule,
            } => {
                let rate = ScheduledRate {
                    first: learning_rate,
                    schedule,
                    steps: training.iterations,
                    step: 0,
                };
                Self::Adam(Box::new(ModuleOptimizer::from(Adam::new())), rate)
            }
        }
    }

    fn save(&self, file: &Path) -> Result<(), String> {
        match self {
            Self::LBfgs(optimizer, _) => optimizer.save(file).map_err(|error| error.to_string()),
            Self::Adam(optimizer, _) => optimizer.save(file).map_err(|error| error.to_string()),
        }
    }

    /// The state in `file`, after `steps` steps.
    fn restored(&self, file: &Path, steps: usize) -> Result<Self, String> {
        match self {
            Self::LBfgs(optimizer, learning_rate) => {
                let loaded = optimizer.as_ref().clone().load(file);
                let loaded = loaded.map_err(|error| error.to_string())?;
                Ok(Self::LBfgs(Box::new(loaded), *learning_rate))
            }
            Self::Adam(optimizer, rate) => {
                let loaded = optimizer.as_ref().clone().load(file);
                let loaded = loaded.map_err(|error| error.to_string())?;
                let rate = ScheduledRate {
                    step: steps,
                    ..*rate
                };
                Ok(Self::Adam(Box::new(loaded), rate))
            }
        }
    }
}

/// L-BFGS without memory.
fn l_bfgs() -> LBFGS {
    LBFGSConfig::new()
        .with_max_iter(1)
        .with_history_size(20)
        // With that of the starting point.
        .with_max_eval(Some(1 + EVALUATIONS_A_SEARCH))
        .with_tolerance_grad(GRADIENT_TOLERANCE)
        .with_tolerance_change(0.0)
        .with_line_search_fn(LineSearchFn::StrongWolfe)
        .init()
}

#[derive(Clone, Serialize, Deserialize)]
struct Progress {
    iterations: usize,
    /// The iteration and the loss after which the next ones are judged.
    #[serde(default)]
    judged: Option<(usize, f64)>,
    /// Whether L-BFGS has no memory of the time before it was judged last, where it found nothing.
    #[serde(default)]
    stalled: bool,
    converged: bool,
}

impl<M: FullBatch> FullBatchTrainer<M> {
    /// A trainer at its first step. The model must be on an autodiff device, the data on the same
    /// device with or without autodiff. First variances that are a factor of a thousand or more off the
    /// targets' are taken in the unit of the targets ([`FullBatch::in_unit_of`]).
    pub fn new(model: M, data: TrainingData, training: FullBatchTraining) -> Self {
        let model = model.in_unit_of(&data.inputs, &data.targets);
        Self {
            priors: model.priors(),
            model,
            optimizer: Optimizer::new(&training),
            training,
            data,
            targets_checked: false,
            evaluations: Evaluations::default(),
            progress: Progress {
                iterations: 0,
                judged: None,
                stalled: false,
                converged: false,
            },
        }
    }

    /// With the log density of these priors in the objective besides [those of the
    /// model](FullBatch::priors); where a parameter has both, with this one.
    pub fn with_priors(mut self, priors: Priors) -> Self {
        self.priors.extend(priors);
        self.evaluations = Evaluations::default();
        self
    }

    /// The priors in the objective.
    pub fn priors(&self) -> &Priors {
        &self.priors
    }

    /// The data.
    pub fn data(&self) -> &TrainingData {
        &self.data
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }

    /// Whether training ended because the objective no longer improved.
    pub fn has_converged(&self) -> bool {
        self.progress.converged
    }

    /// The negative objective per datum of the model as it is now, priors included.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(&self) -> Result<f64, NotPositiveDefinite> {
        let model = self.model.valid();
        let inner = |tensor: &Tensor<2>| tensor.clone().inner();
        let (inputs, targets) = (inner(&self.data.inputs), inner(&self.data.targets));
        let log_evidence = model.objective(inputs, targets)?;
        let objective = with_log_prior(log_evidence, self.priors.log_density(&model));
        Ok(-objective.into_scalar::<f64>() / self.data.len() as f64)
    }

    /// `scale` times the negative objective, with its gradients.
    fn evaluate(
        data: &TrainingData,
        priors: &Priors,
        scale: f64,
        model: &M,
    ) -> Result<(f64, GradientsParams), EvaluationError> {
        let objective = model
            .objective(data.inputs.clone(), data.targets.clone())
            .map_err(EvaluationError::Factorization)?;
        let loss = with_log_prior(objective, priors.log_density(model)) * -scale;
        let value: f64 = loss.clone().into_scalar();
        if !value.is_finite() {
            return Err(EvaluationError::NonFinite(value));
        }
        let gradients = gradients(&loss, model).map_err(EvaluationError::NothingToTrain)?;
        Ok((value, gradients))
    }

    /// An iteration of L-BFGS.
    ///
    /// Where some of them find nothing better, the direction that the memory makes may be to blame: the
    /// next ones start without it, from the direction of steepest descent. Training ends when these find
    /// nothing either.
    fn iterate(
        &mut self,
        optimizer: &mut LBFGS,
        learning_rate: f64,
    ) -> Result<StepReport, TrainingError> {
        let step = self.progress.iterations + 1;
        // The first evaluation is that of the starting point, which must be sound; a trial point of
        // the line search that is not sends the search back towards it.
        let mut start = None;
        let (data, priors, evaluations) = (&self.data, &self.priors, &mut self.evaluations);
        let closure = |model: M| {
            let evaluation = evaluations.at(&model, || Self::evaluate(data, priors, 1.0, &model));
            match (evaluation, start.is_none()) {
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
                    (f64::INFINITY, for_all(&model, &GradientsParams::new()))
                }
            }
        };
        let (model, loss) = optimizer.step(learning_rate, self.model.clone(), closure);
        let before = start.transpose()?.unwrap_or(loss);
        if loss <= before {
            self.model = model;
        }
        self.evaluations.keep_only_at(&self.model);
        self.judge(optimizer, step, (before, loss));
        Ok(StepReport {
            step,
            loss: loss.min(before) / self.data.len() as f64,
            learning_rate,
        })
    }

    /// Whether L-BFGS still finds something better, after an iteration from one loss to another.
    fn judge(&mut self, optimizer: &mut LBFGS, step: usize, (before, loss): (f64, f64)) {
        let progress = &mut self.progress;
        let (first, start) = progress.judged.unwrap_or((progress.iterations, before));
        progress.iterations = step;
        // What an iteration that found nothing left as it was makes the next one do the same.
        let in_vain = loss.is_nan() || loss >= before;
        if step - first < JUDGED_TOGETHER && !in_vain {
            progress.judged = Some((first, start));
            return;
        }
        let improvement = start - loss.min(before);
        let scale = start.abs().max(1.0) * JUDGED_TOGETHER as f64;
        let found_nothing = improvement <= self.training.tolerance * scale;
        progress.converged = found_nothing && progress.stalled;
        progress.stalled = found_nothing || in_vain;
        progress.judged = None;
        if progress.stalled {
            *optimizer = l_bfgs();
        }
    }

    /// One step of Adam; the loss is that before it.
    fn descend(
        &mut self,
        optimizer: &mut ModuleOptimizer,
        rate: &mut ScheduledRate,
    ) -> Result<StepReport, TrainingError> {
        let (rows, step) = (self.data.len() as f64, self.progress.iterations + 1);
        let (loss, gradients) = Self::evaluate(&self.data, &self.priors, 1.0 / rows, &self.model)
            .map_err(|error| error.at_step(step, &self.model))?;
        let learning_rate = rate.current();
        let model = optimizer.step(learning_rate, self.model.clone(), gradients);
        self.model = model.after_step();
        rate.step = step;
        self.progress.iterations = step;
        Ok(StepReport {
            step,
            loss,
            learning_rate,
        })
    }
}

enum EvaluationError {
    Factorization(NotPositiveDefinite),
    NonFinite(f64),
    NothingToTrain(NothingToTrain),
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
            Self::NothingToTrain(source) => TrainingError::NothingToTrain { step, source },
        }
    }
}

impl<M: FullBatch> Trainer for FullBatchTrainer<M> {
    type Model = M;

    fn step(&mut self) -> Result<StepReport, TrainingError> {
        if !self.targets_checked {
            self.model.check_targets(&self.data.targets)?;
            self.targets_checked = true;
        }
        // Apart for the time of the step, which also needs all the rest.
        let unused = Optimizer::new(&self.training);
        let mut optimizer = std::mem::replace(&mut self.optimizer, unused);
        let report = match &mut optimizer {
            Optimizer::LBfgs(optimizer, learning_rate) => self.iterate(optimizer, *learning_rate),
            Optimizer::Adam(optimizer, rate) => self.descend(optimizer, rate),
        };
        self.optimizer = optimizer;
        report
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
        (self.optimizer.save(&folder.join(files::OPTIMIZER))).map_err(error)
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let (model, progress): (M, Progress) = restore_state(folder, self.model.clone())?;
        check_optimizer_type(folder, self.data.inputs.dtype())?;
        let error = checkpoint_error(folder, files::OPTIMIZER, "read");
        let file = folder.join(files::OPTIMIZER);
        self.optimizer = (self.optimizer.restored(&file, progress.iterations)).map_err(error)?;
        (self.model, self.progress) = (model, progress);
        Ok(())
    }
}
