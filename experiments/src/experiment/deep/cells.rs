//! Finished runs of deep models, and what they have in common over seeds.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::protocol::title;
use crate::arguments::{PosteriorName, RunOptions, name_of};
use crate::experiment::departures::{Departure, departures_of_runs};
use crate::failure::Failure;
use crate::fitting::TrainingLog;
use crate::output::{TRAINING_LOG, names_in};
use crate::report::Metrics;
use crate::summary::Summary;
use crate::training_run::TrainingRun;

/// Points of a course of the loss, about.
const POINTS: usize = 100;

/// A finished run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    /// The data set.
    pub data: String,
    /// Layers.
    pub depth: usize,
    /// The posterior of each.
    pub posterior: PosteriorName,
    /// The seed of everything random.
    pub seed: u64,
    /// Mean negative log density of the test rows under the mixture of draws.
    pub nlpd: f64,
    /// Mean over test rows and draws of the log densities.
    pub average_log_density: f64,
    /// Root mean squared error of the test rows, standardized.
    pub rmse: f64,
    /// Inducing points of each layer.
    pub inducing: Option<usize>,
    /// Steps made.
    pub steps: usize,
    /// Seconds of training.
    pub train_seconds: f64,
    /// The most memory that was resident, in bytes.
    pub peak_memory: Option<u64>,
    /// Its folder.
    #[serde(skip)]
    folder: PathBuf,
}

impl Run {
    fn new(depth: usize, posterior: PosteriorName, folder: PathBuf, metrics: Metrics) -> Self {
        let scores = &metrics.scores;
        Self {
            data: metrics.data,
            depth,
            posterior,
            seed: metrics.seed,
            nlpd: scores.nlpd,
            average_log_density: scores.average_log_density.unwrap_or(-scores.nlpd),
            rmse: scores.rmse,
            inducing: metrics.inducing,
            steps: metrics.steps,
            train_seconds: metrics.train_seconds,
            peak_memory: metrics.peak_memory,
            folder,
        }
    }

    /// Means of the loss over blocks of steps, each at the last step of its block; none if the log
    /// cannot be read.
    fn losses(&self) -> Vec<(f64, f64)> {
        let text = std::fs::read_to_string(self.folder.join(TRAINING_LOG));
        let log = text.ok().and_then(|text| TrainingLog::from_csv(&text));
        let entries = log.map(|log| log.entries).unwrap_or_default();
        let blocks = entries.chunks(entries.len().div_ceil(POINTS).max(1));
        let mean = |block: &[crate::fitting::LogEntry]| {
            let sum: f64 = block.iter().map(|entry| entry.report.loss).sum();
            let last = block.last().map_or(0, |entry| entry.report.step);
            (last as f64, sum / block.len() as f64)
        };
        blocks.map(mean).collect()
    }
}

/// The folder of a run below that of a data set.
pub(super) fn folder(root: &Path, depth: usize, posterior: PosteriorName, seed: u64) -> PathBuf {
    root.join(format!("{DEPTH}{depth}"))
        .join(name_of(posterior))
        .join(format!("seed-{seed}"))
}

/// What the names of the folders of a depth begin with.
const DEPTH: &str = "depth-";

/// Whether a folder of that name has the runs of a depth.
pub(in crate::experiment) fn is_of_a_depth(name: &str) -> bool {
    depth_of(name).is_some()
}

fn depth_of(name: &str) -> Option<usize> {
    name.strip_prefix(DEPTH)?.parse().ok()
}

/// The runs of a posterior at a depth, one a seed; at least one.
pub(super) struct Cell {
    /// Where they depart from the paper's protocol; none where the paper has no numbers.
    pub departures: Option<Vec<Departure>>,
    /// The runs, by their seeds.
    pub runs: Vec<Run>,
}

impl Cell {
    /// The finished runs below `root`, by depth and posterior. In the paper a run is told what
    /// `in_paper` gives, if it has such a run.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn finished(
        root: &Path,
        in_paper: impl Fn(&Run) -> Option<RunOptions>,
    ) -> Result<Vec<Self>, Failure> {
        let mut depths: Vec<(usize, String)> = (names_in(root).into_iter())
            .filter_map(|name| Some((depth_of(&name)?, name)))
            .collect();
        depths.sort();
        let mut cells = Vec::new();
        for (depth, name) in depths {
            for &posterior in PosteriorName::value_variants() {
                let place = root.join(&name).join(name_of(posterior));
                let runs: Vec<Run> = (TrainingRun::places_finished(&place)?.into_iter())
                    .map(|(folder, metrics)| Run::new(depth, posterior, folder, metrics))
                    .collect();
                let Some(first) = runs.first() else {
                    continue;
                };
                let folders: Vec<PathBuf> = runs.iter().map(|run| run.folder.clone()).collect();
                let departures = in_paper(first)
                    .map(|paper| departures_of_runs(&folders, &paper))
                    .transpose()?;
                cells.push(Self { departures, runs });
            }
        }
        Ok(cells)
    }

    /// One of its runs.
    pub fn first(&self) -> &Run {
        &self.runs[0]
    }

    /// Its name for people, without the depth.
    pub fn title(&self) -> String {
        title(self.first().posterior)
    }

    /// A number of the runs.
    pub fn summary(&self, number: impl Fn(&Run) -> f64) -> Option<Summary> {
        Summary::of(&self.runs.iter().map(number).collect::<Vec<f64>>())
    }

    /// The loss in the course of training, its mean over the runs.
    pub fn losses(&self) -> Vec<(f64, f64)> {
        let courses: Vec<Vec<(f64, f64)>> = self.runs.iter().map(Run::losses).collect();
        let count = courses.iter().map(Vec::len).min().unwrap_or(0);
        let mean = |point: usize| {
            let sum: f64 = courses.iter().map(|course| course[point].1).sum();
            (courses[0][point].0, sum / courses.len() as f64)
        };
        (0..count).map(mean).collect()
    }
}
