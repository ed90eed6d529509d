//! A Cox process with a deep basis kernel or a stationary kernel, fitted to a set of events.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::{FirstWeights, PerceptronConfig},
    inducing::InducingPoints,
    kernels::{Basis, StationaryConfig},
    layers::{AnyLayer, GpLayer},
    likelihoods::PredictiveDistribution,
    means::ConstantMean,
    ops::{Jitter, NotPositiveDefinite, Stationary},
    parameter::numbers,
    point_processes::{CoxProcess, Domain, IntegrationRule, expected_intensity},
    process::{CovarianceShape, Marginals, Process, VarianceCorrection, VariationalGaussian},
    variational::{WeightSpace, Whitened},
};
use burn_gp_models::training::{
    MiniBatchTrainer, MiniBatchTraining, Model, Objective, Schedule, matrix,
};
use burn_gp_runs::{
    coverage::Coverage, evenly_spaced::evenly_spaced, failure::Failure, study::Experiment,
};
use clap::ValueEnum;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::cox_data::Events;

const UNITS: usize = 64;
const RANK: usize = 32;
const LEARNING_RATE: f64 = 5e-3;
const WEIGHT_DECAY: f64 = 1e-4;
/// Quadrature nodes per dimension, or the root of the number of draws, for one and two dimensions.
const NODES: [usize; 2] = [100, 20];
/// Inducing points of the stationary kernel per dimension, for one and two dimensions.
const INDUCING: [usize; 2] = [40, 9];
/// Grid points per dimension for comparing and drawing intensities, for one and two dimensions.
pub(super) const GRID: [usize; 2] = [301, 41];

/// The integral in the bound.
#[derive(Clone, Debug)]
struct Integral {
    rule: IntegrationRule,
    domain: Domain,
    options: TensorCreationOptions,
    /// The number of draws and the seed of the next ones; `None` for quadrature.
    draws: Option<(usize, u64)>,
}

impl Integral {
    /// Replaces the draws by new ones.
    fn redrawn(self) -> Self {
        let Some((count, seed)) = self.draws else {
            return self;
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let options = self.options.clone();
        Self {
            rule: IntegrationRule::monte_carlo(&self.domain, count, &mut random, options),
            draws: Some((count, seed + 1)),
            ..self
        }
    }
}

/// A Cox process with its integral, in the form that the mini-batch trainer takes; the targets in its
/// data are not used.
#[derive(Module, Debug)]
struct Trained {
    process: CoxProcess,
    #[module(skip)]
    integral: Integral,
}

impl Model for Trained {
    fn objective(
        &self,
        inputs: Tensor<2>,
        _targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let bound = (self.process).objective(inputs, data_count, &self.integral.rule)?;
        Ok(Objective {
            fit: bound,
            kl: None,
        })
    }

    fn after_step(&mut self) {
        self.process.after_step();
        self.integral = self.integral.clone().redrawn();
    }
}

/// The prior of the log intensity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Prior {
    DeepBasis,
    Stationary,
}

/// How training computes the integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    Quadrature,
    MonteCarlo,
}

/// A fitted intensity on the grid, in the units of the events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fit {
    pub prior: Prior,
    pub rule: Rule,
    /// The mean of the intensity of all events.
    pub mean: Vec<f64>,
    /// The standard deviation of the intensity of all events.
    pub deviation: Vec<f64>,
    /// The expected number of all events.
    pub events: f64,
    /// The root mean square error of the mean, relative to the mean of the true intensity.
    pub error: Option<f64>,
    /// The share of the grid points where the truth is within the 95 % interval.
    pub coverage: Option<f64>,
    /// The expected log-likelihood for each held-out event.
    pub log_likelihood: f64,
    pub seconds: f64,
}

impl Prior {
    /// The name in tables and plots.
    pub fn title(self) -> &'static str {
        match self {
            Self::DeepBasis => "deep basis",
            Self::Stationary => "stationary",
        }
    }
}

impl Rule {
    /// The name in tables and plots.
    pub fn title(self) -> &'static str {
        match self {
            Self::Quadrature => "quadrature",
            Self::MonteCarlo => "Monte Carlo",
        }
    }
}

