//! The calibration of a run's predictions on training rows that the model has not seen.

use burn_gp_datasets::counted;
use burn_gp_models::{Calibration, Predictor};
use serde::{Deserialize, Serialize};

use crate::evaluation::{Levels, evaluate};
use crate::failure::Failure;
use crate::preparation::PreparedData;
use crate::progress::RowProgress;
use crate::scores::{COVERAGE, ECE, NLPD, PINBALL, Scores};

/// What `metrics.json` says of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationReport {
    /// The number of rows that it was fitted on.
    pub rows: usize,
    /// The temperature of class probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The scores of the test rows without it, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores_without: Option<Scores>,
}

impl From<&Calibration> for CalibrationReport {
    fn from(calibration: &Calibration) -> Self {
        Self {
            rows: calibration.rows(),
            temperature: match calibration {
                Calibration::Temperature(own) => Some(own.value),
                Calibration::Recalibration(_) => None,
            },
            scores_without: None,
        }
    }
}

impl CalibrationReport {
    /// What it is, in a sentence.
    pub fn text(&self) -> String {
        let what = match self.temperature {
            Some(temperature) => format!("temperature {temperature:.3}"),
            None => "map of the predictive distribution".to_owned(),
        };
        let named = |(key, title): (&str, &str)| {
            let value = self.scores_without.as_ref()?.get(key)?;
            Some(match key {
                COVERAGE => format!("{title} {:.1} %", 100.0 * value),
                _ => format!("{title} {value:.4}"),
            })
        };
        let scores = [
            (NLPD, "NLPD"),
            (ECE, "ECE"),
            (PINBALL, "pinball loss"),
            (COVERAGE, "coverage"),
        ];
        let scores: Vec<String> = scores.into_iter().filter_map(named).collect();
        let without = match scores.is_empty() {
            true => String::new(),
            false => format!("; without it {}", scores.join(", ")),
        };
        format!(
            "{what}, fitted on {}{without}",
            counted(self.rows, "held-out training row")
        )
    }
}

/// The predictor with its calibration, and what `metrics.json` says of it, if rows were held out for it.
///
/// # Errors
///
/// If a row cannot be predicted, or its target is impossible.
pub fn calibrated(
    predictor: Predictor,
    data: &PreparedData,
    quiet: bool,
) -> Result<(Predictor, Option<CalibrationReport>), Failure> {
    let part = &data.calibration;
    if part.is_empty() {
        return Ok((predictor, None));
    }
    let (targets, _) = part.likelihood_targets();
    let (inputs, columns) = (part.inputs.values(), part.inputs.columns());
    let calibration = predictor.fit_calibration(inputs, columns, &targets)?;
    let without = || {
        let progress = RowProgress::new("test row", data.test.len(), quiet);
        let (test, scale) = (&data.test, &data.standardizer);
        evaluate(&predictor, test, scale, &Levels::default(), progress)
    };
    let without = (!data.test.is_empty()).then(without).transpose()?;
    let figures = CalibrationReport {
        scores_without: without.map(|own| own.scores),
        ..CalibrationReport::from(&calibration)
    };
    Ok((predictor.calibrated(calibration), Some(figures)))
}
