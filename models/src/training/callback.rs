//! Work between the steps of training.

use std::ops::ControlFlow;

use super::{StepReport, Trainer, TrainingError};

/// Work between the steps of [`Trainer::run`]: a log, checkpoints, validation, an early stop. Errors
/// are of type `E`.
pub trait Callback<T: Trainer, E = TrainingError> {
    /// Called before every step. Does nothing by default.
    fn before_step(&mut self, _trainer: &T) {}

    /// Whether the report of the step that `trainer` has just made is needed now. On a GPU, the CPU
    /// waits for it. If no callback needs it, the trainer may be several steps ahead when the report
    /// arrives; reports arrive in order. By default, every report is needed.
    fn needs_report(&self, _trainer: &T) -> bool {
        true
    }

    /// Called after every step, with the report of the step. Training stops on
    /// [`ControlFlow::Break`].
    ///
    /// # Errors
    ///
    /// An error ends training.
    fn after_step(&mut self, trainer: &T, report: StepReport) -> Result<ControlFlow<()>, E>;
}

/// A function that is called after every step.
impl<T: Trainer, E, F: FnMut(&T, StepReport) -> Result<ControlFlow<()>, E>> Callback<T, E> for F {
    fn after_step(&mut self, trainer: &T, report: StepReport) -> Result<ControlFlow<()>, E> {
        self(trainer, report)
    }
}
