//! Runs of `train` within an experiment.

use super::in_process::Watch;
use crate::failure::Failure;
use crate::report::score_line;
use crate::training_run::{RunEnd, TrainingRun};

/// Makes the run called `name` unless it was made before; whether it is there.
///
/// # Errors
///
/// When files cannot be read or written, or the user wants to stop.
pub(super) fn make(run: &TrainingRun, name: &str, watch: &Watch<'_>) -> Result<bool, Failure> {
    match run.execute(watch.quiet, watch.interrupt)? {
        RunEnd::Finished(metrics) => {
            if !watch.quiet {
                let (scores, seconds) = (score_line(&metrics.scores), metrics.train_seconds);
                eprintln!("{name}: {scores}, {seconds:.1} s");
            }
            Ok(true)
        }
        RunEnd::Refused | RunEnd::Broken => Ok(false),
        RunEnd::Interrupted => Err(Failure::InterruptedExperiment {
            folder: watch.folder.to_owned(),
        }),
    }
}

/// Nothing, if no runs are `broken`.
///
/// # Errors
///
/// [`Failure::BrokenRuns`].
pub(super) fn all_made(broken: Vec<String>) -> Result<(), Failure> {
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::BrokenRuns { runs: broken }),
    }
}