/// The settings for one set of events, with every side of the box rescaled to [−1, 1].
pub(super) struct Problem<'a> {
    events: &'a Events,
    domain: Domain,
    experiment: &'a Experiment,
    steps: usize,
    seed: u64,
}

impl<'a> Problem<'a> {
    /// # Errors
    ///
    /// If there are no coordinates.
    pub fn new(
        events: &'a Events,
        experiment: &'a Experiment,
        (steps, seed): (usize, u64),
    ) -> Result<Self, Failure> {
        let dimensions = events.dimensions();
        let domain = Domain::new(vec![-1.0; dimensions], vec![1.0; dimensions])
            .map_err(|error| Failure::Arguments(error.to_string()))?;
        Ok(Self {
            events,
            domain,
            experiment,
            steps,
            seed,
        })
    }

    /// Fits the posterior of the intensity with this prior and integral.
    ///
    /// # Errors
    ///
    /// If a matrix cannot be factored, or an output cannot be written.
    pub fn fit(&self, prior: Prior, rule: Rule) -> Result<Fit, Failure> {
        match prior {
            Prior::DeepBasis => self.fit_layer(self.deep_basis(), (prior, rule)),
            Prior::Stationary => self.fit_layer(self.stationary(), (prior, rule)),
        }
    }

    /// Options for tensors on the device with autodiff.
    fn options(&self) -> TensorCreationOptions {
        (
            &self.experiment.device.clone().autodiff(),
            self.experiment.dtype,
        )
            .into()
    }

    /// The constant mean that gives the observed number of events.
    fn mean(&self) -> ConstantMean {
        let count = self.events.train.len() / self.events.dimensions();
        let level = (count as f64 / self.domain.volume()).ln();
        ConstantMean::new(Tensor::from_data([level], self.options()))
    }

    fn deep_basis(&self) -> AnyLayer {
        let network = PerceptronConfig {
            hidden: vec![UNITS; 2],
            first_weights: FirstWeights::FanIn,
            seed: self.seed,
            ..PerceptronConfig::default()
        };
        let network = network.init(self.events.dimensions(), RANK, self.options());
        let distribution =
            VariationalGaussian::standard(RANK, 1, CovarianceShape::Full, self.options());
        let posterior = WeightSpace::new(distribution, VarianceCorrection::NONE);
        GpLayer::of(Basis::new(network), self.mean(), posterior).into()
    }

    fn stationary(&self) -> AnyLayer {
        let dimensions = self.events.dimensions();
        let config = StationaryConfig::new(Stationary::SquaredExponential).with_lengthscale(0.5);
        let lattice = lattice(INDUCING[dimensions - 1], dimensions);
        let count = lattice.len() / dimensions;
        let device = self.experiment.device.clone().autodiff();
        let points = matrix(&lattice, dimensions, &device, self.experiment.dtype);
        let distribution =
            VariationalGaussian::standard(count, 1, CovarianceShape::Full, self.options());
        let jitter = Jitter::for_precision(self.experiment.dtype);
        GpLayer::new(
            config.init(dimensions, self.options()),
            self.mean(),
            Whitened::new(InducingPoints::new(points), distribution, jitter),
        )
        .into()
    }

    fn integral(&self, rule: Rule) -> Integral {
        let dimensions = self.events.dimensions();
        let nodes = NODES[dimensions - 1];
        let count = nodes.pow(dimensions as u32);
        let options = self.options();
        let integral = Integral {
            rule: IntegrationRule::quadrature(&self.domain, nodes, options.clone()),
            domain: self.domain.clone(),
            options,
            draws: (rule == Rule::MonteCarlo).then_some((count, self.seed)),
        };
        integral.redrawn()
    }

    fn fit_layer(&self, layer: AnyLayer, (prior, rule): (Prior, Rule)) -> Result<Fit, Failure> {
        let events = self.events;
        let dimensions = events.dimensions();
        let inputs = events.scaled(&events.train);
        let nothing = vec![0.0; inputs.len() / dimensions];
        let data = self.experiment.data(&inputs, &nothing);
        let model = Trained {
            process: CoxProcess::new(layer),
            integral: self.integral(rule),
        };
        let training = MiniBatchTraining {
            batch_size: nothing.len(),
            learning_rate: LEARNING_RATE,
            schedule: Schedule::Cosine {
                final_fraction: 0.01,
            },
            weight_decay: WEIGHT_DECAY,
            ..MiniBatchTraining::new(self.steps)
        };
        let mut trainer = MiniBatchTrainer::new(model.train(), data, training);
        let seconds = self.experiment.watch.train(&mut trainer)?.iter().sum();
        let process = trainer.into_model().process.layer().condition()?;
        Ok(self.scored(&process, (prior, rule), seconds))
    }

