//! The training loop.

use std::ops::ControlFlow;

use super::{StepReport, Trainer, TrainingError};

/// Work between the steps of [`fit`]: a log, checkpoints, validation, an early stop. Errors are of
/// type `E`.
pub trait Callback<T: Trainer, E = TrainingError> {
    /// Called before every step. Does nothing by default.
    fn before_step(&mut self, _trainer: &T) {}

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

/// Makes steps until training is over or a callback stops it. All callbacks see the last step.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use burn::tensor::{DType, Device};
/// use burn_gp::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{
///     SvgpConfig,
///     training::{
///         MiniBatchTrainer, MiniBatchTraining, StepReport, Trainer, TrainingData, TrainingError, fit,
///     },
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let data = TrainingData::new(&[0.0, 0.5, 1.0], &[1.0, 0.2, -1.0], &Device::flex(), DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let config = SvgpConfig::new(kernel, GaussianConfig::default()).with_inducing(2);
/// let mut trainer = MiniBatchTrainer::new(config.init(&data)?, data, MiniBatchTraining::new(9));
/// let mut losses = Vec::new();
/// let mut log = |_: &MiniBatchTrainer<_>, report: StepReport| {
///     losses.push(report.loss);
///     Ok::<_, TrainingError>(match losses.len() < 5 {
///         true => ControlFlow::Continue(()),
///         false => ControlFlow::Break(()),
///     })
/// };
/// fit(&mut trainer, &mut [&mut log])?;
/// assert_eq!(trainer.steps_made(), 5);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a step cannot be made (the model is then the one before the step), or a callback fails.
pub fn fit<T: Trainer, E: From<TrainingError>>(
    trainer: &mut T,
    callbacks: &mut [&mut dyn Callback<T, E>],
) -> Result<(), E> {
    while !trainer.is_finished() {
        for callback in callbacks.iter_mut() {
            callback.before_step(trainer);
        }
        let report = trainer.step()?;
        let mut stops = false;
        for callback in callbacks.iter_mut() {
            stops |= callback.after_step(trainer, report)?.is_break();
        }
        if stops {
            break;
        }
    }
    Ok(())
}
