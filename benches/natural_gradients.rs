//! Seconds until sparse variational regression on elevators reaches a given bound: natural
//! gradients for `q(u)` with Adam for the rest, against Adam alone.
//!
//! `BURN_GP_DATA=… cargo bench -p burn-gp-models --bench natural_gradients [-- STEPS]` prints a
//! line of JSON for every look at a run, and the seconds to the bound that Adam alone ends with, at
//! the best of several learning rates for each. Whitened, ARD Matérn-5/2, 256 inducing points,
//! batches of 1024, f64, first split of the collection; the bound is that of all training rows,
//! per row, and its evaluation is not counted.

use std::time::{Duration, Instant};

use burn::tensor::{DType, Device};
use burn_gp::{
    kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary, optim::NaturalGradient,
};
use burn_gp_datasets::{DataSource, Standardizer};
use burn_gp_models::{
    SvgpConfig,
    training::{MiniBatchModel, MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const INDUCING: usize = 256;

/// Steps between two looks at the bound.
const INTERVAL: usize = 25;

/// One look at a run.
struct Look {
    seconds: f64,
    bound: f64,
}

fn main() {
    let steps = std::env::args()
        .skip(1)
        .find_map(|word| word.parse().ok())
        .unwrap_or(2000);
    let data = elevators();
    let rates = [0.01, 0.03, 0.1];
    let natural = NaturalGradient::new(0.1).with_warm_up(1e-4, 10);
    let [adam, both] =
        [None, Some(natural)].map(|natural| rates.map(|rate| run(&data, rate, natural, steps)));
    let target = (adam.iter().filter_map(|looks| looks.last()))
        .fold(f64::NEG_INFINITY, |best, look| best.max(look.bound));
    let fastest = |runs: &[Vec<Look>]| {
        let reached = |looks: &Vec<Look>| {
            let first = looks.iter().find(|look| look.bound >= target);
            first.map_or(f64::INFINITY, |look| look.seconds)
        };
        runs.iter().map(reached).fold(f64::INFINITY, f64::min)
    };
    let (alone, together) = (fastest(&adam), fastest(&both));
    println!(
        "{{\"bound\": {target:.5}, \"adam_seconds\": {alone:.2}, \"natural_and_adam_seconds\": \
         {together:.2}, \"times_fewer\": {:.1}}}",
        alone / together
    );
}

/// The first split's training rows, standardised.
fn elevators() -> TrainingData {
    let folder = std::env::var_os("BURN_GP_DATA").map(std::path::PathBuf::from);
    let source = DataSource::resolve("elevators", folder.as_deref())
        .expect("BURN_GP_DATA is the folder of the registered data sets");
    let dataset = source.load(None).expect("elevators is on disk");
    let split =
        (source.mask(dataset.rows()).and_then(|mask| mask.split(0))).expect("its splits are too");
    let standardizer = Standardizer::fit(&dataset, &split.train);
    let train = dataset.select(&split.train);
    TrainingData::new(
        standardizer.transform_inputs(&train.inputs).values(),
        &standardizer.transform_targets(&train.targets),
        &Device::flex().autodiff(),
        DType::F64,
    )
}

fn run(
    data: &TrainingData,
    learning_rate: f64,
    natural_gradient: Option<NaturalGradient>,
    steps: usize,
) -> Vec<Look> {
    let config = SvgpConfig::new(
        StationaryConfig::new(Stationary::Matern52),
        GaussianConfig { noise: 0.1 },
    );
    let model = config
        .with_inducing(INDUCING)
        .init(data)
        .expect("distinct rows");
    let training = MiniBatchTraining {
        batch_size: 1024,
        learning_rate,
        natural_gradient,
        ..MiniBatchTraining::new(steps)
    };
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    let optimiser = if natural_gradient.is_some() {
        "natural+adam"
    } else {
        "adam"
    };
    let mut time = Duration::ZERO;
    let mut looks = Vec::new();
    while !trainer.is_finished() {
        let start = Instant::now();
        let report = trainer.step().expect("the step is sound");
        time += start.elapsed();
        if report.step.is_multiple_of(INTERVAL) {
            let look = Look {
                seconds: time.as_secs_f64(),
                bound: bound(trainer.model(), data),
            };
            println!(
                "{{\"optimiser\": \"{optimiser}\", \"learning_rate\": {learning_rate}, \"step\": \
                 {}, \"seconds\": {:.2}, \"bound\": {:.5}}}",
                report.step, look.seconds, look.bound
            );
            looks.push(look);
        }
    }
    looks
}

/// The bound of all rows, per row.
fn bound(model: &impl MiniBatchModel, data: &TrainingData) -> f64 {
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    let objective = model
        .valid()
        .objective(inputs, targets, data.len())
        .expect("factor");
    let value: f64 = objective.value().into_scalar();
    value / data.len() as f64
}