    /// Evaluates a fit in the original units of the events, in which the box has a different volume.
    fn scored(&self, process: &impl Process, (prior, rule): (Prior, Rule), seconds: f64) -> Fit {
        let events = self.events;
        let dimensions = events.dimensions();
        let density = self.domain.volume() / events.volume();
        let grid = lattice(GRID[dimensions - 1], dimensions);
        let at = |places: &[f64]| process.marginals(self.experiment.matrix(places, dimensions));
        let Marginals { mean, variance } = at(&grid);
        let logarithms =
            PredictiveDistribution::of_normals(numbers(mean.clone()), numbers(variance.clone()));
        let intensity = expected_intensity(Marginals { mean, variance });
        let unit = density * events.whole;
        let mean: Vec<f64> = numbers(intensity.mean).iter().map(|m| m * unit).collect();
        let deviation = numbers(intensity.variance);
        let deviation = deviation.iter().map(|v| v.sqrt() * unit).collect();
        let rule_of_test = IntegrationRule::quadrature(
            &self.domain,
            2 * NODES[dimensions - 1],
            (&self.experiment.device, self.experiment.dtype),
        );
        let nodes = process.marginals(rule_of_test.points());
        let nodes = expected_intensity(nodes).mean.squeeze_dim(1);
        let total = numbers(rule_of_test.integral(nodes))[0];
        let held_out = numbers(at(&events.scaled(&events.held_out)).mean);
        let scale = (density * events.held_out_share).ln();
        let sum: f64 = held_out.iter().map(|mean| mean + scale).sum();
        let truth = self.truth(&grid);
        let covered = truth.as_ref().map(|truth| {
            let truth: Vec<f64> = truth.iter().map(|truth| (truth / unit).ln()).collect();
            Coverage::of_levels(logarithms.central_level(&truth)).observed(0.95)
        });
        Fit {
            prior,
            rule,
            error: truth.as_ref().map(|truth| relative_error(&mean, truth)),
            coverage: covered,
            events: total * events.whole,
            log_likelihood: (sum - total * events.held_out_share) / held_out.len().max(1) as f64,
            mean,
            deviation,
            seconds,
        }
    }

    /// The true intensity at points of the rescaled box.
    fn truth(&self, grid: &[f64]) -> Option<Vec<f64>> {
        let intensity = self.events.truth?;
        let dimensions = self.events.dimensions();
        let place = |place: &[f64]| -> f64 {
            let ends = place.iter().zip(&self.events.sides);
            let x: Vec<f64> = ends
                .map(|(x, (low, high))| low + 0.5 * (x + 1.0) * (high - low))
                .collect();
            intensity.at(&x)
        };
        Some(grid.chunks(dimensions).map(place).collect())
    }
}

/// A lattice of `count^D` points on [−1, 1]ᴰ, row-major; the first coordinate varies fastest.
pub(super) fn lattice(count: usize, dimensions: usize) -> Vec<f64> {
    let places = evenly_spaced((-1.0, 1.0), count);
    let steps = 0..count.pow(dimensions as u32);
    let place = |step: usize, axis: usize| places[step / count.pow(axis as u32) % count];
    steps
        .flat_map(|step| (0..dimensions).map(move |axis| (step, axis)))
        .map(|(step, axis)| place(step, axis))
        .collect()
}

/// The root mean square difference, relative to the mean of the truth.
fn relative_error(mean: &[f64], truth: &[f64]) -> f64 {
    let count = truth.len() as f64;
    let squares: f64 = (mean.iter().zip(truth))
        .map(|(mean, truth)| (mean - truth).powi(2))
        .sum();
    (squares / count).sqrt() / (truth.iter().sum::<f64>() / count)
}
