//! The trainings of an experiment: runs of `train`, and models that are looked at on the way.

use std::time::Instant;

use burn_gp_models::training::Trainer;

use super::ExperimentFolder;
use crate::failure::Failure;
use crate::fitting::{Interrupt, LogEntry};
use crate::progress::{Progress, RowProgress};
use crate::report::score_line;
use crate::training_run::{RunEnd, TrainingRun};

/// Who watches the trainings of an experiment.
pub struct Watch<'a> {
    /// Stops them.
    interrupt: Interrupt,
    folder: &'a ExperimentFolder,
    /// Without a bar.
    quiet: bool,
}

impl<'a> Watch<'a> {
    /// A watch that a signal of the user's stops, `quiet` if nothing is to be shown.
    ///
    /// # Errors
    ///
    /// When signals cannot be received.
    pub fn new(folder: &'a ExperimentFolder, quiet: bool) -> Result<Self, Failure> {
        Ok(Self {
            interrupt: Interrupt::install()?,
            folder,
            quiet,
        })
    }

    /// The progress of an evaluation of `rows` test rows.
    pub fn rows(&self, rows: usize) -> RowProgress {
        RowProgress::new("test row", rows, self.quiet)
    }

    /// Says which model is next.
    pub fn announce(&self, title: &str) {
        self.tell(&format!("{title} ..."));
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Makes the run called `name` unless it was made before; whether it is there.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written, or the user wants to stop.
    pub fn run(&self, run: &TrainingRun, name: &str) -> Result<bool, Failure> {
        match run.execute(self.quiet, &self.interrupt)? {
            RunEnd::Finished(metrics) => {
                let (scores, seconds) = (score_line(&metrics.scores), metrics.train_seconds);
                self.tell(&format!("{name}: {scores}, {seconds:.1} s"));
                Ok(true)
            }
            RunEnd::Refused | RunEnd::Broken => Ok(false),
            RunEnd::Interrupted => Err(self.interrupted()),
        }
    }

    fn interrupted(&self) -> Failure {
        Failure::InterruptedExperiment {
            folder: self.folder.path().to_owned(),
        }
    }

    /// Makes all steps; after each, `look` gets the trainer and what the step did; the seconds are
    /// those spent in steps.
    ///
    /// # Errors
    ///
    /// When a step cannot be made, `look` fails, or the user wants to stop.
    pub fn train<T: Trainer>(
        &self,
        trainer: &mut T,
        mut look: impl FnMut(&T, &LogEntry) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let planned = trainer.steps_planned();
        let mut progress = Progress::new(trainer.steps_made(), planned, self.quiet);
        let mut seconds = 0.0;
        while !trainer.is_finished() {
            if self.interrupt.is_requested() {
                return Err(self.interrupted());
            }
            let start = Instant::now();
            let report = trainer.step().map_err(|source| Failure::Training {
                source: Box::new(source),
                advice: "Try --dtype f64.".into(),
            })?;
            seconds += start.elapsed().as_secs_f64();
            let entry = LogEntry {
                report,
                seconds,
                validation: None,
            };
            progress.update(&entry);
            look(trainer, &entry)?;
        }
        Ok(())
    }
}

/// Nothing, if no runs are `broken`.
///
/// # Errors
///
/// [`Failure::BrokenRuns`].
pub fn all_made(broken: Vec<String>) -> Result<(), Failure> {
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::BrokenRuns { runs: broken }),
    }
}
