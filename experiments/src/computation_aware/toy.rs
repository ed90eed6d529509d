//! A function of one input with gaps in its data (Figure 1).
//!
//! There are 50 rows around each of five places, with noise of standard deviation 0.1; four fixed
//! inducing points are in the middle of the gaps. Every model learns its own hyperparameters:
//! CholeskyGP, SVGP with the optimal `q(u)` (the collapsed bound) and CaGP-Opt by L-BFGS, CaGP-CG
//! by Adam. The last two have 20 actions by default. The paper does not state the sizes of its
//! example.

use std::path::Path;

use burn::module::Module;
use burn_gp_core::{
    inference::ConjugateGradientsSettings,
    likelihoods::GaussianConfig,
    parameter::{ParameterConfig, numbers},
};
use burn_gp_models::{
    ActionsConfig, AnyComputationAware, AnyTrained, ComputationAwareConfig, ExactConfig,
    ModelDefinition, SgprConfig,
    training::{FullBatchOptimizer, FullBatchTrainer, Model as _, TrainingData},
};
use burn_gp_runs::{
    evenly_spaced::evenly_spaced,
    failure::Failure,
    option_error::OptionError,
    plots::{self, Bands, Caption, FitPanel, PlotError, Points, PredictedCurve, Quantity},
    ranges::{at_least_one, at_most_rows},
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, table},
};
use clap::Args;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::hyperparameters::value_at;
use super::models::{ADAM, by_residuals, kernel, trained, training};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-toy";

/// The places around which the data are.
const PLACES: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
const ROWS: usize = 50;
const WIDTH: f64 = 0.1;
const NOISE: f64 = 0.1;

/// The inducing points, far from all data.
const INDUCING: [f64; 4] = [-0.75, -0.25, 0.25, 0.75];

/// The distance to which models are drawn beyond the data.
const BEYOND: f64 = 0.3;

/// The number of inputs at which a model is drawn.
const CURVE_POINTS: usize = 301;

/// Exact, sparse and computation-aware regression with gaps in the data (arXiv:2411.01036,
/// Figure 1)
///
/// CholeskyGP, SVGP with four inducing points in the gaps of the data, CaGP-CG and CaGP-Opt,
/// each with its own hyperparameters; for the last two, the uncertainty is split into its
/// mathematical and computational parts.
#[derive(Args, Clone, Debug)]
pub struct ToyOptions {
    /// Iterations of L-BFGS, steps of Adam [default: 1000; quick: 200]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Actions
    #[arg(long, value_name = "I", default_value_t = 20)]
    actions: usize,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

impl ToyOptions {
    /// Checks the options.
    fn check(&self) -> Result<(), OptionError> {
        at_least_one("--steps", self.steps)?;
        at_least_one("--actions", Some(self.actions))?;
        at_most_rows("--actions", self.actions, PLACES.len() * ROWS)
    }
}

/// A fitted model of the figure. Standard deviations are those of the function, without noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fit {
    pub title: String,
    pub noise: f64,
    pub lengthscale: f64,
    #[serde(flatten)]
    pub curve: PredictedCurve,
    /// The mathematical part of the standard deviation, for models that also have a computational
    /// part.
    pub mathematical: Option<Vec<f64>>,
    pub inducing: Vec<f64>,
}

/// The data and settings that all models share.
struct Problem<'a> {
    experiment: &'a Experiment,
    pub inputs: Vec<f64>,
    pub targets: Vec<f64>,
    /// The data on the device with autodiff.
    data: TrainingData,
    steps: usize,
    actions: usize,
}

impl<'a> Problem<'a> {
    fn new((steps, actions): (usize, usize), seed: u64, experiment: &'a Experiment) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let places = PLACES.iter().flat_map(|place| [*place; ROWS]);
        let inputs: Vec<f64> = places
            .map(|place| place + random.random_range(-0.5 * WIDTH..0.5 * WIDTH))
            .collect();
        let targets = inputs.iter().map(|x| {
            let noise: f64 = StandardNormal.sample(&mut random);
            (10.0 * x).sin() + NOISE * noise
        });
        let targets: Vec<f64> = targets.collect();
        Self {
            experiment,
            data: experiment.data(&inputs, &targets),
            inputs,
            targets,
            steps,
            actions,
        }
    }

