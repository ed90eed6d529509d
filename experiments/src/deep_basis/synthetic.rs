//! Accuracy and cost for increasing amounts of data in one dimension (section 4.1, Figures 1 and
//! 3).
//!
//! The function has three jumps. The inputs are uniform on [−1, 1], the noise variance is 0.01, and
//! 1000 more rows are held out. GP has a squared-exponential kernel, DKL has one on two features,
//! and DBK has 128 basis functions. Networks are perceptrons with two layers of 128 hyperbolic
//! tangents. All models are trained on the full batch by Adam with learning rate 1e-3 and weight
//! decay 1e-4 for the networks. Nothing is standardized or validated, because the paper does not
//! mention it. The paper shows these numbers in plots, without a table.

use std::path::Path;

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    option_error::OptionError,
    plots::{
        self, Bands, Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, Quantity, Span,
    },
    ranges::at_least_one,
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, table},
    summary::Summary,
};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::synthetic_run::{Example, LEARNING_RATE, LOOKED_AT, OneDimensional, Run};
use crate::figure::{Figure, Registration};
use crate::scaling::fitted_slope;

/// The name of the experiment.
const NAME: &str = "dbk-synthetic";

/// The largest number of rows times steps of a run at quick scale.
const QUICK_WORK: usize = 3_000_000;
/// The smallest number of steps of a run at quick scale, needed to measure the time of a step.
const QUICK_STEPS: usize = 20;

/// The smallest number of rows for which the time of a step depends on the data rather than on the
/// overhead of operations.
const MANY: usize = 1000;

/// The number of rows of the drawn posteriors.
const DRAWN: usize = 1000;

const BANDS: Bands<'static> = Bands {
    text: "2 standard deviations of targets",
    deviations: 2.0,
};

/// Deep basis kernels, GP and DKL on 100 to 100000 rows in one dimension (arXiv:2505.18526,
/// Figures 1, 3)
///
/// Errors, densities and the time of a step against the number of rows, with the exponent of
/// the time, and plots of the posteriors with and without variance correction.
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

inventory::submit! { Registration::of::<DbkSyntheticOptions>(NAME) }

impl Figure for DbkSyntheticOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        self.check()?;
        let place = common.place_in_single_precision()?;
        let steps = self.steps.unwrap_or(common.by_scale(2000, 10_000));
        let settings = json!({
            "scale": name_of(common.scale),
            "steps": steps,
            "learning_rate": LEARNING_RATE,
        });
        let experiment = Experiment::open(NAME, common, place, settings)?;
        for (method, rows, seed) in self.runs() {
            let name = format!("{}-{rows}-seed-{seed}", name_of(method));
            let title = format!("{}, n = {rows}, seed {seed}", method.title());
            let steps = match common.is_paper() || self.steps.is_some() {
                true => steps,
                false => steps.min(QUICK_WORK / rows).max(QUICK_STEPS),
            };
            experiment.load_or_compute(&name, &title, || {
                Example::new(rows, seed)?.run(method, (seed, steps), &experiment)
            })?;
        }
        report(&experiment.folder)
    }
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

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    cells: Vec<ResultRow>,
    /// The exponent `p` in `time ∝ nᵖ`, fitted from 1000 rows on.
    exponents: Vec<Exponent>,
}

#[derive(Serialize)]
struct Exponent {
    method: OneDimensional,
    exponent: f64,
}

/// Writes the files of sorted runs and returns the lines for the terminal.
fn write_results(folder: &ExperimentFolder, runs: &[Run]) -> Result<Vec<String>, Failure> {
    let groups = || runs.chunk_by(|a, b| (a.rows, a.method) == (b.rows, b.method));
    let cells = |time: &'static str| groups().map(|runs| cell(runs, time)).collect();
    let record = Record {
        cells: cells("milliseconds_per_step"),
        exponents: exponents(&groups().collect::<Vec<_>>()),
    };
    folder.write_results(&record, &cells("ms_per_step"))?;
    let mut lines = table(&record.cells);
    for Exponent { method, exponent } in &record.exponents {
        let title = method.title();
        lines.push(format!(
            "{title}: the time of a step grows as n^{exponent:.2} from {MANY} rows"
        ));
    }
    lines.push(
        "mean (standard error) over the seeds; 1000 held-out rows; function: the error of the \
         function without noise.\nThe paper (arXiv:2505.18526, Figure 3) has no numbers: DBK is more \
         accurate, better calibrated and far faster;\nGP and DKL run out of memory above 10 000 rows"
            .into(),
    );
    Ok(lines)
}

fn milliseconds(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().map(|run| 1e3 * run.seconds_per_step))
}

