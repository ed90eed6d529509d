//! The tables of CIFAR-10: ours, with the paper's numbers beside them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::{
    rows::{CifarModel, CifarRow, Patches, Published},
    runs_of, told_in_paper,
};
use crate::arguments::{RunOptions, name_of};
use crate::experiment::{
    CsvLine, ExperimentFolder,
    departures::{self, Departure, are_comparable, departures_of_runs, joined},
    reported::summary_text,
};
use crate::failure::Failure;
use crate::report::{Metrics, sizes};
use crate::summary::Summary;
use crate::text_table::aligned;
use crate::training_run::TrainingRun;

/// Images that the paper trains on, and tests on.
const IMAGES: (usize, usize) = (50_000, 10_000);

/// A row with its finished runs, one a seed; at least one.
pub(super) struct FinishedRow {
    row: CifarRow,
    /// Where they depart from the paper's protocol; none where the paper has no such row.
    departures: Option<Vec<Departure>>,
    runs: Vec<Metrics>,
}

/// The rows with finished runs in the folder, in the order of the paper, which tells all of them
/// `in_paper`.
///
/// # Errors
///
/// When a file cannot be read.
pub(super) fn finished(
    folder: &ExperimentFolder,
    in_paper: &RunOptions,
) -> Result<Vec<FinishedRow>, Failure> {
    let mut rows = Vec::new();
    for layers in 1..=3 {
        for &model in CifarModel::value_variants() {
            let row = CifarRow { layers, model };
            let (folders, runs): (Vec<PathBuf>, Vec<Metrics>) =
                TrainingRun::places_finished(&runs_of(folder, row))?
                    .into_iter()
                    .unzip();
            if runs.is_empty() {
                continue;
            }
            let departures = match row.published() {
                None => None,
                Some(_) => {
                    let paper = told_in_paper(row, in_paper);
                    let mut departures = departures_of_runs(&folders, &paper)?;
                    let (train, test) = IMAGES;
                    departures.extend(Departure::of("training images", runs[0].n_train, train));
                    departures.extend(Departure::of("test images", runs[0].n_test, test));
                    Some(departures)
                }
            };
            rows.push(FinishedRow {
                row,
                departures,
                runs,
            });
        }
    }
    Ok(rows)
}

/// A row with the paper's numbers, for programs.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    row: CifarRow,
    inducing: String,
    /// In per cent.
    accuracy: Option<Summary>,
    log_density: Option<Summary>,
    /// A datum.
    bound: Option<Summary>,
    seconds_per_step: Option<Summary>,
    /// Over those of SVGP(M) with as many layers.
    seconds_ratio: Option<f64>,
    paper: Option<Published>,
    paper_seconds_ratio: Option<f64>,
    /// Where the runs depart from the paper's protocol.
    departures: &'a Option<Vec<Departure>>,
    runs: &'a [Metrics],
}

/// All rows, for programs.
#[derive(Serialize)]
struct Records<'a> {
    comparable_with_the_paper: bool,
    rows: Vec<Record<'a>>,
}

/// The table of an experiment.
pub(super) struct CifarTable {
    /// The rows.
    pub rows: Vec<FinishedRow>,
    /// What their sizes are multiples of.
    pub patches: Patches,
}

