//! How good a model is on the held-out rows.

use burn_gp::{likelihoods::AnyLikelihood, metrics};
use burn_gp_datasets::Standardizer;
use burn_gp_models::{AnyProcess, Predictions, Predictor};
use serde::{Deserialize, Serialize};

use crate::preparation::Part;

/// Bins of the expected calibration error.
const CALIBRATION_BINS: usize = 10;

/// Scores of held-out rows, in standardised units unless told otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Root mean squared error; of the probabilities, for classification.
    pub rmse: f64,
    /// Mean absolute error; of the probabilities, for classification.
    pub mae: f64,
    /// Mean negative log predictive density, noise included.
    pub nlpd: f64,
    /// Root mean squared error in the units of the data.
    pub rmse_original: f64,
    /// Mean absolute error in the units of the data.
    pub mae_original: f64,
    /// Share of the rows inside their 95 % intervals; none for classification.
    pub coverage95: Option<f64>,
    /// Share of wrong labels, for classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Expected calibration error, for classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
}

/// Predictions and targets in the units of the data; labels are 0 and 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOriginalUnits {
    /// The targets, `[N]`; empty where they are not known.
    pub observed: Vec<f64>,
    /// Their predicted means, or the probabilities of label 1, `[N]`.
    pub mean: Vec<f64>,
    /// Their predicted standard deviations, noise included, `[N]`.
    pub standard_deviation: Vec<f64>,
}

/// Scored predictions.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// How good they are.
    pub scores: Scores,
    /// The predictions.
    pub original: InOriginalUnits,
}

/// Predictions in the units of the data, without targets.
pub fn in_original_units(
    predictions: &Predictions,
    standardizer: &Standardizer,
) -> InOriginalUnits {
    let variances = standardizer.inverse_variances(&predictions.variance);
    InOriginalUnits {
        observed: Vec::new(),
        mean: standardizer.inverse_targets(&predictions.mean),
        standard_deviation: variances.iter().map(|variance| variance.sqrt()).collect(),
    }
}

/// Predicts and scores the rows of `part`.
pub fn evaluate(
    predictor: &Predictor<AnyProcess, AnyLikelihood>,
    part: &Part,
    standardizer: &Standardizer,
    is_classification: bool,
) -> Evaluation {
    let (inputs, targets) = (&part.inputs, &part.targets);
    let predictions = predictor.predict(inputs.values(), inputs.columns());
    let densities = predictor.log_density(inputs.values(), inputs.columns(), targets);
    let original = InOriginalUnits {
        observed: part.observed.clone(),
        ..in_original_units(&predictions, standardizer)
    };
    let (mean, variance) = (&predictions.mean, &predictions.variance);
    let coverage = || metrics::coverage_95(targets, mean, variance);
    let error = || 1.0 - metrics::accuracy(targets, mean);
    let calibration = || metrics::expected_calibration_error(targets, mean, CALIBRATION_BINS);
    let scores = Scores {
        rmse: metrics::root_mean_squared_error(targets, mean),
        mae: metrics::mean_absolute_error(targets, mean),
        nlpd: metrics::negative_log_density(&densities),
        rmse_original: metrics::root_mean_squared_error(&original.observed, &original.mean),
        mae_original: metrics::mean_absolute_error(&original.observed, &original.mean),
        coverage95: (!is_classification).then(coverage),
        error: is_classification.then(error),
        ece: is_classification.then(calibration),
    };
    Evaluation { scores, original }
}