/// The runs of a model with the same number of rows, one for each seed. `time` is the key of the
/// time of a step.
fn cell(runs: &[Run], time: &'static str) -> ResultRow {
    let summary = |number: fn(&Run) -> f64| Summary::of(runs.iter().map(number));
    let first = &runs[0];
    ResultRow::default()
        .shown("model", first.method.title())
        .with("method", name_of(first.method))
        .column("n", "rows", first.rows, 0)
        .with("seeds", runs.len())
        .with("steps", first.steps)
        .column("MAE", "mae", summary(|run| run.mae), 4)
        .column("RMSE", "rmse", summary(|run| run.rmse), 4)
        .column("NLPD", "nlpd", summary(|run| run.nlpd), 3)
        .column(
            "function",
            "function_rmse",
            summary(|run| run.function_rmse),
            4,
        )
        .shown("steps", first.steps)
        .column("ms a step", time, milliseconds(runs), 2)
        .column("seconds", "seconds", summary(|run| run.seconds), 1)
        .shown("seeds", runs.len())
}

/// Least-squares slopes of log time against log n.
fn exponents(groups: &[&[Run]]) -> Vec<Exponent> {
    let mut methods: Vec<OneDimensional> = groups.iter().map(|runs| runs[0].method).collect();
    methods.sort();
    methods.dedup();
    let slope = |method: OneDimensional| {
        let own = groups.iter().filter(|runs| runs[0].method == method);
        let many = own.filter(|runs| runs[0].rows >= MANY);
        let points = many.filter_map(|runs| {
            let time = milliseconds(runs)?.mean;
            Some(((runs[0].rows as f64).ln(), time.ln()))
        });
        Some(Exponent {
            method,
            exponent: fitted_slope(&points.collect::<Vec<_>>())?,
        })
    };
    methods.into_iter().filter_map(slope).collect()
}

/// Draws errors, densities and times against the number of rows.
fn draw_cost(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let methods = OneDimensional::value_variants().iter();
    let names: Vec<CurveName> = (methods.clone())
        .map(|method| method.title().into())
        .collect();
    let panel = |title: &'static str, number: fn(&Run) -> f64| {
        let curves = methods.clone().map(|&method| curve(runs, method, number));
        CurvePanel::new(title, Span::Values, curves.collect())
    };
    let panels = [
        panel("MAE", |run| run.mae),
        panel("RMSE", |run| run.rmse),
        panel("NLPD", |run| run.nlpd),
        panel("log10 ms a step", |run| {
            (1e3 * run.seconds_per_step).log10()
        }),
    ];
    let caption = Caption::new("levels", "held-out rows, means over the seeds");
    let along = Quantity::of("log10 rows");
    plots::curves(path, "Cost", caption, &names, along, &panels)
}

/// A value of a model against log n, averaged over the seeds.
fn curve(runs: &[Run], method: OneDimensional, number: fn(&Run) -> f64) -> Vec<(f64, f64)> {
    let own: Vec<&Run> = runs.iter().filter(|run| run.method == method).collect();
    let sizes = own.chunk_by(|a, b| a.rows == b.rows);
    sizes
        .map(|runs| {
            let sum: f64 = runs.iter().map(|run| number(run)).sum();
            ((runs[0].rows as f64).log10(), sum / runs.len() as f64)
        })
        .collect()
}

/// The runs of the first seed with 1000 rows, or the largest smaller number of rows.
fn shown(runs: &[Run]) -> Vec<&Run> {
    let sizes = runs.iter().map(|run| run.rows);
    let rows = sizes.filter(|&rows| rows <= DRAWN).max();
    let of_size = || runs.iter().filter(|run| Some(run.rows) == rows);
    let seed = of_size().map(|run| run.seed).min();
    of_size().filter(|run| Some(run.seed) == seed).collect()
}

/// Draws the kernels `k(x*, ·)` at the inputs in [`LOOKED_AT`].
fn draw_kernels(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let names = LOOKED_AT.map(|place| CurveName::from(format!("x* = {place}")));
    let panel = |run: &Run| {
        let slice = |slice: &Vec<f64>| {
            let x = run.curve.x.iter().copied();
            x.zip(slice.iter().copied()).collect()
        };
        CurvePanel {
            title: run.method.title(),
            ..CurvePanel::new(
                "k(x*, x)",
                Span::Values,
                run.slices.iter().map(slice).collect(),
            )
        }
    };
    let shown = shown(runs).into_iter().filter(|run| !run.slices.is_empty());
    let panels: Vec<CurvePanel<'_>> = shown.map(panel).collect();
    if panels.is_empty() {
        return Ok(());
    }
    let caption = Caption::new("levels", "trained kernels");
    let along = Quantity::of("x");
    plots::curves(path, "Kernels", caption, &names, along, &panels)
}

/// Draws the posteriors of [`shown`] runs.
fn draw_posteriors(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let shown = shown(runs);
    let Some(rows) = shown.first().map(|run| run.rows) else {
        return Ok(());
    };
    let panels: Vec<FitPanel<'_>> = (shown.iter())
        .map(|run| FitPanel::new(run.method.title(), &run.curve, BANDS))
        .collect();
    let model = format!("n = {rows}, trained on [-1, 1]");
    plots::fits(
        path,
        Caption::new("levels", &model),
        &[BANDS.text],
        (Points::default(), Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
