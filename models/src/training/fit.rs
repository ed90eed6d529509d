//! Training in one call.

use burn::module::Module;

#[cfg(doc)]
use super::Trainer;
use super::{AnyTrainer, Callback, Model, Training, TrainingData, TrainingError};

/// Trains a model until training is over or a callback stops it. The model must be on an autodiff
/// device, the data on the same device with or without autodiff.
///
/// To take steps one by one, or to continue from a checkpoint, create a trainer and call
/// [`run`](trait.Trainer.html#method.run).
///
/// ```
/// use std::ops::ControlFlow;
///
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{
///     SvgpConfig,
///     training::{
///         MiniBatchTraining, StepReport, Trainer, TrainingData, TrainingError, fit,
///     },
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::flex().autodiff();
/// let data = TrainingData::new(&[0.0, 0.5, 1.0], &[1.0, 0.2, -1.0], &device, DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let config = SvgpConfig::new(kernel, GaussianConfig::default()).with_inducing(2);
/// let mut losses = Vec::new();
/// let mut log = |_: &dyn Trainer<Model = _>, report: StepReport| {
///     losses.push(report.loss);
///     Ok::<_, TrainingError>(match losses.len() < 5 {
///         true => ControlFlow::Continue(()),
///         false => ControlFlow::Break(()),
///     })
/// };
/// let training = MiniBatchTraining::new(9).into();
/// let trained = fit(config.init(&data)?, data, &training, &mut [&mut log])?;
/// assert_eq!(trained.steps_made(), 5);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a step or a callback fails.
pub fn fit<M: Module + Model, E: From<TrainingError>>(
    model: M,
    data: TrainingData,
    training: &Training,
    callbacks: &mut [&mut dyn Callback<M, E>],
) -> Result<AnyTrainer<M>, E> {
    let mut trainer = AnyTrainer::new(model, data, training.clone());
    trainer.run(callbacks)?;
    Ok(trainer)
}
