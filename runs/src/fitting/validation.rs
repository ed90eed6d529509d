//! Validation, which keeps the model of the step that predicts the validation rows best.

use burn_gp_core::metrics;
use burn_gp_models::{AnyModel, PredictionError, training::TrainingData};
use serde::{Deserialize, Serialize};

use crate::preparation::Part;

/// Validation during training.
pub struct Validation {
    part: Part,
    data: TrainingData,
    interval: usize,
    patience: usize,
    /// The progress so far.
    pub progress: ValidationProgress,
    /// The best model so far.
    pub best: Option<AnyModel>,
}

/// The progress of validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationProgress {
    /// The step of the best model.
    pub best_step: usize,
    /// Its negative log density.
    pub best_score: Option<f64>,
    /// The number of validations since then.
    pub without_improvement: usize,
}

impl Validation {
    /// Validates models trained on `data` every `interval` steps on the rows of `part`. Training stops after
    /// `patience` validations without improvement.
    pub fn new(part: Part, data: TrainingData, interval: usize, patience: usize) -> Self {
        Self {
            part,
            data,
            interval,
            patience,
            progress: ValidationProgress::default(),
            best: None,
        }
    }

    /// Whether to validate after `step`.
    pub fn is_due(&self, step: usize, is_last: bool) -> bool {
        is_last || step.is_multiple_of(self.interval)
    }

    /// Whether the score has not improved for too long.
    pub fn is_exhausted(&self) -> bool {
        self.progress.without_improvement >= self.patience
    }

    /// Compares the model after `step` with the best one. Returns its mean negative log density.
    ///
    /// # Errors
    ///
    /// If the model cannot predict the rows.
    pub fn score(&mut self, step: usize, model: &AnyModel) -> Result<f64, PredictionError> {
        let predictor = model.trained(&self.data)?.predictor()?;
        let (inputs, (targets, _)) = (&self.part.inputs, self.part.likelihood_targets());
        let densities = predictor.log_density(inputs.values(), inputs.columns(), &targets)?;
        let score = metrics::negative_log_density(&densities);
        let improved = (self.progress.best_score).is_none_or(|best| score < best);
        if improved {
            self.progress = ValidationProgress {
                best_step: step,
                best_score: Some(score),
                without_improvement: 0,
            };
            self.best = Some(model.clone());
        } else {
            self.progress.without_improvement += 1;
        }
        Ok(score)
    }
}
