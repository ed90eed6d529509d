//! Inducing points of SVGP in increasing dimensions (Section S5.1, Figure S3): their distance to
//! the data and the uncertainty there.
//!
//! The inputs are uniform on [0, 1]ᴰ; the targets are drawn from a Gaussian process with a
//! Matérn-3/2 kernel of variance one and noise of standard deviation 0.1. SVGP has zero mean and
//! the same kernel with one lengthscale for each input. All hyperparameters start at ln 2, and the
//! inducing points start uniformly in the domain. Full-batch Adam trains all of them; the learning
//! rate decreases linearly to a tenth. The paper does not state the domain, lengthscale, noise,
//! initial values and learning rate, so the ones here are our choice.

use std::f64::consts::LN_2;

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::KernelModule,
    likelihoods::GaussianConfig,
    ops::{Jitter, add_to_diagonal, cholesky},
    parameter::{ParameterConfig, numbers},
};
use burn_gp_models::{
    ExactConfig, Predictor, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Schedule, Trainer},
};
use burn_gp_runs::{
    failure::Failure,
    option_error::OptionError,
    ranges::{above_lower_bound, at_least_one, at_most_rows, positive},
    study::{CommonOptions, Experiment},
};
use clap::Args;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::hyperparameters::{value_at, values_at};
use super::inducing_report::report;
use super::models::kernel;

/// The name of the experiment.
pub(super) const NAME: &str = "cagp-inducing";

/// The standard deviation of the noise in the data.
pub(super) const NOISE: f64 = 0.1;
const FIRST: f64 = LN_2;

/// The dimensions at quick scale.
const QUICK: [usize; 6] = [1, 2, 4, 8, 16, 25];
const MOST: usize = 25;

/// The options of `experiment cagp-inducing`.
#[derive(Args, Clone, Debug)]
pub struct InducingOptions {
    /// Numbers of inputs [default: 1 to 25; quick: 1,2,4,8,16,25]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    dimensions: Vec<usize>,
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 500)]
    rows: usize,
    /// Inducing points
    #[arg(long, value_name = "M", default_value_t = 64)]
    inducing: usize,
    /// Epochs of one step each
    #[arg(long, value_name = "E", default_value_t = 300)]
    epochs: usize,
    /// Lengthscale of the data, in a domain of length one
    #[arg(
        long,
        value_name = "L",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    lengthscale: f64,
    /// Initial learning rate of Adam
    #[arg(
        long,
        value_name = "R",
        default_value_t = 0.03,
        allow_negative_numbers = true
    )]
    learning_rate: f64,
    /// Number of seeds, counted from --seed [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

impl InducingOptions {
    /// Checks the options.
    fn check(&self, seeds: u64) -> Result<(), OptionError> {
        for &dimensions in &self.dimensions {
            at_least_one("--dimensions", Some(dimensions))?;
        }
        at_least_one("--rows", Some(self.rows))?;
        at_least_one("--inducing", Some(self.inducing))?;
        at_least_one("--epochs", Some(self.epochs))?;
        above_lower_bound("--lengthscale", self.lengthscale)?;
        positive("--learning-rate", self.learning_rate)?;
        at_least_one("--seeds", Some(seeds))?;
        at_most_rows("--inducing", self.inducing, self.rows)
    }
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    /// D
    pub dimensions: usize,
    pub seed: u64,
    /// The mean distance from the inducing points to their nearest rows, in trained lengthscales.
    pub distance: f64,
    /// The mean distance of equally many uniform points to their nearest rows.
    pub uniform_distance: f64,
    /// The mean over the inducing points of the function's share of the variance of a target.
    pub ratio: f64,
    /// The mean share for exact regression with the hyperparameters of the data.
    pub exact_ratio: f64,
    /// The trained standard deviation of the noise.
    pub noise: f64,
    /// The mean of the trained lengthscales.
    pub lengthscale: f64,
}

/// Runs `burn-gp experiment cagp-inducing`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(crate) fn inducing(options: &InducingOptions) -> Result<(), Failure> {
    let common = &options.common;
    let seeds = options.seeds.unwrap_or(common.by_scale(1, 5));
    options.check(seeds)?;
    let settings = json!({
        "rows": options.rows,
        "inducing": options.inducing,
        "epochs": options.epochs,
        "lengthscale": options.lengthscale,
        "learning_rate": options.learning_rate,
    });
    let experiment = Experiment::open(NAME, common, common.place()?, settings)?;
    let all: Vec<usize> = match options.dimensions.as_slice() {
        [] if common.is_paper() => (1..=MOST).collect(),
        [] => QUICK.to_vec(),
        dimensions => dimensions.to_vec(),
    };
    for seed in common.seed..common.seed + seeds {
        for &dimensions in &all {
            let name = format!("{dimensions}-inputs-seed-{seed}");
            experiment.load_or_compute(
                &name,
                &format!("{dimensions} inputs, seed {seed}"),
                || Example::new(options, (dimensions, seed), &experiment)?.run(options),
            )?;
        }
    }
    report(&experiment.folder, options.inducing)
}

/// The data of a run.
struct Example<'a> {
    experiment: &'a Experiment,
    dimensions: usize,
    seed: u64,
    /// `[N, D]`, row-major.
    inputs: Vec<f64>,
    targets: Vec<f64>,
    /// `[M, D]`, row-major.
    uniform: Vec<f64>,
}

