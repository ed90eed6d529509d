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
use std::path::Path;

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
    plots::{self, Caption, CurveName, CurvePanel, PlotError, Quantity, Span},
    ranges::{at_least_one, at_most_rows, parameter, positive},
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, points, table},
    summary::Summary,
};
use clap::Args;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::hyperparameters::{value_at, values_at};
use super::models::kernel;
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-inducing";

/// The standard deviation of the noise in the data.
const NOISE: f64 = 0.1;
const FIRST: f64 = LN_2;

/// The dimensions at quick scale.
const QUICK: [usize; 6] = [1, 2, 4, 8, 16, 25];
const MOST: usize = 25;

/// Inducing points of SVGP in increasing dimensions (arXiv:2411.01036, Figure S3)
///
/// The distance from the trained inducing points to the data, in trained lengthscales, and the
/// function's share of the variance of a target there, compared with exact regression.
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
        parameter("--lengthscale", self.lengthscale)?;
        positive("--learning-rate", self.learning_rate)?;
        at_least_one("--seeds", Some(seeds))?;
        at_most_rows("--inducing", self.inducing, self.rows)
    }
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
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

inventory::submit! { Registration::of::<InducingOptions>(NAME) }

impl Figure for InducingOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let seeds = self.seeds.unwrap_or(common.by_scale(1, 5));
        self.check(seeds)?;
        let settings = json!({
            "rows": self.rows,
            "inducing": self.inducing,
            "epochs": self.epochs,
            "lengthscale": self.lengthscale,
            "learning_rate": self.learning_rate,
        });
        let experiment = Experiment::open(NAME, common, common.place()?, settings)?;
        let all: Vec<usize> = match self.dimensions.as_slice() {
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
                    || Example::new(self, (dimensions, seed), &experiment)?.run(self),
                )?;
            }
        }
        report(&experiment.folder, self.inducing)
    }
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

