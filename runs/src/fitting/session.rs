//! A training run: its trainer, its log and its validation.

use std::path::Path;

use burn_gp_models::{
    AnyModel, AnyTrained, CheckedFolder, module_from_bytes,
    training::{AnyTrainer, DeviceFailure, TrainingError, on_device},
};

use super::callback::{Broken, RunCallback};
use super::checkpoint::{self, files};
use super::{Checkpoints, Clock, Interrupt, LearningCurve, RunState, TrainingLog};
use crate::failure::{Failure, FolderError};
use crate::progress::{Progress, RowProgress};

/// A training run.
pub struct Session {
    /// The trainer.
    pub trainer: AnyTrainer<AnyModel>,
    /// The state of the run besides the trainer.
    pub state: RunState,
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Training is over.
    Finished,
    /// The user interrupted it.
    Interrupted,
}

/// A trained model with its final loss.
pub struct Fitted {
    /// The model.
    pub model: AnyTrained,
    /// The negative objective per row, on all training rows.
    pub loss: f64,
    /// The step of the model.
    pub step: usize,
}

impl Session {
    /// Trains until the end or an interruption, and writes checkpoints.
    ///
    /// # Errors
    ///
    /// If a step fails or a checkpoint cannot be written.
    pub fn run(
        &mut self,
        checkpoints: &Checkpoints,
        interrupt: &Interrupt,
        progress: Progress,
    ) -> Result<Outcome, Failure> {
        if self.is_over() {
            return Ok(Outcome::Finished);
        }
        if interrupt.is_requested() {
            return Ok(Outcome::Interrupted);
        }
        let mut callback = RunCallback::new(&mut self.state, checkpoints, interrupt, progress);
        // A device may also fail while a callback reads from it.
        let ended = on_device(|| self.trainer.run(&mut [&mut callback]));
        match ended.unwrap_or_else(|source| Err(self.lost_device(source).into())) {
            Ok(()) if self.is_over() => Ok(Outcome::Finished),
            Ok(()) => Ok(Outcome::Interrupted),
            Err(Broken::Step(error)) => Err(failure(error, checkpoints)),
            Err(Broken::Checkpoint(failure)) => Err(failure),
        }
    }

    fn is_over(&self) -> bool {
        self.trainer.is_finished() || self.trainer.is_fixed() || self.state.is_exhausted()
    }

    fn lost_device(&self, source: DeviceFailure) -> TrainingError {
        TrainingError::Device {
            step: self.trainer.steps_made() + 1,
            source,
        }
    }

    /// The number of steps so far, in all rounds of training.
    pub fn steps_made(&self) -> usize {
        self.state.earlier_steps + self.trainer.steps_made()
    }

    /// Writes a checkpoint of the current step.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn save(&self, checkpoints: &Checkpoints) -> Result<(), Failure> {
        checkpoints.save(&self.state, |folder| self.trainer.save(folder))
    }

    /// Continues from the checkpoint in `folder`.
    ///
    /// # Errors
    ///
    /// If a file is missing, damaged, or does not fit the model.
    pub fn restore(&mut self, folder: &Path) -> Result<(), FolderError> {
        let damaged = |path: &Path, reason: String| FolderError::DamagedCheckpoint {
            path: path.to_owned(),
            reason,
        };
        let checkpoint = checkpoint::read(folder)?;
        let checked = CheckedFolder::open(folder)?;
        (self.trainer.restore(folder)).map_err(|error| match error {
            TrainingError::Checkpoint { path, reason, .. } => damaged(&path, reason),
            error => damaged(folder, error.to_string()),
        })?;
        let text = checked.read_text(files::LOG)?;
        let state = &mut self.state;
        state.log = TrainingLog::from_csv(&text)
            .ok_or_else(|| damaged(&folder.join(files::LOG), "it is not a training log".into()))?;
        if let Some(scores) = &mut state.test_scores {
            scores.curve = LearningCurve::read(&folder.join(files::CURVE))?;
        }
        state.clock = Clock::at(checkpoint.seconds);
        state.stopping_point = checkpoint.stopping_point;
        if let (Some(validation), Some(progress)) = (&mut state.validation, checkpoint.validation) {
            if progress.best_score.is_some() {
                let content = checked.read(files::BEST)?;
                let best = module_from_bytes(self.trainer.model().clone(), content);
                let best =
                    best.map_err(|reason| damaged(&folder.join(files::BEST), reason.to_string()))?;
                validation.best = Some(best);
            }
            validation.progress = progress;
        }
        Ok(())
    }

    /// The best model on the validation rows with its step, if they decide.
    fn best(&self) -> Option<(&AnyModel, usize)> {
        let validation = self.state.validation.as_ref()?;
        let best = validation.best.as_ref()?;
        Some((best, validation.progress.best_step))
    }

    /// The model to keep: the best one on the validation rows, or the last.
    pub fn kept_model(&self) -> &AnyModel {
        self.best().map_or(self.trainer.model(), |(model, _)| model)
    }

    /// The trained form of the [model to keep](Self::kept_model). Unless `quiet`, shows the progress
    /// of computing its loss over the training rows.
    ///
    /// # Errors
    ///
    /// If a covariance matrix cannot be factored, or rows cannot be read.
    pub fn fitted(&self, quiet: bool) -> Result<Fitted, Failure> {
        let best = self.best();
        let last_step = self.steps_made();
        let rows = self.trainer.data_count();
        let mut progress = RowProgress::new("training row", rows, quiet);
        let other = best.map(|(model, _)| model);
        let loss = self.trainer.loss(other, |row| progress.update(row))?;
        let (model, step) = best.unwrap_or((self.trainer.model(), last_step));
        Ok(Fitted {
            model: model.trained(self.trainer.data())?,
            loss,
            step,
        })
    }
}

/// A failed step with advice for the user.
pub(super) fn failure(source: TrainingError, checkpoints: &Checkpoints) -> Failure {
    let kept =
        (checkpoints.latest_step()).map(|step| format!("The checkpoint of step {step} is kept"));
    let advice = match (&source, kept) {
        (TrainingError::Device { .. }, Some(kept)) => format!(
            "{kept}; continue from it, here or on another device, with: burn-gp train --resume {} \
             --device DEVICE",
            checkpoints.run().display()
        ),
        (TrainingError::Device { .. }, None) => String::new(),
        (_, kept) => format!(
            "Try a lower --learning-rate, a larger --jitter, --gradient-norm 10 or --dtype \
             f64.{}",
            kept.map_or_else(String::new, |kept| format!(" {kept}."))
        ),
    };
    Failure::Training {
        source: Box::new(source),
        advice,
    }
}
