//! A run of one model on rows in one dimension.

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
    evenly_spaced::evenly_spaced, failure::Failure, plots::PredictedCurve, study::Experiment,
    summary::median,
};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The number of held-out rows.
const TEST_ROWS: usize = 1000;
/// The standard deviation of the noise.
const NOISE: f64 = 0.1;
const FIRST_NOISE: f64 = 1e-2;
pub(super) const LEARNING_RATE: f64 = 1e-3;
const WEIGHT_DECAY: f64 = 1e-4;
const UNITS: usize = 128;
const RANK: usize = 128;
const FEATURES: usize = 2;
/// The number of inputs at which the posterior is drawn; they extend half the domain past either
/// end.
const CURVE_POINTS: usize = 400;
/// The inputs at which kernels are drawn: on levels of the function and at a jump.
pub(super) const LOOKED_AT: [f64; 3] = [-0.8, 0.0, 0.7];
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
    pub fn is_dense(self) -> bool {
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

/// Training rows and test rows.
pub(super) struct Example {
    train: Dataset,
    test: Dataset,
}

impl Example {
    /// Rows of this seed.
    pub fn new(rows: usize, seed: u64) -> Result<Self, Failure> {
        let load = |rows: usize, seed: u64| {
            let text = format!("synthetic:levels?n={rows}&noise={NOISE}&seed={seed}");
            DataSource::resolve(&text, None)?.load(None)
        };
        Ok(Self {
            train: load(rows, 2 * seed)?,
            test: load(TEST_ROWS, 2 * seed + 1)?,
        })
    }

    /// Trains a model and scores it.
    pub fn run(
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
