//! Predictions and scores of a model.

use burn_gp_core::{
    likelihoods::{Interval, PredictiveDistribution},
    metrics::mixture_log_density,
};
use burn_gp_datasets::Standardizer;
use burn_gp_models::{PredictionError, Predictions, Predictor};

use crate::coverage::LEVEL;
use crate::preparation::Part;
use crate::progress::RowProgress;
use crate::scores::{ScoredRows, Scores};
use crate::transformed::in_units_of_data;

/// One over the step of the probabilities of quantiles that models follow. Parameters in single precision have seven
/// digits.
const LEVELS: f64 = 1e5;

/// Predictions and targets in the units of the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOriginalUnits {
    /// The targets, or their class numbers, `[N]`; empty if unknown, and NaN where they are not known exactly.
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
    /// unknown targets, and NaN where they are not known exactly.
    pub central_level: Vec<f64>,
    /// The predicted probabilities of all classes, `[N, C]`; empty if the targets are not classes.
    pub probabilities: Vec<f64>,
}

impl InOriginalUnits {
    /// The predicted means, the ends of the intervals and the central levels of the rows whose targets are known exactly.
    pub fn of_known_targets(&self) -> Self {
        let own = |values: &[f64]| -> Vec<f64> {
            let rows = values.iter().zip(&self.observed);
            let known = rows.filter(|(_, target)| !target.is_nan());
            known.map(|(value, _)| *value).collect()
        };
        Self {
            observed: own(&self.observed),
            mean: own(&self.mean),
            interval: Interval {
                lower: own(&self.interval.lower),
                upper: own(&self.interval.upper),
            },
            central_level: own(&self.central_level),
            ..Self::default()
        }
    }
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

impl Levels {
    /// With the quantile that the function of a model follows, if it follows one.
    pub fn with_quantile_of(&self, predictor: &Predictor) -> Self {
        let mut all = self.clone();
        let own = quantile_level(predictor);
        all.quantiles
            .extend(own.filter(|own| !self.quantiles.contains(own)));
        all
    }
}

/// The probability of the quantile that the function of a model follows, without the rounding of the parameter.
fn quantile_level(predictor: &Predictor) -> Option<f64> {
    let level = predictor.likelihood().quantile_level()?;
    Some((level * LEVELS).round() / LEVELS).filter(|level| *level > 0.0 && *level < 1.0)
}

/// Scored predictions.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The scores.
    pub scores: Scores,
    /// The predictions.
    pub original: InOriginalUnits,
}

/// Predicts the rows of a part. If the noise of each target is known, predictions include it; otherwise they are
/// predictions of the function. If the number of trials is known, they count successes; otherwise they are the share
/// of successes.
pub fn predict(predictor: &Predictor, part: &Part, mut progress: RowProgress) -> Predictions {
    let (values, columns) = (part.inputs.values(), part.inputs.columns());
    let predictions = predictor.predict_with(values, columns, |rows| progress.update(rows));
    part.predictions(predictions)
}

/// Predictions in the units of the data, without targets.
pub fn in_original_units(
    predictions: &Predictions,
    standardizer: &Standardizer,
    levels: &Levels,
) -> InOriginalUnits {
    let (mean, variances) = moments(predictions, standardizer);
    let are_labels = !predictions.probabilities.is_empty();
    let distribution = (predictions.distribution.as_ref())
        .filter(|_| !are_labels)
        .map(|own| original(own, standardizer));
    let quantiles = levels.quantiles.iter();
    InOriginalUnits {
        observed: Vec::new(),
        mean,
        standard_deviation: variances.iter().map(|variance| variance.sqrt()).collect(),
        interval: (distribution.as_ref())
            .map(|own| own.interval(levels.interval))
            .unwrap_or_default(),
        quantiles: quantiles
            .filter_map(|&p| Some((p, distribution.as_ref()?.quantile(p))))
            .collect(),
        central_level: Vec::new(),
        probabilities: predictions.probabilities.clone(),
    }
}

/// The distributions of targets in the units of the data.
fn original(
    distribution: &PredictiveDistribution,
    standardizer: &Standardizer,
) -> PredictiveDistribution {
    let (mean, scale) = (standardizer.target_mean, standardizer.target_scale);
    match &standardizer.target_transform {
        Some(own) => in_units_of_data(distribution, own, standardizer),
        None if standardizer.scales_targets() => distribution.clone().in_units(&[mean], &[scale]),
        None => distribution.clone(),
    }
}

/// The means and variances in the units of the data.
pub fn moments(predictions: &Predictions, standardizer: &Standardizer) -> (Vec<f64>, Vec<f64>) {
    match (&standardizer.target_transform, &predictions.distribution) {
        (Some(own), Some(distribution)) => {
            in_units_of_data(distribution, own, standardizer).moments()
        }
        _ => (
            standardizer.inverse_targets(&predictions.mean),
            standardizer.inverse_variances(&predictions.variance),
        ),
    }
}

