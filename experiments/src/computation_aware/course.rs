//! SVGP and CaGP-Opt during training (Figures 3, 4 and S5).
//!
//! The runs are those of cagp-uci, with evaluations on the test rows. The paper shows the
//! means over the seeds; Figure 4 shows only Power.

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    study::{
        self, CommonOptions, ExperimentFolder, FinishedCell, Request, ResultRow, all_made, table,
    },
    summary::{Summary, mean_curve},
};
use clap::Args;
use serde_json::json;

use super::CellsOfTable1;
use super::TABLE_1;
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-course";

/// The default models.
const DEFAULT: [&str; 2] = ["svgp", "cagp-opt-adam"];

/// The share of the steps between two evaluations on the test rows.
const INTERVAL: f64 = 0.025;

/// Learning curves of SVGP and computation-aware regression (arXiv:2411.01036, Figures 3, 4,
/// S5)
///
/// Loss, NLPD, RMSE, the error of the 95 % coverage, noise, outputscale and lengthscales
/// against seconds; other settings as in cagp-uci. The default of --methods is svgp and
/// cagp-opt-adam.
#[derive(Args, Clone, Debug)]
pub struct CourseOptions {
    /// The runs and their size.
    #[command(flatten)]
    runs: CellsOfTable1,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

inventory::submit! { Registration::of::<CourseOptions>(NAME) }

impl Figure for CourseOptions {
    // Missing data sets and failed runs are reported and left out.
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let (table, mut request) = (study::named(TABLE_1), self.runs.request(common));
        request.choice.among = Some(DEFAULT.iter().map(ToString::to_string).collect());
        request.choice.check(table)?;
        let place = common.place()?;
        place.open()?;
        let mut planned = study::planned(table, &request, &request.data_sets(table)?)?;
        for (_, options) in &mut planned {
            options.score_every = Some(INTERVAL);
        }
        let settings = json!({
            "scale": name_of(common.scale),
            "budget": request.choice.given,
            "device": place.device,
        });
        let folder = ExperimentFolder::open(NAME, common, &settings)?;
        let broken = study::make(table, &request, &planned, &folder)?;
        report(&folder, &request)?;
        all_made(broken)
    }
}

/// The number of lengthscales in files and plots.
const LENGTHSCALES: usize = 3;

/// The columns of learning curves that are copied to files.
const SCORES: [&str; 5] = ["seconds", "loss", "nlpd", "rmse", "coverage95"];

/// The nominal coverage in Figure 4.
const NOMINAL: f64 = 0.95;

/// A finished run.
struct Run {
    data: String,
    /// The name of the method in Table 1.
    method: String,
    /// The display name of the method.
    title: String,
    /// The evaluations, which are the lines of the CSV file.
    snapshots: Vec<ResultRow>,
}

impl Run {
    /// The runs of a cell.
    fn all(cell: &FinishedCell) -> Vec<Self> {
        let title = cell.title();
        let snapshots: Vec<ResultRow> = cell.snapshots().iter().map(line).collect();
        let runs = snapshots.chunk_by(|a, b| of(a, "seed") == of(b, "seed"));
        let run = |snapshots: &[ResultRow]| Self {
            data: cell.cell.data.clone(),
            method: cell.cell.values[0].clone(),
            title: title.clone(),
            snapshots: snapshots.to_vec(),
        };
        runs.map(run).collect()
    }

    /// A value against the training time.
    fn curve(&self, number: &dyn Fn(&ResultRow) -> f64) -> Vec<(f64, f64)> {
        let snapshots = self.snapshots.iter();
        snapshots
            .map(|snapshot| (of(snapshot, "seconds"), number(snapshot)))
            .collect()
    }
}

