//! The overhead of burn's learner: `MiniBatchTrainer` and `MiniBatchLearner`, which uses burn's
//! training loop, train the same sparse variational regression for the same steps.
//!
//! `cargo bench --bench learner_overhead` prints one line of JSON: the median
//! milliseconds of a step of `MiniBatchTrainer` (`own_ms`), of the learner (`learner_ms`), and of
//! the learner with a loss metric that it writes to a file (`learner_with_loss_ms`). All of them
//! read the loss of every step. The model has batches of 256, 128 inducing points and eight input
//! dimensions, in f32. The learner has no checkpoints and a renderer without output.

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use burn::{
    module::Module,
    tensor::{DType, Device, Distribution, Tensor},
    train::{SupervisedTraining, metric::LossMetric},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    likelihoods::Gaussian,
    means::ConstantMean,
    ops::{Jitter, Stationary},
    process::{CovarianceShape, VariationalGaussian},
    variational::Whitened,
};
use burn_gp_models::{
    Svgp,
    training::{
        MiniBatchLearner, MiniBatchTrainer, MiniBatchTraining, StepRenderer, Trainer, TrainingData,
    },
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod median;

use median::median;

const DIMENSIONS: usize = 8;
const BATCH: usize = 256;
const INDUCING: usize = 128;
const STEPS: usize = 600;
const WARM_UP: usize = 100;
/// The number of runs of each loop. They alternate, so other load on the machine affects both
/// equally.
const ROUNDS: usize = 5;
const LEARNING_RATE: f64 = 0.01;

type Model = Svgp;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let data = data();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        times[0].push(own_step(&data)?);
        times[1].push(learner_step(&data, false)?);
        times[2].push(learner_step(&data, true)?);
    }
    let [own, bare, with_loss] = times.map(|times| median(times).as_secs_f64() * 1e3);
    println!(
        "{{\"batch\": {BATCH}, \"inducing\": {INDUCING}, \"dtype\": \"F32\", \"steps\": {STEPS}, \
         \"own_ms\": {own:.3}, \"learner_ms\": {bare:.3}, \"learner_with_loss_ms\": {with_loss:.3}, \
         \"ratio\": {:.3}, \"ratio_with_loss\": {:.3}}}",
        bare / own,
        with_loss / own
    );
    Ok(())
}

/// Data for one epoch of [`STEPS`] batches.
fn data() -> TrainingData {
    let options = (&Device::flex(), DType::F32);
    options.0.seed(0);
    let normal = Distribution::Normal(0.0, 1.0);
    let inputs = Tensor::<2>::random([STEPS * BATCH, DIMENSIONS], normal, options);
    let targets = inputs.clone().sum_dim(1).sin();
    TrainingData { inputs, targets }
}

fn model() -> Model {
    let options = (&Device::flex(), DType::F32);
    options.0.seed(1);
    let normal = Distribution::Normal(0.0, 1.0);
    let points = Tensor::<2>::random([INDUCING, DIMENSIONS], normal, options);
    let kernel = StationaryConfig::new(Stationary::Matern52).init(DIMENSIONS, options);
    let mean = ConstantMean::new(Tensor::zeros([1], options));
    let distribution = VariationalGaussian::standard(INDUCING, 1, CovarianceShape::Full, options);
    let jitter = Jitter::relative(1e-4);
    let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
    Svgp::new(kernel, mean, Gaussian::new(1.0, options), posterior).train()
}

fn training() -> MiniBatchTraining {
    MiniBatchTraining {
        batch_size: BATCH,
        learning_rate: LEARNING_RATE,
        ..MiniBatchTraining::new(STEPS)
    }
}

/// The median time of a step of `MiniBatchTrainer`.
fn own_step(data: &TrainingData) -> Result<Duration, Box<dyn Error>> {
    let mut trainer = MiniBatchTrainer::new(model(), data.clone(), training());
    let mut ends = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        trainer.step()?;
        ends.push(Instant::now());
    }
    Ok(median_interval(&ends))
}

/// The median time of a step of `MiniBatchLearner`, with or without a loss metric.
fn learner_step(data: &TrainingData, with_loss: bool) -> Result<Duration, Box<dyn Error>> {
    let mut learner = MiniBatchLearner::new(model(), data.clone(), training());
    let ends = Arc::new(Mutex::new(Vec::with_capacity(STEPS)));
    // All steps are in a single round. The closure runs after every step to decide whether the
    // round ends.
    let batches = learner.batches({
        let ends = Arc::clone(&ends);
        move |_step| {
            let now = Instant::now();
            ends.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(now);
            false
        }
    });
    let folder = std::env::temp_dir().join(format!("burn-gp-learner-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut supervised =
        SupervisedTraining::new(&folder, batches, learner.examinations(|_step| None))
            .with_application_logger(None)
            .renderer(Box::new(StepRenderer::silent()));
    if with_loss {
        supervised = supervised.metric_train_numeric(LossMetric::new());
    }
    learner.fit(supervised)?;
    std::fs::remove_dir_all(&folder)?;
    let ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(ends.len(), STEPS, "one end per step");
    Ok(median_interval(&ends))
}

fn median_interval(ends: &[Instant]) -> Duration {
    let pairs = ends[WARM_UP..].windows(2);
    median(pairs.map(|pair| pair[1] - pair[0]).collect())
}
