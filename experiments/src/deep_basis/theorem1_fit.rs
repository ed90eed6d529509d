//! The models of Theorem 1: the optimum, and deep basis kernels trained on the same targets.

use burn::module::Module;
use burn_gp_core::{
    features::{FirstWeights, PerceptronConfig},
    kernels::{FeatureMap, LowRankKernel},
    likelihoods::PredictiveDistribution,
    metrics,
    parameter::{ParameterConfig, numbers},
    process::{Process, VarianceCorrection},
};
use burn_gp_datasets::{DataSource, SyntheticFunction};
use burn_gp_models::{
    AnyDbk, BasisConfig, DbkConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Schedule, Trainer, TrainingData},
};
use burn_gp_runs::{
    coverage::Coverage, evenly_spaced::evenly_spaced, failure::Failure, plots::PredictedCurve,
    study::Experiment,
};
use serde::{Deserialize, Serialize};

/// The noise variance.
pub(super) const NOISE: f64 = 0.01;
const LEARNING_RATE: f64 = 5e-3;
const WEIGHT_DECAY: f64 = 1e-4;
const UNITS: usize = 64;
/// The number of grid points for comparing and drawing functions.
const GRID: usize = 401;
/// The number of steps between two recorded noise variances.
const APART: usize = 20;

/// The optimum for known noise, in closed form and as found by training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KnownNoise {
    pub rows: usize,
    /// The expected evidence per datum: by the theorem, and after training.
    pub evidence: [f64; 2],
    /// The expected squared error of the function, as a root mean over the data.
    pub error: [f64; 2],
    /// The share of the trace of `ΦΦᵀ` along f.
    pub along_function: f64,
}

/// A posterior of the function, given the same targets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fit {
    pub title: String,
    /// The noise variance, trained or known.
    pub noise: f64,
    /// The function with its standard deviations, which include c, over the domain and a little
    /// beyond it.
    #[serde(flatten)]
    pub curve: PredictedCurve,
    /// The error of the function within the domain.
    pub error: f64,
    /// The root of the mean variance of the function within the domain.
    pub mean_deviation: f64,
    /// The share of the function within its 95 % intervals, within the domain.
    pub coverage: f64,
    /// The mean negative log density of new targets.
    pub nlpd: f64,
    /// The noise variances during training, with their steps.
    pub course: Vec<(usize, f64)>,
}

/// The data and settings of all models.
pub(super) struct Problem {
    pub inputs: Vec<f64>,
    pub targets: Vec<f64>,
    /// The function without noise.
    pub function: Vec<f64>,
    /// New targets, one for each grid point within the domain.
    new: (Vec<f64>, Vec<f64>),
    rank: usize,
    steps: usize,
    seed: u64,
}

/// The function at these inputs.
pub(super) fn levels(x: &[f64]) -> Vec<f64> {
    let value = |x: &f64| SyntheticFunction::Levels.evaluate(&[*x]);
    x.iter().map(value).collect()
}

impl Problem {
    /// The problem of `rows` rows and models of this rank.
    pub fn new((rows, rank): (usize, usize), steps: usize, seed: u64) -> Result<Self, Failure> {
        let load = |rows: usize, seed: u64| {
            let deviation = NOISE.sqrt();
            let text = format!("synthetic:levels?n={rows}&noise={deviation}&seed={seed}");
            DataSource::resolve(&text, None)?.load(None)
        };
        let (train, new) = (load(rows, 2 * seed)?, load(1000, 2 * seed + 1)?);
        let inputs = train.inputs.into_values();
        Ok(Self {
            function: levels(&inputs),
            inputs,
            targets: train.targets,
            new: (new.inputs.into_values(), new.targets),
            rank,
            steps,
            seed,
        })
    }

    /// `‖f‖²`.
    fn norm(&self) -> f64 {
        self.function.iter().map(|f| f * f).sum()
    }

    fn config(&self, correction: VarianceCorrection, frozen: &[&str]) -> DbkConfig {
        let network = PerceptronConfig {
            hidden: vec![UNITS; 2],
            first_weights: FirstWeights::FanIn,
            seed: self.seed,
            ..PerceptronConfig::default()
        };
        DbkConfig {
            basis: BasisConfig::integrated(network, self.rank),
            correction,
            parameters: ParameterConfig {
                frozen: frozen.iter().map(ToString::to_string).collect(),
                ..ParameterConfig::default()
            },
            ..DbkConfig::default()
        }
    }

    /// Trains on the full batch, with any number of columns of targets; calls `snapshot` with the model at
    /// some of the steps.
    fn train(
        &self,
        (config, data): (DbkConfig, &TrainingData),
        weight_decay: f64,
        experiment: &Experiment,
        mut snapshot: impl FnMut(usize, &AnyDbk),
    ) -> Result<AnyDbk, Failure> {
        let model = config.init(data)?;
        let training = MiniBatchTraining {
            batch_size: data.len(),
            learning_rate: LEARNING_RATE,
            schedule: Schedule::Cosine {
                final_fraction: 0.01,
            },
            weight_decay,
            ..MiniBatchTraining::new(self.steps)
        };
        let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
        let watch = &experiment.watch;
        watch.train_with_snapshots(&mut trainer, 1, |trainer, step| {
            if step.is_multiple_of(APART) {
                snapshot(step, trainer.model());
            }
            Ok(())
        })?;
        Ok(trainer.into_model().valid())
    }

