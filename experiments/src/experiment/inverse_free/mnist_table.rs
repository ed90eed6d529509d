//! The table of MNIST (Table 2): ours, with the paper's numbers beside them.

use clap::ValueEnum;
use serde::Serialize;

use super::method::Method;
use super::mnist::{DigitKernel, runs_of};
use super::table::NOT_COMPARABLE;
use crate::arguments::name_of;
use crate::experiment::{
    ExperimentFolder, Reported,
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
    runs: Vec<Metrics>,
}

impl Row {
    fn new(kernel: DigitKernel, method: Method, runs: Vec<Metrics>) -> Self {
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
            runs,
        }
    }
}

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

/// The table of every run that is finished in the folder.
///
/// # Errors
///
/// When a file cannot be read or written.
pub(super) fn report(is_paper: bool, folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for &kernel in DigitKernel::value_variants() {
        for &method in Method::value_variants() {
            let runs = TrainingRun::all_finished(&runs_of(folder, kernel, method))?;
            if !runs.is_empty() {
                rows.push(Row::new(kernel, method, runs));
            }
        }
    }
    folder.write_results(&rows, &csv(&rows))?;
    print(&text(&rows, is_paper, folder))
}

fn text(rows: &[Row], is_paper: bool, folder: &ExperimentFolder) -> String {
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
            format!("{}, {}", row.kernel.title(), row.method.title()),
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
    if !is_paper {
        lines.push(NOT_COMPARABLE.into());
    }
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// One line a model.
fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "kernel,method,seeds,error,error_error,paper_error,paper_error_error,nlpd,milliseconds_per_step\n",
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |summary: Option<Summary>| number(summary.map(|summary| summary.mean));
    for row in rows {
        let fields = [
            name_of(row.kernel),
            name_of(row.method),
            row.runs.len().to_string(),
            mean(row.error),
            number(row.error.and_then(|summary| summary.standard_error)),
            row.paper_error.mean.to_string(),
            row.paper_error.standard_error.to_string(),
            mean(row.nlpd),
            mean(row.milliseconds_per_step),
        ];
        text += &(fields.join(",") + "\n");
    }
    text
}
