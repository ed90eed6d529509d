//! Snelson's data (Section 6.1, Figure 2).
//!
//! The protocol is the paper's: 100 random training rows, a squared-exponential kernel with initial
//! lengthscale 1 and variance 1, initial noise variance 0.1, unwhitened posteriors, batches of 20,
//! and Adam with learning rate 0.01. Nothing is standardized, because these initial values are in
//! the units of the data. Where the paper is silent, inducing points start at cluster centers,
//! split at random into Z and O, and the 100 points of ODVGP's mean start at the training inputs.
//! Bands are for targets, noise included.

use std::path::Path;

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::{InducingPoints, Initializer},
    kernels::Kernels,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    metrics,
    ops::{Jitter, Stationary},
    parameter::numbers,
    variational::{Parameterization, PosteriorConfig},
};
use burn_gp_datasets::{DataSource, Dataset, Split, counted};
use burn_gp_models::{
    AnySvgp, InitError, Svgp, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Model as _, Trainer, TrainingData},
};
use burn_gp_runs::{
    arguments::name_of,
    evenly_spaced::evenly_spaced,
    failure::Failure,
    plots::{self, Bands, Caption, FitPanel, PlotError, Points, PredictedCurve, Quantity},
    ranges::at_least_one,
    study::{CommonOptions, Experiment, ResultRow, table},
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::models::{Compared, isotropic};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "snelson";

const TRAINING_ROWS: usize = 100;
const BATCH: usize = 20;
const LEARNING_RATE: f64 = 0.01;
const FIRST_NOISE: f64 = 0.1;

/// The number of inputs at which a model is drawn.
const CURVE_POINTS: usize = 300;

/// The distance to which models are drawn beyond the data, relative to their range.
const BEYOND: f64 = 0.5;

const BANDS: Bands<'static> = Bands {
    text: "±3 standard deviations",
    deviations: 3.0,
};

/// Snelson's data with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Figure 2)
///
/// SVGP with 5 and with 10 inducing points, ODVGP with 5 plus 100 for the mean, and SOLVE-GP with
/// 5 plus 5 orthogonal points, on 100 rows of Snelson's data; the other 100 rows are held out.
#[derive(Args, Clone, Debug)]
pub struct SnelsonOptions {
    /// Optimizer steps [default: 10000; quick: 2000]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// A model of the figure.
#[derive(Clone)]
struct Model {
    title: &'static str,
    /// The name in the folder.
    name: &'static str,
    inducing: usize,
    orthogonal: usize,
    posterior: PosteriorConfig,
}

/// A fitted model of the figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FittedModel {
    title: String,
    /// The evidence lower bound of all training rows, in nats.
    bound: f64,
    /// The root mean squared error of the held-out rows.
    rmse: f64,
    /// The mean negative log predictive density of the held-out rows.
    nlpd: f64,
    /// The mean predictive standard deviation of targets within the range of the inputs.
    deviation_inside: f64,
    /// The mean predictive standard deviation of targets up to half that range beyond it.
    deviation_outside: f64,
    seconds: f64,
    #[serde(flatten)]
    curve: PredictedCurve,
    inducing: Vec<f64>,
    orthogonal: Vec<f64>,
}

fn models() -> [Model; 4] {
    let model = |title, name, inducing, orthogonal, posterior: Compared| Model {
        title,
        name,
        inducing,
        orthogonal,
        posterior: posterior.posterior(Parameterization::Unwhitened),
    };
    [
        model("SVGP 5", "svgp-5", 5, 0, Compared::Svgp),
        model("SVGP 10", "svgp-10", 10, 0, Compared::Svgp),
        model(
            "ODVGP 5+100",
            "odvgp-5-100",
            5,
            TRAINING_ROWS,
            Compared::Odvgp,
        ),
        model("SOLVE-GP 5+5", "solve-5-5", 5, 5, Compared::Solve),
    ]
}

inventory::submit! { Registration::of::<SnelsonOptions>(NAME) }

