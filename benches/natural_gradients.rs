//! The time until sparse variational regression on elevators reaches a given bound: natural
//! gradients for `q(u)` with Adam for the other parameters, compared with Adam alone.
//!
//! `BURN_GP_DATA=… cargo bench --bench natural_gradients [-- whitened|unwhitened]`
//! trains in both parameterizations with several learning rates and numbers of steps and prints one line
//! of JSON per run. The learning rate decays along a cosine to a hundredth. For every run with Adam
//! alone it then prints a speedup: the time of that run divided by the time of the shortest run
//! with natural gradients that reached the same bound. The speedup is large with the default
//! learning rate of 0.01. It is smaller with the best rate for Adam alone, because both methods
//! have to learn the kernel and the inducing points. The model has an ARD Matérn-5/2 kernel and 256
//! inducing points. It uses batches of 1024, f64 and the first split of the collection. The bound is computed
//! on all training rows and given per row.

use std::{error::Error, time::Instant};

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    optim::NaturalGradient,
    process::CovarianceShape,
    variational::{PosteriorConfig, UnwhitenedConfig, WhitenedConfig},
};
use burn_gp_datasets::{DataSource, Standardizer};
use burn_gp_models::{
    SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Schedule, Trainer, TrainingData},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;

const INDUCING: usize = 256;

/// The runs with one optimizer: their learning rates and numbers of steps.
struct Plan {
    rates: &'static [f64],
    lengths: &'static [usize],
    natural_gradient: Option<NaturalGradient>,
}

/// A finished run.
struct Run {
    learning_rate: f64,
    steps: usize,
    seconds: f64,
    bound: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let coordinates = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let data = elevators()?;
    let covariance = CovarianceShape::Full;
    for (name, posterior) in [
        (
            "whitened",
            PosteriorConfig::from(WhitenedConfig { covariance }),
        ),
        (
            "unwhitened",
            PosteriorConfig::from(UnwhitenedConfig { covariance }),
        ),
    ] {
        if coordinates.is_empty() || coordinates == name {
            compare(name, &posterior, &data)?;
        }
    }
    Ok(())
}

/// Trains with both optimizers.
fn compare(
    name: &str,
    posterior: &PosteriorConfig,
    data: &TrainingData,
) -> Result<(), Box<dyn Error>> {
    let plans = [
        Plan {
            rates: &[0.1, 0.3],
            lengths: &[150, 300, 600],
            natural_gradient: Some(NaturalGradient::new(0.1).with_warm_up(1e-4, 10)),
        },
        Plan {
            rates: &[0.01, 0.03, 0.1],
            lengths: &[600, 1200],
            natural_gradient: None,
        },
    ];
    let runs = |plan: &Plan| -> Result<Vec<Run>, Box<dyn Error>> {
        let all = (plan.rates.iter())
            .flat_map(|&rate| plan.lengths.iter().map(move |&steps| (rate, steps)));
        all.map(|(rate, steps)| run(name, posterior, data, rate, plan.natural_gradient, steps))
            .collect()
    };
    let [together, alone] = &plans;
    let (together, alone) = (runs(together)?, runs(alone)?);
    for adam in alone {
        let fastest = (together.iter().filter(|run| run.bound >= adam.bound))
            .map(|run| run.seconds)
            .fold(f64::INFINITY, f64::min);
        println!(
            "{{\"posterior\": \"{name}\", \"bound\": {:.4}, \"adam_learning_rate\": {}, \
             \"adam_steps\": {}, \"adam_seconds\": {:.2}, \
             \"natural_and_adam_seconds\": {fastest:.2}, \"times_fewer\": {:.1}}}",
            adam.bound,
            adam.learning_rate,
            adam.steps,
            adam.seconds,
            adam.seconds / fastest
        );
    }
    Ok(())
}

/// The standardized training rows of the first split.
fn elevators() -> Result<TrainingData, Box<dyn Error>> {
    let folder = std::env::var_os("BURN_GP_DATA").map(std::path::PathBuf::from);
    let source = DataSource::resolve("elevators", folder.as_deref())?;
    let dataset = source.load(None)?;
    let split = source.mask(dataset.rows())?.split(0)?;
    let standardizer = Standardizer::fit(&dataset, &split.train);
    let train = dataset.select(&split.train);
    Ok(TrainingData::new(
        standardizer.transform_inputs(&train.inputs).values(),
        &standardizer.transform_targets(&train.targets),
        &Device::flex().autodiff(),
        DType::F64,
    ))
}

fn run(
    name: &str,
    posterior: &PosteriorConfig,
    data: &TrainingData,
    learning_rate: f64,
    natural_gradient: Option<NaturalGradient>,
    steps: usize,
) -> Result<Run, Box<dyn Error>> {
    let config = SvgpConfig::new(
        StationaryConfig::new(Stationary::Matern52),
        GaussianConfig { noise: 0.1 },
    );
    let config = config.with_inducing(INDUCING);
    let model = config.with_posterior(posterior.clone()).init(data);
    let training = MiniBatchTraining {
        batch_size: 1024,
        learning_rate,
        schedule: Schedule::Cosine {
            final_fraction: 0.01,
        },
        natural_gradient,
        ..MiniBatchTraining::new(steps)
    };
    let mut trainer = MiniBatchTrainer::new(model?, data.clone(), training);
    let start = Instant::now();
    while !trainer.is_finished() {
        trainer.step()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let bound = bound(trainer.model(), data)?;
    let optimizer = if natural_gradient.is_some() {
        "natural gradients and Adam"
    } else {
        "Adam"
    };
    println!(
        "{{\"posterior\": \"{name}\", \"optimizer\": \"{optimizer}\", \"learning_rate\": {learning_rate}, \"steps\": {steps}, \
         \"seconds\": {seconds:.2}, \"bound\": {bound:.4}}}"
    );
    Ok(Run {
        learning_rate,
        steps,
        seconds,
        bound,
    })
}

/// The full-batch bound, per row.
fn bound(model: &(impl Module + Model), data: &TrainingData) -> Result<f64, Box<dyn Error>> {
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    let objective = (model.valid()).objective(inputs, targets, data.len())?;
    let value: f64 = objective.value().into_scalar();
    Ok(value / data.len() as f64)
}