    fn train<M: Module + burn_gp_models::training::Model>(
        &self,
        model: M,
        data: &TrainingData,
        optimizer: FullBatchOptimizer,
    ) -> Result<M, Failure> {
        let training = training(self.steps, optimizer);
        let mut trainer = FullBatchTrainer::new(model, data.clone(), training);
        self.experiment.watch.train(&mut trainer)?;
        Ok(trainer.into_model())
    }

    /// The posterior of the function over the range of the data and a little beyond.
    fn fit(&self, title: &str, model: &AnyTrained, inducing: &[f64]) -> Result<Fit, Failure> {
        let x = grid();
        let at = self.experiment.matrix(&x, 1);
        let marginals = model.predictor()?.marginals(at);
        let hyperparameters = model.hyperparameters();
        Ok(Fit {
            title: title.to_owned(),
            noise: value_at(&hyperparameters, "likelihood.noise"),
            lengthscale: value_at(&hyperparameters, "kernel.lengthscale"),
            curve: PredictedCurve::new(x, numbers(marginals.mean), numbers(marginals.variance)),
            mathematical: None,
            inducing: inducing.to_vec(),
        })
    }

    fn computation_aware(
        &self,
        title: &str,
        actions: ActionsConfig,
        optimizer: FullBatchOptimizer,
    ) -> Result<Fit, Failure> {
        let config = ComputationAwareConfig::new(kernel(1.0))
            .with_likelihood(noise())
            .with_actions(actions);
        let data = config.arranged(self.data.clone());
        let model = config.init(&data)?;
        let model = self.train(model, &data, optimizer)?;
        let mathematical = self.mathematical(&model, &data)?;
        let model = model.trained(&data)?;
        Ok(Fit {
            mathematical: Some(mathematical),
            ..self.fit(title, &model, &[])?
        })
    }

    /// The standard deviations of the exact posterior with the same hyperparameters.
    fn mathematical(
        &self,
        model: &AnyComputationAware,
        data: &TrainingData,
    ) -> Result<Vec<f64>, Failure> {
        let x = self.experiment.matrix(&grid(), 1);
        let solves = ConjugateGradientsSettings {
            tolerance: 1e-6,
            ..ConjugateGradientsSettings::default()
        };
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let parts = model.uncertainty(inputs, targets, x, solves)?;
        let variances = numbers(parts.mathematical).into_iter();
        Ok(variances.map(f64::sqrt).collect())
    }
}

/// Inputs over the range of the data and a little beyond.
fn grid() -> Vec<f64> {
    let range = (PLACES[0] - BEYOND, PLACES[PLACES.len() - 1] + BEYOND);
    evenly_spaced(range, CURVE_POINTS)
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

inventory::submit! { Registration::of::<ToyOptions>(NAME) }

impl Figure for ToyOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        self.check()?;
        let steps = self.steps.unwrap_or(common.by_scale(200, 1000));
        let settings = json!({
            "steps": steps,
            "actions": self.actions,
            "seed": common.seed,
        });
        let experiment = Experiment::open(NAME, common, common.place()?, settings)?;
        let problem = Problem::new((steps, self.actions), common.seed, &experiment);
        let mut fits = Vec::new();
        for model in Model::ALL {
            fits.push(
                experiment.load_or_compute(model.name(), model.title(), || model.fit(&problem))?,
            );
        }
        report(&experiment.folder, &problem, &fits, steps)
    }
}

/// The models of the figure.
#[derive(Clone, Copy)]
enum Model {
    Exact,
    Svgp,
    Residuals,
    Trained,
}

impl Model {
    const ALL: [Self; 4] = [Self::Exact, Self::Svgp, Self::Residuals, Self::Trained];

