//! The state of a run besides its trainer.

use std::fs;
use std::path::Path;
use std::time::Instant;

use burn::module::Module;
use burn_gp_models::{AnyModel, InputNoise, training::Validation};

use super::checkpoint::files;
use super::{Checkpoint, StoppingPoint, TestScores, TrainingLog};
use crate::arguments::RunOptions;
use crate::failure::Failure;

/// The state of a run besides its trainer.
pub struct RunState {
    /// The options of the run.
    pub options: RunOptions,
    /// The checksum of the data.
    pub checksum: u32,
    /// The steps so far.
    pub log: TrainingLog,
    /// Validation, if there is any.
    pub validation: Option<Validation<AnyModel>>,
    /// Scores of the test rows during training, if requested.
    pub test_scores: Option<TestScores>,
    /// Where training stops, if held-out rows determined it.
    pub stopping_point: Option<StoppingPoint>,
    /// The time spent in training steps.
    pub clock: Clock,
    /// The noise that errors of the inputs make, after training with it.
    pub input_noise: Option<InputNoise>,
    /// The number of steps of earlier rounds of training.
    pub earlier_steps: usize,
}

impl RunState {
    /// The number of completed steps.
    pub fn step(&self) -> usize {
        self.log.entries.last().map_or(0, |entry| entry.report.step)
    }

    /// Whether the validation rows have not improved for too long.
    pub fn is_exhausted(&self) -> bool {
        (self.validation.as_ref()).is_some_and(Validation::is_exhausted)
    }

    /// Writes the files of a checkpoint into an existing folder.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
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
            self.clock.seconds(),
            validation.map(|validation| validation.progress.clone()),
            self.stopping_point.clone(),
        );
        let path = folder.join(files::RUN);
        let text = serde_json::to_string_pretty(&checkpoint)
            .map_err(std::io::Error::other)
            .map_err(Failure::writing(&path))?;
        fs::write(&path, text).map_err(Failure::writing(&path))?;
        if let Some(scores) = &self.test_scores {
            let path = folder.join(files::CURVE);
            fs::write(&path, scores.curve.to_csv()).map_err(Failure::writing(&path))?;
        }
        let path = folder.join(files::LOG);
        fs::write(&path, self.log.to_csv()).map_err(Failure::writing(&path))
    }
}

/// Measures the time of the training steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    before: f64,
    running: Option<Instant>,
}

impl Clock {
    /// A stopped clock that shows `seconds`.
    pub fn at(seconds: f64) -> Self {
        Self {
            before: seconds,
            running: None,
        }
    }

    /// The seconds on the clock.
    pub fn seconds(&self) -> f64 {
        let running = self
            .running
            .map_or(0.0, |start| start.elapsed().as_secs_f64());
        self.before + running
    }

    /// Starts the clock.
    pub fn start(&mut self) {
        self.stop();
        self.running = Some(Instant::now());
    }

    /// Stops the clock.
    pub fn stop(&mut self) {
        *self = Self::at(self.seconds());
    }
}
