//! The results of Figure 3.

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    study::{ExperimentFolder, ResultRow, table},
    summary::Summary,
};
use serde::Serialize;

use super::synthetic::{OneDimensional, Run};
use crate::scaling::fitted_slope;

/// The smallest number of rows for which the time of a step depends on the data rather than on the
/// overhead of operations.
const MANY: usize = 1000;

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    cells: Vec<ResultRow>,
    /// The exponent `p` in `time ∝ nᵖ`, fitted from 1000 rows on.
    exponents: Vec<Exponent>,
}

#[derive(Serialize)]
struct Exponent {
    method: OneDimensional,
    exponent: f64,
}

/// Writes the files of sorted runs and returns the lines for the terminal.
pub(super) fn write_results(
    folder: &ExperimentFolder,
    runs: &[Run],
) -> Result<Vec<String>, Failure> {
    let groups = || runs.chunk_by(|a, b| (a.rows, a.method) == (b.rows, b.method));
    let cells = |time: &'static str| groups().map(|runs| cell(runs, time)).collect();
    let record = Record {
        cells: cells("milliseconds_per_step"),
        exponents: exponents(&groups().collect::<Vec<_>>()),
    };
    folder.write_results(&record, &cells("ms_per_step"))?;
    let mut lines = table(&record.cells);
    for Exponent { method, exponent } in &record.exponents {
        let title = method.title();
        lines.push(format!(
            "{title}: the time of a step grows as n^{exponent:.2} from {MANY} rows"
        ));
    }
    lines.push(
        "mean (standard error) over the seeds; 1000 held-out rows; function: the error of the \
         function without noise.\nThe paper (arXiv:2505.18526, Figure 3) has no numbers: DBK is more \
         accurate, better calibrated and far faster;\nGP and DKL run out of memory above 10 000 rows"
            .into(),
    );
    Ok(lines)
}

fn milliseconds(runs: &[Run]) -> Option<Summary> {
    Summary::of(runs.iter().map(|run| 1e3 * run.seconds_per_step))
}

/// The runs of a model with the same number of rows, one for each seed. `time` is the key of the
/// time of a step.
fn cell(runs: &[Run], time: &'static str) -> ResultRow {
    let summary = |number: fn(&Run) -> f64| Summary::of(runs.iter().map(number));
    let first = &runs[0];
    ResultRow::default()
        .shown("model", first.method.title())
        .with("method", name_of(first.method))
        .column("n", "rows", first.rows, 0)
        .with("seeds", runs.len())
        .with("steps", first.steps)
        .column("MAE", "mae", summary(|run| run.mae), 4)
        .column("RMSE", "rmse", summary(|run| run.rmse), 4)
        .column("NLPD", "nlpd", summary(|run| run.nlpd), 3)
        .column(
            "function",
            "function_rmse",
            summary(|run| run.function_rmse),
            4,
        )
        .shown("steps", first.steps)
        .column("ms a step", time, milliseconds(runs), 2)
        .column("seconds", "seconds", summary(|run| run.seconds), 1)
        .shown("seeds", runs.len())
}

/// Least-squares slopes of log time against log n.
fn exponents(groups: &[&[Run]]) -> Vec<Exponent> {
    let mut methods: Vec<OneDimensional> = groups.iter().map(|runs| runs[0].method).collect();
    methods.sort();
    methods.dedup();
    let slope = |method: OneDimensional| {
        let own = groups.iter().filter(|runs| runs[0].method == method);
        let many = own.filter(|runs| runs[0].rows >= MANY);
        let points = many.filter_map(|runs| {
            let time = milliseconds(runs)?.mean;
            Some(((runs[0].rows as f64).ln(), time.ln()))
        });
        Some(Exponent {
            method,
            exponent: fitted_slope(&points.collect::<Vec<_>>())?,
        })
    };
    methods.into_iter().filter_map(slope).collect()
}
