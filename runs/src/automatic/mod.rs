//! `--model auto`: the model, its size, its start and the length of training follow from the data.

mod choice;
mod pace;
mod start;

pub use choice::{Choice, Size};

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_core::{likelihoods::Gaussian, metrics, parameter::Hyperparameter};
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

/// The steps on mini-batches after which starts are compared, the inducing points of these steps, and
/// the share of the training rows that is held out meanwhile.
const TRIAL_STEPS: usize = 200;
const TRIAL_INDUCING: usize = 64;
const TRIAL_SHARE: f64 = 0.2;
/// With fewer rows than this, held-out rows differ much from one choice of them to the next, so that
/// there are several.
const FEW_ROWS: usize = 2000;
const TRIALS_OF_FEW_ROWS: u64 = 5;

/// The objective or the log density per row by which a richer kernel must be better than a simpler one.
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
/// training goes on. On mini-batches, held-out training rows decide after a short training with few
/// inducing points, or the objective of exact regression on a few rows if targets are numbers.
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
        let is_mini_batch = options.is_mini_batch(options.model());
        tried.push(match (is_mini_batch, data.likelihood == Gaussian::CHOICE) {
            (true, true) => Start {
                options,
                loss: start.loss,
            },
            (true, false) => after_steps(options, data, place)?,
            (false, _) => after_iterations(options, data, place)?,
        });
    }
    let better = |best: Start, next: Start| match next.loss < best.loss - MARGIN {
        true => next,
        false => best,
    };
    let best = tried.into_iter().reduce(better);
    Ok(best.map(|start| start.options).unwrap_or_default())
}

/// A start with the mean negative log density of held-out training rows after short trainings on
/// mini-batches; infinite if one of them fails.
fn after_steps(
    options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<Start, Failure> {
    let short = RunOptions {
        steps: Some(options.steps.unwrap_or(TRIAL_STEPS).min(TRIAL_STEPS)),
        epochs: None,
        stream: None,
        ..options.clone()
    };
    let data = data.in_memory();
    let trials = match data.train.len() < FEW_ROWS {
        true => TRIALS_OF_FEW_ROWS,
        false => 1,
    };
    let mut sum = 0.0;
    for trial in 0..trials {
        let score = data
            .holding_out(TRIAL_SHARE, options.seed() + trial)
            .ok()
            .map(|held_out| held_out_score(&short, &held_out, place))
            .transpose()?;
        sum += score.flatten().unwrap_or(f64::INFINITY);
    }
    Ok(Start {
        options,
        loss: sum / trials as f64,
    })
}

/// The mean negative log density of the validation rows after all steps; `None` if there is none.
fn held_out_score(
    options: &RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<Option<f64>, Failure> {
    let most = TRIAL_INDUCING.min(data.distinct_training_inputs());
    let options = RunOptions {
        inducing: options.inducing.map(|count| count.min(most)),
        ..options.clone()
    };
    let mut trainer = resolve(&options, data)?.1.trainer(data, place)?;
    let steps = (0..trainer.steps_planned()).try_for_each(|_| trainer.step().map(|_| ()));
    if steps.is_err() {
        return Ok(None);
    }
    let trained = trainer.model().trained(trainer.data()).ok();
    let predictor = trained.and_then(|trained| trained.predictor().ok());
    let (inputs, (targets, _)) = (
        &data.validation.inputs,
        data.validation.likelihood_targets(),
    );
    let densities = predictor.and_then(|predictor| {
        let densities = predictor.log_density(inputs.values(), inputs.columns(), &targets);
        densities.ok()
    });
    let score = densities.map(|densities| metrics::negative_log_density(&densities));
    Ok(score.filter(|score| score.is_finite()))
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
