//! Full-batch training with L-BFGS or Adam.

use std::{path::Path, time::Instant};

use burn::{
    module::Module,
    optim::{GradientsParams, LBFGS, LBFGSConfig, LineSearchFn, ModuleOptimizer},
    store::RecordError,
    tensor::{Bytes, Tensor},
};
use burn_gp_core::{
    ops::{NotPositiveDefinite, is_on_cpu, number, with_threads_awake},
    optim::Adam,
    parameter::Priors,
};
use serde::{Deserialize, Serialize};

use super::{
    FullBatchOptimizer, FullBatchTraining, Model, NothingToTrain, Objective, ScheduledRate,
    StepReport, Trainer, TrainingData, TrainingError,
    checkpoint::{CheckpointFiles, check_default_device, check_default_type, files, save_state},
    describe,
    evaluations::{Evaluations, for_all},
    long_steps::LongSteps,
    nothing_to_train::gradients,
    with_log_prior,
};

/// The number of L-BFGS iterations that the stopping rule averages over. A single iteration with
/// little improvement is not a sign of convergence.
const JUDGED_TOGETHER: usize = 10;

/// The number of iterations in a row with a negligible improvement after which L-BFGS stops.
const NEGLIGIBLE_IN_A_ROW: usize = 2;

/// The maximum number of evaluations per line search.
const EVALUATIONS_A_SEARCH: usize = 25;

/// Gradients below this number count as zero.
const GRADIENT_TOLERANCE: f64 = 1e-6;

/// Trains a model with L-BFGS and a strong-Wolfe line search, one iteration per step, or with Adam.
pub struct FullBatchTrainer<M> {
    model: M,
    optimizer: Optimizer,
    training: FullBatchTraining,
    data: TrainingData,
    priors: Priors,
    /// Whether the targets have been checked.
    targets_checked: bool,
    /// The latest L-BFGS evaluations.
    evaluations: Evaluations,
    progress: Progress,
    long_steps: LongSteps,
}

/// An optimizer and its state.
enum Optimizer {
    /// With the first step size of its line searches.
    LBfgs(Box<LBFGS>, f64),
    Adam(Box<ModuleOptimizer>, ScheduledRate),
}

impl Optimizer {
    /// The optimizer of `training` before its first step.
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

    fn bytes(&self) -> Result<Bytes, RecordError> {
        match self {
            Self::LBfgs(optimizer, _) => optimizer.into_bytes(),
            Self::Adam(optimizer, _) => optimizer.into_bytes(),
        }
    }

    /// The optimizer with the state in the content of a file, after `steps` steps.
    fn restored(&self, content: Vec<u8>, steps: usize) -> Result<Self, RecordError> {
        let content = Bytes::from_bytes_vec(content);
        match self {
            Self::LBfgs(optimizer, learning_rate) => {
                let loaded = optimizer.as_ref().clone().from_bytes(content)?;
                Ok(Self::LBfgs(Box::new(loaded), *learning_rate))
            }
            Self::Adam(optimizer, rate) => {
                let loaded = optimizer.as_ref().clone().from_bytes(content)?;
                let rate = ScheduledRate {
                    step: steps,
                    ..*rate
                };
                Ok(Self::Adam(Box::new(loaded), rate))
            }
        }
    }
}

