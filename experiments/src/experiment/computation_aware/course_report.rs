//! Table and plots of learning curves.

use serde::Serialize;

use super::TABLE_1;
use super::course::{LENGTHSCALES, Look, NAME, NOMINAL, Run};
use crate::failure::Failure;
use crate::plots::{self, Caption, CurveName, CurvePanel, PlotError, Quantity, Span};
use crate::standard_output::print;
use crate::study::{self, CsvLine, ExperimentFolder, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

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
pub(super) fn report(folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.made()?;
    let methods = &study::study(TABLE_1).axes[0].values;
    let place = |run: &Run| methods.iter().position(|method| method.name == run.method);
    runs.sort_by(|a, b| (&a.data, place(a), a.seed).cmp(&(&b.data, place(b), b.seed)));
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
