//! Training in the program's own process, for experiments that look at models on the way.

use std::path::Path;
use std::time::Instant;

use burn_gp_models::{
    AnySvgp,
    training::{MiniBatchTrainer, Trainer},
};

use crate::failure::Failure;
use crate::fitting::{Interrupt, LogEntry};
use crate::progress::Progress;

/// Who watches a training in the program's own process.
pub(super) struct Watch<'a> {
    /// Stops it.
    pub interrupt: &'a Interrupt,
    /// The experiment's folder.
    pub folder: &'a Path,
    /// Without a bar.
    pub quiet: bool,
}

impl Watch<'_> {
    /// Makes all steps; after each, `look` gets the trainer and what the step did; the seconds are
    /// those spent in steps.
    ///
    /// # Errors
    ///
    /// When a step cannot be made, `look` fails, or the user wants to stop.
    pub fn train(
        &self,
        trainer: &mut MiniBatchTrainer<AnySvgp>,
        mut look: impl FnMut(&MiniBatchTrainer<AnySvgp>, &LogEntry) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let planned = trainer.steps_planned();
        let mut progress = Progress::new(trainer.steps_made(), planned, self.quiet);
        let mut seconds = 0.0;
        while !trainer.is_finished() {
            if self.interrupt.is_requested() {
                return Err(Failure::InterruptedExperiment {
                    folder: self.folder.to_owned(),
                });
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
