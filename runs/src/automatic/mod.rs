//! `--model auto`: chooses the model, its size, its start and the length of training from the data.

mod choice;
mod race;
mod score;
mod start;
mod target_transform;
mod time_budget;
mod trial;

pub use choice::{Choice, Size};
use target_transform::target_transform;

use std::time::Instant;

use burn::tensor::{DType, Device};
use burn_gp_core::parameter::Hyperparameter;
use burn_gp_datasets::DataSource;
use burn_gp_models::{AnyModel, training::Model};

use crate::arguments::{ModelChoice, OptimizerName, RunOptions};
use crate::failure::Failure;
use crate::option_error::OptionError;
use crate::parameter_options::ValuesOption;
use crate::plan::{check, resolve};
use crate::preparation::PreparedData;
use crate::progress::RowProgress;
use crate::standard_output::inform;

use race::{is_open, race};
use score::Score;
use start::{MOST_STARTS, Start, first_value, most_fits, starts};
use time_budget::within_time;

/// The default training time in minutes.
const MINUTES: f64 = 2.0;

/// The natural-gradient step size on mini-batches.
const NATURAL_GRADIENT: f64 = 0.1;

/// The smallest useful relative improvement of the full-batch objective in an iteration. Smaller improvements
/// change predictions less than another split of the data does.
const OBJECTIVE_TOLERANCE: f64 = 1e-5;

/// The number of iterations on all rows after which starts are compared. Training continues from the best one.
const TRIAL_ITERATIONS: usize = 10;

/// The number of starts that are compared on all rows.
const FINALISTS: usize = 2;

/// The training time of an automatic run. Other runs must not have one.
///
/// # Errors
///
/// If a model was named.
pub fn minutes(options: &RunOptions) -> Result<f64, OptionError> {
    match options.minutes {
        None => Ok(MINUTES),
        Some(_) if !options.is_automatic() => Err(OptionError::MinutesOfNamedModel),
        Some(minutes) => Ok(minutes),
    }
}

/// Chooses the scale of the target, the model and its start, and says so unless `quiet`. Returns the checked options with
/// all choices, and the data on the chosen scale.
///
/// # Errors
///
/// If an option is out of range or does not apply to the chosen model, or a trial step fails.
pub fn settled(
    given: RunOptions,
    source: &DataSource,
    data: PreparedData,
    place: (&Device, DType),
    quiet: bool,
) -> Result<(RunOptions, PreparedData), Failure> {
    let say = |line: &str| {
        if !quiet {
            inform(line);
        }
    };
    let (given, data) = match target_transform(&given, source, &data, place) {
        None => (given, data),
        Some(found) => {
            say(&found.line);
            (found.options, found.data)
        }
    };
    let (options, choice) = chosen(given, source, &data, place, quiet)?;
    say(&choice.line());
    Ok((options, data))
}

/// Chooses the model and its start. Returns the checked options with all choices, and the choice of the model.
///
/// # Errors
///
/// If an option is out of range or does not apply to the chosen model, or a trial step fails.
fn chosen(
    options: RunOptions,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    quiet: bool,
) -> Result<(RunOptions, Choice), Failure> {
    let began = Instant::now();
    let minutes = minutes(&options)?;
    let size = Size::of(data);
    let choice = Choice::new(&size, data.likelihood, minutes);
    let is_open = is_open(&options, data, &size, &choice);
    let given = options;
    let mut options = RunOptions {
        model: Some(choice.model),
        minutes: None,
        ..given.clone()
    };
    options.require_use(choice.model)?;
    if let Some(inducing) = choice.inducing {
        options.inducing.get_or_insert(inducing);
    }
    if options.inducing == Some(size.distinct) {
        options = on_all_rows(options, choice.model);
    }
    match options.is_mini_batch() {
        true => options.natural_gradient.get_or_insert(NATURAL_GRADIENT),
        false => (options.objective_tolerance).get_or_insert(OBJECTIVE_TOLERANCE),
    };
    let fits = most_fits(data) + FINALISTS.max(MOST_STARTS) + if is_open { race::FITS } else { 0 };
    let mut progress = RowProgress::new("start", fits, quiet);
    let mut tried = 0;
    let mut watch = || {
        progress.update(tried);
        tried += 1;
    };
    let starts = starts(&options, data, place, &mut watch);
    let race = match is_open {
        true => race(
            &given,
            &starts[best_of(&starts)].options,
            source,
            data,
            place,
            &mut watch,
        ),
        false => None,
    };
    let choice = race
        .as_ref()
        .map_or_else(|| choice.clone(), |race| race.choice(&choice));
    let options = match race.filter(|race| race.is_won) {
        Some(race) => check(&race.options, source)?,
        None => best(starts, source, data, place, &mut watch)?,
    };
    drop(progress);
    let left = 60.0 * minutes - began.elapsed().as_secs_f64();
    let options = within_time(options, data, place, left)?;
    Ok((options, choice))
}

