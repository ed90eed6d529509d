//! The start of training: hyperparameters of exact regression on a few rows.
//!
//! The objective has several optima: some explain all variation as noise, others follow short variations. Exact
//! regression on a few rows is fast, so several kernels are tried from several lengthscales and noise
//! variances. The starts of a kernel, and kernels, are compared by leave-one-out predictions, because the
//! objective also rewards repeating noise.

use burn::tensor::{DType, Device};
use burn_gp_core::{
    likelihoods::GaussianConfig,
    parameter::{Hyperparameter, LOWER_BOUND},
};
use burn_gp_datasets::Schema;
use burn_gp_models::{
    AnyExact, ExactConfig, ModelConfig,
    training::{FullBatchTrainer, FullBatchTraining, Model, Trainer, TrainingData},
};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::index};

use super::{
    choice::{FEW_DISTINCT, Size},
    score::Score,
};
use crate::arguments::RunOptions;
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::{NumberUnits, ValuesOption};
use crate::plan::{kernel_of_data, parameters};
use crate::preparation::PreparedData;

/// The number of rows of exact regression.
const ROWS: usize = FEW_DISTINCT;
/// The number of L-BFGS iterations after which the starts of a kernel are compared.
const TRIAL_ITERATIONS: usize = 8;
/// The total number of L-BFGS iterations from the best start.
const ITERATIONS: usize = 60;
/// The relative improvement of the objective per iteration below which a fit stops.
const TOLERANCE: f64 = 1e-5;

/// Initial lengthscales, as multiples of the square root of the number of inputs, with initial noise variances:
/// from smooth functions with noise to short variations without noise.
const STARTS: [(f64, f64); 5] = [
    (2.0, 0.7),
    (2.0, 0.05),
    (0.5, 0.1),
    (0.1, 0.03),
    (0.03, 0.01),
];
/// The most inputs with which the shortest is tried. It is for series; points of more dimensions are
/// too far from each other.
const MOST_OF_SHORTEST: usize = 3;
/// The starts of a kernel with a lengthscale for each input, besides the values of its form with a single one.
const STARTS_OF_MANY: [(f64, f64); 2] = [(0.5, 0.1), (2.0, 0.05)];
/// The initial noise variance of a kernel without lengthscales.
const NOISE_WITHOUT_LENGTHSCALES: f64 = 0.5;
const NOISE: &str = "likelihood.noise";

/// The kernels to try. The first is used unless another is clearly better.
const SHARED: [&str; 3] = [
    "matern52(ard=0)",
    "linear(ard=0)",
    "linear(ard=0)+matern52(ard=0)",
];
/// Kernels with a lengthscale for each input, and the positions in [`SHARED`] of the same kernels with one for
/// all. The last has the most parameters.
const OF_EACH_INPUT: [(&str, usize); 2] = [("matern52", 0), ("linear(ard=0)+matern52", 2)];
/// The maximum number of starts.
pub const MOST_STARTS: usize = SHARED.len() + OF_EACH_INPUT.len();

/// Options to start from.
pub struct Start {
    pub options: RunOptions,
    /// The score of the leave-one-out predictions of the few rows.
    pub score: Option<Score>,
    /// Whether these hyperparameters were already fitted to all training rows.
    pub is_of_all_rows: bool,
}

impl Start {
    /// The given options, without a score.
    fn unchanged(options: &RunOptions) -> Vec<Self> {
        vec![Self {
            options: options.clone(),
            score: None,
            is_of_all_rows: false,
        }]
    }
}

/// A kernel to try.
struct Attempt {
    kernel: KernelExpression,
    is_isotropic: Option<bool>,
    /// The earlier attempt whose values serve as one of the starts.
    follows: Option<usize>,
}

/// Starts with several kernels and the parameter values that fit a few rows best. If the user gave a kernel,
/// only this kernel is tried, with one lengthscale for all inputs and with one for each. If the user set
/// parameters, the given options are the only start.
pub fn starts(
    options: &RunOptions,
    data: &PreparedData,
    (device, dtype): (&Device, DType),
    mut watch: impl FnMut(),
) -> Vec<Start> {
    let has_values = |kernel: &KernelExpression| kernel.to_string().contains('=');
    if options.set.is_some()
        || options.prior.is_some()
        || options.kernel.as_ref().is_some_and(has_values)
    {
        return Start::unchanged(options);
    }
    let size = size_in_memory(data);
    let rows = few_rows(data, options.seed());
    let part = data.train.select(&rows);
    let targets = standardized(&data.targets_without_offsets(&part));
    let few = TrainingData::new(part.inputs.values(), &targets, device, dtype);
    let few = (&few, &data.schema);
    let mut fits: Vec<Option<Fit>> = Vec::new();
    for attempt in attempts(options, data.kernel_dimensions()) {
        let followed = attempt.follows.and_then(|place| fits[place].as_ref());
        fits.push(fit(&attempt, followed, few, &mut watch));
    }
    let has_noise = data.likelihood.is::<GaussianConfig>();
    let is_fixed = size.is_fitted_to_distinct_rows();
    let is_of_all_rows = has_noise && (rows.len() == data.training_rows() || is_fixed);
    let found: Vec<Start> = fits
        .into_iter()
        .flatten()
        .map(|fit| Start {
            score: Some(fit.score.clone()),
            options: fit.into_options(options, has_noise, is_fixed),
            is_of_all_rows,
        })
        .collect();
    match found.is_empty() {
        true => Start::unchanged(options),
        false => found,
    }
}

