//! Weights and known noise of the training rows, beside their targets.

use super::{Error, Fit, Scaling};
use crate::{
    AnyModel, ModelConfig,
    training::{Model, TrainingData},
};

/// The values of the training rows that are no inputs and no targets.
pub(super) struct RowValues {
    weights: Option<Vec<f64>>,
    /// Variances, on the scale of the model.
    noise: Option<Vec<f64>>,
}

impl RowValues {
    /// Those that the options give for the rows of scaled `data`.
    ///
    /// # Errors
    ///
    /// When the model does not take them, or they do not match the rows or their range.
    pub fn of(
        fit: &Fit,
        config: &ModelConfig,
        data: &TrainingData,
        scaling: &Scaling,
    ) -> Result<Self, Error> {
        Ok(Self {
            weights: fit.weights_of_rows(config, data.len())?,
            noise: fit.noise_of_rows(config, data, scaling)?,
        })
    }

    /// Whether the rows have noise of their own.
    pub fn has_noise(&self) -> bool {
        self.noise.is_some()
    }

    /// The data with the values as further columns of the targets; `None` if there are none.
    pub fn beside(&self, data: &TrainingData) -> Option<TrainingData> {
        let columns = [&self.weights, &self.noise].into_iter().flatten();
        columns.fold(None, |all, values| {
            Some(all.as_ref().unwrap_or(data).with_row_values(values))
        })
    }

    /// Tells the model of these columns.
    pub fn announce(&self, model: &mut AnyModel) {
        if self.weights.is_some() {
            model.use_row_weights();
        }
        if self.noise.is_some() {
            model.use_row_noise();
        }
    }
}
