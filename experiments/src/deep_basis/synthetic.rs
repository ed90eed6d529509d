//! Accuracy and cost for increasing amounts of data in one dimension (section 4.1, Figures 1 and
//! 3).
//!
//! The function has three jumps. The inputs are uniform on [−1, 1], the noise variance is 0.01, and
//! 1000 more rows are held out. GP has a squared-exponential kernel, DKL has one on two features,
//! and DBK has 128 basis functions. Networks are perceptrons with two layers of 128 hyperbolic
//! tangents. All models are trained on the full batch by Adam with learning rate 1e-3 and weight
//! decay 1e-4 for the networks. Nothing is standardized or validated, because the paper does not
//! mention it. The paper shows these numbers in plots, without a table.

use burn_gp_core::{
    features::{FirstWeights, NetworkConfig, PerceptronConfig},
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    metrics,
    ops::Stationary,
    parameter::numbers,
    process::VarianceCorrection,
};
use burn_gp_datasets::{DataSource, Dataset, SyntheticFunction};
use burn_gp_models::{
    BasisConfig, DbkConfig, DeepKernelConfig, ExactConfig, ModelConfig, PredictionError, Predictor,
    training::{MiniBatchTrainer, MiniBatchTraining},
};
use burn_gp_runs::{
    arguments::name_of,
    evenly_spaced::evenly_spaced,
    failure::Failure,
    option_error::OptionError,
    plots::PredictedCurve,
    ranges::at_least_one,
    study::{CommonOptions, Experiment, ExperimentFolder},
    summary::median,
};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::synthetic_plots::{draw_cost, draw_kernels, draw_posteriors};
use super::synthetic_table::write_results;

/// The name of the experiment.
const NAME: &str = "dbk-synthetic";

/// The number of held-out rows.
const TEST_ROWS: usize = 1000;
/// The standard deviation of the noise.
const NOISE: f64 = 0.1;
const FIRST_NOISE: f64 = 1e-2;
const LEARNING_RATE: f64 = 1e-3;
const WEIGHT_DECAY: f64 = 1e-4;
const UNITS: usize = 128;
const RANK: usize = 128;
const FEATURES: usize = 2;
/// The number of inputs at which the posterior is drawn; they extend half the domain past either
/// end.
const CURVE_POINTS: usize = 400;
/// The inputs at which kernels are drawn: on levels of the function and at a jump.
pub(super) const LOOKED_AT: [f64; 3] = [-0.8, 0.0, 0.7];
/// The largest number of rows times steps of a run at quick scale.
const QUICK_WORK: usize = 3_000_000;
/// The smallest number of steps of a run at quick scale, needed to measure the time of a step.
const QUICK_STEPS: usize = 20;

/// The options of `experiment dbk-synthetic`.
#[derive(Args, Clone, Debug)]
pub struct DbkSyntheticOptions {
    /// Numbers of rows [default: 100,1000,10000,100000]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Models [default: all]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    methods: Vec<OneDimensional>,
    /// Rows above which gp and dkl are left out [default: 10000; quick: 1000]
    #[arg(long, value_name = "N")]
    dense_limit: Option<usize>,
    /// Optimizer steps [default: 10000; quick: 2000, and fewer above 1500 rows]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Number of seeds, counted from --seed [default: 10; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// A model of Figures 1 and 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OneDimensional {
    /// Exact regression
    Gp,
    /// Exact deep kernel learning
    Dkl,
    /// A deep basis kernel with variance correction
    Dbk,
    /// A deep basis kernel without variance correction
    DbkC,
}

impl OneDimensional {
    /// The name in the paper.
    pub fn title(self) -> &'static str {
        match self {
            Self::Gp => "GP",
            Self::Dkl => "DKL",
            Self::Dbk => "DBK",
            Self::DbkC => "DBK-c",
        }
    }

    /// Whether the cost grows faster than linearly in the rows.
    fn is_dense(self) -> bool {
        matches!(self, Self::Gp | Self::Dkl)
    }
}