/// The kernels to try for `dimensions` inputs.
fn attempts(options: &RunOptions, dimensions: usize) -> Vec<Attempt> {
    let attempt = |kernel: KernelExpression, is_isotropic, follows| Attempt {
        kernel,
        is_isotropic,
        follows,
    };
    let has_one_for_all = options.isotropic == Some(true) || dimensions == 1;
    if let Some(kernel) = &options.kernel {
        let shared = attempt(kernel.clone(), Some(true), None);
        return match (options.isotropic, has_one_for_all) {
            (None, false) => vec![shared, attempt(kernel.clone(), None, Some(0))],
            (given, _) => vec![attempt(kernel.clone(), given, None)],
        };
    }
    let of_each = OF_EACH_INPUT.iter().filter(|_| !has_one_for_all);
    let shared = SHARED.iter().map(|text| (*text, None));
    let all = shared.chain(of_each.map(|(text, follows)| (*text, Some(*follows))));
    all.filter_map(|(text, follows)| Some(attempt(text.parse().ok()?, None, follows)))
        .collect()
}

/// The maximum number of fits in [`starts`].
pub fn most_fits(data: &PreparedData) -> usize {
    let shared = 1 + (SHARED.len() - 1) * starts_tried(data.kernel_dimensions()).len();
    shared + OF_EACH_INPUT.len() * (1 + STARTS_OF_MANY.len())
}

fn starts_tried(dimensions: usize) -> &'static [(f64, f64)] {
    match dimensions <= MOST_OF_SHORTEST {
        true => &STARTS,
        false => &STARTS[..STARTS.len() - 1],
    }
}

/// A few rows with their columns.
type Few<'a> = (&'a TrainingData, &'a Schema);

/// A fit on a few rows.
struct Fit {
    /// The kernel.
    options: RunOptions,
    score: Score,
    found: Vec<Hyperparameter>,
}

impl Fit {
    /// The options that start where this fit ended, including its noise if the likelihood has noise. The values
    /// are not trained any more if they are fixed.
    fn into_options(self, options: &RunOptions, has_noise: bool, is_fixed: bool) -> RunOptions {
        let is_used = |path: &str| has_noise || path != NOISE;
        let found = self.found.iter().filter(|found| is_used(&found.path));
        let fixed = (found.clone().filter(|_| is_fixed)).map(|found| found.path.clone());
        let given = options.fix.iter().flatten().cloned();
        let fix: Vec<String> = given.chain(fixed).collect();
        RunOptions {
            kernel: self.options.kernel,
            isotropic: self.options.isotropic,
            fix: (!fix.is_empty()).then_some(fix),
            set: Some(found.map(first_value).collect()),
            ..options.clone()
        }
    }
}

/// Fits exact regression with a kernel from the best of its starts. `None` if that fails.
fn fit(
    attempt: &Attempt,
    followed: Option<&Fit>,
    few: Few<'_>,
    watch: &mut impl FnMut(),
) -> Option<Fit> {
    let (data, schema) = few;
    let [rows, dimensions] = data.inputs.dims();
    let mut options = RunOptions {
        kernel: Some(attempt.kernel.clone()),
        isotropic: attempt.is_isotropic,
        ..RunOptions::default()
    };
    let kernel = kernel_of_data(&mut options, schema).ok()?;
    let of_kernel = kernel.active_dimensions(dimensions).len();
    let mut config = ModelConfig::from(ExactConfig::new(kernel));
    config.add_default_priors(rows, dimensions);
    let periods = config.best_first_periods(data);
    let config: ExactConfig = config.downcast_ref().cloned()?;
    let priors = config.parameters.priors.clone();
    let begin = |set| {
        watch();
        let mut parameters = parameters(&RunOptions {
            set: Some(set),
            ..options.clone()
        });
        parameters.priors = priors.clone();
        for (path, values) in &periods {
            let value = parameters.values.entry(path.clone());
            value.or_insert_with(|| values.clone());
        }
        let model = config.clone().with_parameters(parameters).init(data).ok()?;
        let training = FullBatchTraining {
            iterations: ITERATIONS,
            tolerance: TOLERANCE,
            ..FullBatchTraining::default()
        };
        let trainer = FullBatchTrainer::new(model, data.clone(), training);
        let trainer = after_steps(trainer, TRIAL_ITERATIONS)?;
        Some((score(&trainer, data)?, trainer))
    };
    let begun: Vec<(Score, FullBatchTrainer<AnyExact>)> =
        first_values(attempt, followed, &lengthscales(&config, data)?, of_kernel)
            .into_iter()
            .filter_map(begin)
            .collect();
    let (_, trainer) = begun.into_iter().max_by(|(a, _), (b, _)| a.order(b))?;
    let trainer = after_steps(trainer, ITERATIONS)?;
    let score = score(&trainer, data)?;
    let found = trainer.model().hyperparameters();
    Some(Fit {
        options,
        score,
        found,
    })
}

