//! Table 1: ours, with the paper's numbers beside them.

use serde::Serialize;

use super::cells::{Cell, Run};
use super::method::Method;
use super::published::{Published, published};
use crate::arguments::name_of;
use crate::experiment::{
    CsvLine, ExperimentFolder, Reported,
    departures::{self, Departure, are_comparable, joined},
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
    /// The scores that are not worse than the paper's by more than two of its standard deviations; none
    /// of runs that depart from its protocol.
    reached: Option<Vec<&'static str>>,
    steps: Option<Summary>,
    /// How long the runs may train.
    at_most: String,
    train_seconds: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
    /// Where the runs depart from the paper's protocol.
    departures: &'a Option<Vec<Departure>>,
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
            comparable_with_the_paper: are_comparable(
                self.cells.iter().map(|cell| &cell.departures),
            ),
            cells: self.cells.iter().map(record).collect(),
            runs: self.cells.iter().flat_map(|cell| &cell.runs).collect(),
        };
        let lines: Vec<CsvLine> = records.cells.iter().map(line).collect();
        folder.write_results(&records, &lines)
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

    /// The lines under the table about what is not as in the paper.
    pub fn departures(&self) -> Vec<String> {
        let name = |cell: &Cell| {
            let run = cell.first();
            format!("{} {}, {}", run.data, run.method.title(), cell.budget())
        };
        let cells: Vec<_> = (self.cells.iter())
            .map(|cell| (name(cell), &cell.departures))
            .collect();
        departures::lines(&cells)
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
        |summary| with_error(summary.mean, summary.deviation(), digits),
    )
}

fn record(cell: &Cell) -> Record<'_> {
    let run = cell.first();
    let paper = published(&run.data, run.method);
    let (mae, rmse) = (cell.summary(|run| run.mae), cell.summary(|run| run.rmse));
    let nlpd = cell.summary(|run| run.nlpd);
    let reached = paper.filter(|_| cell.is_as_in_paper()).map(|paper| {
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
        departures: &cell.departures,
    }
}

/// A line of the file.
fn line(record: &Record<'_>) -> CsvLine {
    // A paper's deviation is kept where others have their error.
    let paper = |score: fn(&Published) -> Reported| {
        let score = record.paper.as_ref().map(score);
        score.map(|score| (score.mean, score.standard_error))
    };
    CsvLine::default()
        .with("data", record.data)
        .with("method", name_of(record.method))
        .with("rows", record.rows)
        .with("seeds", record.seeds)
        .deviation("mae", record.mae)
        .reported_deviation("paper_mae", paper(|cell| cell.mae))
        .deviation("rmse", record.rmse)
        .reported_deviation("paper_rmse", paper(|cell| cell.rmse))
        .deviation("nlpd", record.nlpd)
        .reported_deviation("paper_nlpd", paper(|cell| cell.nlpd))
        .deviation("steps", record.steps)
        .with("at_most", &record.at_most)
        .deviation("train_seconds", record.train_seconds)
        .maybe(
            "paper_seconds",
            record.paper.as_ref().map(|cell| cell.seconds),
        )
        .deviation("milliseconds_per_step", record.milliseconds_per_step)
        .maybe("departures", record.departures.as_deref().map(joined))
}