/// An evaluation of a run: the scores, the standard deviation of the noise, the outputscale and the first
/// lengthscales.
fn line(snapshot: &FinishedCell) -> ResultRow {
    let numbers = &snapshot.numbers[0].0;
    let found = |key: &str| Some(numbers.get(key)?.as_f64().unwrap_or(f64::NAN));
    let number = |key: &str| found(key).unwrap_or(f64::NAN);
    let place = ResultRow::default()
        .with("data", &snapshot.cell.data)
        .with("method", &snapshot.cell.values[0])
        .with("seed", snapshot.runs[0].seed)
        .with("step", number("step") as usize);
    let line = (SCORES.into_iter())
        .fold(place, |line, key| line.with(key, number(key)))
        .with("noise", number("likelihood.noise").sqrt())
        .with("outputscale", number("kernel.variance").sqrt());
    (1..=LENGTHSCALES).fold(line, |line, index| {
        let single = || found("kernel.lengthscale").filter(|_| index == 1);
        let length = found(&format!("kernel.lengthscale.{index}")).or_else(single);
        line.with(format!("lengthscale_{index}"), length)
    })
}

/// A value of an evaluation.
fn of(snapshot: &ResultRow, key: &str) -> f64 {
    snapshot.number(key).unwrap_or(f64::NAN)
}

fn coverage_error(snapshot: &ResultRow) -> f64 {
    (of(snapshot, "coverage95") - NOMINAL).abs()
}

/// The mean of the first lengthscales.
fn lengthscale(snapshot: &ResultRow) -> f64 {
    let numbers =
        (1..=LENGTHSCALES).filter_map(|index| snapshot.number(&format!("lengthscale_{index}")));
    let numbers: Vec<f64> = numbers.collect();
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// A summary over the seeds of a model on a data set.
struct Cell {
    data: String,
    method: String,
    line: ResultRow,
}

impl Cell {
    fn new(runs: &[Run]) -> Self {
        let summary = |number: &dyn Fn(&[ResultRow]) -> Option<f64>| {
            Summary::of(runs.iter().filter_map(|run| number(&run.snapshots)))
        };
        let best = |key: &'static str| {
            summary(&move |snapshots| {
                let best = snapshots
                    .iter()
                    .min_by(|a, b| of(a, "nlpd").total_cmp(&of(b, "nlpd")));
                Some(of(best?, key))
            })
        };
        let last =
            |number: &dyn Fn(&ResultRow) -> f64| summary(&|snapshots| snapshots.last().map(number));
        let at_last = |key: &'static str| last(&move |snapshot| of(snapshot, key));
        let (first, seconds) = (&runs[0], at_last("seconds"));
        let steps = first
            .snapshots
            .last()
            .map_or(0, |snapshot| of(snapshot, "step") as usize);
        let line = ResultRow::default()
            .shown("model", &first.title)
            .with("data", &first.data)
            .with("method", &first.method)
            .with("seeds", runs.len())
            .with("steps", steps)
            .with("seconds", seconds)
            .column("best NLPD", "best_nlpd", best("nlpd"), 3)
            .column("after s", "best_seconds", best("seconds"), 3)
            .column("last NLPD", "nlpd", at_last("nlpd"), 3)
            .column("RMSE", "rmse", at_last("rmse"), 3)
            .column("|cover − 95 %|", "coverage_error", last(&coverage_error), 3)
            .column("noise", "noise", at_last("noise"), 3)
            .column("scale", "outputscale", at_last("outputscale"), 3)
            .column("lengths", "lengthscale", last(&lengthscale), 3);
        let seconds = line.text("seconds", 1);
        Self {
            data: first.data.clone(),
            method: first.method.clone(),
            line: (line.shown("seconds", seconds))
                .shown("steps", steps)
                .shown("seeds", runs.len()),
        }
    }
}