    fn title(self) -> &'static str {
        match self {
            Self::Exact => "CholeskyGP",
            Self::Svgp => "SVGP",
            Self::Residuals => "CaGP-CG",
            Self::Trained => "CaGP-Opt",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Svgp => "svgp",
            Self::Residuals => "cagp-cg",
            Self::Trained => "cagp-opt",
        }
    }

    fn fit(self, problem: &Problem<'_>) -> Result<Fit, Failure> {
        let count = problem.actions;
        match self {
            Self::Exact => {
                let config = ExactConfig::new(kernel(1.0)).with_likelihood(noise());
                let model = config.init(&problem.data)?;
                let model = problem.train(model, &problem.data, FullBatchOptimizer::L_BFGS)?;
                let model = model.trained(&problem.data)?;
                problem.fit(self.title(), &model, &[])
            }
            Self::Svgp => {
                let mut config = SgprConfig::new(kernel(1.0))
                    .with_likelihood(noise())
                    .with_inducing(INDUCING.len());
                config.parameters = ParameterConfig {
                    values: [("inducing.points".to_owned(), INDUCING.to_vec())].into(),
                    frozen: vec!["inducing".to_owned()],
                    ..ParameterConfig::default()
                };
                let model = config.init(&problem.data)?;
                let model = problem.train(model, &problem.data, FullBatchOptimizer::L_BFGS)?;
                let model = model.trained(&problem.data)?;
                problem.fit(self.title(), &model, &INDUCING)
            }
            Self::Residuals => {
                problem.computation_aware(self.title(), by_residuals(count, 1e-4, 0), ADAM)
            }
            Self::Trained => {
                let optimizer = FullBatchOptimizer::L_BFGS;
                problem.computation_aware(self.title(), trained(count, 0), optimizer)
            }
        }
    }
}

const BANDS: Bands<'static> = Bands {
    text: "±2 standard deviations",
    deviations: 2.0,
};

/// The standard deviation at the drawn input nearest to the first inducing point.
fn in_the_gap(fit: &Fit, deviation: &[f64]) -> f64 {
    let distances = fit.curve.x.iter().map(|x| (x - INDUCING[0]).abs());
    let pairs = distances.zip(deviation);
    let nearest = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(f64::NAN, |(_, deviation)| *deviation)
}

fn line(fit: &Fit) -> ResultRow {
    let here = in_the_gap(fit, &fit.curve.deviation);
    let exact = fit.mathematical.as_ref();
    let exact = exact.map(|part| in_the_gap(fit, part));
    ResultRow::default()
        .column("model", "model", &fit.title, 0)
        .column("noise deviation", "noise_deviation", fit.noise.sqrt(), 3)
        .column("lengthscale", "lengthscale", fit.lengthscale, 3)
        .column("deviation in the gap", "deviation", here, 3)
        .column("of the exact posterior", "exact_deviation", exact, 3)
}

/// Writes the table, the files and the plot.
fn report(
    folder: &ExperimentFolder,
    problem: &Problem<'_>,
    fits: &[Fit],
    steps: usize,
) -> Result<(), Failure> {
    let rows: Vec<ResultRow> = fits.iter().map(line).collect();
    folder.write_results(&fits, &rows)?;
    folder.draw("fits.svg", |path| draw(path, problem, fits));
    let mut lines = vec![format!(
        "{NAME}: at most {steps} steps; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&rows));
    lines.push(format!(
        "\nstandard deviations of the function, without noise, at the inducing point {} in a gap of the data; \
         the exact posterior\nhas the same hyperparameters, so the difference is computational. The paper \
         (arXiv:2411.01036, Figure 1) has no numbers:\nSVGP is certain at its inducing points and explains \
         variation as noise, CaGP does neither.",
        INDUCING[0]
    ));
    folder.print(lines);
    Ok(())
}

/// Draws one panel for each model, and one more for the mathematical part of each model that has
/// one.
fn draw(path: &Path, problem: &Problem<'_>, fits: &[Fit]) -> Result<(), PlotError> {
    let wholes = (fits.iter()).map(|fit| (fit, fit.title.clone(), fit.curve.clone()));
    let parts = fits.iter().filter_map(|fit| {
        let curve = PredictedCurve {
            deviation: fit.mathematical.clone()?,
            ..fit.curve.clone()
        };
        Some((fit, format!("{}, mathematical", fit.title), curve))
    });
    let shown: Vec<(&Fit, String, PredictedCurve)> = wholes.chain(parts).collect();
    let panels: Vec<FitPanel<'_>> = (shown.iter())
        .map(|(fit, title, curve)| FitPanel {
            inducing: &fit.inducing,
            ..FitPanel::new(title, curve, BANDS)
        })
        .collect();
    let train = Points {
        x: &problem.inputs,
        y: &problem.targets,
    };
    plots::fits(
        path,
        Caption::new("five runs of data", "the function, without noise"),
        &[BANDS.text],
        (train, Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