impl CifarTable {
    /// Writes the files.
    ///
    /// # Errors
    ///
    /// When one cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: are_comparable(self.rows.iter().map(|row| &row.departures)),
            rows: self.records(),
        };
        let lines: Vec<CsvLine> = records.rows.iter().map(line).collect();
        folder.write_results(&records, &lines)
    }

    fn records(&self) -> Vec<Record<'_>> {
        self.rows.iter().map(|row| self.record(row)).collect()
    }

    fn record<'a>(&self, finished: &'a FinishedRow) -> Record<'a> {
        let FinishedRow {
            row,
            departures,
            runs,
        } = finished;
        let seconds = |runs: &[Metrics]| summary(runs, |metrics| metrics.seconds_per_step);
        let reference = self.rows.iter().find(|other| other.row == row.reference());
        let reference = reference.and_then(|other| seconds(&other.runs));
        let paper_seconds = |row: CifarRow| row.published().map(|paper| paper.seconds_per_step);
        Record {
            row: *row,
            inducing: row.sizes(self.patches),
            accuracy: summary(runs, |metrics| {
                100.0 * (1.0 - metrics.scores.error.unwrap_or(f64::NAN))
            }),
            log_density: summary(runs, |metrics| -metrics.scores.nlpd),
            bound: summary(runs, |metrics| -metrics.objective),
            seconds_per_step: seconds(runs),
            seconds_ratio: (seconds(runs).zip(reference)).map(|(own, other)| own.mean / other.mean),
            paper: row.published(),
            paper_seconds_ratio: (paper_seconds(*row).zip(paper_seconds(row.reference())))
                .map(|(own, other)| own / other),
            departures,
            runs,
        }
    }

    /// The lines of the terminal.
    pub fn text(&self, folder: &Path) -> String {
        let mut lines: Vec<String> = (self.rows.iter().take(1))
            .flat_map(|row| row.runs.iter().take(1).map(sizes))
            .collect();
        let titles = [
            "model",
            "test accuracy %",
            "paper",
            "test LL",
            "paper",
            "ELBO a datum",
            "s a step",
            "paper",
            "times SVGP(M)",
            "paper",
            "steps",
            "seeds",
        ];
        let mut cells = vec![titles.map(str::to_owned).to_vec()];
        cells.extend(self.records().iter().map(|record| self.cells(record)));
        lines.extend(aligned(&cells));
        lines.push(
            "\nmean (standard error) over the seeds; the paper is arXiv:1910.10596, Tables 1, 3, 8 to \
             10"
            .into(),
        );
        let rows: Vec<_> = (self.rows.iter())
            .map(|finished| (finished.row.title(self.patches), &finished.departures))
            .collect();
        lines.extend(departures::lines(&rows));
        lines.push(format!("all of it in {}\n", folder.display()));
        lines.join("\n")
    }

    fn cells(&self, record: &Record<'_>) -> Vec<String> {
        let number = |value: Option<f64>, digits: usize| match value {
            Some(value) => format!("{value:.digits$}"),
            None => "-".into(),
        };
        let paper = record.paper;
        vec![
            record.row.title(self.patches),
            summary_text(record.accuracy, 2),
            number(paper.map(|paper| paper.accuracy), 2),
            summary_text(record.log_density, 3),
            number(paper.map(|paper| paper.log_density), 2),
            summary_text(record.bound, 3),
            summary_text(record.seconds_per_step, 3),
            number(paper.map(|paper| paper.seconds_per_step), 3),
            number(record.seconds_ratio, 2),
            number(record.paper_seconds_ratio, 2),
            record.runs[0].steps.to_string(),
            record.runs.len().to_string(),
        ]
    }
}

fn summary(runs: &[Metrics], number: impl Fn(&Metrics) -> f64) -> Option<Summary> {
    Summary::of(&runs.iter().map(number).collect::<Vec<f64>>())
}

/// A line of the file.
fn line(record: &Record<'_>) -> CsvLine {
    let paper = |number: fn(&Published) -> f64| record.paper.as_ref().map(number);
    CsvLine::default()
        .with("layers", record.row.layers)
        .with("model", name_of(record.row.model))
        .with("steps", record.runs[0].steps)
        .with("seeds", record.runs.len())
        .summary("accuracy", record.accuracy)
        .maybe("paper_accuracy", paper(|paper| paper.accuracy))
        .summary("log_density", record.log_density)
        .maybe("paper_log_density", paper(|paper| paper.log_density))
        .summary("bound", record.bound)
        .summary("seconds_per_step", record.seconds_per_step)
        .maybe(
            "paper_seconds_per_step",
            paper(|paper| paper.seconds_per_step),
        )
        .maybe("seconds_ratio", record.seconds_ratio)
        .maybe("paper_seconds_ratio", record.paper_seconds_ratio)
        .maybe("departures", record.departures.as_deref().map(joined))
}