/// Writes the table and the plots of all runs in the folder.
fn report(folder: &ExperimentFolder, request: &Request) -> Result<(), Failure> {
    let finished = study::named(TABLE_1).finished(&folder.runs(), request)?;
    let runs: Vec<Run> = finished.iter().flat_map(Run::all).collect();
    let groups = runs.chunk_by(|a, b| (&a.data, &a.method) == (&b.data, &b.method));
    let cells: Vec<Cell> = groups.map(Cell::new).collect();
    let record: Vec<&ResultRow> = cells.iter().map(|cell| &cell.line).collect();
    let snapshots: Vec<ResultRow> = runs.iter().flat_map(|run| run.snapshots.clone()).collect();
    folder.write_results(&record, &snapshots)?;
    for runs in runs.chunk_by(|a, b| a.data == b.data) {
        draw(folder, runs);
    }
    let mut lines = Vec::new();
    for cells in cells.chunk_by(|a, b| a.data == b.data) {
        lines.push(cells[0].data.clone());
        lines.extend(table(cells.iter().map(|cell| &cell.line)));
        lines.extend(finding(cells));
        lines.push(String::new());
    }
    lines.push(format!(
        "{NAME}: mean (standard error) over the seeds, in standardized units, after the last step unless \
         stated\notherwise; noise and scale are standard deviations, lengths the mean of the first {LENGTHSCALES} \
         lengthscales. The paper\n(arXiv:2411.01036, Figures 3, 4 and S5) has no numbers: CaGP-Opt is slower \
         at first, then reaches or overtakes SVGP,\nends with a smaller coverage error, and learns less noise"
    ));
    folder.print(lines);
    Ok(())
}

/// A sentence about the results; `None` unless both models have runs.
fn finding(cells: &[Cell]) -> Option<String> {
    let line = |method: &str| {
        let cell = cells.iter().find(|cell| cell.method == method);
        cell.map(|cell| &cell.line)
    };
    let (svgp, opt) = (line("svgp")?, line("cagp-opt-adam")?);
    let word = |key: &str| {
        let is_less = opt.number(key)? < svgp.number(key)?;
        Some(if is_less { "smaller" } else { "LARGER" })
    };
    Some(format!(
        "here, compared with SVGP, CaGP-Opt ends with the {} NLPD, the {} coverage error and the {} noise",
        word("nlpd")?,
        word("coverage_error")?,
        word("noise")?
    ))
}

/// Draws scores and hyperparameters of the models of a data set against seconds.
fn draw(folder: &ExperimentFolder, runs: &[Run]) {
    let models: Vec<&[Run]> = runs.chunk_by(|a, b| a.method == b.method).collect();
    let names: Vec<CurveName> = (models.iter())
        .map(|runs| runs[0].title.clone().into())
        .collect();
    let curves = |number: &dyn Fn(&ResultRow) -> f64| {
        let curve = |runs: &&[Run]| {
            let all: Vec<_> = runs.iter().map(|run| run.curve(number)).collect();
            mean_curve(&all)
        };
        models.iter().map(curve).collect()
    };
    let panel =
        |title, key, span| CurvePanel::new(title, span, curves(&|snapshot| of(snapshot, key)));
    let scores = [
        panel("loss", "loss", Span::Values),
        panel("NLPD", "nlpd", Span::Values),
        panel("RMSE", "rmse", Span::FromZero),
        CurvePanel::new("|coverage − 95 %|", Span::FromZero, curves(&coverage_error)),
    ];
    let hyperparameters = [
        panel("noise standard deviation", "noise", Span::FromZero),
        panel("outputscale", "outputscale", Span::FromZero),
        panel("first lengthscale", "lengthscale_1", Span::FromZero),
        panel("second lengthscale", "lengthscale_2", Span::FromZero),
    ];
    let data = &runs[0].data;
    for (kind, model, panels) in [
        (
            "scores",
            "loss of the training rows, scores of the test rows, means over the seeds",
            &scores,
        ),
        ("hyperparameters", "means over the seeds", &hyperparameters),
    ] {
        let along = Quantity {
            name: "training",
            unit: Some("s"),
        };
        let caption = Caption::new(data, model);
        folder.draw(&format!("{data}-{kind}.svg"), |path| {
            plots::curves(path, "Training", caption, &names, along, panels)
        });
    }
}