impl<'a> Example<'a> {
    fn new(
        options: &InducingOptions,
        (dimensions, seed): (usize, u64),
        experiment: &'a Experiment,
    ) -> Result<Self, Failure> {
        let place = (&experiment.device, experiment.dtype);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = |points: usize| -> Vec<f64> {
            let places = (0..points * dimensions).map(|_| random.random_range(0.0..1.0));
            places.collect()
        };
        let (inputs, uniform) = (uniform(options.rows), uniform(options.inducing));
        let points = experiment.matrix(&inputs, dimensions);
        let kernel = kernel(options.lengthscale).init(dimensions, place);
        let noise = Tensor::from_data([NOISE * NOISE], place);
        let covariance = add_to_diagonal(kernel.matrix_at(points), noise);
        let factor = cholesky(covariance, Jitter::NONE)?;
        let normal: Vec<f64> = StandardNormal
            .sample_iter(&mut random)
            .take(options.rows)
            .collect();
        let targets = factor.lower().matmul(experiment.matrix(&normal, 1));
        Ok(Self {
            experiment,
            dimensions,
            seed,
            inputs,
            targets: numbers(targets),
            uniform,
        })
    }

    fn run(&self, options: &InducingOptions) -> Result<Run, Failure> {
        let data = self.experiment.data(&self.inputs, &self.targets);
        let training = MiniBatchTraining {
            batch_size: options.rows,
            learning_rate: options.learning_rate,
            schedule: Schedule::Linear {
                final_fraction: 0.1,
            },
            seed: self.seed,
            ..MiniBatchTraining::new(options.epochs)
        };
        let model = self.svgp(options.inducing).init(&data)?;
        let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
        self.experiment.watch.train(&mut trainer)?;
        let model = trainer.model().trained(&data)?;
        let points = model.inducing_points();
        let hyperparameters = model.hyperparameters();
        let lengthscales = values_at(&hyperparameters, "kernel.lengthscale");
        let noise = value_at(&hyperparameters, "likelihood.noise");
        let exact = ExactConfig::new(kernel(options.lengthscale)).with_likelihood(GaussianConfig {
            noise: NOISE * NOISE,
        });
        let exact = exact.init(&data)?.trained(&data)?;
        let distance = |points: &[f64]| mean_distance(points, &self.inputs, lengthscales);
        Ok(Run {
            dimensions: self.dimensions,
            seed: self.seed,
            distance: distance(&points),
            uniform_distance: distance(&self.uniform),
            ratio: self.mean_ratio(&model.predictor()?, &points, noise),
            exact_ratio: self.mean_ratio(&exact.predictor()?, &points, NOISE * NOISE),
            noise: noise.sqrt(),
            lengthscale: lengthscales.iter().sum::<f64>() / lengthscales.len() as f64,
        })
    }

    /// The model before training.
    fn svgp(&self, inducing: usize) -> SvgpConfig {
        let noise = GaussianConfig { noise: FIRST };
        let mut config = SvgpConfig::new(kernel(FIRST), noise).with_inducing(inducing);
        let first = [
            ("kernel.variance", vec![FIRST]),
            ("posterior.inducing.points", self.uniform.clone()),
        ];
        config.parameters = ParameterConfig {
            values: first.map(|(path, values)| (path.to_owned(), values)).into(),
            ..ParameterConfig::default()
        };
        config
    }

    /// The mean over points of `v/(v + σ²)`, where v is the variance of the function (eq. S25).
    fn mean_ratio(&self, predictor: &Predictor, points: &[f64], noise: f64) -> f64 {
        let points = self.experiment.matrix(points, self.dimensions);
        let variances = numbers(predictor.marginals(points).variance);
        let ratios = variances
            .iter()
            .map(|variance| variance / (variance + noise));
        ratios.sum::<f64>() / variances.len() as f64
    }
}

/// The mean over points, `[M, D]`, of the distance to the nearest row, `[N, D]`, in units of the
/// lengthscales (eq. S24).
fn mean_distance(points: &[f64], rows: &[f64], lengthscales: &[f64]) -> f64 {
    let dimensions = lengthscales.len().max(1);
    let squared = |point: &[f64], row: &[f64]| -> f64 {
        let differences = point.iter().zip(row).zip(lengthscales);
        differences
            .map(|((point, row), lengthscale)| ((point - row) / lengthscale).powi(2))
            .sum()
    };
    let nearest = |point: &[f64]| {
        let distances = rows.chunks(dimensions).map(|row| squared(point, row));
        distances.fold(f64::INFINITY, f64::min).sqrt()
    };
    let distances: Vec<f64> = points.chunks(dimensions).map(nearest).collect();
    distances.iter().sum::<f64>() / distances.len() as f64
}

#[cfg(test)]
mod tests {
    use super::mean_distance;

    #[test]
    fn distances_are_to_the_nearest_row_in_lengthscales() {
        let rows = [0.0, 0.0, 1.0, 1.0];
        // The first point is a row. The second is 2 away from the second row, which is 0.5
        // lengthscales.
        let points = [0.0, 0.0, 1.0, 3.0];
        assert_eq!(mean_distance(&points, &rows, &[1.0, 4.0]), 0.25);
    }
}