/// Predicts and scores the rows of `part`. Updates `progress` with the number of rows. If targets are intervals, only
/// log densities are those of all rows; other scores are those of the rows whose targets are known exactly.
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
    let (predictions, components) = match part.row_noise() {
        Some(noise) => predictor.score_with_row_noise(inputs, columns, (&targets, noise), watch)?,
        None => {
            let (predictions, components) =
                predictor.score_with(inputs, columns, &targets, watch)?;
            (part.predictions(predictions), components)
        }
    };
    let classes = predictor.likelihood().description().classes;
    let exact = part.exact_rows();
    let central_level = (predictions.distribution.as_ref())
        .filter(|_| classes.is_none())
        .map(|distribution| distribution.central_level(&part.targets));
    let known_level = (central_level.as_ref()).map(|levels| at(levels, exact.as_deref()));
    let levels = levels.with_quantile_of(predictor);
    let original = in_original_units(&predictions, standardizer, &levels);
    let level = quantile_level(predictor);
    let quantile = level.and_then(|level| Some((level, predictions.quantile(level)?)));
    let components = in_deviations(components, part, standardizer);
    let scaled = Scaled::of(
        predictions,
        &original,
        part,
        standardizer,
        classes.is_none(),
    );
    let scaled = match &exact {
        Some(rows) => scaled.at(rows),
        None => scaled,
    };
    let scores = Scores::new(&ScoredRows {
        targets: &scaled.targets,
        predictions: &scaled.predictions,
        log_densities: (components.iter())
            .map(|each| mixture_log_density(each))
            .collect(),
        components: &components,
        has_draws: predictor.process().has_hidden_layers(),
        classes,
        crps: scaled.crps,
        interval: scaled.interval,
        quantile: (quantile.as_ref()).map(|(level, quantiles)| (*level, quantiles.as_slice())),
        central_level: known_level.as_deref(),
        target_scale: standardizer.data_scale(),
        // A constant prediction has no density of intervals.
        is_standardized: standardizer.scales_targets() && exact.is_none(),
    });
    let original = InOriginalUnits {
        observed: part.observed.clone(),
        central_level: match (central_level, &exact) {
            (Some(levels), Some(_)) => where_known(levels, &part.observed),
            (levels, _) => levels.unwrap_or_default(),
        },
        ..original
    };
    Ok(Evaluation { scores, original })
}

/// The values of some rows, or of all.
fn at(values: &[f64], rows: Option<&[usize]>) -> Vec<f64> {
    match rows {
        Some(rows) => rows.iter().map(|&row| values[row]).collect(),
        None => values.to_vec(),
    }
}

/// The values where a target is known exactly, and NaN elsewhere.
fn where_known(mut values: Vec<f64>, observed: &[f64]) -> Vec<f64> {
    for (value, target) in values.iter_mut().zip(observed) {
        if target.is_nan() {
            *value = f64::NAN;
        }
    }
    values
}

/// What scores are computed from, in standard deviations of the training targets from their mean: the units of the
/// model, unless the targets are transformed.
struct Scaled {
    targets: Vec<f64>,
    predictions: Predictions,
    crps: Option<Vec<f64>>,
    interval: Option<Interval>,
}

impl Scaled {
    /// The same for some rows of numbers.
    fn at(self, rows: &[usize]) -> Self {
        let own = |values: &[f64]| at(values, Some(rows));
        Self {
            targets: own(&self.targets),
            crps: self.crps.as_deref().map(own),
            interval: self.interval.map(|interval| Interval {
                lower: own(&interval.lower),
                upper: own(&interval.upper),
            }),
            predictions: Predictions {
                mean: own(&self.predictions.mean),
                variance: own(&self.predictions.variance),
                ..Predictions::default()
            },
        }
    }

    fn of(
        predictions: Predictions,
        original: &InOriginalUnits,
        part: &Part,
        standardizer: &Standardizer,
        has_numbers: bool,
    ) -> Self {
        let distribution = predictions.distribution.as_ref();
        let distribution = distribution.filter(|_| has_numbers);
        let (Some(own), Some(distribution)) = (&standardizer.target_transform, distribution) else {
            let targets = part.targets.clone();
            return Self {
                crps: distribution.map(|own| own.continuous_ranked_probability_score(&targets)),
                interval: distribution.map(|own| own.interval(LEVEL)),
                targets,
                predictions,
            };
        };
        let scale = standardizer.data_scale();
        let distribution = in_units_of_data(distribution, own, standardizer);
        let scores = distribution.continuous_ranked_probability_score(&part.observed);
        let interval = distribution.interval(LEVEL);
        let ends = |ends: &[f64]| standardizer.in_deviations(ends);
        let variances = original.standard_deviation.iter();
        Self {
            targets: standardizer.in_deviations(&part.observed),
            crps: Some(scores.iter().map(|score| score / scale).collect()),
            interval: Some(Interval {
                lower: ends(&interval.lower),
                upper: ends(&interval.upper),
            }),
            predictions: Predictions {
                mean: standardizer.in_deviations(&original.mean),
                variance: variances
                    .map(|deviation| (deviation / scale).powi(2))
                    .collect(),
                ..Predictions::default()
            },
        }
    }
}

/// The log densities of targets in standard deviations from the log densities of what the model predicts, with the
/// logarithm of the Jacobian.
fn in_deviations(
    mut components: Vec<Vec<f64>>,
    part: &Part,
    standardizer: &Standardizer,
) -> Vec<Vec<f64>> {
    let slopes = standardizer.log_slopes(&part.observed);
    for (row, slope) in components.iter_mut().zip(slopes) {
        row.iter_mut().for_each(|density| *density += slope);
    }
    components
}