    /// The expected evidence and the expected error, at the optimum and after training.
    pub fn known_noise(&self, experiment: &Experiment) -> Result<KnownNoise, Failure> {
        let (n, norm) = (self.inputs.len() as f64, self.norm());
        let data = self.expected_data(experiment);
        let config = self.config(VarianceCorrection::NONE, &["likelihood"]);
        let model = self.train((config, &data), 0.0, experiment, |_, _| {})?;
        let (x, y) = (data.inputs.inner(), data.targets.inner());
        let columns = 2.0 * n;
        let evidence = numbers(model.full_objective(x.clone(), y.clone())?)[0] / columns;
        let means = numbers(model.condition(x.clone(), y)?.marginals(x.clone()).mean);
        let squares = (means.chunks(2 * self.inputs.len()).zip(&self.function))
            .flat_map(|(row, f)| row.iter().map(move |mean| (mean - f).powi(2)));
        let error = squares.sum::<f64>() / columns;
        let two_pi = 2.0 * core::f64::consts::PI;
        let best = -0.5 * (n * (two_pi.ln() + 1.0) + (norm + NOISE).ln() + (n - 1.0) * NOISE.ln());
        Ok(KnownNoise {
            rows: self.inputs.len(),
            evidence: [best / n, evidence / n],
            error: [NOISE * norm / (norm + NOISE) / n, error / n].map(f64::sqrt),
            along_function: self.along_function(&model, experiment)?,
        })
    }

    /// Targets with mean f and covariance σ²I, `[N, 2N]`. The average of a quadratic function over
    /// these columns is its expectation.
    fn expected_data(&self, experiment: &Experiment) -> TrainingData {
        let n = self.inputs.len();
        let step = (n as f64 * NOISE).sqrt();
        let rows = self.function.iter().enumerate();
        let targets: Vec<f64> = rows
            .flat_map(|(row, f)| {
                (0..2 * n).map(move |column| match (column / 2 == row, column % 2) {
                    (false, _) => *f,
                    (true, 0) => f + step,
                    (true, _) => f - step,
                })
            })
            .collect();
        let device = experiment.device.clone().autodiff();
        TrainingData::with_target_columns(&self.inputs, &targets, 2 * n, &device, experiment.dtype)
    }

    /// `‖Φᵀf‖²/(‖f‖²·tr ΦΦᵀ)`.
    fn along_function(&self, model: &AnyDbk, experiment: &Experiment) -> Result<f64, Failure> {
        let x = experiment.matrix(&self.inputs, 1);
        let features = model.kernel().feature_map()?.features(x); // [N, R]
        let function = experiment.matrix(&self.function, 1);
        let along = features.clone().transpose().matmul(function);
        let along: f64 = along.square().sum().into_scalar();
        let trace: f64 = features.square().sum().into_scalar();
        Ok(along / (self.norm() * trace))
    }

    /// The posterior with the theorem's covariance, `k(x, x′) = f(x)·f(x′)`, and the true noise.
    pub fn best(&self) -> Fit {
        let shrunk = self.norm() + NOISE;
        let products = self.function.iter().zip(&self.targets);
        let weight = products.map(|(f, y)| f * y).sum::<f64>() / shrunk;
        let marginals = |x: &[f64]| -> (Vec<f64>, Vec<f64>) {
            let spread = |f: f64| f * f * NOISE / shrunk;
            (levels(x).into_iter().map(|f| (weight * f, spread(f)))).unzip()
        };
        self.fit("Theorem 1", NOISE, marginals, Vec::new())
    }

    /// Trains a deep basis kernel with trained noise.
    pub fn trained(
        &self,
        title: &str,
        correction: VarianceCorrection,
        experiment: &Experiment,
    ) -> Result<Fit, Failure> {
        let data = experiment.data(&self.inputs, &self.targets);
        let noise = |model: &AnyDbk| numbers(model.likelihood().noise().inner())[0];
        let mut course = Vec::new();
        let config = self.config(correction, &[]);
        let model = self.train((config, &data), WEIGHT_DECAY, experiment, |step, model| {
            course.push((step, noise(model)));
        })?;
        let process = model.condition(data.inputs.inner(), data.targets.inner())?;
        let marginals = |x: &[f64]| {
            let marginals = process.marginals(experiment.matrix(x, 1));
            (numbers(marginals.mean), numbers(marginals.variance))
        };
        Ok(self.fit(title, noise(&model), marginals, course))
    }

    fn fit(
        &self,
        title: &str,
        noise: f64,
        marginals: impl Fn(&[f64]) -> (Vec<f64>, Vec<f64>),
        course: Vec<(usize, f64)>,
    ) -> Fit {
        let x = evenly_spaced((-1.2, 1.2), GRID);
        let (mean, variance) = marginals(&x);
        let (places, observed) = &self.new;
        let (means, variances) = marginals(places);
        let truth = levels(places);
        let noisy: Vec<f64> = variances.iter().map(|variance| variance + noise).collect();
        Fit {
            title: title.to_owned(),
            noise,
            curve: PredictedCurve::new(x, mean, variance),
            error: metrics::root_mean_squared_error(&truth, &means),
            mean_deviation: (variances.iter().sum::<f64>() / variances.len() as f64).sqrt(),
            nlpd: metrics::normal_negative_log_density(observed, &means, &noisy),
            coverage: {
                let functions = PredictiveDistribution::of_normals(means, variances);
                Coverage::of_levels(functions.central_level(&truth)).observed(0.95)
            },
            course,
        }
    }
}
