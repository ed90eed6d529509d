//! Predictions with a calibration.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::parameter::numbers;
use rand::Rng;

use super::Predictor;
use crate::{Calibration, CalibrationError, Predictions};

impl Predictor {
    /// The same predictions with a calibration: of new targets, their log densities and their draws. The function stays.
    pub fn calibrated(mut self, calibration: Calibration) -> Self {
        self.calibration = Some(Arc::new(calibration));
        self
    }

    /// The calibration of the predictions, if there is one.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_deref()
    }

    /// Fits a calibration of these predictions to row-major host data that the model has not seen, with `columns` inputs
    /// and one target for each row.
    ///
    /// # Errors
    ///
    /// If there are fewer than 20 rows, several columns of targets, a target that the likelihood does not accept, or a
    /// prediction that is NaN.
    ///
    /// # Panics
    ///
    /// If the inputs cannot be divided into rows like the training inputs.
    #[track_caller]
    pub fn fit_calibration(
        &self,
        inputs: &[f64],
        columns: usize,
        targets: &[f64],
    ) -> Result<Calibration, CalibrationError> {
        let rows = super::rows_of(inputs, columns);
        if targets.len() != rows {
            let columns = targets.len() / rows.max(1);
            return Err(CalibrationError::Columns { columns });
        }
        let likelihood = self.likelihood.description();
        likelihood.check_targets_in(self.dtype, targets, 1)?;
        Calibration::fit(&self.predict(inputs, columns), targets)
    }

    /// Draws of targets, `[S, N, P]`, after the calibration.
    pub(super) fn calibrated_draws<R: Rng>(
        &self,
        calibration: &Calibration,
        x: Tensor<2>,
        draws: Tensor<3>,
        random: &mut R,
    ) -> Tensor<3> {
        let mut predictions = Predictions::default();
        for (start, rows) in self.chunks(x.dims()[0]) {
            let x = x.clone().narrow(0, start, rows);
            self.describe(self.process.components(x), &mut predictions);
        }
        let (shape, device, dtype) = (draws.dims(), draws.device(), draws.dtype());
        let moved = calibration.draws(&predictions, &numbers(draws), random);
        Tensor::from_data(TensorData::new(moved, shape), (&device, dtype))
    }
}

/// Predictions and the log densities of targets under their components after the calibration.
pub(super) fn scored(
    calibration: &Calibration,
    predictions: Predictions,
    mut densities: Vec<Vec<f64>>,
    targets: &[f64],
) -> (Predictions, Vec<Vec<f64>>) {
    let slopes = calibration.log_slopes(&predictions, targets);
    let outputs = slopes.len() / densities.len().max(1);
    for (row, slopes) in densities.iter_mut().zip(slopes.chunks(outputs.max(1))) {
        let slope: f64 = slopes.iter().sum();
        row.iter_mut().for_each(|density| *density += slope);
    }
    (calibration.apply(predictions), densities)
}
