//! Training steps on a device, timed and counted.

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device};
use burn_gp_core::ops::{Launches, device_reads, launches};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::StepModel;
use crate::caught::caught;
use burn_gp_models::training::{
    MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, TrainingError,
};

/// Steps before the measured ones, which compile the kernels.
const WARM_UP: usize = 3;

/// Measurements of a model's training steps on a device.
#[derive(Clone, Debug)]
pub struct StepMeasurement {
    /// The time of a step, from the start of the first to the end of the device's work on the
    /// last.
    pub seconds: f64,
    /// The time of a step until the host has given all of its work to the device. Every 32 steps the host
    /// waits for their losses, which counts.
    pub enqueuing: f64,
    /// The kernels that a step launches. None on a CPU.
    pub launches: Launches,
    /// How often a step waits to read from the device, on average over the measured steps.
    pub reads: f64,
    /// The number of parameters that Adam changes.
    pub parameters: usize,
}

/// Trains `model` for `steps` measured steps on random data.
///
/// # Errors
///
/// When the model cannot be initialized, or a step or the device fails.
pub fn measure_steps(
    model: &StepModel,
    device: &Device,
    dtype: DType,
    steps: usize,
) -> Result<StepMeasurement, String> {
    caught(|| measured(model, device, dtype, steps))
}

fn measured(
    model: &StepModel,
    device: &Device,
    dtype: DType,
    steps: usize,
) -> Result<StepMeasurement, Box<dyn Error + Send + Sync>> {
    let steps = steps.max(1);
    let data = model.config.arranged(data(model, device, dtype));
    let trained = model.config.init(&data)?;
    let parameters = burn::module::Module::num_params(&trained);
    let training = MiniBatchTraining {
        batch_size: model.batch,
        ..MiniBatchTraining::new(WARM_UP + steps + 1)
    };
    let mut trainer = MiniBatchTrainer::new(trained, data, training);
    make(&mut trainer, WARM_UP)?;
    let (made, launches) = launches(|| make(&mut trainer, 1));
    made?;
    device.sync()?;
    let (reads, start) = (device_reads(), Instant::now());
    make(&mut trainer, steps)?;
    let enqueuing = start.elapsed();
    trainer.read_reports()?;
    device.sync()?;
    let each = |total: f64| total / steps as f64;
    Ok(StepMeasurement {
        seconds: each(start.elapsed().as_secs_f64()),
        enqueuing: each(enqueuing.as_secs_f64()),
        reads: each((device_reads() - reads) as f64),
        launches,
        parameters,
    })
}

fn make<M>(trainer: &mut MiniBatchTrainer<M>, steps: usize) -> Result<(), TrainingError>
where
    MiniBatchTrainer<M>: Trainer,
{
    (0..steps).try_for_each(|_| trainer.advance().map(|_| ()))
}

/// Random inputs and targets of two batches.
fn data(model: &StepModel, device: &Device, dtype: DType) -> TrainingData {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let rows = 2 * model.batch;
    let inputs = (0..rows * model.columns).map(|_| random.random_range(-2.0..2.0));
    let inputs: Vec<f64> = inputs.collect();
    let targets = inputs.chunks(model.columns).enumerate();
    let targets: Vec<f64> = targets
        .map(|(row, input)| match model.classes {
            Some(classes) => (row % classes) as f64,
            None => (2.0 * input[0]).sin(),
        })
        .collect();
    TrainingData::new(&inputs, &targets, device, dtype)
}
