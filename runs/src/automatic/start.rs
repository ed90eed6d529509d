//! The start of training: hyperparameters of exact regression on a few rows.
//!
//! An objective of hyperparameters has several optima. One start explains all variation as noise,
//! another follows short variations. Exact regression on a few rows is fast, so it is tried from
//! several lengthscales, and the best optimum is where the model on all rows starts.

use burn::tensor::{DType, Device};
use burn_gp_core::{
    inducing::distinct_rows,
    likelihoods::Gaussian,
    parameter::{Hyperparameter, LOWER_BOUND, Prior},
};
use burn_gp_datasets::Schema;
use burn_gp_models::{
    AnyExact, ExactConfig,
    training::{FullBatchTrainer, FullBatchTraining, Model, Trainer, TrainingData},
};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::index};

use crate::arguments::RunOptions;
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::{NumberUnits, PriorOption, ValuesOption};
use crate::plan::{kernel_of_data, parameters};
use crate::preparation::PreparedData;

/// The number of rows of exact regression.
const ROWS: usize = 400;
/// L-BFGS iterations from each start.
const ITERATIONS: usize = 50;
/// The least improvement in an iteration, relative to the objective.
const TOLERANCE: f64 = 1e-4;

/// The first lengthscales, in square roots of the number of inputs, from long to short ones.
const LENGTHSCALES: [f64; 4] = [2.0, 0.5, 0.1, 0.03];
/// The most inputs with which the shortest is tried. It is for series; points of more dimensions are
/// too far from each other.
const MOST_OF_SHORTEST: usize = 3;
/// The kernels that are tried, simple ones first; the linear part is for tables.
const KERNELS: [&str; 2] = ["matern52", "linear+matern52"];
const NOISE: &str = "likelihood.noise";

/// Options to start from, with the objective per row that they reach on a few rows.
pub struct Start {
    pub options: RunOptions,
    pub loss: f64,
}

/// The options with each kernel and the first values of its parameters that are best for a few rows,
/// and with priors that keep them from extremes. The only kernel is the user's if there is one. The
/// options alone if the user set parameters.
///
/// The prior of a lengthscale is log-normal with a mean that grows with the number of inputs, as in
/// "Vanilla Bayesian Optimization Performs Great in High Dimensions" (arXiv 2402.02229, eq. 6), for
/// inputs of variance one instead of inputs in the unit cube.
pub fn starts(
    options: &RunOptions,
    data: &PreparedData,
    (device, dtype): (&Device, DType),
    mut watch: impl FnMut(),
) -> Vec<Start> {
    let unchanged = || {
        vec![Start {
            options: options.clone(),
            loss: f64::INFINITY,
        }]
    };
    let has_values = |kernel: &KernelExpression| kernel.to_string().contains('=');
    if options.set.is_some()
        || options.prior.is_some()
        || options.kernel.as_ref().is_some_and(has_values)
    {
        return unchanged();
    }
    let part = data.train.select(&rows(data, options.seed()));
    let targets = standardized(&part.targets);
    let few = TrainingData::new(part.inputs.values(), &targets, device, dtype);
    let kernels: Vec<KernelExpression> = match &options.kernel {
        Some(kernel) => vec![kernel.clone()],
        None => KERNELS
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect(),
    };
    let by_loss = |a: &Fit, b: &Fit| a.loss.total_cmp(&b.loss);
    let best = kernels.into_iter().filter_map(|kernel| {
        let options = RunOptions {
            kernel: Some(kernel),
            isotropic: options.isotropic,
            ..RunOptions::default()
        };
        let first = lengthscales_tried(data.dimensions()).iter();
        let fits = first.filter_map(|&first| {
            watch();
            fit(&options, first, (&few, &data.schema))
        });
        fits.min_by(by_loss)
    });
    let has_noise = data.likelihood == Gaussian::CHOICE;
    let found: Vec<Start> = best
        .map(|fit| Start {
            loss: fit.loss,
            options: fit.into_options(options, has_noise),
        })
        .collect();
    match found.is_empty() {
        true => unchanged(),
        false => found,
    }
}

/// The number of fits that [`starts`] makes at most, and of the starts that it finds.
pub fn most_fits(data: &PreparedData) -> (usize, usize) {
    let fits = KERNELS.len() * lengthscales_tried(data.dimensions()).len();
    (fits, KERNELS.len())
}

fn lengthscales_tried(dimensions: usize) -> &'static [f64] {
    let without_shortest = &LENGTHSCALES[..LENGTHSCALES.len() - 1];
    match dimensions <= MOST_OF_SHORTEST {
        true => &LENGTHSCALES,
        false => without_shortest,
    }
}

/// A few rows with their columns.
type Few<'a> = (&'a TrainingData, &'a Schema);

