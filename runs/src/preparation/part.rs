//! A subset of the rows of a run.

use std::sync::Arc;

use burn_gp_datasets::{Companion, Location, Matrix, Origin, RowAttributes, RowRole};
use burn_gp_models::Predictions;

use super::Intervals;

/// Where rows come from.
#[derive(Clone, Debug)]
pub struct RowSource {
    /// The file and line of each row.
    pub origin: Origin,
    /// The positions of the rows in the source, if rows were left out.
    pub kept: Option<Vec<usize>>,
}

impl RowSource {
    /// All rows of `origin`.
    pub fn whole(origin: Origin) -> Arc<Self> {
        Arc::new(Self { origin, kept: None })
    }

    /// The location of a row.
    pub fn location(&self, row: usize) -> Location {
        self.origin.location(row)
    }

    /// The position of a row in its source, from 0.
    pub fn position(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row])
    }
}

/// A subset of the rows.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where the rows come from.
    pub source: Arc<RowSource>,
    /// The row numbers in the data, from 0.
    pub rows: Vec<usize>,
    /// Standardized inputs, `[N, D]`.
    pub inputs: Matrix,
    /// The targets, `[N]`: standardized if the likelihood allows it; for labels, class numbers from 0; for intervals, their
    /// middles.
    pub targets: Vec<f64>,
    /// The targets in the units of the data, or class numbers for labels, `[N]`; NaN where they are not known exactly.
    pub observed: Vec<f64>,
    /// The known noise variance of each target in squared standardized units, `[N]`: all its noise, or that
    /// [besides the trained one](Self::row_noise).
    pub noise: Option<Vec<f64>>,
    /// The intervals that hold the targets, if the likelihood takes these.
    pub intervals: Option<Intervals>,
    /// What columns say about the rows.
    pub attributes: RowAttributes,
}

impl Part {
    /// The number of rows, N.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether rows have weights.
    pub fn has_weights(&self) -> bool {
        self.attributes.numbers(RowRole::Weights).is_some()
    }

    /// Whether rows have known noise besides the trained one.
    pub fn has_row_noise(&self) -> bool {
        self.attributes.numbers(Companion::RowNoise).is_some()
    }

    /// The variances of known noise besides the trained one in squared standardized units, `[N]`; `None` without such
    /// noise.
    pub fn row_noise(&self) -> Option<&[f64]> {
        self.noise.as_deref().filter(|_| self.has_row_noise())
    }

    /// The rows at these positions.
    pub fn select(&self, places: &[usize]) -> Self {
        let numbers = |values: &[f64]| places.iter().map(|&place| values[place]).collect();
        Self {
            source: self.source.clone(),
            rows: places.iter().map(|&place| self.rows[place]).collect(),
            inputs: self.inputs.select(places),
            targets: numbers(&self.targets),
            observed: numbers(&self.observed),
            noise: self.noise.as_deref().map(numbers),
            intervals: self.intervals.as_ref().map(|own| own.select(places)),
            attributes: self.attributes.select(places),
        }
    }

    /// The targets in the form that the likelihood takes, row-major, and the number of columns. A noise variance, if the
    /// likelihood has none of its own, or a number of trials is a second column. Intervals have columns of lower and upper
    /// limits.
    pub fn likelihood_targets(&self) -> (Vec<f64>, usize) {
        if let Some(intervals) = &self.intervals {
            return (intervals.standardized.as_flattened().to_vec(), 2);
        }
        let noise = self.noise.as_deref().filter(|_| !self.has_row_noise());
        match noise.or(self.attributes.numbers(Companion::Trials)) {
            None => (self.targets.clone(), 1),
            Some(companions) => {
                let rows = self.targets.iter().zip(companions);
                (rows.flat_map(|(&target, &own)| [target, own]).collect(), 2)
            }
        }
    }

    /// The positions of the rows whose targets are known exactly, if not all are.
    pub fn exact_rows(&self) -> Option<Vec<usize>> {
        self.intervals.as_ref()?;
        let rows = 0..self.len();
        Some(rows.filter(|&row| !self.observed[row].is_nan()).collect())
    }

    /// The targets in the units of the data as they are drawn: numbers of successes as shares of their trials, and
    /// intervals by their middles.
    pub fn observed_shares(&self) -> Vec<f64> {
        match (&self.intervals, self.attributes.numbers(Companion::Trials)) {
            (Some(intervals), _) => intervals.middles(),
            (None, None) => self.observed.clone(),
            (None, Some(trials)) => (self.observed.iter().zip(trials))
                .map(|(successes, trials)| successes / trials)
                .collect(),
        }
    }

    /// The predictions of these rows with their noise, or of their successes among their trials, if these are known.
    pub fn predictions(&self, predictions: Predictions) -> Predictions {
        match (&self.noise, self.attributes.numbers(Companion::Trials)) {
            (Some(noise), _) => predictions.with_noise(noise),
            (None, Some(trials)) => predictions.with_trials(trials),
            (None, None) => predictions,
        }
    }
}