/// A finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub method: OneDimensional,
    /// The number of rows, n.
    pub rows: usize,
    pub seed: u64,
    pub steps: usize,
    /// The mean absolute error of the held-out targets.
    pub mae: f64,
    /// The root mean square error of the held-out targets.
    pub rmse: f64,
    /// The mean negative log density of the held-out targets.
    pub nlpd: f64,
    /// The root mean square error of the function without noise.
    pub function_rmse: f64,
    /// The median time of a step, in seconds.
    pub seconds_per_step: f64,
    pub seconds: f64,
    /// The posterior of targets, inside and outside the domain.
    #[serde(flatten)]
    pub curve: PredictedCurve,
    /// `k(x*, ·)` at these inputs for each of [`LOOKED_AT`].
    pub slices: Vec<Vec<f64>>,
}

/// Runs `burn-gp experiment dbk-synthetic`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(crate) fn synthetic(options: &DbkSyntheticOptions) -> Result<(), Failure> {
    let common = &options.common;
    options.check()?;
    let place = common.place_in_single_precision()?;
    let steps = options.steps.unwrap_or(common.by_scale(2000, 10_000));
    let settings = json!({
        "scale": name_of(common.scale),
        "steps": steps,
        "learning_rate": LEARNING_RATE,
    });
    let experiment = Experiment::open(NAME, common, place, settings)?;
    for (method, rows, seed) in options.runs() {
        let name = format!("{}-{rows}-seed-{seed}", name_of(method));
        let title = format!("{}, n = {rows}, seed {seed}", method.title());
        let steps = match common.is_paper() || options.steps.is_some() {
            true => steps,
            false => steps.min(QUICK_WORK / rows).max(QUICK_STEPS),
        };
        experiment.load_or_compute(&name, &title, || {
            Example::new(rows, seed)?.run(method, (seed, steps), &experiment)
        })?;
    }
    report(&experiment.folder)
}

impl DbkSyntheticOptions {
    /// Checks the options.
    fn check(&self) -> Result<(), OptionError> {
        for &size in &self.sizes {
            at_least_one("--sizes", Some(size))?;
        }
        at_least_one("--steps", self.steps)?;
        at_least_one("--seeds", self.seeds)?;
        Ok(())
    }

    /// The requested runs, seed by seed.
    fn runs(&self) -> Vec<(OneDimensional, usize, u64)> {
        let sizes: &[usize] = match self.sizes.as_slice() {
            [] => &[100, 1000, 10_000, 100_000],
            sizes => sizes,
        };
        let methods = match self.methods.as_slice() {
            [] => OneDimensional::value_variants(),
            methods => methods,
        };
        let limit = self
            .dense_limit
            .unwrap_or(self.common.by_scale(1000, 10_000));
        let first = self.common.seed;
        let seeds = self.seeds.unwrap_or(self.common.by_scale(1, 10));
        let mut runs = Vec::new();
        for seed in first..first + seeds {
            for &rows in sizes {
                let fits = |method: &&OneDimensional| !method.is_dense() || rows <= limit;
                runs.extend(
                    methods
                        .iter()
                        .filter(fits)
                        .map(|&method| (method, rows, seed)),
                );
            }
        }
        runs
    }
}

/// Training rows and test rows.
struct Example {
    train: Dataset,
    test: Dataset,
}

impl Example {
    fn new(rows: usize, seed: u64) -> Result<Self, Failure> {
        let load = |rows: usize, seed: u64| {
            let text = format!("synthetic:levels?n={rows}&noise={NOISE}&seed={seed}");
            DataSource::resolve(&text, None)?.load(None)
        };
        Ok(Self {
            train: load(rows, 2 * seed)?,
            test: load(TEST_ROWS, 2 * seed + 1)?,
        })
    }

