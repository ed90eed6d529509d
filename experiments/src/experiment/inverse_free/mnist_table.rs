//! The table of MNIST (Table 2): ours, with the paper's numbers beside them.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::method::Method;
use super::mnist::{DigitKernel, runs_of};
use crate::arguments::{RunOptions, name_of};
use crate::experiment::{
    CsvLine, ExperimentFolder, Reported,
    departures::{self, Departure, are_comparable, departures_of_runs, joined},
    reported::{reported_text, summary_text},
};
use crate::failure::Failure;
use crate::report::{Metrics, sizes};
use crate::standard_output::print;
use crate::summary::Summary;
use crate::text_table::aligned;
use crate::training_run::TrainingRun;

/// A kernel and a model with their finished runs.
#[derive(Serialize)]
struct Row {
    kernel: DigitKernel,
    method: Method,
    /// Wrong labels of the test rows, in per cent.
    error: Option<Summary>,
    paper_error: Reported,
    nlpd: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
    /// Where the runs depart from the paper's protocol.
    departures: Option<Vec<Departure>>,
    runs: Vec<Metrics>,
}

impl Row {
    fn new(
        (kernel, method): (DigitKernel, Method),
        departures: Vec<Departure>,
        runs: Vec<Metrics>,
    ) -> Self {
        let summary = |number: fn(&Metrics) -> f64| {
            Summary::of(&runs.iter().map(number).collect::<Vec<f64>>())
        };
        Self {
            kernel,
            method,
            error: summary(|metrics| 100.0 * metrics.scores.error.unwrap_or(f64::NAN)),
            paper_error: published(kernel, method),
            nlpd: summary(|metrics| metrics.scores.nlpd),
            milliseconds_per_step: summary(|metrics| 1e3 * metrics.seconds_per_step),
            departures: Some(departures),
            runs,
        }
    }

    /// Its name for people.
    fn title(&self) -> String {
        format!("{}, {}", self.kernel.title(), self.method.title())
    }
}

/// Images that the paper trains on, and tests on.
const IMAGES: (usize, usize) = (60_000, 10_000);

/// Table 2.
fn published(kernel: DigitKernel, method: Method) -> Reported {
    let (mean, standard_error) = match (kernel, method) {
        (DigitKernel::Rbf, Method::W) => (1.96, 0.02),
        (DigitKernel::Rbf, Method::L) => (1.95, 0.01),
        (DigitKernel::Rbf, Method::R) => (1.94, 0.02),
        (DigitKernel::Conv, Method::W) => (1.31, 0.02),
        (DigitKernel::Conv, Method::L) => (1.53, 0.02),
        (DigitKernel::Conv, Method::R) => (1.53, 0.03),
    };
    Reported {
        mean,
        standard_error,
    }
}

/// All rows, for programs.
#[derive(Serialize)]
struct Records {
    comparable_with_the_paper: bool,
    rows: Vec<Row>,
}

/// The table of every run that is finished in the folder; in the paper it is told what `in_paper`
/// gives.
///
/// # Errors
///
/// When a file cannot be read or written.
pub(super) fn report(
    in_paper: impl Fn(DigitKernel, Method) -> RunOptions,
    folder: &ExperimentFolder,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for &kernel in DigitKernel::value_variants() {
        for &method in Method::value_variants() {
            let place = runs_of(folder, kernel, method);
            let (folders, runs): (Vec<PathBuf>, Vec<Metrics>) =
                TrainingRun::places_finished(&place)?.into_iter().unzip();
            if runs.is_empty() {
                continue;
            }
            let mut departures = departures_of_runs(&folders, &in_paper(kernel, method))?;
            let (train, test) = IMAGES;
            departures.extend(Departure::of("training images", runs[0].n_train, train));
            departures.extend(Departure::of("test images", runs[0].n_test, test));
            rows.push(Row::new((kernel, method), departures, runs));
        }
    }
    let lines: Vec<CsvLine> = rows.iter().map(line).collect();
    let records = Records {
        comparable_with_the_paper: are_comparable(rows.iter().map(|row| &row.departures)),
        rows,
    };
    folder.write_results(&records, &lines)?;
    print(&text(&records.rows, folder))
}

fn text(rows: &[Row], folder: &ExperimentFolder) -> String {
    let titles = [
        "kernel, model",
        "test error %",
        "paper",
        "NLPD",
        "ms a step",
        "steps",
        "seeds",
    ];
    let mut cells = vec![titles.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.title(),
            summary_text(row.error, 2),
            reported_text(Some(row.paper_error), 2),
            summary_text(row.nlpd, 4),
            summary_text(row.milliseconds_per_step, 1),
            row.runs[0].steps.to_string(),
            row.runs.len().to_string(),
        ]
    }));
    let mut lines: Vec<String> = (rows.iter().take(1))
        .map(|row| sizes(&row.runs[0]))
        .collect();
    lines.extend(aligned(&cells));
    lines.push(
        "\nmean (standard error) over the seeds; the paper is arXiv:2604.00697, Table 2, 750 \
         inducing points\nor patches after 450 000 steps"
            .into(),
    );
    let cells: Vec<_> = (rows.iter())
        .map(|row| (row.title(), &row.departures))
        .collect();
    lines.extend(departures::lines(&cells));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// A line of the file.
fn line(row: &Row) -> CsvLine {
    CsvLine::default()
        .with("kernel", name_of(row.kernel))
        .with("method", name_of(row.method))
        .with("seeds", row.runs.len())
        .summary("error", row.error)
        .reported("paper_error", Some(row.paper_error))
        .summary("nlpd", row.nlpd)
        .summary("milliseconds_per_step", row.milliseconds_per_step)
        .maybe("departures", row.departures.as_deref().map(joined))
}
