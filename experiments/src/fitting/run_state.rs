//! What there is to know of a run beside its model.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use burn::module::Module;
use burn_gp_models::AnyModel;

use super::checkpoint::files;
use super::{Checkpoint, StoppingPoint, TrainingLog, Validation};
use crate::arguments::RunOptions;
use crate::failure::Failure;

/// What there is to know of a run beside its model.
pub struct RunState {
    /// What was asked for.
    pub options: RunOptions,
    /// The checksum of the data.
    pub checksum: u32,
    /// The steps so far.
    pub log: TrainingLog,
    /// Validation, if there is any.
    pub validation: Option<Validation>,
    /// Where training stops, if that was found on held-out rows.
    pub stopping_point: Option<StoppingPoint>,
    /// The time of the steps.
    pub clock: Clock,
}

impl RunState {
    /// Steps made so far.
    pub fn step(&self) -> usize {
        self.log.entries.last().map_or(0, |entry| entry.report.step)
    }

    /// Whether there was no improvement on the validation rows for too long.
    pub fn is_exhausted(&self) -> bool {
        (self.validation.as_ref()).is_some_and(Validation::is_exhausted)
    }

    /// What a checkpoint keeps of it, as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let validation = self.validation.as_ref();
        Snapshot {
            step: self.step(),
            checkpoint: Checkpoint::new(
                self.options.clone(),
                self.checksum,
                self.clock.seconds(),
                validation.map(|validation| validation.progress.clone()),
                self.stopping_point.clone(),
            ),
            log: self.log.clone(),
            best: validation.and_then(|validation| validation.best.clone()),
        }
    }
}

/// The state of a run, shared with what burn's learner calls.
#[derive(Clone)]
pub struct SharedRunState(Arc<Mutex<RunState>>);

impl SharedRunState {
    /// Shares `state`.
    pub fn new(state: RunState) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }

    /// The state, for this thread alone.
    pub fn lock(&self) -> MutexGuard<'_, RunState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures the time of the steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    before: f64,
    running: Option<Instant>,
}

impl Clock {
    /// A clock that shows `seconds` and stands still.
    pub fn at(seconds: f64) -> Self {
        Self {
            before: seconds,
            running: None,
        }
    }

    /// The seconds it ran.
    pub fn seconds(&self) -> f64 {
        let running = self
            .running
            .map_or(0.0, |start| start.elapsed().as_secs_f64());
        self.before + running
    }

    /// Lets it run.
    pub fn start(&mut self) {
        self.stop();
        self.running = Some(Instant::now());
    }

    /// Stops it.
    pub fn stop(&mut self) {
        *self = Self::at(self.seconds());
    }
}

/// What a checkpoint keeps of a run beside its trainer.
pub struct Snapshot {
    /// The step it was taken after.
    pub step: usize,
    checkpoint: Checkpoint,
    log: TrainingLog,
    best: Option<AnyModel>,
}

impl Snapshot {
    /// Writes it into an existing folder.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(self, folder: &Path) -> Result<(), Failure> {
        if let Some(best) = self.best {
            let path = folder.join(files::BEST);
            best.save_file(&path).map_err(|reason| Failure::Write {
                path,
                source: std::io::Error::other(reason.to_string()),
            })?;
        }
        let path = folder.join(files::RUN);
        let text = serde_json::to_string_pretty(&self.checkpoint)
            .map_err(std::io::Error::other)
            .map_err(Failure::writing(&path))?;
        fs::write(&path, text).map_err(Failure::writing(&path))?;
        let path = folder.join(files::LOG);
        fs::write(&path, self.log.to_csv()).map_err(Failure::writing(&path))
    }
}
