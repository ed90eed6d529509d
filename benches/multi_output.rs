//! Time of a training step of sparse variational regression for 1, 10 and 50 outputs.
//!
//! `cargo bench --bench multi_output` prints one line of JSON per row: the median
//! time of a step and its ratio to the step with one output. The step is that of `svgp_step` in
//! f32 with 256 inducing points and batches of 512. Outputs share the kernel and the inducing
//! points, have separate kernels and inducing points, or are mixtures of 5 latent functions with a
//! shared kernel.

use std::time::{Duration, Instant};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
};
use burn_gp_core::{
    inducing::{InducingPoints, SeparatePoints},
    kernels::{Kernels, StationaryConfig, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Jitter, Stationary},
    process::{CovarianceShape, VariationalGaussian},
    variational::{AnyPosterior, Coregionalized, Whitened, first_mixing},
};
use burn_gp_models::{
    Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, TrainingError},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;

const DIMENSIONS: usize = 8;
const INDUCING: usize = 256;
const BATCH: usize = 512;

/// The number of latent functions of the mixtures.
const LATENT: usize = 5;

const DTYPE: DType = DType::F32;

fn main() -> Result<(), TrainingError> {
    allocator::keep_freed_pages();
    let mut reference = None;
    for outputs in [1, 10, 50] {
        let time = step_time(outputs, kernel(), shared(outputs))?;
        let alone = *reference.get_or_insert(time);
        report("shared kernel", outputs, time, alone);
    }
    let alone = reference.unwrap_or_default();
    for outputs in [10, 50] {
        let kernels = Kernels::separate((0..outputs).map(|_| kernel()));
        let time = step_time(outputs, kernels, separate(outputs))?;
        report("separate kernels", outputs, time, alone);
    }
    for outputs in [10, 50] {
        let mixing = first_mixing(outputs, LATENT, 0, (&Device::flex(), DTYPE));
        let posterior = Coregionalized::new(shared(LATENT), mixing);
        let time = step_time(outputs, kernel(), posterior)?;
        report("mixtures of 5 latent functions", outputs, time, alone);
    }
    Ok(())
}

fn report(kind: &str, outputs: usize, time: Duration, alone: Duration) {
    println!(
        "{{\"outputs\": {outputs}, \"prior\": \"{kind}\", \"median_ms\": {:.3}, \"times_one_output\": {:.2}}}",
        time.as_secs_f64() * 1e3,
        time.as_secs_f64() / alone.as_secs_f64()
    );
}

fn random(rows: usize) -> Tensor<2> {
    let normal = Distribution::Normal(0.0, 1.0);
    Tensor::random([rows, DIMENSIONS], normal, (&Device::flex(), DTYPE))
}

/// Independent functions with one kernel and one set of inducing points.
fn shared(outputs: usize) -> Whitened {
    let options = (&Device::flex(), DTYPE);
    let shape = CovarianceShape::Full;
    let distribution = VariationalGaussian::standard(INDUCING, outputs, shape, options);
    let inducing = InducingPoints::new(random(INDUCING));
    Whitened::new(inducing, distribution, Jitter::relative(1e-4))
}

/// Independent functions with separate inducing points.
fn separate(outputs: usize) -> Whitened {
    let options = (&Device::flex(), DTYPE);
    let shape = CovarianceShape::Full;
    let distribution = VariationalGaussian::standard(INDUCING, outputs, shape, options);
    let points = random(INDUCING).unsqueeze::<3>().repeat_dim(0, outputs);
    Whitened::new(
        SeparatePoints::new(points),
        distribution,
        Jitter::relative(1e-4),
    )
}

fn kernel() -> StationaryKernel {
    StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, (&Device::flex(), DTYPE))
}

/// The median time of a step with Adam on all parameters.
fn step_time(
    outputs: usize,
    prior: impl Into<Kernels>,
    posterior: impl Into<AnyPosterior>,
) -> Result<Duration, TrainingError> {
    let device = Device::flex();
    device.seed(0);
    let options = (&device, DTYPE);
    let inputs = random(BATCH);
    let targets = inputs.clone().sum_dim(1).sin().repeat_dim(1, outputs);
    let likelihood = Gaussian::new(0.1, options);
    let model = Svgp::new(prior, ZeroMean::new(outputs), likelihood, posterior).train();
    let steps = 24;
    let training = MiniBatchTraining {
        batch_size: BATCH,
        ..MiniBatchTraining::new(steps)
    };
    let mut trainer = MiniBatchTrainer::new(model, TrainingData { inputs, targets }, training);
    let times: Result<Vec<Duration>, TrainingError> = (0..steps)
        .map(|_| {
            let start = Instant::now();
            trainer.step()?;
            Ok(start.elapsed())
        })
        .skip(steps / 4)
        .collect();
    let mut times = times?;
    times.sort();
    Ok(times[times.len() / 2])
}
