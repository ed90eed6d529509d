//! Bounds on two small data sets (Section 4.1, Figure 1).
//!
//! The protocol is the paper's: nothing is standardized, the kernel is squared exponential, and all
//! rows are used. Variance, lengthscales and noise variance start at 1. Inducing points are fixed
//! (snelson: a grid of 10; banana: 64 cluster centers). Adam has learning rate 0.005 (banana:
//! 0.01); variants with natural gradients take a natural-gradient step of size 1 after each Adam
//! step. The paper's batches have as many rows as there are inducing points. At quick scale
//! training is full batch, which gives curves without noise.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{KernelConfig, Kernels, StationaryConfig},
    means::MeanConfig,
    ops::{Jitter, Stationary},
    variational::PosteriorConfig,
};
use burn_gp_datasets::{DataSource, counted};
use burn_gp_models::{
    AnySvgp, InitError, Svgp,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData},
};
use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, data_at_hand, table},
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::toy_data::{LossAxis, Toy, toys};
use super::toy_variants::{Variant, variants};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "inverse-free-toy";

/// The names of the two data sets.
const DATA_SETS: [&str; 2] = ["snelson", "banana"];

/// The jitter on the covariance of the inducing points.
const JITTER: f64 = 1e-6;

/// The approximate number of points in a trace.
const LOOKS: usize = 500;

/// Loss traces of W-, L- and R-SVGP on two small data sets (arXiv:2604.00697, Figure 1)
///
/// The negative bound of all rows during training on snelson (10 inducing points) and banana
/// (64), with fixed inducing points: W-SVGP, L-SVGP with and without preconditioned mean (P),
/// and R-SVGP with both, its auxiliary matrix trained by Adam or by natural gradients (N).
#[derive(Args, Clone, Debug)]
pub struct ToyOptions {
    /// Data sets, such as banana [default: snelson,banana]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = DATA_SETS)]
    data_sets: Vec<String>,
    /// Optimizer steps [default: 10000; quick: 3000]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Use the full batch instead of batches of as many rows as inducing points [default: false;
    /// quick: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    full_batch: Option<bool>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// The loss of a variant during training.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Trace {
    /// The data set.
    pub data: String,
    /// The variant.
    pub variant: String,
    /// The last step before each evaluation.
    pub steps: Vec<usize>,
    /// The negative evidence lower bound of all rows at each evaluation, in nats.
    pub losses: Vec<f64>,
    /// The training time, in seconds.
    pub seconds: f64,
}

inventory::submit! { Registration::of::<ToyOptions>(NAME) }

impl Figure for ToyOptions {
    // Missing data sets are reported and left out.
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let place = common.place()?;
        place.open()?;
        let steps = self.steps.unwrap_or(common.by_scale(3_000, 10_000));
        let full_batch = self.full_batch.unwrap_or(!common.is_paper());
        let data_dir = common.data_dir();
        let names = data_at_hand(
            &self.data_sets,
            &DATA_SETS,
            Some(&DATA_SETS),
            str::to_owned,
            data_dir.as_deref(),
        )?;
        let settings = json!({
            "steps": steps,
            "full_batch": full_batch,
            "seed": common.seed,
        });
        let experiment = Experiment::open(NAME, common, place, settings)?;
        let mut traces = Vec::new();
        for toy in toys() {
            if !names.iter().any(|name| name == toy.name) {
                continue;
            }
            let source = DataSource::resolve(toy.name, data_dir.as_deref())?;
            let data = toy.load(&source, &experiment)?;
            let batch_size = if full_batch { data.len() } else { toy.inducing };
            let training = toy.training(steps, batch_size, common.seed);
            let points = toy.points(&data, common.seed)?;
            for variant in variants() {
                let name = format!("{}-{}", toy.name, variant.name);
                let title = format!("{}, {}", toy.name, variant.title);
                traces.push(experiment.load_or_compute(&name, &title, || {
                    let model = model(&toy, &variant.posterior, &data, points.clone())?;
                    trace(
                        (&toy, &variant),
                        model,
                        &data,
                        training.clone(),
                        &experiment,
                    )
                })?);
            }
        }
        let batches = if full_batch { "all rows" } else { "M rows" };
        let summary = format!(
            "{}, batches of {batches}, seed {}",
            counted(steps, "step"),
            common.seed
        );
        report(&traces, &summary, common, &experiment.folder)
    }
}

