//! The message and the exit code of a failure.

use burn_gp_models::SavedModelError;
use burn_gp_runs::failure::Failure;

/// The exit code: 2 for a usage error, 1 if the run failed, 130 after Ctrl-C, 0 if the reader closed the
/// standard output.
pub fn code(failure: &Failure) -> u8 {
    match failure {
        Failure::Arguments(_)
        | Failure::Setting(_)
        | Failure::Configuration(_)
        | Failure::Data(_)
        | Failure::Target(_)
        | Failure::Folder(_)
        | Failure::Model(_)
        | Failure::Rows(_)
        | Failure::Destination(_)
        | Failure::NoData
        | Failure::SavedModel(
            SavedModelError::Read { .. }
            | SavedModelError::Damaged(_)
            | SavedModelError::Version { .. },
        ) => 2,
        Failure::SavedModel(SavedModelError::Write { .. })
        | Failure::Training { .. }
        | Failure::Prediction(_)
        | Failure::Score(_)
        | Failure::Calibration(_)
        | Failure::Write { .. }
        | Failure::Unsaved { .. }
        | Failure::Plot(_)
        | Failure::Interrupt(_)
        | Failure::DeviceCheck { .. }
        | Failure::FollowedNoise { .. }
        | Failure::Device(_)
        | Failure::BrokenRuns { .. } => 1,
        Failure::Interrupted { .. } | Failure::InterruptedExperiment { .. } => 130,
        Failure::ClosedOutput => 0,
    }
}

/// The message for the standard error, if any.
pub fn message(failure: &Failure) -> Option<String> {
    match failure {
        Failure::ClosedOutput => None,
        Failure::Interrupted { .. } | Failure::InterruptedExperiment { .. } => {
            Some(failure.to_string())
        }
        _ => Some(format!("error: {failure}")),
    }
}
