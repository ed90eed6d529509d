//! Work between the steps of training.

use std::ops::ControlFlow;

use super::{StepReport, Trainer, TrainingError};

/// Work between the steps of [`run`](trait.Trainer.html#method.run): a log, checkpoints, validation, an early stop.
/// `M` is the model, and errors are of type `E`.
pub trait Callback<M, E = TrainingError> {
    /// Called before every step. Does nothing by default.
    fn before_step(&mut self, _trainer: &dyn Trainer<Model = M>) {}

    /// Whether the report of the step that `trainer` has just made is needed now. On a GPU, the CPU
    /// waits for it. If no callback needs it, the trainer may be several steps ahead when the report
    /// arrives; reports arrive in order. By default, every report is needed.
    fn needs_report(&self, _trainer: &dyn Trainer<Model = M>) -> bool {
        true
    }

    /// Called after every step, with the report of the step. Training stops on
    /// [`ControlFlow::Break`].
    ///
    /// # Errors
    ///
    /// An error ends training.
    fn after_step(
        &mut self,
        trainer: &dyn Trainer<Model = M>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, E>;
}

/// A function that is called after every step.
impl<M, E, F> Callback<M, E> for F
where
    F: FnMut(&dyn Trainer<Model = M>, StepReport) -> Result<ControlFlow<()>, E>,
{
    fn after_step(
        &mut self,
        trainer: &dyn Trainer<Model = M>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, E> {
        self(trainer, report)
    }
}