/// L-BFGS with an empty history.
fn l_bfgs() -> LBFGS {
    LBFGSConfig::new()
        .with_max_iter(1)
        .with_history_size(20)
        // The additional evaluation is for the starting point.
        .with_max_eval(Some(1 + EVALUATIONS_A_SEARCH))
        .with_tolerance_grad(GRADIENT_TOLERANCE)
        .with_tolerance_change(0.0)
        .with_line_search_fn(LineSearchFn::StrongWolfe)
        .init()
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Progress {
    iterations: usize,
    /// The iteration and loss at which the current window of the stopping rule begins.
    #[serde(default)]
    judged: Option<(usize, f64)>,
    /// Whether the last window brought no improvement and L-BFGS restarted with an empty history.
    #[serde(default)]
    stalled: bool,
    /// The number of latest iterations with a negligible improvement.
    #[serde(default)]
    negligible: usize,
    converged: bool,
}

impl<M: Module + Model> FullBatchTrainer<M> {
    /// A trainer before its first step. The model must be on an autodiff device, the data on the
    /// same device with or without autodiff.
    pub fn new(model: M, data: TrainingData, training: FullBatchTraining) -> Self {
        Self {
            priors: model.priors(),
            model,
            optimizer: Optimizer::new(&training),
            training,
            data,
            targets_checked: false,
            evaluations: Evaluations::default(),
            long_steps: LongSteps::default(),
            progress: Progress::default(),
        }
    }

    /// Adds the log density of these priors to the objective, in addition to [those of the
    /// model](Model::priors). If a parameter has both, this prior applies.
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

    /// The negative objective per data point of the current model, including priors.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn loss(&self) -> Result<f64, NotPositiveDefinite> {
        let model = self.model.valid();
        let objective = objective_of(&model, &self.data)?;
        let objective = with_log_prior(objective.value(), self.priors.log_density(&model));
        Ok(-number(objective) / self.data.len() as f64)
    }

    /// `scale` times the negative objective, with its gradients.
    fn evaluate(
        data: &TrainingData,
        priors: &Priors,
        scale: f64,
        model: &M,
    ) -> Result<(f64, GradientsParams), EvaluationError> {
        let objective = model
            .objective(data.inputs.clone(), data.targets.clone(), data.len())
            .map_err(EvaluationError::Factorization)?;
        let log_prior = priors.log_density(model);
        let loss = with_log_prior(objective.value(), log_prior.clone()) * -scale;
        let value = number(loss.clone());
        if !value.is_finite() {
            // On a GPU, a failed factorization may have silently produced NaN. Without autodiff, it
            // reports the failure.
            let failure = (!is_on_cpu(&data.inputs))
                .then(|| objective_of(&model.valid(), data).err())
                .flatten();
            return Err(failure.map_or_else(
                || EvaluationError::NonFinite(value, objective.broken_term(log_prior)),
                EvaluationError::Factorization,
            ));
        }
        let gradients = gradients(&loss, model).map_err(EvaluationError::NothingToTrain)?;
        Ok((value, gradients))
    }

    /// An L-BFGS iteration.
    ///
    /// If a window of iterations brings no improvement, the search direction from the history may
    /// be the cause. The next iteration then starts with an empty history, in the direction of
    /// steepest descent. Training ends when the next window brings no improvement either.
    fn iterate(
        &mut self,
        optimizer: &mut LBFGS,
        learning_rate: f64,
    ) -> Result<StepReport, TrainingError> {
        let step = self.progress.iterations + 1;
        // The evaluation of the starting point must succeed. If a trial point of the line search
        // fails, an infinite loss makes the search go back to a tenth of the way. If a trial point is
        // out of reach, the unchanged loss makes it go back to a third. The search should then end at
        // the first point with a decrease, so a gradient of zero is reported there, as at a minimum:
        // otherwise it would look for one between that point and the limit of its reach. The next
        // iteration starts with the computed gradient.
        let (mut start, mut was_out_of_reach) = (None, false);
        let first_model = &self.model;
        let (data, priors, evaluations) = (&self.data, &self.priors, &mut self.evaluations);
        let closure = |model: M| {
            let no_slope = || for_all(&model, &GradientsParams::new());
            if let Some(Ok(loss)) = start
                && !model.is_within_reach(first_model)
            {
                was_out_of_reach = true;
                return (loss, no_slope());
            }
            let evaluation = evaluations.at(&model, || Self::evaluate(data, priors, 1.0, &model));
            match (evaluation, start.is_none()) {
                (Ok((loss, gradients)), first) => {
                    if first {
                        start = Some(Ok(loss));
                    }
                    let is_enough =
                        was_out_of_reach && matches!(start, Some(Ok(start)) if loss < start);
                    (loss, if is_enough { no_slope() } else { gradients })
                }
                (Err(error), first) => {
                    if first {
                        start = Some(Err(error.at_step(step, &model)));
                    }
                    (f64::INFINITY, no_slope())
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
        self.update_approximation(optimizer, step);
        Ok(StepReport {
            step,
            loss: loss.min(before) / self.data.len() as f64,
            learning_rate,
        })
    }

    /// Applies the stopping rule after an iteration from one loss to another.
    fn judge(&mut self, optimizer: &mut LBFGS, step: usize, (before, loss): (f64, f64)) {
        let progress = &mut self.progress;
        let (first, start) = progress.judged.unwrap_or((progress.iterations, before));
        progress.iterations = step;
        progress.negligible = match (before - loss).max(0.0) < self.training.nats {
            true => progress.negligible + 1,
            false => 0,
        };
        if progress.negligible >= NEGLIGIBLE_IN_A_ROW {
            progress.converged = true;
            return;
        }
        // After an iteration without improvement the next one would do the same.
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

    /// Updates what the objective keeps fixed, after steps whose numbers are powers of two and when training has
    /// converged. The old curvature and losses say nothing about a new objective.
    fn update_approximation(&mut self, optimizer: &mut LBFGS, step: usize) {
        let is_due = step.is_power_of_two() || self.progress.converged;
        if is_due && self.model.update_approximation() {
            *optimizer = l_bfgs();
            self.evaluations = Evaluations::default();
            self.progress = Progress {
                iterations: step,
                ..Progress::default()
            };
        }
    }

    /// One Adam step. The reported loss is the loss before the step.
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
        self.model = model;
        self.model.after_step();
        if step.is_power_of_two() {
            self.model.update_approximation();
        }
        rate.step = step;
        self.progress.iterations = step;
        Ok(StepReport {
            step,
            loss,
            learning_rate,
        })
    }
}

/// The objective of all data, without autodiff.
fn objective_of<M: Module + Model>(
    model: &M,
    data: &TrainingData,
) -> Result<Objective, NotPositiveDefinite> {
    let inner = |tensor: &Tensor<2>| tensor.clone().inner();
    model.objective(inner(&data.inputs), inner(&data.targets), data.len())
}

enum EvaluationError {
    Factorization(NotPositiveDefinite),
    /// The loss, and the term that is not finite.
    NonFinite(f64, &'static str),
    NothingToTrain(NothingToTrain),
}

impl EvaluationError {
    fn at_step<M: Module + Model>(self, step: usize, model: &M) -> TrainingError {
        let hyperparameters = describe(&model.hyperparameters());
        match self {
            Self::Factorization(source) => TrainingError::Factorization {
                step,
                source,
                hyperparameters,
            },
            Self::NonFinite(loss, term) => TrainingError::NonFinite {
                step,
                loss,
                term,
                hyperparameters,
            },
            Self::NothingToTrain(source) => TrainingError::NothingToTrain { step, source },
        }
    }
}

impl<M: Module + Model> Trainer for FullBatchTrainer<M> {
    type Model = M;

    fn advance(&mut self) -> Result<Option<StepReport>, TrainingError> {
        if !self.targets_checked {
            self.model.check_targets(&self.data.targets)?;
            self.targets_checked = true;
        }
        // The step needs both the optimizer and `self`, so the optimizer is moved out for its
        // duration.
        let unused = Optimizer::new(&self.training);
        let mut optimizer = std::mem::replace(&mut self.optimizer, unused);
        let stays_awake = self.long_steps.are_expected() && is_on_cpu(&self.data.inputs);
        let start = Instant::now();
        let mut step = || match &mut optimizer {
            Optimizer::LBfgs(optimizer, learning_rate) => self.iterate(optimizer, *learning_rate),
            Optimizer::Adam(optimizer, rate) => self.descend(optimizer, rate),
        };
        let report = match stays_awake {
            true => with_threads_awake(step),
            false => step(),
        };
        self.long_steps.took(start.elapsed());
        self.optimizer = optimizer;
        report.map(Some)
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
        let optimizer = self.optimizer.bytes();
        save_state(folder, &self.model, &self.progress, optimizer)
    }

    fn restore(&mut self, folder: &Path) -> Result<(), TrainingError> {
        let saved = CheckpointFiles::open(folder)?;
        let model = saved.model(self.model.clone())?;
        let progress: Progress = saved.progress()?;
        let check = match self.optimizer {
            Optimizer::LBfgs(..) => check_default_type,
            Optimizer::Adam(..) => check_default_device,
        };
        check(folder, self.data.inputs.dtype())?;
        self.optimizer = saved.restore(files::OPTIMIZER, |content| {
            self.optimizer.restored(content, progress.iterations)
        })?;
        (self.model, self.progress) = (model, progress);
        Ok(())
    }
}
