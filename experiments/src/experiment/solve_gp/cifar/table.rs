//! The tables of CIFAR-10: ours, with the paper's numbers beside them.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::{
    rows::{CifarModel, CifarRow, Patches, Published},
    runs_of,
};
use crate::arguments::name_of;
use crate::experiment::{ExperimentFolder, reported::summary_text};
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
    runs: Vec<Metrics>,
}

/// The rows with finished runs in the folder, in the order of the paper.
///
/// # Errors
///
/// When a file cannot be read.
pub(super) fn finished(folder: &ExperimentFolder) -> Result<Vec<FinishedRow>, Failure> {
    let mut rows = Vec::new();
    for layers in 1..=3 {
        for &model in CifarModel::value_variants() {
            let row = CifarRow { layers, model };
            let runs = TrainingRun::all_finished(&runs_of(folder, row))?;
            if !runs.is_empty() {
                rows.push(FinishedRow { row, runs });
            }
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
    /// Whether sizes, batches, steps and likelihood are those of the paper.
    pub has_paper_settings: bool,
}

impl CifarTable {
    /// Writes the files.
    ///
    /// # Errors
    ///
    /// When one cannot be written.
    pub fn write(&self, folder: &ExperimentFolder) -> Result<(), Failure> {
        let records = Records {
            comparable_with_the_paper: self.has_paper_settings && self.missing_images().is_none(),
            rows: self.records(),
        };
        folder.write_results(&records, &csv(&records.rows))
    }

    fn records(&self) -> Vec<Record<'_>> {
        self.rows.iter().map(|row| self.record(row)).collect()
    }

    fn record<'a>(&self, FinishedRow { row, runs }: &'a FinishedRow) -> Record<'a> {
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
            runs,
        }
    }

    /// What is said if there are fewer images than in the paper.
    fn missing_images(&self) -> Option<String> {
        let metrics = self.rows.first()?.runs.first()?;
        let (train, test) = (metrics.n_train, metrics.n_test);
        ((train, test) != IMAGES).then(|| {
            format!(
                "{train} images of {} to train on and {test} of {} to test on are in the folder: \
                 not comparable with the paper's numbers",
                IMAGES.0, IMAGES.1
            )
        })
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
        lines.extend(self.missing_images());
        if !self.has_paper_settings {
            lines.push(
                "other inducing patches, batches, steps or likelihood than in the paper: not \
                 comparable with its numbers"
                    .into(),
            );
        }
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

/// One line a row.
fn csv(records: &[Record<'_>]) -> String {
    let mut text = String::from(
        "layers,model,steps,seeds,accuracy,accuracy_error,paper_accuracy,log_density,\
         log_density_error,paper_log_density,bound,seconds_per_step,paper_seconds_per_step,\
         seconds_ratio,paper_seconds_ratio\n",
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |summary: Option<Summary>| number(summary.map(|summary| summary.mean));
    let error = |summary: Option<Summary>| number(summary.and_then(|own| own.standard_error));
    for record in records {
        let fields = [
            record.row.layers.to_string(),
            name_of(record.row.model),
            record.runs[0].steps.to_string(),
            record.runs.len().to_string(),
            mean(record.accuracy),
            error(record.accuracy),
            number(record.paper.map(|paper| paper.accuracy)),
            mean(record.log_density),
            error(record.log_density),
            number(record.paper.map(|paper| paper.log_density)),
            mean(record.bound),
            mean(record.seconds_per_step),
            number(record.paper.map(|paper| paper.seconds_per_step)),
            number(record.seconds_ratio),
            number(record.paper_seconds_ratio),
        ];
        text += &(fields.join(",") + "\n");
    }
    text
}