/// The options with L-BFGS, which trains on all rows at once until the bound no longer improves, if the user has set
/// nothing that only batches have. It is for few rows, each of them an inducing point: a hundred iterations then end
/// nearer to the optimum than a thousand steps with falling rates, and take less time. With fewer inducing points than
/// rows, L-BFGS also found optima with a higher bound that predict worse than those of the steps.
fn on_all_rows(options: RunOptions, model: ModelChoice) -> RunOptions {
    let at_once = RunOptions {
        optimizer: options.optimizer.or(Some(OptimizerName::LBfgs)),
        ..options.clone()
    };
    match at_once.require_use(model) {
        Ok(()) => at_once,
        Err(_) => options,
    }
}

/// The position of the start with the best predictions of the few rows.
fn best_of(starts: &[Start]) -> usize {
    let scores: Vec<&Score> = starts
        .iter()
        .filter_map(|start| start.score.as_ref())
        .collect();
    score::best(&scores, 0)
}

/// The checked options of the best start. For class labels, the starts are compared by short trainings. For models with
/// closed-form leave-one-out predictions, the best start and the last one, which has the most parameters, are compared
/// again after a few iterations on all rows, and training continues from there.
fn best(
    starts: Vec<Start>,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    mut watch: impl FnMut(),
) -> Result<RunOptions, Failure> {
    if data.likelihood.target().has_classes() && starts.len() > 1 && trial::is_short(data) {
        let best = trial::best_by_bound(&starts, source, data, place, watch)?;
        return Ok(check(&starts[best].options, source)?);
    }
    let (best, richest) = (best_of(&starts), starts.len() - 1);
    let options = check(&starts[best].options, source)?;
    let has_closed_form = !options.model_fields().has_batches();
    if !has_closed_form || starts[best].is_of_all_rows || best == richest {
        return Ok(options);
    }
    watch();
    let first = after_iterations(options, data, place)?;
    watch();
    let second = after_iterations(check(&starts[richest].options, source)?, data, place)?;
    Ok(match (&first.score, &second.score) {
        (Some(score), Some(other)) if other.gain_over(score) > 0.0 => second.options,
        (None, Some(_)) => second.options,
        _ => first.options,
    })
}

/// The start after a few iterations on all rows. It has no score if they fail.
fn after_iterations(
    mut options: RunOptions,
    data: &PreparedData,
    place: (&Device, DType),
) -> Result<Start, Failure> {
    let mut trainer = resolve(&options, data)?.1.trainer(data, place)?;
    let iterations = TRIAL_ITERATIONS.min(trainer.steps_planned());
    let steps = (0..iterations).try_for_each(|_| trainer.step().map(|_| ()));
    let predictions =
        (steps.ok()).and_then(|()| trainer.model().leave_one_out(trainer.data())?.ok());
    let score = predictions.and_then(|predictions| {
        let found = trainer.model().hyperparameters();
        Score::new(&predictions, trainer.data(), &found)
    });
    if score.is_some() {
        options.set = (options.set).map(|set| reached(&set, trainer.model()));
    }
    Ok(Start {
        options,
        score,
        is_of_all_rows: true,
    })
}

/// The values that the parameters in `set` have reached in training.
fn reached(set: &[ValuesOption], model: &AnyModel) -> Vec<ValuesOption> {
    let is_set = |found: &&Hyperparameter| set.iter().any(|option| option.path == found.path);
    let hyperparameters = model.hyperparameters();
    hyperparameters
        .iter()
        .filter(is_set)
        .map(first_value)
        .collect()
}
