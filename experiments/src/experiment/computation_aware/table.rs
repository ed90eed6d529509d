//! Finished runs as a table: ours, with the paper's numbers beside them.

use serde::Serialize;

use super::cells::{Cell, by_data};
use super::method::Method;
use super::published::published;
use crate::arguments::{ActionRowsName, name_of};
use crate::experiment::{ExperimentFolder, reported::with_error};
use crate::failure::Failure;
use crate::report::Metrics;
use crate::summary::Summary;
use crate::text_table::aligned;

/// Digits of scores behind the point.
const DIGITS: usize = 3;

/// A cell with the paper's numbers, for programs.
#[derive(Serialize)]
struct Record<'a> {
    data: &'a str,
    n_train: usize,
    d: usize,
    method: Method,
    #[serde(skip)]
    title: String,
    rank: Option<usize>,
    action_rows: Option<ActionRowsName>,
    learning_rate: Option<f64>,
    cached_variances: Option<usize>,
    steps: usize,
    seeds: usize,
    nlpd: Option<Summary>,
    rmse: Option<Summary>,
    coverage95: Option<Summary>,
    noise: Option<Summary>,
    train_seconds: Option<Summary>,
    peak_mebibytes: Option<Summary>,
    /// Mean and standard deviation over the seeds.
    paper_nll: Option<(f64, f64)>,
    paper_rmse: Option<(f64, f64)>,
    paper_seconds: Option<f64>,
}

impl<'a> Record<'a> {
    fn new(cell: &'a Cell) -> Self {
        let first = cell.first();
        let paper = published(&first.data, cell.method);
        Self {
            data: &first.data,
            n_train: first.n_train,
            d: first.d,
            method: cell.method,
            title: cell.title(),
            rank: cell.rank(),
            action_rows: first.action_rows,
            learning_rate: cell.learning_rate,
            cached_variances: cell.cached_variances,
            steps: cell.steps(),
            seeds: cell.runs.len(),
            nlpd: cell.summary(|run| run.scores.nlpd),
            rmse: cell.summary(|run| run.scores.rmse),
            coverage95: cell.summary(|run| run.scores.coverage95.unwrap_or(f64::NAN)),
            noise: cell.summary(noise),
            train_seconds: cell.summary(|run| run.train_seconds),
            peak_mebibytes: cell.summary(peak),
            paper_nll: paper.map(|row| row.nll),
            paper_rmse: paper.map(|row| row.rmse),
            paper_seconds: paper.map(|row| row.seconds),
        }
    }

    /// A line of the terminal.
    fn row(&self) -> Vec<String> {
        let reported = |value: Option<(f64, f64)>| {
            value.map_or_else(dash, |(mean, deviation)| {
                with_error(mean, Some(deviation), DIGITS)
            })
        };
        vec![
            self.title.clone(),
            self.rank.map_or_else(dash, |rank| rank.to_string()),
            self.learning_rate
                .map_or_else(dash, |rate| rate.to_string()),
            with_deviation(self.nlpd, DIGITS),
            reported(self.paper_nll),
            with_deviation(self.rmse, DIGITS),
            reported(self.paper_rmse),
            with_deviation(self.coverage95, DIGITS),
            self.noise
                .map_or_else(dash, |noise| format!("{:.1e}", noise.mean)),
            self.steps.to_string(),
            with_deviation(self.train_seconds, 1),
            self.paper_seconds
                .map_or_else(dash, |seconds| format!("{seconds:.0}")),
            self.peak_mebibytes
                .map_or_else(dash, |size| format!("{:.0}", size.mean)),
            self.seeds.to_string(),
        ]
    }

    /// A line of the file.
    fn fields(&self) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mean = |summary: Option<Summary>| number(summary.map(|summary| summary.mean));
        let spread = |summary: Option<Summary>| number(summary.and_then(deviation));
        let count =
            |value: Option<usize>| value.map_or_else(String::new, |value| value.to_string());
        vec![
            self.data.to_owned(),
            self.n_train.to_string(),
            self.d.to_string(),
            name_of(self.method),
            count(self.rank),
            self.action_rows.map_or_else(String::new, name_of),
            number(self.learning_rate),
            self.steps.to_string(),
            self.seeds.to_string(),
            mean(self.nlpd),
            spread(self.nlpd),
            number(self.paper_nll.map(|(mean, _)| mean)),
            number(self.paper_nll.map(|(_, deviation)| deviation)),
            mean(self.rmse),
            spread(self.rmse),
            number(self.paper_rmse.map(|(mean, _)| mean)),
            number(self.paper_rmse.map(|(_, deviation)| deviation)),
            mean(self.coverage95),
            mean(self.noise),
            mean(self.train_seconds),
            number(self.paper_seconds),
            mean(self.peak_mebibytes),
            count(self.cached_variances),
        ]
    }
}

const HEADER: &str = "data,n_train,d,method,rank,action_rows,learning_rate,steps,seeds,nlpd,nlpd_deviation,paper_nll,\
    paper_nll_deviation,rmse,rmse_deviation,paper_rmse,paper_rmse_deviation,coverage95,noise,\
    train_seconds,paper_seconds,peak_mebibytes,cached_variances\n";

const TITLES: [&str; 14] = [
    "model", "rank", "rate", "NLPD", "paper", "RMSE", "paper", "cover 95", "noise", "steps",
    "seconds", "paper", "MiB", "seeds",
];

/// Writes the files of all cells.
///
/// # Errors
///
/// When one cannot be written.
pub(super) fn write(folder: &ExperimentFolder, cells: &[Cell]) -> Result<(), Failure> {
    let records: Vec<Record<'_>> = cells.iter().map(Record::new).collect();
    let lines = records
        .iter()
        .map(|record| record.fields().join(",") + "\n");
    let text: String = std::iter::once(HEADER.to_owned()).chain(lines).collect();
    folder.write_results(&records, &text)
}

/// The lines of the terminal, a block for each data set.
pub(super) fn lines(cells: &[Cell]) -> Vec<String> {
    let mut lines = Vec::new();
    for cells in by_data(cells) {
        let first = cells[0].first();
        let (data, rows, inputs) = (&first.data, first.n_train, first.d);
        lines.push(format!("{data}, {rows} training rows, {inputs} inputs"));
        let mut table = vec![TITLES.map(str::to_owned).to_vec()];
        table.extend(cells.iter().map(|cell| Record::new(cell).row()));
        lines.extend(aligned(&table));
        lines.push(String::new());
    }
    lines
}

fn dash() -> String {
    "-".into()
}

/// The standard deviation over the runs, which the paper prints.
fn deviation(summary: Summary) -> Option<f64> {
    let runs = summary.runs as f64;
    summary.standard_error.map(|error| error * runs.sqrt())
}

fn with_deviation(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(dash, |summary| {
        with_error(summary.mean, deviation(summary), digits)
    })
}

/// The trained noise variance.
fn noise(run: &Metrics) -> f64 {
    let noise = run.hyperparameters.get("likelihood.noise");
    noise
        .and_then(|values| values.first().copied())
        .unwrap_or(f64::NAN)
}

fn peak(run: &Metrics) -> f64 {
    run.peak_memory
        .map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20))
}