    fn run(
        &self,
        method: OneDimensional,
        (seed, steps): (u64, usize),
        experiment: &Experiment,
    ) -> Result<Run, Failure> {
        let (inputs, targets) = (self.train.inputs.values(), &self.train.targets);
        let data = experiment.data(inputs, targets);
        let training = MiniBatchTraining {
            batch_size: targets.len(),
            learning_rate: LEARNING_RATE,
            weight_decay: WEIGHT_DECAY,
            seed,
            ..MiniBatchTraining::new(steps)
        };
        let config = model(method, seed);
        let data = config.arranged(data);
        let model = config.init(&data)?;
        let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
        let seconds = experiment.watch.train(&mut trainer)?;
        let model = trainer.into_model().trained(&data)?;
        let run = self.scored(method, seed, &model.predictor()?, seconds)?;
        let slice = |place: f64| {
            let [at, all] = [&[place][..], &run.curve.x].map(|x| experiment.matrix(x, 1));
            model.covariance(at, all).map(numbers)
        };
        let slices = LOOKED_AT.into_iter().filter_map(slice).collect();
        Ok(Run { slices, ..run })
    }

    fn scored(
        &self,
        method: OneDimensional,
        seed: u64,
        predictor: &Predictor,
        seconds: Vec<f64>,
    ) -> Result<Run, PredictionError> {
        let (inputs, targets) = (self.test.inputs.values(), &self.test.targets);
        let predictions = predictor.predict(inputs, 1);
        let densities = predictor.log_density(inputs, 1, targets)?;
        let function = |x: &f64| SyntheticFunction::Levels.evaluate(&[*x]);
        let truth: Vec<f64> = inputs.iter().map(function).collect();
        let x = evenly_spaced((-1.5, 1.5), CURVE_POINTS);
        let curve = predictor.predict(&x, 1);
        Ok(Run {
            method,
            rows: self.train.rows(),
            seed,
            steps: seconds.len(),
            mae: metrics::mean_absolute_error(targets, &predictions.mean),
            rmse: metrics::root_mean_squared_error(targets, &predictions.mean),
            nlpd: metrics::negative_log_density(&densities),
            function_rmse: metrics::root_mean_squared_error(&truth, &predictions.mean),
            seconds: seconds.iter().sum(),
            seconds_per_step: median(seconds),
            curve: PredictedCurve::new(x, curve.mean, curve.variance),
            slices: Vec::new(),
        })
    }
}

fn kernel() -> StationaryConfig {
    StationaryConfig::new(Stationary::SquaredExponential).with_lengthscale(1.0)
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: FIRST_NOISE }
}

/// The configuration of the model.
fn model(method: OneDimensional, seed: u64) -> ModelConfig {
    let network: NetworkConfig = PerceptronConfig {
        hidden: vec![UNITS; 2],
        first_weights: FirstWeights::FanIn,
        seed,
        ..PerceptronConfig::default()
    }
    .into();
    let basis = |correction| {
        ModelConfig::from(DbkConfig {
            basis: BasisConfig::integrated(network.clone(), RANK),
            correction,
            ..DbkConfig::default()
        })
    };
    match method {
        OneDimensional::Gp => ExactConfig::new(kernel()).with_likelihood(noise()).into(),
        OneDimensional::Dkl => ModelConfig::from(DeepKernelConfig {
            network,
            features: FEATURES,
            model: ExactConfig::new(kernel()).with_likelihood(noise()),
        }),
        OneDimensional::Dbk => basis(VarianceCorrection::default()),
        OneDimensional::DbkC => basis(VarianceCorrection::NONE),
    }
}

/// Writes the table and the plots of all finished runs in the folder.
fn report(folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| (run.rows, run.method, run.seed));
    let lines = write_results(folder, &runs)?;
    folder.draw("cost.svg", |path| draw_cost(path, &runs));
    folder.draw("posteriors.svg", |path| draw_posteriors(path, &runs));
    folder.draw("kernels.svg", |path| draw_kernels(path, &runs));
    folder.print(lines);
    Ok(())
}
