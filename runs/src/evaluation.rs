//! Predictions and scores of a model.

use burn_gp_core::{likelihoods::Interval, metrics};
use burn_gp_datasets::{Matrix, Standardizer};
use burn_gp_models::{PredictionError, Predictions, Predictor};
use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::plots::CALIBRATION_BINS;
use crate::preparation::Part;
use crate::progress::RowProgress;

/// The default confidence level of intervals.
pub const LEVEL: f64 = 0.95;

/// Scores of held-out rows, in standardized units unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Root mean squared error; for classification, of the probabilities.
    pub rmse: f64,
    /// Mean absolute error; for classification, of the probabilities.
    pub mae: f64,
    /// Mean negative log predictive density, noise included.
    pub nlpd: f64,
    /// For models with hidden layers, the mean of the log densities over rows and draws from the
    /// hidden layers. It is at most the negative `nlpd`, which scores the mixture of the draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_log_density: Option<f64>,
    /// Root mean squared error in the units of the data.
    pub rmse_original: f64,
    /// Mean absolute error in the units of the data.
    pub mae_original: f64,
    /// Share of the rows inside their central 95 % intervals, which lie between quantiles of the predictive
    /// distribution; absent for classification.
    pub coverage95: Option<f64>,
    /// Share of wrong labels, for classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Expected calibration error, for classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
}

/// Predictions and targets in the units of the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOriginalUnits {
    /// The targets, or their class numbers, `[N]`; empty if unknown.
    pub observed: Vec<f64>,
    /// The predicted means, `[N]`; for unordered classes, the probabilities of all classes.
    pub mean: Vec<f64>,
    /// The predicted standard deviations, noise included, in the shape of the means.
    pub standard_deviation: Vec<f64>,
    /// The central intervals, `[N]`; empty for classes.
    pub interval: Interval,
    /// The requested quantiles, `[N]` each, with their probabilities; empty for classes.
    pub quantiles: Vec<(f64, Vec<f64>)>,
    /// The smallest confidence level whose central interval contains the target, `[N]`; empty for classes or
    /// unknown targets.
    pub central_level: Vec<f64>,
    /// The predicted probabilities of all classes, `[N, C]`; empty if the targets are not classes.
    pub probabilities: Vec<f64>,
}

/// The intervals and quantiles of predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The probability of the central intervals.
    pub interval: f64,
    /// The probabilities of the quantiles.
    pub quantiles: Vec<f64>,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            interval: LEVEL,
            quantiles: Vec::new(),
        }
    }
}

/// Scored predictions.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The scores.
    pub scores: Scores,
    /// The predictions.
    pub original: InOriginalUnits,
}

/// Predicts at standardized inputs. If `noise`, the noise variance of each target, is known, predictions
/// include it; otherwise they are predictions of the function.
pub fn predict(
    predictor: &Predictor,
    inputs: &Matrix,
    noise: Option<&[f64]>,
    mut progress: RowProgress,
) -> Predictions {
    let (values, columns) = (inputs.values(), inputs.columns());
    let predictions = predictor.predict_with(values, columns, |rows| progress.update(rows));
    with_noise(predictions, noise)
}

fn with_noise(predictions: Predictions, noise: Option<&[f64]>) -> Predictions {
    match noise {
        Some(noise) => predictions.with_noise(noise),
        None => predictions,
    }
}

/// Predictions in the units of the data, without targets.
pub fn in_original_units(
    predictions: &Predictions,
    standardizer: &Standardizer,
    levels: &Levels,
) -> InOriginalUnits {
    let variances = standardizer.inverse_variances(&predictions.variance);
    let are_labels = !predictions.probabilities.is_empty();
    let interval = (predictions.interval(levels.interval))
        .filter(|_| !are_labels)
        .unwrap_or_default();
    let quantile = |&p: &f64| {
        let quantiles = predictions.quantile(p).filter(|_| !are_labels)?;
        Some((p, standardizer.inverse_targets(&quantiles)))
    };
    InOriginalUnits {
        observed: Vec::new(),
        mean: standardizer.inverse_targets(&predictions.mean),
        standard_deviation: variances.iter().map(|variance| variance.sqrt()).collect(),
        interval: Interval {
            lower: standardizer.inverse_targets(&interval.lower),
            upper: standardizer.inverse_targets(&interval.upper),
        },
        quantiles: levels.quantiles.iter().filter_map(quantile).collect(),
        central_level: Vec::new(),
        probabilities: predictions.probabilities.clone(),
    }
}

/// Predicts and scores the rows of `part`. Updates `progress` with the number of rows.
///
/// # Errors
///
/// If the likelihood does not support a target.
pub fn evaluate(
    predictor: &Predictor,
    part: &Part,
    standardizer: &Standardizer,
    levels: &Levels,
    mut progress: RowProgress,
) -> Result<Evaluation, PredictionError> {
    let (targets, _) = part.likelihood_targets();
    let (inputs, columns) = (part.inputs.values(), part.inputs.columns());
    let watch = |rows| progress.update(rows);
    let (predictions, components) = predictor.score_with(inputs, columns, &targets, watch)?;
    let predictions = with_noise(predictions, part.noise.as_deref());
    let densities: Vec<f64> = (components.iter())
        .map(|each| metrics::mixture_log_density(each))
        .collect();
    let is_drawn = predictor.process().has_hidden_layers();
    let classes = predictor.likelihood().description().classes;
    let central_level = (predictions.distribution.as_ref())
        .filter(|_| classes.is_none())
        .map(|distribution| distribution.central_level(&part.targets));
    let coverage = |levels: &Vec<f64>| Coverage::of_levels(levels.iter().copied()).observed(0.95);
    let original = InOriginalUnits {
        observed: part.observed.clone(),
        central_level: central_level.clone().unwrap_or_default(),
        ..in_original_units(&predictions, standardizer, levels)
    };
    let mean = &predictions.mean;
    let described = described(&part.targets, mean.len());
    let observed = described_observed(&original, &described);
    let mut scores = Scores {
        rmse: metrics::root_mean_squared_error(&described, mean),
        mae: metrics::mean_absolute_error(&described, mean),
        nlpd: metrics::negative_log_density(&densities),
        average_log_density: is_drawn.then(|| metrics::average_log_density(&components)),
        rmse_original: metrics::root_mean_squared_error(observed, &original.mean),
        mae_original: metrics::mean_absolute_error(observed, &original.mean),
        coverage95: central_level.as_ref().map(coverage),
        error: None,
        ece: None,
    };
    if let Some(classes) = classes {
        let (labels, probabilities) = (&part.targets, &predictions.probabilities);
        scores.error = Some(1.0 - metrics::accuracy(labels, probabilities, classes));
        let bins = CALIBRATION_BINS;
        let calibration = metrics::expected_calibration_error(labels, probabilities, classes, bins);
        scores.ece = Some(calibration);
    }
    Ok(Evaluation { scores, original })
}

/// The targets in the form of the predictions: unchanged, or one indicator for each class.
fn described(targets: &[f64], predictions: usize) -> Vec<f64> {
    let each = predictions / targets.len().max(1);
    if each <= 1 {
        return targets.to_vec();
    }
    let indicators =
        |&label: &f64| (0..each).map(move |class| f64::from(u8::from(label == class as f64)));
    targets.iter().flat_map(indicators).collect()
}

/// The targets in the form of the predictions, in the units of the data. Indicators have no units.
fn described_observed<'a>(original: &'a InOriginalUnits, described: &'a [f64]) -> &'a [f64] {
    if described.len() == original.observed.len() {
        &original.observed
    } else {
        described
    }
}