/// Title, key of the means, key of the values of a run, and the value.
type Number = (&'static str, &'static str, &'static str, fn(&Run) -> f64);

const NUMBERS: [Number; 6] = [
    ("distance", "distance", "distance", |run| run.distance),
    ("uniform", "uniform_distance", "uniform_distance", |run| {
        run.uniform_distance
    }),
    ("ratio", "ratio", "ratio", |run| run.ratio),
    ("exact", "exact_ratio", "exact_ratio", |run| run.exact_ratio),
    ("noise deviation", "noise", "noise_deviation", |run| {
        run.noise
    }),
    ("lengthscale", "lengthscale", "lengthscale", |run| {
        run.lengthscale
    }),
];

/// A summary over the seeds for one number of inputs.
fn cell(runs: &[Run]) -> ResultRow {
    let line = ResultRow::default()
        .column("inputs", "dimensions", runs[0].dimensions, 0)
        .with("seeds", runs.len());
    let line = NUMBERS.into_iter().fold(line, |line, (title, key, _, of)| {
        line.column(title, key, Summary::of(runs.iter().map(of)), 3)
    });
    line.shown("seeds", runs.len())
}

/// A line of the CSV file.
fn line(run: &Run) -> ResultRow {
    let line = ResultRow::default()
        .with("inputs", run.dimensions)
        .with("seed", run.seed);
    let with = |line: ResultRow, (.., key, of): Number| line.with(key, of(run));
    NUMBERS.into_iter().fold(line, with)
}

/// Writes the table and the plot of all runs in the folder.
fn report(folder: &ExperimentFolder, inducing: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| (run.dimensions, run.seed));
    let groups = runs.chunk_by(|a, b| a.dimensions == b.dimensions);
    let cells: Vec<ResultRow> = groups.map(cell).collect();
    let rows: Vec<ResultRow> = runs.iter().map(line).collect();
    folder.write_results(&cells, &rows)?;
    folder.draw("inducing.svg", |path| draw(path, &cells));
    let mut lines = vec![format!(
        "{NAME}: {inducing} inducing points of SVGP; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&cells));
    lines.push(
        "mean (standard error) over the seeds; distance: from an inducing point to the nearest row, in \
         trained lengthscales (eq. S24);\nuniform: the same for as many uniform points; ratio: variance of the \
         function over that of a target at the inducing points\n(eq. S25); exact: the ratio for CholeskyGP with the \
         hyperparameters of the data. The paper (arXiv:2411.01036, Figure S3) has\nno numbers: inducing \
         points are closer to the data than uniform points, at a distance that grows with the number of\ninputs; \
         with only four inputs the ratio is already small, far below the exact one."
            .into(),
    );
    lines.push(finding(&cells));
    folder.print(lines);
    Ok(())
}

/// States the numbers of inputs for which the paper's findings hold here.
fn finding(cells: &[ResultRow]) -> String {
    let mean = |cell: &ResultRow, key| cell.number(key).unwrap_or(f64::NAN);
    let inputs = |holds: &mut dyn FnMut(&ResultRow) -> bool| {
        let held = cells
            .iter()
            .map(|cell| (mean(cell, "dimensions") as usize, holds(cell)));
        ranges(&held.collect::<Vec<(usize, bool)>>())
    };
    let nearer = inputs(&mut |cell| mean(cell, "distance") < mean(cell, "uniform_distance"));
    let surer = inputs(&mut |cell| mean(cell, "ratio") < mean(cell, "exact_ratio"));
    let mut before = f64::NAN;
    let farther = inputs(&mut |cell| {
        let distance = mean(cell, "distance");
        let is_farther = distance > before;
        before = distance;
        is_farther
    });
    format!(
        "here, by number of inputs: closer than uniform points: {nearer}; farther than with the next smaller \
         number: {farther};\nratio below the exact one: {surer}"
    )
}

/// The numbers with a true condition; consecutive ones are written as ranges.
fn ranges(numbers: &[(usize, bool)]) -> String {
    let runs = numbers.chunk_by(|a, b| a.1 == b.1).filter(|run| run[0].1);
    let ranges: Vec<String> = runs
        .map(|run| match (run[0].0, run[run.len() - 1].0) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        })
        .collect();
    match ranges.is_empty() {
        true => "none".to_owned(),
        false => ranges.join(", "),
    }
}

/// Draws distances and ratios against the number of inputs.
fn draw(path: &Path, cells: &[ResultRow]) -> Result<(), PlotError> {
    let curve = |key| points(cells, "dimensions", key);
    let distances = vec![curve("distance"), curve("uniform_distance")];
    let ratios = vec![curve("ratio"), Vec::new(), curve("exact_ratio")];
    let panels = [
        CurvePanel {
            value: Quantity::of("trained lengthscales"),
            ..CurvePanel::new("distance to the nearest row", Span::FromZero, distances)
        },
        CurvePanel {
            title: "function's share of a target's variance",
            ..CurvePanel::new("ratio of variances", Span::Window(0.0, 1.0), ratios)
        },
    ];
    let names = [
        "SVGP",
        "uniform points",
        "CholeskyGP, hyperparameters of the data",
    ];
    let caption = Caption::new(
        "draws of a process",
        "at the inducing points of SVGP, means over the seeds",
    );
    let along = Quantity::of("inputs");
    let names = names.map(CurveName::from);
    plots::curves(path, "Inducing points", caption, &names, along, &panels)
}

#[cfg(test)]
mod tests {
    use super::{mean_distance, ranges};

    #[test]
    fn distances_are_to_the_nearest_row_in_lengthscales() {
        let rows = [0.0, 0.0, 1.0, 1.0];
        // The first point is a row. The second is 2 away from the second row, which is 0.5
        // lengthscales.
        let points = [0.0, 0.0, 1.0, 3.0];
        assert_eq!(mean_distance(&points, &rows, &[1.0, 4.0]), 0.25);
    }

    #[test]
    fn neighbors_are_ranges() {
        let numbers = [(1, true), (2, false), (4, true), (8, true), (16, true)];
        assert_eq!(ranges(&numbers), "1, 4 to 16");
        assert_eq!(ranges(&[(1, false)]), "none");
    }
}
