//! Table and plots of learning curves.

use std::path::PathBuf;

use serde::Serialize;

use super::TABLE_1;
use super::course::NAME;
use crate::failure::Failure;
use crate::fitting::LearningCurve;
use crate::output::LEARNING_CURVE;
use crate::plots::{self, Caption, CurveName, CurvePanel, PlotError, Quantity, Span};
use crate::report::Metrics;
use crate::standard_output::print;
use crate::study::{self, CsvLine, ExperimentFolder, FinishedCell, Request, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

/// The number of lengthscales in files and plots.
const LENGTHSCALES: usize = 3;

/// The nominal coverage in Figure 4.
const NOMINAL: f64 = 0.95;

/// A look at a model in the course of training.
#[derive(Clone, Debug)]
struct Look {
    /// The steps made.
    step: usize,
    /// The seconds of the steps alone.
    seconds: f64,
    /// The mean loss per row of the steps since the look before.
    loss: f64,
    nlpd: f64,
    rmse: f64,
    coverage95: f64,
    /// The standard deviation of the noise.
    noise: f64,
    outputscale: f64,
    /// The first lengthscales.
    lengthscales: Vec<f64>,
}

/// A finished run.
struct Run {
    data: String,
    /// The name of the method in Table 1.
    method: String,
    /// The display name of the method.
    title: String,
    seed: u64,
    looks: Vec<Look>,
}

impl Run {
    /// The runs of a cell.
    fn all(cell: &FinishedCell, request: &Request) -> Result<Vec<Self>, Failure> {
        let title = cell.title(study::study(TABLE_1), request);
        let run = |(folder, metrics): (&PathBuf, &Metrics)| {
            Ok(Self {
                data: cell.cell.data.clone(),
                method: cell.cell.values[0].clone(),
                title: title.clone(),
                seed: metrics.seed,
                looks: looks(&LearningCurve::read(&folder.join(LEARNING_CURVE))?),
            })
        };
        cell.folders.iter().zip(&cell.runs).map(run).collect()
    }
}

/// The looks of a run.
fn looks(curve: &LearningCurve) -> Vec<Look> {
    let lengthscales: Vec<Vec<f64>> = (curve.columns())
        .filter(|(name, _)| name.starts_with("kernel.lengthscale"))
        .map(|(_, column)| column)
        .take(LENGTHSCALES)
        .collect();
    let [
        steps,
        seconds,
        loss,
        nlpd,
        rmse,
        coverage95,
        noise,
        variance,
    ] = [
        "step",
        "seconds",
        "loss",
        "nlpd",
        "rmse",
        "coverage95",
        "likelihood.noise",
        "kernel.variance",
    ]
    .map(|name| curve.numbers(name).unwrap_or_default());
    let at = |column: &[f64], look: usize| column.get(look).copied().unwrap_or(f64::NAN);
    let look = |look: usize| Look {
        step: steps[look] as usize,
        seconds: at(&seconds, look),
        loss: at(&loss, look),
        nlpd: at(&nlpd, look),
        rmse: at(&rmse, look),
        coverage95: at(&coverage95, look),
        noise: at(&noise, look).sqrt(),
        outputscale: at(&variance, look).sqrt(),
        lengthscales: lengthscales.iter().map(|column| at(column, look)).collect(),
    };
    (0..steps.len()).map(look).collect()
}

/// A summary over the seeds of a model.
#[derive(Serialize)]
struct Cell {
    data: String,
    method: String,
    #[serde(skip)]
    title: String,
    seeds: usize,
    steps: usize,
    seconds: Option<Summary>,
    /// The lowest NLPD during training.
    best_nlpd: Option<Summary>,
    /// The training time until the lowest NLPD, in seconds.
    best_seconds: Option<Summary>,
    /// The NLPD after the last step.
    nlpd: Option<Summary>,
    rmse: Option<Summary>,
    /// The absolute error of the coverage of 95 % intervals.
    coverage_error: Option<Summary>,
    /// The standard deviation of the noise.
    noise: Option<Summary>,
    outputscale: Option<Summary>,
    /// The mean of the lengthscales.
    lengthscale: Option<Summary>,
}

/// The evaluation with the lowest NLPD.
fn best(looks: &[Look]) -> Option<&Look> {
    looks.iter().min_by(|a, b| a.nlpd.total_cmp(&b.nlpd))
}

fn coverage_error(look: &Look) -> f64 {
    (look.coverage95 - NOMINAL).abs()
}

impl Cell {
    fn new(runs: &[Run]) -> Self {
        let summary = |number: &dyn Fn(&[Look]) -> Option<f64>| {
            let values = runs.iter().filter_map(|run| number(&run.looks));
            Summary::of(&values.collect::<Vec<f64>>())
        };
        let last = |number: fn(&Look) -> f64| summary(&|looks| looks.last().map(number));
        let first = &runs[0];
        Self {
            data: first.data.clone(),
            method: first.method.clone(),
            title: first.title.clone(),
            seeds: runs.len(),
            steps: first.looks.last().map_or(0, |look| look.step),
            seconds: last(|look| look.seconds),
            best_nlpd: summary(&|looks| Some(best(looks)?.nlpd)),
            best_seconds: summary(&|looks| Some(best(looks)?.seconds)),
            nlpd: last(|look| look.nlpd),
            rmse: last(|look| look.rmse),
            coverage_error: last(coverage_error),
            noise: last(|look| look.noise),
            outputscale: last(|look| look.outputscale),
            lengthscale: last(|look| {
                look.lengthscales.iter().sum::<f64>() / look.lengthscales.len() as f64
            }),
        }
    }

    fn row(&self) -> Vec<String> {
        let numbers = [
            self.best_nlpd,
            self.best_seconds,
            self.nlpd,
            self.rmse,
            self.coverage_error,
            self.noise,
            self.outputscale,
            self.lengthscale,
        ];
        let mut row = vec![self.title.clone()];
        row.extend(numbers.map(|number| summary_text(number, 3)));
        row.extend([
            summary_text(self.seconds, 1),
            self.steps.to_string(),
            self.seeds.to_string(),
        ]);
        row
    }
}

const TITLES: [&str; 12] = [
    "model",
    "best NLPD",
    "after s",
    "last NLPD",
    "RMSE",
    "|cover − 95 %|",
    "noise",
    "scale",
    "lengths",
    "seconds",
    "steps",
    "seeds",
];

/// Writes the table and the plots of all runs in the folder.
pub(super) fn report(folder: &ExperimentFolder, request: &Request) -> Result<(), Failure> {
    let finished = study::study(TABLE_1).finished(&folder.runs(), request)?;
    let mut runs = Vec::new();
    for cell in &finished {
        runs.extend(Run::all(cell, request)?);
    }
    let groups = runs.chunk_by(|a, b| (&a.data, &a.method) == (&b.data, &b.method));
    let cells: Vec<Cell> = groups.map(Cell::new).collect();
    folder.write_results(&cells, &csv_lines(&runs))?;
    for runs in runs.chunk_by(|a, b| a.data == b.data) {
        plots::warn_undrawn(draw(folder, runs));
    }
    let mut lines = Vec::new();
    for cells in cells.chunk_by(|a, b| a.data == b.data) {
        lines.push(cells[0].data.clone());
        let mut table = vec![TITLES.map(str::to_owned).to_vec()];
        table.extend(cells.iter().map(Cell::row));
        lines.extend(aligned(&table));
        lines.extend(finding(cells));
        lines.push(String::new());
    }
    lines.push(format!(
        "{NAME}: mean (standard error) over the seeds, in standardized units, after the last step unless \
         told otherwise; noise and\nscale are deviations, lengths the mean of the first {LENGTHSCALES} \
         lengthscales. The paper (arXiv:2411.01036, Figures 3, 4 and S5) has\nno numbers: CaGP-Opt is slower \
         at first and then reaches or overtakes SVGP, ends with the smaller error of coverage,\nand learns \
         less noise"
    ));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}

/// A sentence about the results; `None` unless both models have runs.
fn finding(cells: &[Cell]) -> Option<String> {
    let cell = |method: &str| cells.iter().find(|cell| cell.method == method);
    let (svgp, opt) = (cell("svgp")?, cell("cagp-opt-adam")?);
    let word = |number: fn(&Cell) -> Option<Summary>| {
        let is_less = number(opt)?.mean < number(svgp)?.mean;
        Some(if is_less { "smaller" } else { "LARGER" })
    };
    Some(format!(
        "here CaGP-Opt ends, beside SVGP, with the {} NLPD, the {} error of coverage and the {} noise",
        word(|cell| cell.nlpd)?,
        word(|cell| cell.coverage_error)?,
        word(|cell| cell.noise)?
    ))
}

/// One line for each evaluation.
fn csv_lines(runs: &[Run]) -> Vec<CsvLine> {
    let line = |run: &Run, look: &Look| {
        let line = CsvLine::default()
            .with("data", &run.data)
            .with("method", &run.method)
            .with("seed", run.seed)
            .with("step", look.step)
            .with("seconds", look.seconds)
            .with("loss", look.loss)
            .with("nlpd", look.nlpd)
            .with("rmse", look.rmse)
            .with("coverage95", look.coverage95)
            .with("noise", look.noise)
            .with("outputscale", look.outputscale);
        (0..LENGTHSCALES).fold(line, |line, index| {
            let name = format!("lengthscale_{}", index + 1);
            line.maybe(name, look.lengthscales.get(index))
        })
    };
    let looks = runs
        .iter()
        .flat_map(|run| run.looks.iter().map(move |look| line(run, look)));
    looks.collect()
}

/// Draws scores and hyperparameters of the models of a data set against seconds.
fn draw(folder: &ExperimentFolder, runs: &[Run]) -> Result<(), PlotError> {
    let models: Vec<&[Run]> = runs.chunk_by(|a, b| a.method == b.method).collect();
    let names: Vec<CurveName> = (models.iter())
        .map(|runs| runs[0].title.clone().into())
        .collect();
    let panel = |title: &'static str, number: &dyn Fn(&Look) -> f64, span| CurvePanel {
        title,
        value: Quantity::of(title),
        curves: models.iter().map(|runs| means(runs, number)).collect(),
        span,
    };
    let scores = [
        panel("loss", &|look| look.loss, Span::Values),
        panel("NLPD", &|look| look.nlpd, Span::Values),
        panel("RMSE", &|look| look.rmse, Span::FromZero),
        panel("|coverage − 95 %|", &coverage_error, Span::FromZero),
    ];
    let lengthscale =
        |index: usize| move |look: &Look| look.lengthscales.get(index).copied().unwrap_or(f64::NAN);
    let hyperparameters = [
        panel("noise deviation", &|look| look.noise, Span::FromZero),
        panel("outputscale", &|look| look.outputscale, Span::FromZero),
        panel("first lengthscale", &lengthscale(0), Span::FromZero),
        panel("second lengthscale", &lengthscale(1), Span::FromZero),
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
        let path = folder.path().join(format!("{data}-{kind}.svg"));
        let along = Quantity {
            name: "training",
            unit: Some("s"),
        };
        let caption = Caption { data, model };
        plots::curves(&path, "Training", caption, &names, along, panels)?;
    }
    Ok(())
}

/// Means over the seeds for each evaluation, also of the seconds.
fn means(runs: &[Run], number: &dyn Fn(&Look) -> f64) -> Vec<(f64, f64)> {
    let count = runs.iter().map(|run| run.looks.len()).min().unwrap_or(0);
    let mean = |index: usize, number: &dyn Fn(&Look) -> f64| {
        let sum: f64 = runs.iter().map(|run| number(&run.looks[index])).sum();
        sum / runs.len() as f64
    };
    (0..count)
        .map(|index| (mean(index, &|look| look.seconds), mean(index, number)))
        .collect()
}
