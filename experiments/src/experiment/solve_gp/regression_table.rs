//! The tables of regression: ours, with the paper's beside them.

use std::path::Path;

use serde::Serialize;

use super::columns::{Column, Sizes};
use super::published;
use crate::arguments::name_of;
use crate::experiment::{
    CsvLine, ExperimentFolder, Reported,
    departures::{self, Departure, are_comparable, joined},
    reported::{reported_text, summary_text},
};
use crate::failure::Failure;
use crate::plots::{self, ComparedScore};
use crate::report::{Metrics, sizes};
use crate::summary::Summary;
use crate::text_table::aligned;

/// Digits behind the point, as in the paper.
const DIGITS: usize = 3;

/// The finished runs of a data set with a column's model.
pub(super) struct Cell {
    /// The data set.
    pub data: String,
    /// The column.
    pub column: Column,
    /// Where they depart from the paper's protocol; none where the paper has no numbers.
    pub departures: Option<Vec<Departure>>,
    /// The runs, one a split; at least one.
    pub runs: Vec<Metrics>,
}

impl Cell {
    fn summary(&self, number: fn(&Metrics) -> f64) -> Option<Summary> {
        let values: Vec<f64> = self.runs.iter().map(number).collect();
        Summary::of(&values)
    }

    fn record(&self, is_paper: bool) -> Record<'_> {
        Record {
            data: &self.data,
            column: self.column,
            sizes: self.column.sizes(is_paper),
            log_density: self.summary(|metrics| -metrics.scores.nlpd),
            rmse: self.summary(|metrics| metrics.scores.rmse),
            milliseconds_per_step: self.summary(|metrics| 1e3 * metrics.seconds_per_step),
            paper_log_density: published::log_density(&self.data, self.column),
            paper_rmse: published::rmse(&self.data, self.column),
            departures: &self.departures,
            seeds: self.runs.iter().map(|metrics| metrics.seed).collect(),
        }
    }
}

/// A cell with the paper's numbers, for programs.
#[derive(Serialize)]
struct Record<'a> {
    data: &'a str,
    column: Column,
    #[serde(flatten)]
    sizes: Sizes,
    log_density: Option<Summary>,
    rmse: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
    paper_log_density: Option<Reported>,
    paper_rmse: Option<Reported>,
    /// Where the runs depart from the paper's protocol.
    departures: &'a Option<Vec<Departure>>,
    seeds: Vec<u64>,
}

/// All cells, for programs.
#[derive(Serialize)]
struct Records<'a> {
    comparable_with_the_paper: bool,
    cells: Vec<Record<'a>>,
    runs: Vec<&'a Metrics>,
}

/// All cells.
pub(super) struct RegressionTable {
    cells: Vec<Cell>,
    is_paper: bool,
}

impl RegressionTable {
    /// The table of `cells`, those of a data set in a row.
    pub fn new(cells: Vec<Cell>, is_paper: bool) -> Self {
        Self { cells, is_paper }
    }

    fn by_data(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells
            .chunk_by(|first, second| first.data == second.data)
    }

    /// Writes files and plots.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: are_comparable(
                self.cells.iter().map(|cell| &cell.departures),
            ),
            cells: self
                .cells
                .iter()
                .map(|cell| cell.record(self.is_paper))
                .collect(),
            runs: self.cells.iter().flat_map(|cell| &cell.runs).collect(),
        };
        let lines: Vec<CsvLine> = records.cells.iter().map(line).collect();
        folder.write_results(&records, &lines)?;
        for cells in self.by_data() {
            let data = &cells[0].data;
            let names: Vec<String> = cells
                .iter()
                .map(|cell| cell.column.title(self.is_paper))
                .collect();
            let path = folder.path().join(format!("{data}.svg"));
            plots::warn_undrawn(plots::comparison(&path, data, &names, &panels(cells)));
        }
        Ok(())
    }

    /// The tables on the terminal.
    pub fn text(&self, folder: &Path) -> String {
        let mut lines = Vec::new();
        for cells in self.by_data() {
            lines.extend(cells[0].runs.iter().take(1).map(sizes));
            let mut rows = vec![header()];
            rows.extend(cells.iter().map(|cell| self.row(cell)));
            lines.extend(aligned(&rows));
            lines.push(String::new());
        }
        lines.push(
            "mean (standard error) over the splits, in standardized units; the paper is \
             arXiv:1910.10596, Tables 2, 6 and 7"
                .into(),
        );
        let cells: Vec<_> = (self.cells.iter())
            .map(|cell| {
                let name = format!("{} {}", cell.data, cell.column.title(self.is_paper));
                (name, &cell.departures)
            })
            .collect();
        lines.extend(departures::lines(&cells));
        lines.push(format!("all of it in {}\n", folder.display()));
        lines.join("\n")
    }

    fn row(&self, cell: &Cell) -> Vec<String> {
        let record = cell.record(self.is_paper);
        vec![
            cell.column.title(self.is_paper),
            summary_text(record.log_density, DIGITS),
            reported_text(record.paper_log_density, DIGITS),
            summary_text(record.rmse, DIGITS),
            reported_text(record.paper_rmse, DIGITS),
            summary_text(record.milliseconds_per_step, 1),
            cell.runs.len().to_string(),
        ]
    }
}

fn header() -> Vec<String> {
    let titles = [
        "model",
        "test LL",
        "paper",
        "test RMSE",
        "paper",
        "ms a step",
        "splits",
    ];
    titles.iter().map(ToString::to_string).collect()
}

/// A line of the file.
fn line(record: &Record<'_>) -> CsvLine {
    CsvLine::default()
        .with("data", record.data)
        .with("column", name_of(record.column))
        .with("inducing", record.sizes.inducing)
        .maybe("orthogonal", record.sizes.orthogonal)
        .maybe("columns", record.sizes.columns)
        .with("splits", record.seeds.len())
        .summary("log_density", record.log_density)
        .reported("paper_log_density", record.paper_log_density)
        .summary("rmse", record.rmse)
        .reported("paper_rmse", record.paper_rmse)
        .summary("milliseconds_per_step", record.milliseconds_per_step)
        .maybe("departures", record.departures.as_deref().map(joined))
}

/// What the plot of a data set shows.
fn panels(cells: &[Cell]) -> Vec<ComparedScore> {
    let panel = |name, unit, number: fn(&Metrics) -> f64| ComparedScore {
        name,
        unit,
        values: (cells.iter())
            .map(|cell| cell.runs.iter().map(number).collect())
            .collect(),
    };
    vec![
        panel("NLPD", None, |metrics| metrics.scores.nlpd),
        panel("RMSE", None, |metrics| metrics.scores.rmse),
        panel("step", Some("ms"), |metrics| 1e3 * metrics.seconds_per_step),
    ]
}
