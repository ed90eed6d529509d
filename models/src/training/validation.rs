//! Validation, which keeps the model of the step that predicts held-out rows best.

use std::ops::ControlFlow;

use burn::module::Module;
use burn_gp_core::metrics::negative_log_density;
use serde::{Deserialize, Serialize};

use super::{Callback, Model, StepReport, Trainer, TrainingData, TrainingError};
use crate::PredictionError;

/// Rows that a model is not trained on, row-major and in the units of training.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutRows {
    /// The inputs, `[N, D]`.
    pub inputs: Vec<f64>,
    /// The number of inputs of a row, D.
    pub columns: usize,
    /// The targets, `[N, T]`.
    pub targets: Vec<f64>,
}

/// Early stopping by the mean log density of held-out rows: it keeps the best model and ends training after too many
/// validations without improvement. A [`Callback`] of every trainer.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
/// use burn_gp_models::{
///     SvgpConfig,
///     training::{
///         HeldOutRows, MiniBatchTraining, TrainingData, TrainingError, Validation, fit,
///     },
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::flex().autodiff();
/// let data = TrainingData::new(&[0.0, 0.5, 1.0], &[1.0, 0.2, -1.0], &device, DType::F64);
/// let config = SvgpConfig::new(StationaryConfig::matern52(), GaussianConfig::default());
/// let model = config.with_inducing(2).init(&data)?;
/// let rows = HeldOutRows { inputs: vec![0.25, 0.75], columns: 1, targets: vec![0.6, -0.4] };
/// // Every five steps, and at most three times without improvement.
/// let mut validation = Validation::new(rows, data.clone(), 5, 3);
/// let training = MiniBatchTraining::new(20).into();
/// fit::<_, TrainingError>(model, data, &training, &mut [&mut validation])?;
/// assert!(validation.best.is_some() && validation.progress.best_step <= 20);
/// # Ok(())
/// # }
/// ```
pub struct Validation<M> {
    rows: HeldOutRows,
    data: TrainingData,
    interval: usize,
    patience: usize,
    /// The progress so far.
    pub progress: ValidationProgress,
    /// The best model so far.
    pub best: Option<M>,
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

impl<M: Model + Clone> Validation<M> {
    /// Validates models trained on `data` every `interval` steps on held-out rows. Training stops after
    /// `patience` validations without improvement.
    pub fn new(rows: HeldOutRows, data: TrainingData, interval: usize, patience: usize) -> Self {
        Self {
            rows,
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
    /// When the model cannot predict the rows.
    pub fn score(&mut self, step: usize, model: &M) -> Result<f64, PredictionError> {
        let predictor = model.trained(&self.data)?.predictor()?;
        let HeldOutRows {
            inputs,
            columns,
            targets,
        } = &self.rows;
        let densities = predictor.log_density(inputs, *columns, targets)?;
        let score = negative_log_density(&densities);
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

impl<M: Module + Model, E: From<TrainingError>> Callback<M, E> for Validation<M> {
    fn needs_report(&self, trainer: &dyn Trainer<Model = M>) -> bool {
        self.is_due(trainer.steps_made(), trainer.is_finished())
    }

    fn after_step(
        &mut self,
        trainer: &dyn Trainer<Model = M>,
        report: StepReport,
    ) -> Result<ControlFlow<()>, E> {
        // The model may already be that of a later step, whose report was needed.
        let is_current = report.step == trainer.steps_made();
        if is_current && self.is_due(report.step, trainer.is_finished()) {
            let model = trainer.model();
            self.score(report.step, model)
                .map_err(|error| TrainingError::of_prediction(error, report.step, model))?;
        }
        Ok(match self.is_exhausted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}