/// The score of the leave-one-out predictions of the model in training. `None` if it has none.
fn score(trainer: &FullBatchTrainer<AnyExact>, data: &TrainingData) -> Option<Score> {
    let model = trainer.model();
    let predictions = model.leave_one_out(data.inputs.clone(), data.targets.clone());
    Score::new(&predictions.ok()?, data, &model.hyperparameters())
}

/// The trainer after a total of `steps` steps. `None` if a step fails.
fn after_steps(
    mut trainer: FullBatchTrainer<AnyExact>,
    steps: usize,
) -> Option<FullBatchTrainer<AnyExact>> {
    while trainer.steps_made() < steps && !trainer.is_finished() {
        trainer.step().ok()?;
    }
    Some(trainer)
}

/// The initial values from which a kernel is fitted.
fn first_values(
    attempt: &Attempt,
    followed: Option<&Fit>,
    lengthscales: &[String],
    dimensions: usize,
) -> Vec<Vec<ValuesOption>> {
    let value = |path: &str, value: f64| ValuesOption {
        path: path.to_owned(),
        values: vec![value],
        units: NumberUnits::Standardized,
    };
    if lengthscales.is_empty() {
        return vec![vec![value(NOISE, NOISE_WITHOUT_LENGTHSCALES)]];
    }
    let starts = match attempt.follows {
        Some(_) => &STARTS_OF_MANY,
        None => starts_tried(dimensions),
    };
    let start = |&(lengthscale, noise): &(f64, f64)| {
        let lengthscale = lengthscale * (dimensions as f64).sqrt();
        let lengthscales = lengthscales.iter().map(|path| value(path, lengthscale));
        lengthscales.chain([value(NOISE, noise)]).collect()
    };
    let followed = followed.map(|fit| fit.found.iter().map(first_value).collect());
    followed
        .into_iter()
        .chain(starts.iter().map(start))
        .collect()
}

/// The paths of the kernel's lengthscales.
fn lengthscales(config: &ExactConfig, data: &TrainingData) -> Option<Vec<String>> {
    let found = config.init(data).ok()?.hyperparameters().into_iter();
    let paths = found.map(|found| found.path);
    Some(
        paths
            .filter(|path| path.ends_with(".lengthscale"))
            .collect(),
    )
}

/// The value of a parameter as the initial value in training on all rows.
pub fn first_value(found: &Hyperparameter) -> ValuesOption {
    let values = found.values.iter();
    ValuesOption {
        path: found.path.clone(),
        values: values
            .map(|value| rounded(value.max(2.0 * LOWER_BOUND)))
            .collect(),
        units: NumberUnits::Standardized,
    }
}

/// Rounds to four digits, which are enough for a start and easy to read.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The rows of the starts: a random sample of the training rows in memory without copies, or all if there are few.
pub fn few_rows(data: &PreparedData, seed: u64) -> Vec<usize> {
    let rows = match size_in_memory(data).has_copies() {
        true => data.distinct_training_rows(),
        false => (0..data.train.len()).collect(),
    };
    if rows.len() <= ROWS {
        return rows;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let places = index::sample(&mut random, rows.len(), ROWS);
    let mut rows: Vec<usize> = places.iter().map(|place| rows[place]).collect();
    rows.sort_unstable();
    rows
}

/// The size of the data. Of rows that are read during training, only those in memory count.
fn size_in_memory(data: &PreparedData) -> Size {
    Size {
        rows: data.train.len(),
        ..Size::of(data)
    }
}

/// The mean and the standard deviation, which is 1 if all values are equal.
pub fn mean_and_scale(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let variance = squares.sum::<f64>() / count;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}

/// Targets of any kind with mean zero and variance one. Class numbers are treated as numeric targets.
fn standardized(targets: &[f64]) -> Vec<f64> {
    let (mean, scale) = mean_and_scale(targets);
    targets
        .iter()
        .map(|target| (target - mean) / scale)
        .collect()
}
