//! `--model auto`: the model, its size, its start and the length of training follow from the data.

mod choice;
mod pace;
mod start;

pub use choice::{Choice, Size};

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_core::parameter::Hyperparameter;
use burn_gp_datasets::DataSource;
use burn_gp_models::{
    AnyModel,
    training::{Model, Trainer},
};

use crate::arguments::{ModelName, RunOptions};
use crate::failure::Failure;
use crate::parameter_options::ValuesOption;
use crate::plan::{check, resolve};
use crate::preparation::PreparedData;
use crate::progress::RowProgress;
use crate::ranges::positive;
use crate::setting_error::SettingError;

use pace::within_time;
use start::{Start, first_value, most_fits, starts};

/// The minutes that training may take by default.
const MINUTES: f64 = 2.0;

/// The natural-gradient step size on mini-batches.
const NATURAL_GRADIENT: f64 = 0.1;

/// The least improvement in an iteration on all rows, relative to the objective. Smaller ones change
/// predictions less than another split of the data does.
const OBJECTIVE_TOLERANCE: f64 = 5e-5;

/// The iterations on all rows after which starts are compared. The rest of training begins where the
/// best of them is then.
const TRIAL_ITERATIONS: usize = 10;

/// The objective per row by which a richer kernel must be better than a simpler one.
const MARGIN: f64 = 0.01;

/// Checks the time of an automatic run, and that no other run has one.
///
/// # Errors
///
/// If `--minutes` is not a positive number, or a model was named.
pub fn minutes(options: &RunOptions) -> Result<f64, SettingError> {
    match options.minutes {
        None => Ok(MINUTES),
        Some(_) if !options.is_automatic() => Err(SettingError::MinutesOfNamedModel),
        Some(minutes) => positive("--minutes", minutes),
    }
}

/// The checked options of a run whose model the data choose, with all that was chosen, and the
/// choice.
///
/// # Errors
///
/// If an option is out of range or is none of the model's, or a trial step fails.
pub fn chosen(
    options: RunOptions,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    quiet: bool,
) -> Result<(RunOptions, Choice), Failure> {
    let began = Instant::now();
    let minutes = minutes(&options)?;
    let choice = Choice::new(&Size::of(data), data.likelihood, minutes);
    let mut options = RunOptions {
        model: Some(choice.model),
        minutes: None,
        ..options
    };
    options.require_use(choice.model)?;
    if let Some(inducing) = choice.inducing {
        options.inducing.get_or_insert(inducing);
    }
    match choice.model {
        ModelName::Svgp => {
            options.natural_gradient.get_or_insert(NATURAL_GRADIENT);
        }
        _ => {
            (options.objective_tolerance).get_or_insert(OBJECTIVE_TOLERANCE);
        }
    }
    let (fits, trials) = most_fits(data);
    let mut progress = RowProgress::new("start", fits + trials, quiet);
    let mut tried = 0;
    let mut watch = || {
        progress.update(tried);
        tried += 1;
    };
    let starts = starts(&options, data, place, &mut watch);
    let options = best(starts, source, data, place, &mut watch)?;
    drop(progress);
    let left = 60.0 * minutes - began.elapsed().as_secs_f64();
    let options = within_time(options, data, place, left)?;
    Ok((options, choice))
}

/// The best of several starts, checked, by the objective on all rows after a few iterations, where
/// training goes on. Early objectives on mini-batches say little, so that on a few rows counts there.
fn best(
    starts: Vec<Start>,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    mut watch: impl FnMut(),
) -> Result<RunOptions, Failure> {
    let mut tried = Vec::new();
    for start in starts {
        watch();
        let options = check(&start.options, source)?;
        tried.push(match options.is_mini_batch(options.model()) {
            true => Start {
                options,
                loss: start.loss,
            },
            false => after_iterations(options, data, place)?,
        });
    }
    let better = |best: Start, next: Start| match next.loss < best.loss - MARGIN {
        true => next,
        false => best,
    };
    let best = tried.into_iter().reduce(better);
    Ok(best.map(|start| start.options).unwrap_or_default())
}

/// The start after a few iterations on all rows; with an infinite objective if these fail.
fn after_iterations(
    mut options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<Start, Failure> {
    let mut trainer = resolve(&options, data)?.1.trainer(data, place)?;
    let iterations = TRIAL_ITERATIONS.min(trainer.steps_planned());
    let steps = (0..iterations).try_for_each(|_| trainer.step().map(|_| ()));
    let loss = steps.ok().and_then(|()| trainer.loss(None, |_| ()).ok());
    if loss.is_some() {
        options.set = (options.set).map(|set| reached(&set, trainer.model()));
    }
    Ok(Start {
        options,
        loss: loss.unwrap_or(f64::INFINITY),
    })
}

/// The values that training reached of the parameters that were set.
fn reached(set: &[ValuesOption], model: &AnyModel) -> Vec<ValuesOption> {
    let is_set = |found: &&Hyperparameter| set.iter().any(|option| option.path == found.path);
    let hyperparameters = model.hyperparameters();
    hyperparameters
        .iter()
        .filter(is_set)
        .map(first_value)
        .collect()
}
