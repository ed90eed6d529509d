//! Finished runs as a table: ours, with the paper's numbers beside them.

use serde::Serialize;

use super::cells::{Cell, by_data};
use super::method::Method;
use super::published::{published, sizes};
use super::runs::INPUTS;
use crate::arguments::{ActionRowsName, name_of};
use crate::experiment::{
    CsvLine, ExperimentFolder,
    departures::{self, Departure, are_comparable, joined},
    reported::with_error,
};
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
    /// Where the runs depart from the paper's protocol.
    departures: &'a Option<Vec<Departure>>,
}

/// All of it, for programs.
#[derive(Serialize)]
struct Records<'a> {
    comparable_with_the_paper: bool,
    cells: Vec<Record<'a>>,
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
            departures: &cell.departures,
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
    fn line(&self) -> CsvLine {
        CsvLine::default()
            .with("data", self.data)
            .with("n_train", self.n_train)
            .with("d", self.d)
            .with("method", name_of(self.method))
            .maybe("rank", self.rank)
            .maybe("action_rows", self.action_rows.map(name_of))
            .maybe("learning_rate", self.learning_rate)
            .with("steps", self.steps)
            .with("seeds", self.seeds)
            .deviation("nlpd", self.nlpd)
            .reported_deviation("paper_nll", self.paper_nll)
            .deviation("rmse", self.rmse)
            .reported_deviation("paper_rmse", self.paper_rmse)
            .deviation("coverage95", self.coverage95)
            .deviation("noise", self.noise)
            .deviation("train_seconds", self.train_seconds)
            .maybe("paper_seconds", self.paper_seconds)
            .deviation("peak_mebibytes", self.peak_mebibytes)
            .maybe("cached_variances", self.cached_variances)
            .maybe("paper_d", sizes(self.data).map(|[_, inputs]| inputs))
            .maybe("departures", self.departures.as_deref().map(joined))
    }
}

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
    let lines: Vec<CsvLine> = records.iter().map(Record::line).collect();
    let records = Records {
        comparable_with_the_paper: are_comparable(cells.iter().map(|cell| &cell.departures)),
        cells: records,
    };
    folder.write_results(&records, &lines)
}

/// The lines of the terminal, a block for each data set.
pub(super) fn lines(cells: &[Cell]) -> Vec<String> {
    let mut lines = Vec::new();
    for cells in by_data(cells) {
        let first = cells[0].first();
        let (data, rows, inputs) = (&first.data, first.n_train, first.d);
        let paper = sizes(data).map_or_else(String::new, |[rows, inputs]| {
            format!("; in the paper {rows} training rows, {inputs} inputs")
        });
        lines.push(format!(
            "{data}, {rows} training rows, {inputs} inputs{paper}"
        ));
        let mut table = vec![TITLES.map(str::to_owned).to_vec()];
        table.extend(cells.iter().map(|cell| Record::new(cell).row()));
        lines.extend(aligned(&table));
        lines.push(String::new());
    }
    lines
}

/// What is said of data with other inputs than the paper's.
const OTHER_INPUTS: &str = "inputs: the paper does not list its own; models that see other inputs solve another problem, \
    on which scores beside\nthe paper's say nothing of the method";

/// The lines under the table about what is not as in the paper.
pub(super) fn departures(cells: &[Cell]) -> Vec<String> {
    let name = |cell: &Cell| {
        let rank = cell
            .rank()
            .map_or_else(String::new, |rank| format!(", {rank}"));
        format!(
            "{} {}{rank}, {} steps",
            cell.first().data,
            cell.title(),
            cell.steps()
        )
    };
    let named: Vec<_> = cells
        .iter()
        .map(|cell| (name(cell), &cell.departures))
        .collect();
    let mut lines = departures::lines(&named);
    let all = cells
        .iter()
        .flat_map(|cell| cell.departures.iter().flatten());
    if all.into_iter().any(|departure| departure.what == INPUTS) {
        lines.push(OTHER_INPUTS.into());
    }
    lines
}

fn dash() -> String {
    "-".into()
}

/// With the standard deviation over the runs, which the paper prints.
fn with_deviation(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(dash, |summary| {
        with_error(summary.mean, summary.deviation(), digits)
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