impl Figure for SnelsonOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        at_least_one("--steps", self.steps)?;
        let place = common.place()?;
        place.open()?;
        let source = DataSource::resolve(NAME, common.data_dir().as_deref())?;
        let data = Halves::new(&source.load(None)?, common.seed)?;
        let steps = self.steps.unwrap_or(common.by_scale(2_000, 10_000));
        let settings = json!({
            "steps": steps,
            "seed": common.seed,
        });
        let experiment = Experiment::open(NAME, common, place, settings)?;
        let mut fitted = Vec::new();
        for model in models() {
            let training = MiniBatchTraining {
                batch_size: BATCH,
                learning_rate: LEARNING_RATE,
                seed: common.seed,
                ..MiniBatchTraining::new(steps)
            };
            let fit = || model.fit(&data, training, &experiment);
            fitted.push(experiment.load_or_compute(model.name, model.title, fit)?);
        }
        let summary = format!("{}, seed {}", counted(steps, "step"), common.seed);
        let lines: Vec<ResultRow> = fitted.iter().map(line).collect();
        let folder = &experiment.folder;
        folder.write_results(&fitted, &lines)?;
        folder.draw("fits.svg", |path| draw(path, &data, &fitted, &summary));
        let scale = name_of(common.scale);
        folder.print(text(&lines, &format!("{scale} scale, {summary}")));
        Ok(())
    }
}

/// Training rows and held-out rows in the units of the data.
struct Halves {
    inputs: Vec<f64>,
    targets: Vec<f64>,
    held_out_inputs: Vec<f64>,
    held_out_targets: Vec<f64>,
}

impl Halves {
    fn new(data: &Dataset, seed: u64) -> Result<Self, Failure> {
        let rows = data.rows();
        let held_out = rows.saturating_sub(TRAINING_ROWS) as f64 / rows as f64;
        let split = Split::random(data, held_out, seed)?;
        let (train, test) = (data.select(&split.train), data.select(&split.test));
        Ok(Self {
            inputs: train.inputs.into_values(),
            targets: train.targets,
            held_out_inputs: test.inputs.into_values(),
            held_out_targets: test.targets,
        })
    }

    /// The smallest and the largest input.
    fn range(&self) -> (f64, f64) {
        let all = self.inputs.iter().chain(&self.held_out_inputs);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
            (low.min(x), high.max(x))
        })
    }
}

impl Model {
    fn init(&self, data: &TrainingData, seed: u64) -> Result<AnySvgp, InitError> {
        let (device, dtype) = (data.inputs.device().inner(), data.inputs.dtype());
        let options = || (&device, dtype);
        let kernel = isotropic(Stationary::SquaredExponential).init(1, options());
        let inputs = data.inputs.clone().inner();
        let choose = |counts: &[usize]| {
            Initializer::KMeans.select_sets(&kernel, inputs.clone(), counts, seed)
        };
        let points: Vec<Tensor<2>> = match self.orthogonal {
            0 => choose(&[self.inducing])?,
            count if count == data.len() => {
                let mut points = choose(&[self.inducing])?;
                points.push(inputs.clone());
                points
            }
            count => choose(&[self.inducing, count])?,
        };
        let sets: Vec<InducingPoints> = points.into_iter().map(InducingPoints::new).collect();
        let jitter = Jitter::for_precision(data.inputs.dtype());
        let kernels = Kernels::from(kernel);
        let posterior = (self.posterior).init(sets, &kernels, 1, jitter, options())?;
        let likelihood = LikelihoodConfig::from(GaussianConfig { noise: FIRST_NOISE });
        let model = Svgp::new(
            kernels,
            MeanConfig::zero().init(1, 1, options()),
            likelihood.init(options()),
            posterior,
        );
        Ok(model.train())
    }

