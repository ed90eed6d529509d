//! Table 1: ours, with the paper's numbers beside them.

use serde::Serialize;

use super::cells::{Cell, Run};
use super::method::Method;
use super::published::{Published, published};
use crate::arguments::name_of;
use crate::experiment::{
    ExperimentFolder, Reported,
    reported::{reported_text, with_error},
};
use crate::failure::Failure;
use crate::summary::Summary;
use crate::text_table::aligned;

/// Digits of scores behind the point.
const DIGITS: usize = 4;

/// A table of the cells of all data sets.
pub(super) struct Table<'a> {
    /// The cells, those of a data set in a row.
    pub cells: &'a [Cell],
    /// Whether the numbers are comparable with the paper's.
    pub is_paper: bool,
}

/// A cell with the paper's numbers, for programs.
#[derive(Serialize)]
struct Record<'a> {
    data: &'a str,
    method: Method,
    rows: usize,
    seeds: usize,
    mae: Option<Summary>,
    rmse: Option<Summary>,
    nlpd: Option<Summary>,
    paper: Option<Published>,
    /// The scores that are not worse than the paper's by more than two of its standard deviations.
    reached: Option<Vec<&'static str>>,
    steps: Option<Summary>,
    /// How long the runs may train.
    at_most: String,
    train_seconds: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
}

/// All of it, for programs.
#[derive(Serialize)]
struct Records<'a> {
    comparable_with_the_paper: bool,
    cells: Vec<Record<'a>>,
    runs: Vec<&'a Run>,
}

impl Table<'_> {
    /// Writes the files.
    ///
    /// # Errors
    ///
    /// When one cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: self.is_paper,
            cells: self.cells.iter().map(record).collect(),
            runs: self.cells.iter().flat_map(|cell| &cell.runs).collect(),
        };
        folder.write_results(&records, &csv(&records.cells))
    }

    /// The lines of the terminal, a block for each data set.
    pub fn lines(&self) -> Vec<String> {
        let blocks = (self.cells).chunk_by(|a, b| a.first().data == b.first().data);
        let mut lines = Vec::new();
        for cells in blocks {
            let Run { data, rows, .. } = cells[0].first();
            lines.push(format!("{data}, {rows} rows to train on, test rows"));
            let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
            rows.extend(cells.iter().map(row));
            lines.extend(aligned(&rows));
            lines.push(String::new());
        }
        lines
    }
}

const TITLES: [&str; 13] = [
    "model",
    "MAE",
    "paper",
    "RMSE",
    "paper",
    "NLPD",
    "paper",
    "within 2 sd",
    "steps",
    "at most",
    "seconds",
    "ms a step",
    "seeds",
];

fn row(cell: &Cell) -> Vec<String> {
    let record = record(cell);
    let paper = |number: fn(&Published) -> Reported| {
        reported_text(record.paper.as_ref().map(number), DIGITS)
    };
    let reached = match &record.reached {
        None => "-".into(),
        Some(reached) if reached.is_empty() => "none".into(),
        Some(reached) => reached.join(" "),
    };
    vec![
        record.method.title().into(),
        deviation_text(record.mae, DIGITS),
        paper(|cell| cell.mae),
        deviation_text(record.rmse, DIGITS),
        paper(|cell| cell.rmse),
        deviation_text(record.nlpd, DIGITS),
        paper(|cell| cell.nlpd),
        reached,
        deviation_text(record.steps, 0),
        cell.budget(),
        deviation_text(record.train_seconds, 0),
        deviation_text(record.milliseconds_per_step, 1),
        record.seeds.to_string(),
    ]
}

/// The mean with the standard deviation of the sample, as the paper has it.
fn deviation_text(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(
        || "-".into(),
        |summary| with_error(summary.mean, deviation(&summary), digits),
    )
}

fn deviation(summary: &Summary) -> Option<f64> {
    (summary.standard_error).map(|error| error * (summary.runs as f64).sqrt())
}

fn record(cell: &Cell) -> Record<'_> {
    let run = cell.first();
    let paper = published(&run.data, run.method);
    let (mae, rmse) = (cell.summary(|run| run.mae), cell.summary(|run| run.rmse));
    let nlpd = cell.summary(|run| run.nlpd);
    let reached = paper.map(|paper| {
        let scores = [
            ("MAE", mae, paper.mae),
            ("RMSE", rmse, paper.rmse),
            ("NLPD", nlpd, paper.nlpd),
        ];
        let is_reached = |(_, ours, paper): &(&str, Option<Summary>, Reported)| {
            ours.is_some_and(|ours| ours.mean <= paper.mean + 2.0 * paper.standard_error)
        };
        let reached = scores.into_iter().filter(is_reached);
        reached.map(|(name, _, _)| name).collect()
    });
    Record {
        data: &run.data,
        method: run.method,
        rows: run.rows,
        seeds: cell.runs.len(),
        mae,
        rmse,
        nlpd,
        paper,
        reached,
        steps: cell.summary(|run| run.steps as f64),
        at_most: cell.budget(),
        train_seconds: cell.summary(|run| run.train_seconds),
        milliseconds_per_step: cell
            .summary(|run| 1e3 * run.train_seconds / run.steps.max(1) as f64),
    }
}

/// One line a cell.
fn csv(records: &[Record<'_>]) -> String {
    let mut text = String::from(
        "data,method,rows,seeds,mae,mae_deviation,rmse,rmse_deviation,nlpd,nlpd_deviation,\
         paper_mae,paper_rmse,paper_nlpd,steps,at_most,train_seconds,milliseconds_per_step\n",
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |summary: Option<Summary>| number(summary.map(|summary| summary.mean));
    let spread = |summary: Option<Summary>| number(summary.as_ref().and_then(deviation));
    for record in records {
        let paper = |score: fn(&Published) -> Reported| {
            number(record.paper.as_ref().map(|cell| score(cell).mean))
        };
        let fields = [
            record.data.to_owned(),
            name_of(record.method),
            record.rows.to_string(),
            record.seeds.to_string(),
            mean(record.mae),
            spread(record.mae),
            mean(record.rmse),
            spread(record.rmse),
            mean(record.nlpd),
            spread(record.nlpd),
            paper(|cell| cell.mae),
            paper(|cell| cell.rmse),
            paper(|cell| cell.nlpd),
            mean(record.steps),
            record.at_most.clone(),
            mean(record.train_seconds),
            mean(record.milliseconds_per_step),
        ];
        text += &(fields.join(",") + "\n");
    }
    text
}
