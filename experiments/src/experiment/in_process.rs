//! Training in the program's own process, for experiments that look at models on the way.

use std::time::Instant;

use burn_gp_models::{
    AnySvgp,
    training::{MiniBatchTrainer, Trainer},
};

use super::ExperimentFolder;
use crate::failure::Failure;
use crate::fitting::{Interrupt, LogEntry};
use crate::progress::Progress;

/// Who watches the trainings of an experiment in the program's own process.
pub(super) struct Watch<'a> {
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

    /// Says which model is next.
    pub fn announce(&self, title: &str) {
        if !self.quiet {
            eprintln!("{title} ...");
        }
    }

    /// Makes all steps; after each, `look` gets the trainer and the seconds spent in steps.
    ///
    /// # Errors
    ///
    /// When a step cannot be made, `look` fails, or the user wants to stop.
    pub fn train(
        &self,
        trainer: &mut MiniBatchTrainer<AnySvgp>,
        mut look: impl FnMut(&MiniBatchTrainer<AnySvgp>, f64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let planned = trainer.steps_planned();
        let mut progress = Progress::new(trainer.steps_made(), planned, self.quiet);
        let mut seconds = 0.0;
        while !trainer.is_finished() {
            if self.interrupt.is_requested() {
                return Err(Failure::InterruptedExperiment {
                    folder: self.folder.path().to_owned(),
                });
            }
            let start = Instant::now();
            let report = trainer.step().map_err(|source| Failure::Training {
                source: Box::new(source),
                advice: "Try --dtype f64.".into(),
            })?;
            seconds += start.elapsed().as_secs_f64();
            progress.update(&LogEntry {
                report,
                seconds,
                validation: None,
            });
            look(trainer, seconds)?;
        }
        Ok(())
    }
}
