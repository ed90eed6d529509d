//! Finished runs of Table 1, and what they have in common over seeds.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::method::Method;
use super::protocol::Budget;
use crate::arguments::{RunOptions, name_of};
use crate::experiment::{
    ExperimentFolder,
    departures::{Departure, departures_of_runs},
};
use crate::failure::Failure;
use crate::output::names_in;
use crate::report::Metrics;
use crate::summary::Summary;
use crate::training_run::TrainingRun;

/// A finished run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    /// The data set.
    pub data: String,
    /// The model.
    pub method: Method,
    /// The seed of everything random.
    pub seed: u64,
    /// Mean absolute error of the test rows, standardized.
    pub mae: f64,
    /// Root mean squared error of the test rows, standardized.
    pub rmse: f64,
    /// Mean negative log density of the test rows, standardized.
    pub nlpd: f64,
    /// Training rows.
    pub rows: usize,
    /// Inputs.
    pub inputs: usize,
    /// Steps made.
    pub steps: usize,
    /// The step of the model that was kept.
    pub step_kept: usize,
    /// Seconds of training.
    pub train_seconds: f64,
    /// The most memory that was resident, in bytes.
    pub peak_memory: Option<u64>,
}

impl Run {
    fn new(method: Method, metrics: Metrics) -> Self {
        Self {
            data: metrics.data,
            method,
            seed: metrics.seed,
            mae: metrics.scores.mae,
            rmse: metrics.scores.rmse,
            nlpd: metrics.scores.nlpd,
            rows: metrics.n_train,
            inputs: metrics.d,
            steps: metrics.steps,
            step_kept: metrics.step_kept,
            train_seconds: metrics.train_seconds,
            peak_memory: metrics.peak_memory,
        }
    }
}

/// The folder of a run.
pub(super) fn folder(
    runs: &Path,
    data: &str,
    (method, budget): (Method, Budget),
    seed: u64,
) -> PathBuf {
    (runs.join(data))
        .join(name_of(method))
        .join(budget.of(method))
        .join(name_of_seed(seed))
}

fn name_of_seed(seed: u64) -> String {
    format!("seed-{seed}")
}

/// The runs of a model on a data set under one budget, one a seed; at least one.
pub(super) struct Cell {
    /// Where they depart from the paper's protocol; none where the paper has no numbers.
    pub departures: Option<Vec<Departure>>,
    /// Where they are. Its name says how long they may train.
    pub folder: PathBuf,
    /// The runs, by their seeds.
    pub runs: Vec<Run>,
}

impl Cell {
    /// The finished runs of the experiment in `folder`, by data set and model, those with the most steps
    /// first. In the paper a run is told what `in_paper` gives, if it has such a run.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn finished(
        folder: &ExperimentFolder,
        in_paper: impl Fn(&Run) -> Option<RunOptions>,
    ) -> Result<Vec<Self>, Failure> {
        let mut cells = Vec::new();
        for data in names_in(&folder.runs()) {
            for &method in Method::value_variants() {
                let place = folder.runs().join(&data).join(name_of(method));
                let mut found = Vec::new();
                for budget in names_in(&place) {
                    found.extend(Self::of(method, place.join(budget), &in_paper)?);
                }
                found.sort_by_key(|cell| Reverse(cell.runs.iter().map(|run| run.steps).max()));
                cells.extend(found);
            }
        }
        Ok(cells)
    }

    /// The finished runs in `folder`; none if there are none.
    fn of(
        method: Method,
        folder: PathBuf,
        in_paper: impl Fn(&Run) -> Option<RunOptions>,
    ) -> Result<Option<Self>, Failure> {
        let (folders, metrics): (Vec<PathBuf>, Vec<Metrics>) =
            TrainingRun::places_finished(&folder)?.into_iter().unzip();
        let metrics = metrics.into_iter();
        let runs: Vec<Run> = metrics.map(|metrics| Run::new(method, metrics)).collect();
        let Some(first) = runs.first() else {
            return Ok(None);
        };
        let departures = in_paper(first)
            .map(|paper| departures_of_runs(&folders, &paper))
            .transpose()?;
        Ok(Some(Self {
            departures,
            folder,
            runs,
        }))
    }

    /// Whether the paper has numbers of such runs, which do not depart from its protocol.
    pub fn is_as_in_paper(&self) -> bool {
        self.departures.as_ref().is_some_and(Vec::is_empty)
    }

    /// Other training rows than the paper's are a departure, too.
    pub fn compare_rows(&mut self, in_paper: impl Fn(&str) -> Option<usize>) {
        let run = self.first();
        let rows = in_paper(&run.data);
        let other = rows.and_then(|rows| Departure::of_rows("training rows", run.rows, rows));
        if let Some(departures) = &mut self.departures {
            departures.extend(other);
        }
    }

    /// How long its runs may train.
    pub fn budget(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().replace('-', " ")
    }

    /// One of its runs.
    pub fn first(&self) -> &Run {
        &self.runs[0]
    }

    /// Where it is.
    pub fn folder_of_first(&self) -> PathBuf {
        self.folder.join(name_of_seed(self.first().seed))
    }

    /// A number of the runs.
    pub fn summary(&self, number: impl Fn(&Run) -> f64) -> Option<Summary> {
        Summary::of(&self.runs.iter().map(number).collect::<Vec<f64>>())
    }
}