/// A model before training.
fn model(
    toy: &Toy,
    posterior: &PosteriorConfig,
    data: &TrainingData,
    points: Tensor<2>,
) -> Result<AnySvgp, InitError> {
    let (device, dtype): (Device, _) = (data.inputs.device().inner(), data.inputs.dtype());
    let options = || (&device, dtype);
    let [_, dimensions] = data.inputs.dims();
    let kernel = StationaryConfig::new(Stationary::SquaredExponential);
    let kernel = KernelConfig::from(kernel.with_lengthscale(1.0));
    let kernel = Kernels::from(kernel.init(dimensions, options()));
    let points = vec![InducingPoints::new(points)];
    let posterior = posterior.init(points, &kernel, 1, Jitter::relative(JITTER), options())?;
    let model = Svgp::new(
        kernel,
        MeanConfig::zero().init(dimensions, 1, options()),
        toy.likelihood.init(options()),
        posterior,
    );
    Ok(model.synchronized().train())
}

/// Trains a variant and evaluates all rows during training, first before step one.
fn trace(
    (toy, variant): (&Toy, &Variant),
    model: AnySvgp,
    data: &TrainingData,
    training: MiniBatchTraining,
    experiment: &Experiment,
) -> Result<Trace, Failure> {
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    let loss = |model: &AnySvgp| -> Result<f64, Failure> {
        let objective = (model.valid()).objective(inputs.clone(), targets.clone(), data.len())?;
        Ok(-objective.value().into_scalar::<f64>())
    };
    let interval = (training.steps / LOOKS).max(1);
    let mut trace = Trace {
        data: toy.name.to_owned(),
        variant: variant.title.to_owned(),
        steps: vec![0],
        losses: vec![loss(&model)?],
        seconds: 0.0,
    };
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    let watch = &experiment.watch;
    let seconds = watch.train_with_snapshots(&mut trainer, interval, |trainer, step| {
        trace.steps.push(step);
        trace.losses.push(loss(trainer.model())?);
        Ok(())
    })?;
    Ok(Trace {
        seconds: seconds.iter().sum(),
        ..trace
    })
}

/// The lower end of an axis that the paper does not define, relative to the lowest loss.
const LOWEST: f64 = 0.95;

/// Writes the files and plots and prints the table.
///
/// # Errors
///
/// If a file cannot be written.
fn report(
    traces: &[Trace],
    summary: &str,
    common: &CommonOptions,
    folder: &ExperimentFolder,
) -> Result<(), Failure> {
    folder.write_results(&traces, &csv_lines(traces))?;
    let mut lines = Vec::new();
    for traces in traces.chunk_by(|first, second| first.data == second.data) {
        draw(folder, traces, summary);
        lines.push(format!(
            "{}: {} scale, {summary}",
            traces[0].data,
            name_of(common.scale)
        ));
        let rows: Vec<ResultRow> = traces.iter().map(|trace| row(trace, traces)).collect();
        lines.extend(table(&rows));
        lines.push(String::new());
    }
    lines.push(
        "negative evidence lower bound of all rows in nats, after a tenth of the steps and at the \
         end; the largest\nrelative distance from L-SVGP during training (from L-SVGP (P) for \
         variants with P), and the distance at the end.\nThe paper (arXiv:2604.00697, Figure 1) has no numbers: \
         variants with natural gradients (N) follow L-SVGP, R-SVGP\nis much slower, R-SVGP (P) ends \
         worse than R-SVGP (NP), and W-SVGP is like the variants with P and Cholesky factors or N."
            .into(),
    );
    folder.print(lines);
    Ok(())
}

/// The trace that a variant should follow, if any.
fn counterpart<'a>(trace: &Trace, traces: &'a [Trace]) -> Option<&'a Trace> {
    let variant = (variants().into_iter()).find(|variant| variant.title == trace.variant)?;
    let title = variant.counterpart?;
    traces.iter().find(|other| other.variant == title)
}

/// The relative distances of two traces at each evaluation.
fn distances(own: &Trace, other: &Trace) -> Vec<f64> {
    let losses = own.losses.iter().zip(&other.losses);
    losses
        .map(|(own, other)| (own - other).abs() / other.abs())
        .collect()
}

