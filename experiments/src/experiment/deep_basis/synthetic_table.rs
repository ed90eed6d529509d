//! The numbers of Figure 3.

use serde::Serialize;

use super::synthetic::{OneDimensional, Run};
use crate::arguments::name_of;
use crate::experiment::scaling::fitted_slope;
use crate::study::{CsvLine, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

/// The smallest number of rows for which the time of a step depends on the data rather than on the
/// overhead of operations.
const MANY: usize = 1000;

/// The runs of a model with the same number of rows, one for each seed.
#[derive(Serialize)]
struct Cell {
    method: OneDimensional,
    rows: usize,
    seeds: usize,
    steps: usize,
    mae: Option<Summary>,
    rmse: Option<Summary>,
    nlpd: Option<Summary>,
    function_rmse: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
    seconds: Option<Summary>,
}

/// The results as JSON.
#[derive(Serialize)]
pub(super) struct Record {
    cells: Vec<Cell>,
    /// The exponent `p` in `time ∝ nᵖ`, fitted from 1000 rows on.
    exponents: Vec<Exponent>,
}

#[derive(Serialize)]
struct Exponent {
    method: OneDimensional,
    exponent: f64,
}

/// The lines for the terminal, the JSON record and the CSV lines of sorted runs.
pub(super) fn report_lines(runs: &[Run]) -> (Vec<String>, Record, Vec<CsvLine>) {
    let groups = runs.chunk_by(|a, b| (a.rows, a.method) == (b.rows, b.method));
    let cells: Vec<Cell> = groups.map(cell).collect();
    let exponents = exponents(&cells);
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(row));
    let mut lines = aligned(&rows);
    for Exponent { method, exponent } in &exponents {
        let title = method.title();
        lines.push(format!(
            "{title}: a step takes time n^{exponent:.2} from {MANY} rows on"
        ));
    }
    lines.push(
        "mean (standard error) over the seeds; 1000 held-out rows; function: the error of the \
         function without noise.\nThe paper (arXiv:2505.18526, Figure 3) has no numbers: DBK more \
         accurate, better calibrated and far faster,\nGP and DKL out of memory above 10 000 rows"
            .into(),
    );
    let csv = cells.iter().map(line).collect();
    (lines, Record { cells, exponents }, csv)
}

fn cell(runs: &[Run]) -> Cell {
    let summary =
        |number: fn(&Run) -> f64| Summary::of(&runs.iter().map(number).collect::<Vec<f64>>());
    Cell {
        method: runs[0].method,
        rows: runs[0].rows,
        seeds: runs.len(),
        steps: runs[0].steps,
        mae: summary(|run| run.mae),
        rmse: summary(|run| run.rmse),
        nlpd: summary(|run| run.nlpd),
        function_rmse: summary(|run| run.function_rmse),
        milliseconds_per_step: summary(|run| 1e3 * run.seconds_per_step),
        seconds: summary(|run| run.seconds),
    }
}

/// Least-squares slopes of log time against log n.
fn exponents(cells: &[Cell]) -> Vec<Exponent> {
    let mut methods: Vec<OneDimensional> = cells.iter().map(|cell| cell.method).collect();
    methods.sort();
    methods.dedup();
    let slope = |method: OneDimensional| {
        let own = cells
            .iter()
            .filter(|cell| cell.method == method && cell.rows >= MANY);
        let points: Vec<(f64, f64)> = own
            .filter_map(|cell| {
                let time = cell.milliseconds_per_step?.mean;
                Some(((cell.rows as f64).ln(), time.ln()))
            })
            .collect();
        Some(Exponent {
            method,
            exponent: fitted_slope(&points)?,
        })
    };
    methods.into_iter().filter_map(slope).collect()
}

const TITLES: [&str; 10] = [
    "model",
    "n",
    "MAE",
    "RMSE",
    "NLPD",
    "function",
    "steps",
    "ms a step",
    "seconds",
    "seeds",
];

fn row(cell: &Cell) -> Vec<String> {
    vec![
        cell.method.title().into(),
        cell.rows.to_string(),
        summary_text(cell.mae, 4),
        summary_text(cell.rmse, 4),
        summary_text(cell.nlpd, 3),
        summary_text(cell.function_rmse, 4),
        cell.steps.to_string(),
        summary_text(cell.milliseconds_per_step, 2),
        summary_text(cell.seconds, 1),
        cell.seeds.to_string(),
    ]
}

/// A line of the CSV file.
fn line(cell: &Cell) -> CsvLine {
    CsvLine::default()
        .with("method", name_of(cell.method))
        .with("rows", cell.rows)
        .with("seeds", cell.seeds)
        .with("steps", cell.steps)
        .summary("mae", cell.mae)
        .summary("rmse", cell.rmse)
        .summary("nlpd", cell.nlpd)
        .summary("function_rmse", cell.function_rmse)
        .summary("ms_per_step", cell.milliseconds_per_step)
        .summary("seconds", cell.seconds)
}
