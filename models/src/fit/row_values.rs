//! Weights and known noise of the training rows, beside their targets.

use burn_gp_core::inference::RowColumns;

use super::{Error, Fit, Scaling};
use crate::{ModelConfig, training::TrainingData};

/// The rows that count in training. Those of weight zero do not.
pub(super) struct CountedRows {
    /// The number of all rows.
    pub all: usize,
    /// The positions of those that count, if not all do.
    positive: Option<Vec<usize>>,
}

impl CountedRows {
    /// Those of `all` rows with these weights. Weights that cannot be are refused later, with the other checks.
    pub fn of(all: usize, weights: Option<&[f64]>) -> Self {
        let weights = weights.filter(|own| own.len() == all && own.contains(&0.0));
        let positive = weights.map(|own| (0..all).filter(|&row| own[row] != 0.0).collect());
        Self {
            all,
            positive: positive.filter(|rows: &Vec<usize>| !rows.is_empty()),
        }
    }

    /// Row-major values of these from those of all rows.
    pub fn select(&self, values: Vec<f64>) -> Vec<f64> {
        let Some(rows) = &self.positive else {
            return values;
        };
        let columns = values.len() / self.all.max(1);
        let each = rows.iter();
        each.flat_map(|row| &values[row * columns..][..columns])
            .copied()
            .collect()
    }
}

/// The values of the training rows that are no inputs and no targets.
pub(super) struct RowValues {
    weights: Option<Vec<f64>>,
    /// Variances, on the scale of the model.
    noise: Option<Vec<f64>>,
}

impl RowValues {
    /// Those that the options give for the `rows` of scaled `data`.
    ///
    /// # Errors
    ///
    /// When the model does not take them, or they do not match the rows or their range.
    pub fn of(
        fit: &Fit,
        config: &ModelConfig,
        (data, rows): (&TrainingData, &CountedRows),
        scaling: &Scaling,
    ) -> Result<Self, Error> {
        Ok(Self {
            weights: fit.weights_of_rows(config, (data, rows))?,
            noise: fit.noise_of_rows(config, (data, rows), scaling)?,
        })
    }

    /// The columns beside the targets.
    pub fn columns(&self) -> RowColumns {
        RowColumns {
            weights: self.weights.is_some(),
            noise: self.noise.is_some(),
        }
    }

    /// The data with the values as further columns of the targets; `None` if there are none.
    pub fn beside(&self, data: &TrainingData) -> Option<TrainingData> {
        let columns = [&self.weights, &self.noise].into_iter().flatten();
        columns.fold(None, |all, values| {
            Some(all.as_ref().unwrap_or(data).with_row_values(values))
        })
    }
}
