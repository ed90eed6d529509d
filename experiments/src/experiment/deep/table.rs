//! Finished runs as tables: ours, with the paper's numbers beside them where there are some.

use serde::Serialize;

use super::cells::{Cell, Run};
use crate::arguments::{PosteriorName, name_of};
use crate::experiment::{
    CsvLine, ExperimentFolder, Reported,
    departures::{self, Departure, are_comparable, joined},
    reported::{reported_text, summary_text},
};
use crate::failure::Failure;
use crate::summary::Summary;
use crate::text_table::aligned;

/// Digits of scores behind the point.
const DIGITS: usize = 3;

/// A table of the cells of all data sets.
pub(super) struct Table<'a> {
    /// The cells, those of a data set in a row.
    pub cells: &'a [Cell],
    /// The paper's negative average log density of a cell.
    pub published: fn(&Run) -> Option<Reported>,
}

/// A cell with the paper's number, for programs.
#[derive(Serialize)]
struct Record<'a> {
    data: &'a str,
    depth: usize,
    posterior: PosteriorName,
    inducing: Option<usize>,
    steps: usize,
    seeds: usize,
    nlpd: Option<Summary>,
    negative_average_log_density: Option<Summary>,
    paper: Option<Reported>,
    rmse: Option<Summary>,
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
    /// Writes the files: `file` for programs, and a line a cell.
    ///
    /// # Errors
    ///
    /// When one cannot be written.
    pub fn write(&self, folder: &ExperimentFolder, file: &str) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: are_comparable(
                self.cells.iter().map(|cell| &cell.departures),
            ),
            cells: self.cells.iter().map(|cell| self.record(cell)).collect(),
            runs: self.cells.iter().flat_map(|cell| &cell.runs).collect(),
        };
        let lines: Vec<CsvLine> = records.cells.iter().map(line).collect();
        folder.write_results_as(file, &records, &lines)
    }

    /// The lines of the terminal, a block for each data set.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for cells in by_data(self.cells) {
            lines.push(format!("{}, test rows", cells[0].first().data));
            let has_published = cells
                .iter()
                .any(|cell| (self.published)(cell.first()).is_some());
            let mut rows = vec![header(has_published)];
            rows.extend(cells.iter().map(|cell| self.row(cell, has_published)));
            lines.extend(aligned(&rows));
            lines.push(String::new());
        }
        lines
    }

    /// The lines under the table about what is not as in the paper.
    pub fn departures(&self) -> Vec<String> {
        let name = |cell: &Cell| format!("{}, depth {}", cell.title(), cell.first().depth);
        let cells: Vec<_> = (self.cells.iter())
            .map(|cell| (name(cell), &cell.departures))
            .collect();
        departures::lines(&cells)
    }

    fn row(&self, cell: &Cell, has_published: bool) -> Vec<String> {
        let record = self.record(cell);
        let mut row = vec![
            cell.title(),
            record.depth.to_string(),
            summary_text(record.negative_average_log_density, DIGITS),
        ];
        row.extend(has_published.then(|| reported_text(record.paper, DIGITS)));
        row.extend([
            summary_text(record.nlpd, DIGITS),
            summary_text(record.rmse, DIGITS),
            record.steps.to_string(),
            summary_text(record.train_seconds, 1),
            summary_text(record.milliseconds_per_step, 1),
            record.seeds.to_string(),
        ]);
        row
    }

    fn record<'a>(&self, cell: &'a Cell) -> Record<'a> {
        let run = cell.first();
        Record {
            data: &run.data,
            depth: run.depth,
            posterior: run.posterior,
            inducing: run.inducing,
            steps: run.steps,
            seeds: cell.runs.len(),
            nlpd: cell.summary(|run| run.nlpd),
            negative_average_log_density: cell.summary(|run| -run.average_log_density),
            paper: (self.published)(run),
            rmse: cell.summary(|run| run.rmse),
            train_seconds: cell.summary(|run| run.train_seconds),
            milliseconds_per_step: cell
                .summary(|run| 1e3 * run.train_seconds / run.steps.max(1) as f64),
            departures: &cell.departures,
        }
    }
}

fn header(has_published: bool) -> Vec<String> {
    let mut titles = vec!["model", "layers", "-log density"];
    titles.extend(has_published.then_some("paper"));
    titles.extend(["NLPD", "RMSE", "steps", "seconds", "ms a step", "seeds"]);
    titles.into_iter().map(str::to_owned).collect()
}

/// The cells of each data set.
pub(super) fn by_data(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|first, second| first.first().data == second.first().data)
}

/// A line of the file.
fn line(record: &Record<'_>) -> CsvLine {
    CsvLine::default()
        .with("data", record.data)
        .with("depth", record.depth)
        .with("posterior", name_of(record.posterior))
        .maybe("inducing", record.inducing)
        .with("steps", record.steps)
        .with("seeds", record.seeds)
        .summary("nlpd", record.nlpd)
        .summary(
            "negative_average_log_density",
            record.negative_average_log_density,
        )
        .reported("paper", record.paper)
        .summary("rmse", record.rmse)
        .summary("train_seconds", record.train_seconds)
        .summary("milliseconds_per_step", record.milliseconds_per_step)
        .maybe("departures", record.departures.as_deref().map(joined))
}
