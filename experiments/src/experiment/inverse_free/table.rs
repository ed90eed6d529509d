//! Tables of finished runs with published values beside them.

use serde::Serialize;

use super::cells::{Cell, Run};
use super::method::Method;
use crate::arguments::name_of;
use crate::experiment::course::Look;
use crate::failure::Failure;
use crate::study::{
    CsvLine, Departure, ExperimentFolder, Reported, are_comparable, departure_lines, joined,
    reported_text, summary_text,
};
use crate::summary::Summary;
use crate::text_table::aligned;

/// Decimal digits of scores.
const DIGITS: usize = 3;

/// A table of cells, with the parts that depend on the experiment.
pub(super) struct Table<'a> {
    /// The cells, grouped by data set and size.
    pub cells: &'a [Cell],
    /// The label of a cell.
    pub label: fn(&Run) -> String,
    /// The published NLPD of a cell.
    pub published: fn(&Run) -> Option<Reported>,
    /// Whether the times of other cells of the same data set and size are divided by the time of
    /// this cell.
    pub is_reference: fn(&Run) -> bool,
    /// The title of the time ratio.
    pub ratio: &'static str,
}

/// A cell with its published value, as JSON.
#[derive(Serialize)]
struct Record<'a> {
    data: &'a str,
    method: Method,
    inducing: usize,
    probes: Option<usize>,
    steps: usize,
    nlpd: Option<Summary>,
    paper_nlpd: Option<Reported>,
    rmse: Option<Summary>,
    loss: Option<Summary>,
    seconds: Option<Summary>,
    seconds_ratio: Option<f64>,
    /// The departures of the runs from the paper's protocol.
    departures: &'a Option<Vec<Departure>>,
    seeds: Vec<u64>,
}

/// The results as JSON.
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
    /// If a file cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: are_comparable(
                self.cells.iter().map(|cell| &cell.departures),
            ),
            cells: self.cells.iter().map(|cell| self.record(cell)).collect(),
            runs: self.cells.iter().flat_map(|cell| &cell.runs).collect(),
        };
        let lines: Vec<CsvLine> = records.cells.iter().map(line).collect();
        folder.write_results(&records, &lines)
    }

    /// The lines for the terminal, one block for each data set.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for cells in by_data(self.cells) {
            lines.push(format!("{}, test rows", cells[0].first().data));
            let mut rows = vec![self.header()];
            rows.extend(cells.iter().map(|cell| self.row(cell)));
            lines.extend(aligned(&rows));
            lines.push(String::new());
        }
        lines
    }

    /// The lines under the table about departures from the paper.
    pub fn departures(&self) -> Vec<String> {
        let name = |run: &Run| format!("{} {} M = {}", run.data, (self.label)(run), run.inducing);
        let cells: Vec<_> = (self.cells.iter())
            .map(|cell| (name(cell.first()), &cell.departures))
            .collect();
        departure_lines(&cells)
    }

    fn header(&self) -> Vec<String> {
        let titles = [
            "model",
            "M",
            "NLPD",
            "paper",
            "RMSE",
            "steps",
            "seconds",
            "ms a step",
            self.ratio,
            "seeds",
        ];
        titles.map(str::to_owned).to_vec()
    }

    fn row(&self, cell: &Cell) -> Vec<String> {
        let record = self.record(cell);
        let per_step = (record.seconds)
            .map(|seconds| format!("{:.1}", 1e3 * seconds.mean / record.steps.max(1) as f64));
        let ratio = record.seconds_ratio.map(|ratio| format!("{ratio:.2}"));
        vec![
            (self.label)(cell.first()),
            record.inducing.to_string(),
            summary_text(record.nlpd, DIGITS),
            reported_text(record.paper_nlpd, DIGITS),
            summary_text(record.rmse, DIGITS),
            record.steps.to_string(),
            summary_text(record.seconds, 1),
            per_step.unwrap_or_else(|| "-".into()),
            ratio.unwrap_or_else(|| "-".into()),
            cell.runs.len().to_string(),
        ]
    }

    fn record<'a>(&self, cell: &'a Cell) -> Record<'a> {
        let run = cell.first();
        let seconds = |cell: &Cell| cell.at_the_end(|look| look.seconds);
        let is_beside = |other: &&Cell| {
            let other = other.first();
            (&other.data, other.inducing) == (&run.data, run.inducing) && (self.is_reference)(other)
        };
        let reference = self.cells.iter().find(is_beside).and_then(seconds);
        Record {
            data: &run.data,
            method: run.method,
            inducing: run.inducing,
            probes: run.probes,
            steps: run.looks.last().map_or(0, |look| look.step),
            nlpd: cell.at_the_end(|look| look.nlpd),
            paper_nlpd: (self.published)(run),
            rmse: cell.at_the_end(|look| look.rmse),
            loss: cell.at_the_end(|look| look.loss),
            seconds: seconds(cell),
            seconds_ratio: (seconds(cell).zip(reference)).map(|(own, other)| own.mean / other.mean),
            departures: &cell.departures,
            seeds: cell.runs.iter().map(|run| run.seed).collect(),
        }
    }
}

/// The cells of each data set.
pub(super) fn by_data(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|first, second| first.first().data == second.first().data)
}

/// A line of the CSV file.
fn line(record: &Record<'_>) -> CsvLine {
    CsvLine::default()
        .with("data", record.data)
        .with("method", name_of(record.method))
        .with("inducing", record.inducing)
        .maybe("probes", record.probes)
        .with("steps", record.steps)
        .with("seeds", record.seeds.len())
        .summary("nlpd", record.nlpd)
        .maybe("paper_nlpd", record.paper_nlpd.map(|paper| paper.mean))
        .maybe(
            "paper_nlpd_error",
            record.paper_nlpd.and_then(|paper| paper.spread),
        )
        .summary("rmse", record.rmse)
        .summary("loss", record.loss)
        .summary("seconds", record.seconds)
        .maybe("seconds_ratio", record.seconds_ratio)
        .maybe("departures", record.departures.as_deref().map(joined))
}

/// A curve of a number against the training time in seconds.
pub(super) fn against_seconds(cell: &Cell, number: fn(&Look) -> f64) -> Vec<(f64, f64)> {
    cell.curve(|look| look.seconds, number)
}
