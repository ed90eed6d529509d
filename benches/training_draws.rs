//! Prints the random draws of a training run. Programs that use other libraries can then start from
//! the same inducing points and use the same mini-batches.
//!
//! `cargo run --release -p burn-gp-cli --example training_draws -- train …` takes the
//! options of `burn-gp train` but trains nothing. It prints one line of JSON: `rows`, the indices
//! of the training rows in the data, from 0; `inducing`, the initial inducing points, set by set,
//! in standardized units; and `batches`, for every step the positions of its batch in `rows`.

use std::{error::Error, process::ExitCode};

use burn::tensor::{Device, Tensor};
use burn_gp_cli::commands::{Arguments, Command};
use burn_gp_core::{inducing::AnyInducing, parameter::numbers};
use burn_gp_models::{
    AnyModel, AnySgpr, AnySolveCollapsed, AnySvgp, DeepGp,
    training::{MiniBatchTrainer, MiniBatchTraining, Training, TrainingData},
};
use burn_gp_runs::{
    arguments::RunOptions,
    devices::ComputeTarget,
    plan::{check, resolve},
    preparation::PreparedData,
};
use clap::Parser;
use serde::Serialize;

#[derive(Serialize)]
struct Draws {
    rows: Vec<usize>,
    inducing: Vec<Vec<f64>>,
    batches: Vec<Vec<i64>>,
}

fn main() -> ExitCode {
    let Command::Train(arguments) = Arguments::parse().command else {
        eprintln!("the command must be train");
        return ExitCode::from(2);
    };
    match draws(arguments.options).and_then(|draws| Ok(serde_json::to_string(&draws)?)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn draws(options: RunOptions) -> Result<Draws, Box<dyn Error>> {
    let source = options.source()?;
    let options = check(&options, &source)?;
    let data = PreparedData::load(&source, &options)?;
    let (options, plan) = resolve(&options, &data)?;
    let dtype = ComputeTarget::of(&options)?.precision().dtype();
    let (inputs, targets) = (data.train.inputs.values(), &data.train.targets);
    let training_data = TrainingData::new(inputs, targets, &Device::default(), dtype);
    let training_data = plan.model.arranged(training_data);
    let model = plan.model.init(&training_data)?;
    let inducing = inducing(&model);
    let batches = match plan.training {
        Training::FullBatch(_) => Vec::new(),
        Training::MiniBatch(training) => batches(model, training_data, *training),
    };
    Ok(Draws {
        rows: data.train.rows,
        inducing,
        batches,
    })
}

/// The inducing points of the first layer.
fn inducing(model: &AnyModel) -> Vec<Vec<f64>> {
    let of_sets = |sets: Vec<&AnyInducing>| -> Vec<Vec<f64>> {
        let sets = sets.into_iter();
        sets.flat_map(|set| points(set.inputs().expect("points")))
            .collect()
    };
    if let Some(model) = model.downcast_ref::<AnySgpr>() {
        of_sets(vec![model.inducing()])
    } else if let Some(model) = model.downcast_ref::<AnySolveCollapsed>() {
        of_sets(vec![model.inducing(), model.orthogonal()])
    } else if let Some(model) = model.downcast_ref::<AnySvgp>() {
        of_sets(model.posterior().inducing())
    } else if let Some(model) = model.downcast_ref::<DeepGp>() {
        let layers = model.layers();
        let first = layers.hidden().first().unwrap_or(layers.output());
        let sets = first.inducing_inputs().into_iter();
        sets.flat_map(points).collect()
    } else {
        Vec::new()
    }
}

/// The batch rows of every step.
fn batches(model: AnyModel, data: TrainingData, training: MiniBatchTraining) -> Vec<Vec<i64>> {
    let steps = training.steps;
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    (0..steps).map(|step| trainer.rows_of_step(step)).collect()
}

fn points(points: Tensor<2>) -> Vec<Vec<f64>> {
    let [_, dimensions] = points.dims();
    let rows = numbers(points);
    rows.chunks_exact(dimensions).map(<[f64]>::to_vec).collect()
}
