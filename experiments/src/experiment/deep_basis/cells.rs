//! Finished runs of Table 1, and what they have in common over seeds.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::method::Method;
use crate::arguments::name_of;
use crate::experiment::ExperimentFolder;
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
    /// Mean absolute error of the test rows, standardised.
    pub mae: f64,
    /// Root mean squared error of the test rows, standardised.
    pub rmse: f64,
    /// Mean negative log density of the test rows, standardised.
    pub nlpd: f64,
    /// Training rows.
    pub rows: usize,
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
            steps: metrics.steps,
            step_kept: metrics.step_kept,
            train_seconds: metrics.train_seconds,
            peak_memory: metrics.peak_memory,
        }
    }
}

/// The folder of a run.
pub(super) fn folder(runs: &Path, data: &str, method: Method, seed: u64) -> PathBuf {
    (runs.join(data))
        .join(name_of(method))
        .join(format!("seed-{seed}"))
}

/// The runs of a model on a data set, one a seed; at least one.
pub(super) struct Cell {
    /// The runs, by their seeds.
    pub runs: Vec<Run>,
}

impl Cell {
    /// The finished runs of the experiment in `folder`, by data set and model.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn finished(folder: &ExperimentFolder) -> Result<Vec<Self>, Failure> {
        let mut cells = Vec::new();
        for data in names_in(&folder.runs()) {
            for &method in Method::value_variants() {
                let place = folder.runs().join(&data).join(name_of(method));
                let metrics = TrainingRun::all_finished(&place)?.into_iter();
                let mut runs: Vec<Run> = metrics.map(|metrics| Run::new(method, metrics)).collect();
                runs.sort_by_key(|run| run.seed);
                if !runs.is_empty() {
                    cells.push(Self { runs });
                }
            }
        }
        Ok(cells)
    }

    /// One of its runs.
    pub fn first(&self) -> &Run {
        &self.runs[0]
    }

    /// A number of the runs.
    pub fn summary(&self, number: impl Fn(&Run) -> f64) -> Option<Summary> {
        Summary::of(&self.runs.iter().map(number).collect::<Vec<f64>>())
    }
}
