//! Calibration of predictions on rows that the model has not seen.

mod labels;
mod temperature;

use burn_gp_core::likelihoods::{ImpossibleTarget, Recalibration, RecalibrationError};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::Predictions;

pub use temperature::Temperature;

/// A correction of predictions, fitted on rows that the model has not seen: a temperature of class probabilities, or a
/// map of the distribution functions of numbers and counts.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
/// use burn_gp_models::{Calibration, ExactConfig, Fit, FitModel};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let x: Vec<f64> = (0..80).map(|row| f64::from(row % 40) / 8.0).collect();
/// let y: Vec<f64> = (0..80).map(|row| x[row].sin() + if row % 3 == 0 { 0.4 } else { -0.2 }).collect();
/// // A model with too little noise, which is not trained.
/// let model = ExactConfig::new(StationaryConfig::rbf()).with_likelihood(GaussianConfig::new(1e-3));
/// let gp = model.fit(&x[..40], &y[..40], &Fit::new().steps(0))?;
///
/// let predicted = gp.predict(&x[40..])?;
/// let plain = predicted.predictions();
/// let calibration = Calibration::fit(plain, &y[40..])?;
/// let calibrated = calibration.apply(plain.clone());
/// assert!(calibrated.variance[0] > plain.variance[0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// For class labels.
    Temperature(Temperature),
    /// For numbers and counts.
    Recalibration(Recalibration),
}

/// The reason why predictions cannot be calibrated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// There are too few rows, or a prediction is NaN.
    #[error(transparent)]
    Recalibration(#[from] RecalibrationError),
    /// The targets have several columns.
    #[error("calibration needs one target for each row, but there are {columns}")]
    Columns {
        /// The number of columns of the targets.
        columns: usize,
    },
}

impl Calibration {
    /// Fits the calibration to predictions and the targets of their rows, which the model has not seen.
    ///
    /// # Errors
    ///
    /// If there are fewer than 20 rows, or a prediction is NaN.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from that of the predictions.
    #[track_caller]
    pub fn fit(predictions: &Predictions, targets: &[f64]) -> Result<Self, CalibrationError> {
        let rows = targets.len();
        if rows < Recalibration::FEWEST_ROWS {
            return Err(RecalibrationError::TooFewRows { rows }.into());
        }
        let probabilities = &predictions.probabilities;
        match (probabilities.is_empty(), &predictions.distribution) {
            (true, Some(distribution)) => {
                let map = Recalibration::fit(distribution, targets)?;
                Ok(Self::Recalibration(map))
            }
            _ => {
                let classes = probabilities.len() / rows;
                if let Some(place) = probabilities.iter().position(|p| p.is_nan()) {
                    let row = place / classes;
                    return Err(RecalibrationError::NotANumber { row }.into());
                }
                let own = Temperature::fit(probabilities, classes, targets);
                Ok(Self::Temperature(own))
            }
        }
    }

    /// Whether it is for a likelihood with this number of classes, `None` for numbers and counts.
    pub fn suits(&self, classes: Option<usize>) -> bool {
        match self {
            Self::Temperature(own) => classes == Some(own.classes),
            Self::Recalibration(_) => classes.is_none(),
        }
    }

    /// The number of rows that it was fitted on.
    pub fn rows(&self) -> usize {
        match self {
            Self::Temperature(own) => own.rows,
            Self::Recalibration(own) => own.rows,
        }
    }

    /// Calibrated predictions: probabilities, means, variances, quantiles and intervals of the targets. The function
    /// stays as it is.
    pub fn apply(&self, mut predictions: Predictions) -> Predictions {
        match self {
            Self::Temperature(own) => {
                predictions.probabilities = own.apply(&predictions.probabilities);
                (predictions.mean, predictions.variance) = labels::moments(
                    &predictions.probabilities,
                    own.classes,
                    predictions.mean.len(),
                );
                // The distribution of ordered labels is that before.
                predictions.distribution = None;
            }
            Self::Recalibration(own) => {
                let distribution = predictions.distribution.take();
                predictions.distribution = distribution.map(|before| before.recalibrated(own));
                if let Some(distribution) = &predictions.distribution {
                    (predictions.mean, predictions.variance) = distribution.moments();
                }
            }
        }
        predictions
    }

    /// What the log density of each target has in addition to that before the calibration, from the predictions
    /// before it.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from that of the predictions.
    #[track_caller]
    pub fn log_slopes(&self, predictions: &Predictions, targets: &[f64]) -> Vec<f64> {
        match self {
            Self::Temperature(own) => labels::log_ratios(own, &predictions.probabilities, targets),
            Self::Recalibration(own) => match &predictions.distribution {
                Some(before) => before.clone().recalibrated(own).log_slopes(targets),
                None => vec![0.0; targets.len()],
            },
        }
    }

    /// Draws `[S, N]` of targets before the calibration as draws after it, from the predictions before it. How rows depend
    /// on each other stays.
    pub fn draws<R: Rng>(
        &self,
        predictions: &Predictions,
        draws: &[f64],
        random: &mut R,
    ) -> Vec<f64> {
        match self {
            Self::Temperature(own) => labels::draws(own, &predictions.probabilities, draws, random),
            Self::Recalibration(own) => match &predictions.distribution {
                Some(before) => {
                    let after = before.clone().recalibrated(own);
                    after.recalibrated_draws(draws, random)
                }
                None => draws.to_vec(),
            },
        }
    }
}
