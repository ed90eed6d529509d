//! The callback of a run. After each step it handles the log, validation, scores of the test rows, checkpoints
//! and the end of training.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use burn_gp_models::{
    AnyModel,
    training::{Callback, StepReport, Trainer, TrainingError},
};

use super::{Checkpoints, Interrupt, LogEntry, RunState};
use crate::diagnostics::skipped_steps;
use crate::failure::Failure;
use crate::progress::Progress;

/// The time between two checkpoints, unless a number of steps is given.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);

/// The maximum time between two entries of the log of a run on a GPU.
const DISPLAY_INTERVAL: Duration = Duration::from_secs(1);

/// Why training failed.
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

/// The callback of a run. Training stops after the last step, after too many validations without improvement,
/// or when the user interrupts it. A checkpoint is written at the end and at intervals.
pub(super) struct RunCallback<'a> {
    state: &'a mut RunState,
    checkpoints: &'a Checkpoints,
    interrupt: &'a Interrupt,
    progress: Progress,
    /// The time and the step of the last checkpoint.
    written: (Instant, usize),
    /// The time of the last entry of the log.
    shown: Instant,
    has_warned: bool,
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
            shown: Instant::now(),
            has_warned: false,
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
        self.shown = Instant::now();
    }

    /// Warns once, above the display of the progress, that the device has skipped a step. The warnings at the
    /// end give the number of skipped steps.
    fn warn(&mut self, trainer: &dyn Trainer<Model = AnyModel>) {
        let skipped = trainer.skipped_steps();
        if let Some(text) = skipped_steps(skipped).filter(|_| !self.has_warned) {
            self.has_warned = true;
            self.progress.warn(&text);
        }
    }

    fn is_validation_due(&self, trainer: &dyn Trainer<Model = AnyModel>, step: usize) -> bool {
        let is_last = trainer.is_finished();
        (self.state.validation.as_ref()).is_some_and(|validation| validation.is_due(step, is_last))
    }

    fn are_scores_due(&self, trainer: &dyn Trainer<Model = AnyModel>, step: usize) -> bool {
        let is_last = trainer.is_finished() || self.state.is_exhausted();
        (self.state.test_scores.as_ref()).is_some_and(|scores| scores.is_due(step, is_last))
    }

    /// Validates the model after `step` if a validation is due.
    fn validate(
        &mut self,
        trainer: &dyn Trainer<Model = AnyModel>,
        step: usize,
    ) -> Result<(), Broken> {
        let is_due = self.is_validation_due(trainer, step);
        let due = self.state.validation.as_mut().filter(|_| is_due);
        if let Some(validation) = due {
            let model = trainer.model();
            let score = (validation.score(step, model))
                .map_err(|error| TrainingError::of_prediction(error, step, model))?;
            if let Some(entry) = self.state.log.entries.last_mut() {
                entry.validation = Some(score);
                self.progress.update(entry);
            }
        }
        Ok(())
    }

    /// Scores the test rows after `step` if a score is due.
    fn score(
        &mut self,
        trainer: &dyn Trainer<Model = AnyModel>,
        step: usize,
    ) -> Result<(), Broken> {
        let is_due = self.are_scores_due(trainer, step);
        if let Some(scores) = self.state.test_scores.as_mut().filter(|_| is_due) {
            let model = trainer.model();
            (scores.record(model, &self.state.log))
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

impl Callback<AnyModel, Broken> for RunCallback<'_> {
    fn before_step(&mut self, _trainer: &dyn Trainer<Model = AnyModel>) {
        self.state.clock.start();
    }

    /// Validation, scores and checkpoints need the report of their step; the display needs one per second.
    fn needs_report(&self, trainer: &dyn Trainer<Model = AnyModel>) -> bool {
        let step = trainer.steps_made();
        self.shown.elapsed() >= DISPLAY_INTERVAL
            || self.interrupt.is_requested()
            || self.is_validation_due(trainer, step)
            || self.are_scores_due(trainer, step)
            || self.is_checkpoint_due(step)
    }

    fn after_step(
        &mut self,
        trainer: &dyn Trainer<Model = AnyModel>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, Broken> {
        self.state.clock.stop();
        self.enter(report);
        self.warn(trainer);
        if report.step < trainer.steps_made() {
            // No report of this step was needed, and the model is already that of a later step.
            return Ok(ControlFlow::Continue(()));
        }
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