/// A row of the table on the terminal.
fn row(trace: &Trace, traces: &[Trace]) -> ResultRow {
    let percent = |share: Option<f64>| {
        share.map_or_else(|| "-".into(), |share| format!("{:.3} %", 100.0 * share))
    };
    let distances = counterpart(trace, traces).map(|other| distances(trace, other));
    let largest = (distances.as_ref()).map(|all| all.iter().copied().fold(0.0, f64::max));
    let last = distances.and_then(|all| all.last().copied());
    let loss = |snapshot: usize| format!("{:.2}", trace.losses[snapshot]);
    let (end, steps) = (trace.losses.len() - 1, trace.steps.last().copied());
    let seconds = trace.seconds / steps.unwrap_or(1).max(1) as f64;
    ResultRow::default()
        .shown("variant", &trace.variant)
        .shown("loss at 10 %", loss(end / 10))
        .shown("loss", loss(end))
        .shown("distance", percent(largest))
        .shown("at the end", percent(last))
        .shown("ms a step", format!("{:.2}", 1e3 * seconds))
}

/// One line for each evaluation.
fn csv_lines(traces: &[Trace]) -> Vec<ResultRow> {
    let line = |trace: &Trace, (&step, &loss): (&usize, &f64)| {
        ResultRow::default()
            .with("data", &trace.data)
            .with("variant", &trace.variant)
            .with("step", step)
            .with("loss", loss)
    };
    let snapshots = traces.iter().flat_map(|trace| {
        let snapshots = trace.steps.iter().zip(&trace.losses);
        snapshots.map(move |snapshot| line(trace, snapshot))
    });
    snapshots.collect()
}

/// Draws all traces of a data set.
fn draw(folder: &ExperimentFolder, traces: &[Trace], summary: &str) {
    let data = &traces[0].data;
    // Natural-gradient traces coincide with those of their counterparts, so they are dashed.
    let is_natural = |title: &str| {
        let variant = variants()
            .into_iter()
            .find(|variant| variant.title == title);
        variant.is_some_and(|variant| variant.is_natural())
    };
    let names: Vec<CurveName> = (traces.iter())
        .map(|trace| CurveName::dashed_if(is_natural(&trace.variant), trace.variant.as_str()))
        .collect();
    let points = |trace: &Trace| -> Vec<(f64, f64)> {
        let steps = trace.steps.iter().map(|&step| step as f64);
        steps.zip(trace.losses.iter().copied()).collect()
    };
    let panel = CurvePanel {
        value: Quantity {
            name: "negative evidence lower bound",
            unit: Some("nats"),
        },
        ..CurvePanel::new(
            "loss of all rows",
            window(traces),
            traces.iter().map(points).collect(),
        )
    };
    let caption = Caption::new(data, summary);
    let steps = Quantity::of("step");
    folder.draw(&format!("{data}.svg"), |path| {
        plots::curves(path, "Training", caption, &names, steps, &[panel])
    });
}

/// The paper's axis, or one that shows the same multiple of the lowest loss.
fn window(traces: &[Trace]) -> Span {
    let losses = traces.iter().flat_map(|trace| &trace.losses);
    let lowest = losses.copied().fold(f64::INFINITY, f64::min);
    let toy = toys().into_iter().find(|toy| toy.name == traces[0].data);
    match toy.map(|toy| toy.axis) {
        Some(LossAxis::Paper(low, high)) => Span::Window(low, high),
        Some(LossAxis::Times(times)) if lowest > 0.0 => {
            let low = LOWEST * lowest;
            Span::Window(low, times * low)
        }
        _ => Span::Values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(variant: &str, losses: &[f64]) -> Trace {
        Trace {
            data: "snelson".into(),
            variant: variant.into(),
            steps: (0..losses.len()).collect(),
            losses: losses.to_vec(),
            seconds: 1.0,
        }
    }

    #[test]
    fn variants_are_compared_with_those_they_should_follow() {
        let traces = [
            trace("L-SVGP", &[9.0, 9.0]),
            trace("L-SVGP (P)", &[8.0, 4.0]),
            trace("R-SVGP (NP)", &[8.0, 5.0]),
        ];
        let rows = table(&traces.each_ref().map(|trace| row(trace, &traces)));
        let cells = |row: &str| -> Vec<String> {
            let cells = row.split("  ").map(str::trim);
            (cells.filter(|cell| !cell.is_empty()).map(String::from)).collect()
        };
        assert_eq!(cells(&rows[3])[3..5], ["25.000 %", "25.000 %"]);
        assert_eq!(cells(&rows[1])[3..5], ["-", "-"]);
        assert_eq!(window(&traces), Span::Window(55.0, 100.0));
        let banana = Trace {
            data: "banana".into(),
            ..trace("L-SVGP", &[20.0, 10.0])
        };
        let Span::Window(low, high) = window(&[banana]) else {
            panic!("no window");
        };
        assert!((low - 9.5).abs() < 1e-12 && (high - 9.5 * 18.0 / 11.0).abs() < 1e-12);
    }
}
