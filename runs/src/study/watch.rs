//! Supervision of training in experiments: runs of `train`, and models that are evaluated during
//! training.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use burn_gp_models::training::Trainer;

use super::ExperimentFolder;
use crate::failure::Failure;
use crate::fitting::{Interrupt, LogEntry};
use crate::progress::Progress;
use crate::report::score_line;
use crate::standard_error::tell;
use crate::training_run::{RunEnd, TrainingRun};

/// Progress and interruption of the training runs of an experiment.
pub struct RunSupervisor {
    /// Stops training.
    interrupt: Interrupt,
    folder: PathBuf,
    /// Whether a run of the experiment is missing; shared with its folder.
    has_gaps: Rc<Cell<bool>>,
    /// Whether to hide the progress bar.
    quiet: bool,
}

impl RunSupervisor {
    /// A watch that stops training on Ctrl-C. If `quiet`, it shows nothing.
    ///
    /// # Errors
    ///
    /// If signals cannot be received.
    pub fn new(folder: &ExperimentFolder, quiet: bool) -> Result<Self, Failure> {
        Ok(Self {
            interrupt: Interrupt::install()?,
            folder: folder.path().to_owned(),
            has_gaps: folder.has_gaps(),
            quiet,
        })
    }

    /// Prints the name of the next model.
    pub fn announce(&self, title: &str) {
        self.tell(&format!("{title} ..."));
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            tell(text);
        }
    }

    /// Performs the run called `name` unless it is finished. Returns whether the run exists.
    ///
    /// # Errors
    ///
    /// If files cannot be read or written, or the user interrupts the program.
    pub fn run(&self, run: &TrainingRun, name: &str) -> Result<bool, Failure> {
        match run.execute(self.quiet, &self.interrupt)? {
            RunEnd::Finished(metrics) => {
                let (scores, seconds) = (
                    metrics.scores.as_ref().map_or_else(String::new, score_line),
                    metrics.training.train_seconds,
                );
                self.tell(&format!("{name}: {scores}, {seconds:.1} s"));
                Ok(true)
            }
            RunEnd::Refused | RunEnd::Broken => {
                self.has_gaps.set(true);
                Ok(false)
            }
            RunEnd::Interrupted => Err(self.interrupted()),
        }
    }

    fn interrupted(&self) -> Failure {
        Failure::InterruptedExperiment(self.folder.clone())
    }

    /// Runs all training steps and returns the duration of each in seconds.
    ///
    /// # Errors
    ///
    /// If a step fails, or the user interrupts the program.
    pub fn train<T: Trainer>(&self, trainer: &mut T) -> Result<Vec<f64>, Failure> {
        self.train_with_snapshots(trainer, 1, |_, _| Ok(()))
    }

    /// Runs all training steps and returns the duration of each in seconds. Calls `snapshot` with the
    /// trainer and the number of the step after every `interval` steps and after the last step.
    ///
    /// # Errors
    ///
    /// If a step fails, `snapshot` fails, or the user interrupts the program.
    pub fn train_with_snapshots<T: Trainer>(
        &self,
        trainer: &mut T,
        interval: usize,
        mut snapshot: impl FnMut(&T, usize) -> Result<(), Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let planned = trainer.steps_planned();
        let mut progress = Progress::new(trainer.steps_made(), planned, self.quiet);
        let (mut seconds, mut total) = (Vec::new(), 0.0);
        while !trainer.is_finished() {
            if self.interrupt.is_requested() {
                return Err(self.interrupted());
            }
            let start = Instant::now();
            let report = trainer.step().map_err(|source| Failure::Training {
                source: Box::new(source),
                advice: "Try --dtype f64.".into(),
            })?;
            let duration = start.elapsed().as_secs_f64();
            seconds.push(duration);
            total += duration;
            progress.update(&LogEntry {
                report,
                seconds: total,
                validation: None,
            });
            if report.step.is_multiple_of(interval) || trainer.is_finished() {
                snapshot(trainer, report.step)?;
            }
        }
        Ok(seconds)
    }
}

/// Fails if `broken` names any runs.
///
/// # Errors
///
/// [`Failure::BrokenRuns`].
pub fn all_made(broken: Vec<String>) -> Result<(), Failure> {
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::BrokenRuns(broken)),
    }
}
