//! Finished runs, and what they have in common over seeds.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::method::Method;
use crate::arguments::name_of;
use crate::experiment::departures::Departure;
use crate::failure::Failure;
use crate::output::{CONFIG, names_in};
use crate::report::Metrics;
use crate::settings::read_configuration;
use crate::summary::Summary;
use crate::training_run::TrainingRun;

/// The finished runs of a model on a data set under one budget, one a seed; at least one.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cell {
    /// The model with its optimizer.
    pub method: Method,
    /// The first learning rate.
    pub learning_rate: Option<f64>,
    /// Directions in which the variances of predictions were made once.
    pub cached_variances: Option<usize>,
    /// Where they depart from the paper's protocol; none where the paper has no numbers, or nobody has
    /// looked.
    pub departures: Option<Vec<Departure>>,
    /// What the runs found, by their seeds.
    pub runs: Vec<Metrics>,
    /// Where they are.
    #[serde(skip)]
    pub folders: Vec<PathBuf>,
}

impl Cell {
    /// The finished runs below `root`, by data set, model and rows of combinations, those with the most
    /// combinations, inducing points and steps first.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn finished(root: &Path) -> Result<Vec<Self>, Failure> {
        let mut cells = Vec::new();
        for data in names_in(root) {
            for &method in Method::value_variants() {
                let place = root.join(&data).join(name_of(method));
                let mut found = Vec::new();
                for budget in names_in(&place) {
                    found.extend(Self::of(method, &place.join(budget))?);
                }
                let size = |cell: &Self| std::cmp::Reverse((cell.rank(), cell.steps()));
                found.sort_by_key(|cell| (cell.title(), size(cell)));
                cells.extend(found);
            }
        }
        Ok(cells)
    }

    /// The finished runs in a folder, a seed each; none if there are none.
    fn of(method: Method, folder: &Path) -> Result<Option<Self>, Failure> {
        let (folders, runs): (Vec<PathBuf>, Vec<Metrics>) =
            TrainingRun::places_finished(folder)?.into_iter().unzip();
        let Some(first) = folders.first() else {
            return Ok(None);
        };
        let options = read_configuration(&first.join(CONFIG))?;
        Ok(Some(Self {
            method,
            learning_rate: options.learning_rate,
            cached_variances: options.all_rows.cached_variances,
            departures: None,
            runs,
            folders,
        }))
    }

    /// One of its runs.
    pub fn first(&self) -> &Metrics {
        &self.runs[0]
    }

    /// What its runs are called.
    pub fn title(&self) -> String {
        let title = self.method.title_of(self.first().action_rows);
        match self.cached_variances {
            Some(rank) => format!("{title}, {rank} variances"),
            None => title,
        }
    }

    /// Combinations of rows, or inducing points.
    pub fn rank(&self) -> Option<usize> {
        self.first().actions.or(self.first().inducing)
    }

    /// The most steps that a run made.
    pub fn steps(&self) -> usize {
        self.runs.iter().map(|run| run.steps).max().unwrap_or(0)
    }

    /// A number of the runs.
    pub fn summary(&self, number: impl Fn(&Metrics) -> f64) -> Option<Summary> {
        Summary::of(&self.runs.iter().map(number).collect::<Vec<f64>>())
    }
}

/// The cells of each data set.
pub(super) fn by_data(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|first, second| first.first().data == second.first().data)
}
