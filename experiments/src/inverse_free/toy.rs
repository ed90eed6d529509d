//! Bounds on two small data sets (Section 4.1, Figure 1).
//!
//! The protocol is the paper's: nothing is standardized, the kernel is squared exponential, and all
//! rows are used. Variance, lengthscales and noise variance start at 1. Inducing points are fixed
//! (snelson: a grid of 10; banana: 64 cluster centers). Adam has learning rate 0.005 (banana:
//! 0.01); variants with natural gradients take a natural-gradient step of size 1 after each Adam
//! step. The paper's batches have as many rows as there are inducing points. At quick scale
//! training is full batch, which gives curves without noise.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{KernelConfig, Kernels, StationaryConfig},
    means::MeanConfig,
    ops::{Jitter, Stationary},
    variational::PosteriorConfig,
};
use burn_gp_datasets::DataSource;
use burn_gp_models::{
    AnySvgp, InitError, Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};
use burn_gp_runs::{
    failure::Failure,
    study::{CommonOptions, Experiment, data_at_hand},
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::toy_data::{Toy, toys};
use super::toy_table;
use super::toy_variants::{Variant, variants};

/// The name of the experiment.
const NAME: &str = "inverse-free-toy";

/// The names of the two data sets.
const DATA_SETS: [&str; 2] = ["snelson", "banana"];

/// The jitter on the covariance of the inducing points.
const JITTER: f64 = 1e-6;

/// The approximate number of points in a trace.
const LOOKS: usize = 500;

/// The options of `experiment inverse-free-toy`.
#[derive(Args, Clone, Debug)]
pub struct ToyOptions {
    /// Data sets, such as banana [default: snelson,banana]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = DATA_SETS)]
    data_sets: Vec<String>,
    /// Optimizer steps [default: 10000; quick: 3000]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Use the full batch instead of batches of as many rows as inducing points [default: false;
    /// quick: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    full_batch: Option<bool>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// The loss of a variant during training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trace {
    /// The data set.
    pub data: String,
    /// The variant.
    pub variant: String,
    /// The last step before each evaluation.
    pub steps: Vec<usize>,
    /// The negative evidence lower bound of all rows at each evaluation, in nats.
    pub losses: Vec<f64>,
    /// The training time, in seconds.
    pub seconds: f64,
}

/// Runs `burn-gp experiment inverse-free-toy`.
///
/// # Errors
///
/// [`Failure`]. Missing data sets are reported and left out.
pub(crate) fn toy(options: &ToyOptions) -> Result<(), Failure> {
    let common = &options.common;
    let place = common.place()?;
    place.open()?;
    let steps = options.steps.unwrap_or(common.by_scale(3_000, 10_000));
    let full_batch = options.full_batch.unwrap_or(!common.is_paper());
    let data_dir = common.data_dir();
    let names = data_at_hand(
        &options.data_sets,
        &DATA_SETS,
        Some(&DATA_SETS),
        str::to_owned,
        data_dir.as_deref(),
    )?;
    let settings = json!({
        "steps": steps,
        "full_batch": full_batch,
        "seed": common.seed,
    });
    let experiment = Experiment::open(NAME, common, place, settings)?;
    let mut traces = Vec::new();
    for toy in toys() {
        if !names.iter().any(|name| name == toy.name) {
            continue;
        }
        let source = DataSource::resolve(toy.name, data_dir.as_deref())?;
        let data = toy.load(&source, &experiment)?;
        let batch_size = if full_batch { data.len() } else { toy.inducing };
        let training = toy.training(steps, batch_size, common.seed);
        let points = toy.points(&data, common.seed)?;
        for variant in variants() {
            let name = format!("{}-{}", toy.name, variant.name);
            let title = format!("{}, {}", toy.name, variant.title);
            traces.push(experiment.load_or_compute(&name, &title, || {
                let model = model(&toy, &variant.posterior, &data, points.clone())?;
                trace(
                    (&toy, &variant),
                    model,
                    &data,
                    training.clone(),
                    &experiment,
                )
            })?);
        }
    }
    let batches = if full_batch { "all rows" } else { "M rows" };
    let summary = format!("{steps} steps, batches of {batches}, seed {}", common.seed);
    toy_table::report(&traces, &summary, common, &experiment.folder)
}

/// A model before training.
fn model(
    toy: &Toy,
    posterior: &PosteriorConfig,
    data: &TrainingData,
    points: Tensor<2>,
) -> Result<AnySvgp, InitError> {
    let (device, dtype): (Device, _) = (data.inputs.device().inner(), data.inputs.dtype());
    let options = || (&device, dtype);
    let [_, dimensions] = data.inputs.dims();
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    let kernel = KernelConfig::from(kernel.with_lengthscale(1.0));
    let kernel = Kernels::from(kernel.init(dimensions, options()));
    let points = vec![InducingPoints::new(points)];
    let posterior = posterior.init(points, &kernel, 1, Jitter::relative(JITTER), options())?;
    let model = Svgp::new(
        kernel,
        MeanConfig::zero().init(dimensions, 1, options()),
        toy.likelihood.init(options()),
        posterior,
    );
    Ok(model.synchronized().train())
}

/// Trains a variant and evaluates all rows during training, first before step one.
fn trace(
    (toy, variant): (&Toy, &Variant),
    model: AnySvgp,
    data: &TrainingData,
    training: MiniBatchTraining,
    experiment: &Experiment,
) -> Result<Trace, Failure> {
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    let loss = |model: &AnySvgp| -> Result<f64, Failure> {
        let objective = (model.valid()).objective(inputs.clone(), targets.clone(), data.len())?;
        Ok(-objective.value().into_scalar::<f64>())
    };
    let interval = (training.steps / LOOKS).max(1);
    let mut trace = Trace {
        data: toy.name.to_owned(),
        variant: variant.title.to_owned(),
        steps: vec![0],
        losses: vec![loss(&model)?],
        seconds: 0.0,
    };
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    let watch = &experiment.watch;
    let seconds = watch.train_with_snapshots(&mut trainer, interval, |trainer, step| {
        trace.steps.push(step);
        trace.losses.push(loss(trainer.model())?);
        Ok(())
    })?;
    Ok(Trace {
        seconds: seconds.iter().sum(),
        ..trace
    })
}
