//! Time of a training step (Section 3.3, Figure 4, Table 4).
//!
//! The kernel is Matérn-3/2 with one lengthscale, the likelihood Gaussian. Batches have 1024
//! synthetic rows with eight inputs. Adam trains all parameters. The data and the initial inducing
//! points are the same for all models of a size.

use burn_gp_core::{
    inducing::Initializer, likelihoods::GaussianConfig, ops::Stationary,
    variational::Parameterization,
};
use burn_gp_datasets::DataSource;
use burn_gp_models::{
    InducingConfig, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, TrainingData},
};
use burn_gp_runs::{
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    ranges::at_least_one,
    standard_error::tell,
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, points, table},
    summary::median,
};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::models::{Compared, isotropic};
use super::operations::Sets;
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "solve-cost";

const BATCH: usize = 1024;
const ROWS: usize = 4096;
const DIMENSIONS: usize = 8;
const SIZES: [usize; 4] = [128, 256, 512, 1024];

/// Time of a training step of SVGP and SOLVE-GP (arXiv:1910.10596, Figure 4 and Table 4)
///
/// Milliseconds of a training step of SVGP(M), ODVGP(M+M), SOLVE-GP(M+M) and SVGP(2M), whitened
/// and unwhitened, in single precision, as medians over the steps; and the ratio of SVGP(2M) to
/// SOLVE-GP(M+M), measured and by counts of multiply-adds. Run nothing else at the same time.
#[derive(Args, Clone, Debug)]
pub struct CostOptions {
    /// Inducing points M, such as 128,256 [default: 128,256,512,1024; quick: up to 512]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Timed steps of each model [default: 30; quick: 15]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// The times for one number of inducing points.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Times {
    /// The number of inducing points, M.
    inducing: usize,
    whitened: bool,
    /// Milliseconds per step of SVGP with M inducing points.
    svgp: f64,
    /// Milliseconds per step of ODVGP with M and M.
    odvgp: f64,
    /// Milliseconds per step of SOLVE-GP with M and M.
    solve: f64,
    /// Milliseconds per step of SVGP with 2M.
    svgp_double: f64,
    /// The measured ratio of SVGP(2M) to SOLVE-GP(M+M).
    measured_ratio: f64,
    /// The ratio predicted by the multiply-adds of our steps.
    counted_ratio: f64,
    /// The ratio predicted by the multiply-adds of the paper's Table 4.
    table_4_ratio: f64,
}

inventory::submit! { Registration::of::<CostOptions>(NAME) }

impl Figure for CostOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        for &size in &self.sizes {
            at_least_one("--sizes", Some(size))?;
        }
        at_least_one("--steps", self.steps)?;
        let place = common.place_in_single_precision()?;
        let sizes = match self.sizes.as_slice() {
            [] => common.by_scale(&SIZES[..3], &SIZES[..]),
            sizes => sizes,
        };
        let steps = self.steps.unwrap_or(common.by_scale(15, 30));
        let settings = json!({
            "steps": steps,
            "seed": common.seed,
        });
        // A progress bar would be drawn between steps of a few milliseconds and distort them.
        let mut quiet = common.clone();
        quiet.quiet = true;
        let experiment = Experiment::open(NAME, &quiet, place, settings)?;
        let stopwatch = Stopwatch {
            data: data(sizes, common.seed, &experiment)?,
            steps,
            experiment: &experiment,
            quiet: common.quiet,
        };
        let mut times = Vec::new();
        for whitened in [false, true] {
            for &size in sizes {
                let name = format!("{}-{size}", kind(whitened));
                let times_of = || stopwatch.times(size, whitened);
                times.push(experiment.folder.load_or_compute(&name, times_of)?);
            }
        }
        let lines: Vec<ResultRow> = times.iter().map(line).collect();
        experiment.folder.write_results(&times, &lines)?;
        draw(&experiment.folder, &lines);
        experiment.folder.print(text(&times, steps));
        Ok(())
    }
}

/// Synthetic data with as many rows as the largest model has inducing points, and at least four
/// batches.
fn data(sizes: &[usize], seed: u64, experiment: &Experiment) -> Result<TrainingData, Failure> {
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let rows = ROWS.max(2 * largest);
    let text = format!("synthetic:friedman?n={rows}&d={DIMENSIONS}&noise=1&seed={seed}");
    let dataset = DataSource::resolve(&text, None)?.load(None)?;
    let all: Vec<usize> = (0..rows).collect();
    let standardizer = burn_gp_datasets::Standardizer::fit(&dataset, &all);
    let inputs = standardizer.transform_inputs(&dataset.inputs);
    let targets = standardizer.transform_targets(&dataset.targets);
    Ok(experiment.data(inputs.values(), &targets))
}

/// Measures the time of steps.
struct Stopwatch<'a> {
    data: TrainingData,
    steps: usize,
    experiment: &'a Experiment,
    quiet: bool,
}

