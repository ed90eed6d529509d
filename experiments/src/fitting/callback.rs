//! The callback of a run: log, validation, scores of the test rows, checkpoints and the end after
//! every step.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use burn_gp_models::{
    AnyModel,
    training::{AnyTrainer, Callback, StepReport, Trainer, TrainingError},
};

use super::{Checkpoints, Interrupt, LogEntry, RunState};
use crate::failure::Failure;
use crate::progress::Progress;

/// Time between two checkpoints, unless a number of steps is given.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);

/// Why training broke off.
pub(super) enum Broken {
    /// A step failed.
    Step(TrainingError),
    /// A checkpoint could not be written.
    Checkpoint(Failure),
}

impl From<TrainingError> for Broken {
    fn from(error: TrainingError) -> Self {
        Self::Step(error)
    }
}

/// The callback of a run. Training stops after the last step, after too many validations without
/// improvement, or when the user interrupts it. A checkpoint is written then, and at intervals before.
pub(super) struct RunCallback<'a> {
    state: &'a mut RunState,
    checkpoints: &'a Checkpoints,
    interrupt: &'a Interrupt,
    progress: Progress,
    /// The time and the step of the last checkpoint.
    written: (Instant, usize),
}

impl<'a> RunCallback<'a> {
    /// A callback that starts at the current step.
    pub fn new(
        state: &'a mut RunState,
        checkpoints: &'a Checkpoints,
        interrupt: &'a Interrupt,
        progress: Progress,
    ) -> Self {
        let written = (Instant::now(), state.step());
        Self {
            state,
            checkpoints,
            interrupt,
            progress,
            written,
        }
    }

    /// Adds a step to the log and shows it.
    fn enter(&mut self, report: StepReport) {
        let entry = LogEntry {
            report,
            seconds: self.state.clock.seconds(),
            validation: None,
        };
        self.state.log.entries.push(entry);
        self.progress.update(&entry);
    }

    /// Validates the model after `step` if a validation is due.
    fn validate(&mut self, trainer: &AnyTrainer<AnyModel>, step: usize) -> Result<(), Broken> {
        let is_last = trainer.is_finished();
        let validation = self.state.validation.as_mut();
        let due = validation.filter(|validation| validation.is_due(step, is_last));
        if let Some(validation) = due {
            let model = trainer.model();
            let score = (validation.look_at(step, model))
                .map_err(|error| TrainingError::of_prediction(error, step, model))?;
            if let Some(entry) = self.state.log.entries.last_mut() {
                entry.validation = Some(score);
                self.progress.update(entry);
            }
        }
        Ok(())
    }

    /// Scores the test rows after `step` if that is due.
    fn score(&mut self, trainer: &AnyTrainer<AnyModel>, step: usize) -> Result<(), Broken> {
        let is_last = trainer.is_finished() || self.state.is_exhausted();
        let scores = self.state.test_scores.as_mut();
        if let Some(scores) = scores.filter(|scores| scores.is_due(step, is_last)) {
            let model = trainer.model();
            (scores.look_at(model, &self.state.log))
                .map_err(|error| TrainingError::of_prediction(error, step, model))?;
        }
        Ok(())
    }

    fn is_checkpoint_due(&self, step: usize) -> bool {
        let (written, last) = self.written;
        match self.state.options.checkpoint_every {
            Some(steps) => step - last >= steps,
            None => written.elapsed() >= CHECKPOINT_INTERVAL,
        }
    }
}

impl Callback<AnyTrainer<AnyModel>, Broken> for RunCallback<'_> {
    fn before_step(&mut self, _trainer: &AnyTrainer<AnyModel>) {
        self.state.clock.start();
    }

    fn after_step(
        &mut self,
        trainer: &AnyTrainer<AnyModel>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, Broken> {
        self.state.clock.stop();
        self.enter(report);
        self.validate(trainer, report.step)?;
        self.score(trainer, report.step)?;
        let stops =
            trainer.is_finished() || self.state.is_exhausted() || self.interrupt.is_requested();
        if stops || self.is_checkpoint_due(report.step) {
            self.written = (Instant::now(), report.step);
            let saved = (self.checkpoints).save(self.state, |folder| trainer.save(folder));
            saved.map_err(Broken::Checkpoint)?;
        }
        Ok(match stops {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}
