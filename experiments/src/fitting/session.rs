//! A training run: its trainer, its log, its validation, and the loop over them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use burn::module::Module;
use burn_gp::ops::NotPositiveDefinite;
use burn_gp_models::{
    TrainedModel,
    training::{MiniBatchModel, TrainingError, describe},
};

use super::checkpoint::{self, files, not_written};
use super::{AnyTrainer, Checkpoint, Checkpoints, Interrupt, LogEntry, TrainingLog, Validation};
use crate::arguments::RunOptions;
use crate::failure::{Failure, FolderError};
use crate::progress::Progress;

/// Time between two checkpoints, unless a number of steps is given.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);

/// A training run.
pub struct Session {
    /// The trainer.
    pub trainer: AnyTrainer,
    /// Validation, if there is any.
    pub validation: Option<Validation>,
    /// What happened so far.
    pub log: TrainingLog,
    /// Seconds of training so far.
    pub seconds: f64,
    /// The run, for its checkpoints.
    pub options: RunOptions,
    /// The checksum of the data, for its checkpoints.
    pub checksum: u32,
}

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Training is over.
    Finished,
    /// The user wants to stop.
    Interrupted,
}

/// A trained model with the loss per datum that it ended with.
pub struct Fitted {
    /// The model.
    pub model: TrainedModel,
    /// The negative objective per datum, on all training rows.
    pub loss: f64,
    /// The step it is from.
    pub step: usize,
}

impl Session {
    /// Makes steps until training is over or interrupted; writes checkpoints on the way.
    ///
    /// # Errors
    ///
    /// When a step cannot be made or a checkpoint cannot be written.
    pub fn run(
        &mut self,
        checkpoints: &Checkpoints,
        interrupt: &Interrupt,
        progress: &mut Progress,
    ) -> Result<Outcome, Failure> {
        let mut last_checkpoint = (Instant::now(), self.trainer.steps_made());
        while !self.is_over() {
            if interrupt.is_requested() {
                self.save(checkpoints)?;
                return Ok(Outcome::Interrupted);
            }
            let entry = self
                .step()
                .map_err(|error| self.failure(error, checkpoints))?;
            progress.update(&entry);
            let is_due = match self.options.checkpoint_every {
                Some(steps) => entry.report.step - last_checkpoint.1 >= steps,
                None => last_checkpoint.0.elapsed() >= CHECKPOINT_INTERVAL,
            };
            if is_due {
                self.save(checkpoints)?;
                last_checkpoint = (Instant::now(), entry.report.step);
            }
        }
        Ok(Outcome::Finished)
    }

    fn is_over(&self) -> bool {
        let exhausted = self
            .validation
            .as_ref()
            .is_some_and(Validation::is_exhausted);
        self.trainer.is_finished() || exhausted
    }

    /// One step, with the validation after it if one is due.
    fn step(&mut self) -> Result<LogEntry, TrainingError> {
        let start = Instant::now();
        let report = self.trainer.step()?;
        let is_last = self.trainer.is_finished();
        let validation = match (&mut self.validation, self.trainer.variational()) {
            (Some(validation), Some(model)) if validation.is_due(report.step, is_last) => {
                let score = validation.look_at(report.step, model);
                Some(score.map_err(|source| TrainingError::Factorization {
                    step: report.step,
                    source,
                    hyperparameters: describe(&model.hyperparameters()),
                })?)
            }
            _ => None,
        };
        self.seconds += start.elapsed().as_secs_f64();
        let entry = LogEntry {
            report,
            seconds: self.seconds,
            validation,
        };
        self.log.entries.push(entry);
        Ok(entry)
    }

    fn failure(&self, source: TrainingError, checkpoints: &Checkpoints) -> Failure {
        let kept = checkpoints.latest_step().map_or_else(String::new, |step| {
            format!(" The checkpoint of step {step} is kept.")
        });
        Failure::Training {
            source: Box::new(source),
            advice: format!(
                "Try a lower --learning-rate, a larger --jitter, --gradient-norm 10 or --dtype \
                 f64.{kept}"
            ),
        }
    }

    /// Writes a checkpoint of the current step.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn save(&self, checkpoints: &Checkpoints) -> Result<(), Failure> {
        checkpoints.save(self.trainer.steps_made(), |folder| self.write(folder))
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        self.trainer.save(folder).map_err(not_written(folder))?;
        let validation = self.validation.as_ref();
        if let Some(best) = validation.and_then(|validation| validation.best.clone()) {
            let path = folder.join(files::BEST);
            best.save_file(&path).map_err(|reason| Failure::Write {
                path,
                source: std::io::Error::other(reason.to_string()),
            })?;
        }
        let checkpoint = Checkpoint::new(
            self.options.clone(),
            self.checksum,
            self.seconds,
            validation.map(|validation| validation.progress.clone()),
        );
        let path = folder.join(files::RUN);
        let text = serde_json::to_string_pretty(&checkpoint)
            .map_err(std::io::Error::other)
            .map_err(Failure::writing(&path))?;
        fs::write(&path, text).map_err(Failure::writing(&path))?;
        let path = folder.join(files::LOG);
        fs::write(&path, self.log.to_csv()).map_err(Failure::writing(&path))
    }

    /// Goes on from the checkpoint in `folder`.
    ///
    /// # Errors
    ///
    /// When a file is missing, damaged, or does not fit.
    pub fn restore(&mut self, folder: &Path) -> Result<(), FolderError> {
        let damaged = |path: &Path, reason: String| FolderError::DamagedCheckpoint {
            path: path.to_owned(),
            reason,
        };
        let checkpoint = checkpoint::read(folder)?;
        (self.trainer.restore(folder)).map_err(|reason| damaged(folder, reason.to_string()))?;
        let path = folder.join(files::LOG);
        let text =
            fs::read_to_string(&path).map_err(|reason| damaged(&path, reason.to_string()))?;
        self.log = TrainingLog::from_csv(&text)
            .ok_or_else(|| damaged(&path, "it is not a training log".into()))?;
        self.seconds = checkpoint.seconds;
        if let (Some(validation), Some(progress)) = (&mut self.validation, checkpoint.validation) {
            let path = folder.join(files::BEST);
            if let (Some(_), Some(model)) = (progress.best_score, self.trainer.variational()) {
                let best = model.clone().try_load_file(&path);
                validation.best = Some(best.map_err(|reason| damaged(&path, reason.to_string()))?);
            }
            validation.progress = progress;
        }
        Ok(())
    }

    /// The model to keep: the best on the validation rows, or the last.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn fitted(&self) -> Result<Fitted, NotPositiveDefinite> {
        let best = self.validation.as_ref().and_then(|validation| {
            let best = validation.best.as_ref()?;
            Some((best, validation.progress.best_step))
        });
        let last_step = self.trainer.steps_made();
        let variational = best.or(self.trainer.variational().map(|model| (model, last_step)));
        if let Some((model, step)) = variational {
            return Ok(Fitted {
                model: TrainedModel::variational(model),
                loss: self.trainer.loss(model)?,
                step,
            });
        }
        let last = self.log.entries.last();
        Ok(Fitted {
            model: self.trainer.trained()?,
            loss: last.map_or(f64::NAN, |entry| entry.report.loss),
            step: last_step,
        })
    }
}