impl Stopwatch<'_> {
    fn times(&self, size: usize, whitened: bool) -> Result<Times, Failure> {
        let [svgp, odvgp, solve, svgp_double] = [
            self.milliseconds(Compared::Svgp, size, whitened)?,
            self.milliseconds(Compared::Odvgp, size, whitened)?,
            self.milliseconds(Compared::Solve, size, whitened)?,
            self.milliseconds(Compared::Svgp, 2 * size, whitened)?,
        ];
        let (two, double) = (Sets::Two(size), Sets::One(2 * size));
        Ok(Times {
            inducing: size,
            whitened,
            svgp,
            odvgp,
            solve,
            svgp_double,
            measured_ratio: svgp_double / solve,
            counted_ratio: double.own(BATCH, whitened) / two.own(BATCH, whitened),
            table_4_ratio: double.table_4(BATCH) / two.table_4(BATCH),
        })
    }

    /// The median time of a step of a model with sets of `size` inducing points.
    fn milliseconds(
        &self,
        compared: Compared,
        size: usize,
        whitened: bool,
    ) -> Result<f64, Failure> {
        let orthogonal = if compared == Compared::Svgp { 0 } else { size };
        let model = model(compared, (size, orthogonal), whitened).init(&self.data)?;
        let warm_up = (self.steps / 5).max(2);
        let training = MiniBatchTraining {
            batch_size: BATCH,
            ..MiniBatchTraining::new(warm_up + self.steps)
        };
        let mut trainer = MiniBatchTrainer::new(model, self.data.clone(), training);
        let seconds = self.experiment.watch.train(&mut trainer)?;
        let median = 1e3 * median(seconds[warm_up..].to_vec());
        if !self.quiet {
            let (title, kind) = (compared.title(), kind(whitened));
            let sets = match orthogonal {
                0 => size.to_string(),
                orthogonal => format!("{size}+{orthogonal}"),
            };
            tell(&format!("{title} {sets}, {kind}: {median:.2} ms"));
        }
        Ok(median)
    }
}

/// A model with these numbers of inducing points and of orthogonal ones.
fn model(compared: Compared, (count, orthogonal): (usize, usize), whitened: bool) -> SvgpConfig {
    let parameterization = if whitened {
        Parameterization::Whitened
    } else {
        Parameterization::Unwhitened
    };
    let kernel = isotropic(Stationary::Matern32);
    let mut config = SvgpConfig::new(kernel, GaussianConfig::default())
        .with_posterior(compared.posterior(parameterization));
    config.inducing = InducingConfig {
        orthogonal,
        initializer: Initializer::Subset,
        ..InducingConfig::new(count)
    };
    config
}

fn text(times: &[Times], steps: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for part in times.chunk_by(|first, second| first.whitened == second.whitened) {
        lines.push(kind(part[0].whitened).to_owned());
        lines.extend(table(&part.iter().map(line).collect::<Vec<ResultRow>>()));
        lines.push(String::new());
    }
    lines.push(format!(
        "medians of {steps} steps, batches of {BATCH} generated rows of {DIMENSIONS} inputs; ratio: \
         SVGP(2M) over SOLVE-GP(M+M),\nmeasured, by the multiply-adds of our steps, and by those of \
         Table 4 of arXiv:1910.10596 at this batch size"
    ));
    lines
}

fn line(row: &Times) -> ResultRow {
    ResultRow::default()
        .column("M", "inducing", row.inducing, 0)
        .with("whitened", json!(row.whitened))
        .column("SVGP(M) ms", "svgp_ms", row.svgp, 2)
        .column("ODVGP(M+M) ms", "odvgp_ms", row.odvgp, 2)
        .column("SOLVE(M+M) ms", "solve_ms", row.solve, 2)
        .column("SVGP(2M) ms", "svgp_double_ms", row.svgp_double, 2)
        .shown("SOLVE steps/s", format!("{:.1}", 1e3 / row.solve))
        .column("ratio", "measured_ratio", row.measured_ratio, 2)
        .column("counted", "counted_ratio", row.counted_ratio, 2)
        .column("Table 4", "table_4_ratio", row.table_4_ratio, 2)
}

fn draw(folder: &ExperimentFolder, lines: &[ResultRow]) {
    let names = ["SVGP(M)", "ODVGP(M+M)", "SOLVE-GP(M+M)", "SVGP(2M)"].map(CurveName::from);
    let panel = |whitened: bool| {
        let is_own = |line: &&ResultRow| line.text("whitened", 0) == whitened.to_string();
        let curves = ["svgp_ms", "odvgp_ms", "solve_ms", "svgp_double_ms"];
        let curves = curves.map(|key| points(lines.iter().filter(is_own), "inducing", key));
        CurvePanel {
            value: Quantity {
                name: "step",
                unit: Some("ms"),
            },
            ..CurvePanel::new(kind(whitened), Span::FromZero, curves.into())
        }
    };
    let caption = Caption::new(
        "generated",
        "median time of a training step, batches of 1024 rows",
    );
    let along = Quantity::of("inducing points M");
    let panels = [panel(false), panel(true)];
    folder.draw("times.svg", |path| {
        plots::curves(path, "Cost", caption, &names, along, &panels)
    });
}

fn kind(whitened: bool) -> &'static str {
    match whitened {
        true => "whitened",
        false => "unwhitened",
    }
}