/// A fit on a few rows.
struct Fit {
    /// The kernel with its priors.
    options: RunOptions,
    loss: f64,
    found: Vec<Hyperparameter>,
}

impl Fit {
    /// The options that start where this fit ended; with its noise if the likelihood has one.
    fn into_options(self, options: &RunOptions, has_noise: bool) -> RunOptions {
        let is_used = |path: &str| has_noise || path != NOISE;
        let found = self.found.iter().filter(|found| is_used(&found.path));
        let priors = self.options.prior.into_iter().flatten();
        RunOptions {
            kernel: self.options.kernel,
            set: Some(found.map(first_value).collect()),
            prior: Some(priors.filter(|prior| is_used(&prior.path)).collect()),
            ..options.clone()
        }
    }
}

/// Exact regression with the kernel of `options`, whose lengthscales start at `first·√D`, if it
/// succeeds.
fn fit(options: &RunOptions, first: f64, (few, schema): Few<'_>) -> Option<Fit> {
    let [_, dimensions] = few.inputs.dims();
    let mut options = options.clone();
    let paths = lengthscales(&mut options, (few, schema))?;
    let first = vec![first * (dimensions as f64).sqrt()];
    let value = |path: &String| ValuesOption {
        path: path.clone(),
        values: first.clone(),
        units: NumberUnits::Standardized,
    };
    options.set = Some(paths.iter().map(value).collect());
    options.prior = Some(priors(&paths, dimensions));
    let training = FullBatchTraining {
        iterations: ITERATIONS,
        tolerance: TOLERANCE,
        ..FullBatchTraining::default()
    };
    let model = exact(&mut options, (few, schema))?;
    let mut trainer = FullBatchTrainer::new(model, few.clone(), training);
    while !trainer.is_finished() {
        trainer.step().ok()?;
    }
    let loss = trainer.loss().ok().filter(|loss| loss.is_finite())?;
    Some(Fit {
        options,
        loss,
        found: trainer.model().hyperparameters(),
    })
}

/// The paths of the kernel's lengthscales.
fn lengthscales(options: &mut RunOptions, few: Few<'_>) -> Option<Vec<String>> {
    let paths = (exact(options, few)?.hyperparameters().into_iter()).map(|found| found.path);
    Some(
        paths
            .filter(|path| path.ends_with(".lengthscale"))
            .collect(),
    )
}

/// The model of exact regression before its first step.
fn exact(options: &mut RunOptions, (few, schema): Few<'_>) -> Option<AnyExact> {
    let kernel = kernel_of_data(options, schema).ok()?;
    let config = ExactConfig::new(kernel).with_parameters(parameters(options));
    config.init(few).ok()
}

/// The first value of a parameter in the training on all rows.
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

/// A number in four digits, which are enough for a start and can be read.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The mean of the logarithm of a lengthscale for one input of variance one: √2, and the logarithm of
/// the standard deviation of a uniform variable, which is 1/√12.
const MEAN: f64 = std::f64::consts::SQRT_2 + 1.242;

fn priors(lengthscales: &[String], dimensions: usize) -> Vec<PriorOption> {
    let prior = |path: &str, mean: f64, deviation: f64| PriorOption {
        path: path.into(),
        prior: Prior::LogNormal {
            mean: rounded(mean),
            deviation: rounded(deviation),
        },
        units: NumberUnits::Standardized,
    };
    let mean = MEAN + 0.5 * (dimensions as f64).ln();
    let of_lengthscale = |path: &String| prior(path, mean, 3.0f64.sqrt());
    (lengthscales.iter().map(of_lengthscale))
        .chain([prior(NOISE, -4.0, 2.0)])
        .collect()
}

/// Rows with different inputs at random, all if they are few. Equal targets of equal inputs would be
/// taken for a small noise.
fn rows(data: &PreparedData, seed: u64) -> Vec<usize> {
    let inputs = &data.train.inputs;
    let distinct = distinct_rows(inputs.values(), inputs.columns());
    if distinct.len() <= ROWS {
        return distinct;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let places = index::sample(&mut random, distinct.len(), ROWS);
    let mut rows: Vec<usize> = places.iter().map(|place| distinct[place]).collect();
    rows.sort_unstable();
    rows
}

/// Targets of any kind with mean zero and variance one; class numbers become those of a regression.
fn standardized(targets: &[f64]) -> Vec<f64> {
    let count = targets.len() as f64;
    let mean = targets.iter().sum::<f64>() / count;
    let variance = targets
        .iter()
        .map(|target| (target - mean).powi(2))
        .sum::<f64>()
        / count;
    let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    targets
        .iter()
        .map(|target| (target - mean) / scale)
        .collect()
}