    fn fit(
        &self,
        data: &Halves,
        training: MiniBatchTraining,
        experiment: &Experiment,
    ) -> Result<FittedModel, Failure> {
        let training_data = experiment.data(&data.inputs, &data.targets);
        let model = self.init(&training_data, training.seed)?;
        let mut trainer = MiniBatchTrainer::new(model, training_data.clone(), training);
        let seconds = experiment.watch.train(&mut trainer)?.iter().sum();
        let model = trainer.model().valid();
        let (inputs, targets) = (training_data.inputs.inner(), training_data.targets.inner());
        let [rows, _] = targets.dims();
        let bound = model.objective(inputs, targets, rows)?.value();
        let sets = model.posterior().inducing();
        let mut points = sets.iter().filter_map(|set| set.inputs()).map(numbers);
        let (inducing, orthogonal) = (points.next(), points.next());
        let predictor = model.predictor()?;
        let (held_out, truth) = (&data.held_out_inputs, &data.held_out_targets);
        let predictions = predictor.predict(held_out, 1);
        let densities = predictor.log_density(held_out, 1, truth)?;
        let x = places(data.range());
        let drawn = predictor.predict(&x, 1);
        let curve = PredictedCurve::new(x, drawn.mean, drawn.variance);
        let (inside, outside) = inside_and_outside(&curve.x, &curve.deviation, data.range());
        Ok(FittedModel {
            title: self.title.to_owned(),
            bound: bound.into_scalar(),
            rmse: metrics::root_mean_squared_error(truth, &predictions.mean),
            nlpd: metrics::negative_log_density(&densities),
            deviation_inside: inside,
            deviation_outside: outside,
            seconds,
            curve,
            inducing: inducing.unwrap_or_default(),
            orthogonal: orthogonal.unwrap_or_default(),
        })
    }
}

/// Evenly spaced inputs over the range of the data and beyond.
fn places((low, high): (f64, f64)) -> Vec<f64> {
    let margin = BEYOND * (high - low);
    evenly_spaced((low - margin, high + margin), CURVE_POINTS)
}

/// The mean standard deviations inside and outside a range.
fn inside_and_outside(x: &[f64], deviation: &[f64], (low, high): (f64, f64)) -> (f64, f64) {
    let mean = |wanted: bool| {
        let rows = x.iter().zip(deviation);
        let chosen: Vec<f64> = rows
            .filter(|(x, _)| (low..=high).contains(*x) == wanted)
            .map(|(_, deviation)| *deviation)
            .collect();
        chosen.iter().sum::<f64>() / chosen.len() as f64
    };
    (mean(true), mean(false))
}

fn text(lines: &[ResultRow], summary: &str) -> Vec<String> {
    let mut text = vec![format!("snelson: {summary}")];
    text.extend(table(lines));
    text.push(
        "\nbound of the training rows in nats; scores of the held-out rows; mean standard deviation \
         of targets\nwithin the data and outside. The paper (arXiv:1910.10596, Figure 2) has no \
         numbers: SVGP 5 underfits\nand is overconfident outside the data, ODVGP has a better mean but \
         is underconfident, SOLVE-GP 5+5 is like SVGP 10."
            .into(),
    );
    text
}

fn line(model: &FittedModel) -> ResultRow {
    ResultRow::default()
        .column("model", "model", &model.title, 0)
        .column("bound", "bound", model.bound, 2)
        .column("RMSE", "rmse", model.rmse, 4)
        .column("NLPD", "nlpd", model.nlpd, 4)
        .column("deviation", "deviation_inside", model.deviation_inside, 3)
        .column("outside", "deviation_outside", model.deviation_outside, 3)
        .column("seconds", "seconds", model.seconds, 1)
}

fn draw(
    path: &Path,
    data: &Halves,
    fitted: &[FittedModel],
    summary: &str,
) -> Result<(), PlotError> {
    let panels: Vec<FitPanel<'_>> = (fitted.iter())
        .map(|model| FitPanel {
            inducing: &model.inducing,
            orthogonal: &model.orthogonal,
            ..FitPanel::new(&model.title, &model.curve, BANDS)
        })
        .collect();
    let points = |x, y| Points { x, y };
    plots::fits(
        path,
        Caption::new(NAME, summary),
        &[BANDS.text],
        (
            points(&data.inputs, &data.targets),
            points(&data.held_out_inputs, &data.held_out_targets),
        ),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_reach_half_the_range_beyond_the_data() {
        let x = places((1.0, 3.0));
        assert_eq!((x[0], x.len()), (0.0, CURVE_POINTS));
        assert!((x[CURVE_POINTS - 1] - 4.0).abs() < 1e-12);
        let deviation: Vec<f64> = x.iter().map(|x| (x - 2.0).abs()).collect();
        let (inside, outside) = inside_and_outside(&x, &deviation, (1.0, 3.0));
        // The mean distances from the middle are 1/2 and 3/2, up to the spacing of the inputs.
        assert!((inside - 0.5).abs() < 0.01 && (outside - 1.5).abs() < 0.01);
    }
}
