//! Scores of forecasts.

use std::{f64::consts::PI, sync::LazyLock};

use burn_gp_core::{likelihoods::PredictiveDistribution, metrics::interval_score};
use serde::{Deserialize, Serialize};

use super::{Forecast, Series, Transform, forecast::standard_quantile};

/// The number of quantiles of the continuous ranked probability score.
const QUANTILES: usize = 99;

/// The probabilities of these quantiles, and the standard quantiles.
static STANDARD: LazyLock<Vec<[f64; 2]>> = LazyLock::new(|| {
    let probability = |index: usize| index as f64 / (QUANTILES + 1) as f64;
    (1..=QUANTILES)
        .map(|index| [probability(index), standard_quantile(probability(index))])
        .collect()
});

/// The scores of a forecast, averaged over times. Smaller is better, except for coverage, which should equal its level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForecastScores {
    /// The mean absolute scaled error of the median, `mean|y − ŷ|/Z`, where Z is the mean absolute error of the values
    /// one season before within the training part (R. Hyndman and A. Koehler, *Another look at measures of forecast
    /// accuracy*, 2006).
    pub mase: f64,
    /// The symmetric mean absolute percentage error, `2·mean(|y − ŷ|/(|y| + |ŷ|))`, as a fraction.
    pub smape: f64,
    /// The continuous ranked probability score, divided by Z: of normal distributions in closed form (T. Gneiting and
    /// A. Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation*, 2007, section 4.2), of others twice the
    /// mean pinball loss of 99 quantiles.
    pub crps: f64,
    /// The levels of central intervals.
    pub levels: Vec<f64>,
    /// The share of values within the interval of each level.
    pub coverage: Vec<f64>,
    /// The mean interval score of each level, divided by Z.
    pub interval_score: Vec<f64>,
    /// The number of values.
    pub count: usize,
}

/// The scale Z of errors: the mean absolute difference between values `season` steps apart in the training part, of
/// neighbors if none are; one if all differences are zero.
pub fn error_scale(train: &Series, season: usize) -> f64 {
    let seasonal = differences(train, season);
    let found = match seasonal.is_empty() {
        true => train
            .values()
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect(),
        false => seasonal,
    };
    let sum: f64 = found.iter().map(|difference| difference.abs()).sum();
    match sum > 0.0 {
        true => sum / found.len() as f64,
        false => 1.0,
    }
}

/// The differences between values and those `lag` steps before, where both are known.
pub(super) fn differences(series: &Series, lag: usize) -> Vec<f64> {
    let (times, values) = (series.times(), series.values());
    let mut differences = Vec::new();
    let mut earlier = 0;
    for (time, value) in times.iter().zip(values) {
        let wanted = time - lag as f64;
        while earlier < times.len() && times[earlier] < wanted - NEAR {
            earlier += 1;
        }
        if earlier < times.len() && (times[earlier] - wanted).abs() <= NEAR {
            differences.push(value - values[earlier]);
        }
    }
    differences
}

/// The mean continuous ranked probability score.
fn ranked_probability_score(forecast: &Forecast, values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if forecast.transform == Transform::None {
        let variances = forecast
            .deviations
            .iter()
            .map(|deviation| deviation * deviation);
        let normal =
            PredictiveDistribution::of_normals(forecast.means.clone(), variances.collect());
        let below = normal.cdf(values);
        let moments = forecast.means.iter().zip(&forecast.deviations);
        let rows = moments.zip(values.iter().zip(below));
        let score = |((mean, &deviation), (y, below)): ((&f64, &f64), (&f64, f64))| {
            if deviation == 0.0 {
                return (y - mean).abs();
            }
            // σ(z(2Φ(z) − 1) + 2φ(z) − 1/√π)
            let z = (y - mean) / deviation;
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            deviation * (z * (2.0 * below - 1.0) + 2.0 * density - PI.sqrt().recip())
        };
        return rows.map(score).sum::<f64>() / count;
    }
    let pinball = |&[p, standard]: &[f64; 2]| -> f64 {
        let quantiles = forecast.at(standard);
        let losses = quantiles
            .iter()
            .zip(values)
            .map(|(quantile, y)| match y >= quantile {
                true => p * (y - quantile),
                false => (1.0 - p) * (quantile - y),
            });
        losses.sum()
    };
    2.0 * STANDARD.iter().map(pinball).sum::<f64>() / QUANTILES as f64 / count
}

/// Times that differ by less than this part of a step are the same.
const NEAR: f64 = 1e-6;

impl ForecastScores {
    /// The scores of forecasts of values `[T]`, with the scale Z of errors and the levels of intervals.
    ///
    /// # Panics
    ///
    /// If the numbers of values and times differ, or there are none.
    #[track_caller]
    pub fn new(forecast: &Forecast, values: &[f64], scale: f64, levels: &[f64]) -> Self {
        assert!(
            forecast.len() == values.len() && !values.is_empty(),
            "ForecastScores: {} forecasts of {} values",
            forecast.len(),
            values.len()
        );
        let count = values.len() as f64;
        let medians = forecast.medians();
        let errors = || medians.iter().zip(values);
        let absolute: f64 = errors().map(|(median, y)| (y - median).abs()).sum();
        let relative = |(median, y): (&f64, &f64)| match y.abs() + median.abs() {
            0.0 => 0.0,
            size => 2.0 * (y - median).abs() / size,
        };
        let intervals: Vec<[Vec<f64>; 2]> = levels
            .iter()
            .map(|level| forecast.interval(*level))
            .collect();
        let inside = |[lower, upper]: &[Vec<f64>; 2]| {
            let rows = lower.iter().zip(upper).zip(values);
            rows.filter(|((lower, upper), y)| lower <= y && y <= upper)
                .count() as f64
                / count
        };
        let of_level = |(level, [lower, upper]): (&f64, &[Vec<f64>; 2])| {
            interval_score(values, lower, upper, *level) / scale
        };
        Self {
            mase: absolute / count / scale,
            smape: errors().map(relative).sum::<f64>() / count,
            crps: ranked_probability_score(forecast, values) / scale,
            levels: levels.to_vec(),
            coverage: intervals.iter().map(inside).collect(),
            interval_score: levels.iter().zip(&intervals).map(of_level).collect(),
            count: values.len(),
        }
    }

    /// The mean of the scores of several forecasts with the same levels, weighted equally.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let all: Vec<&Self> = all.into_iter().collect();
        let first = all.first()?;
        let count = all.len() as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| all.iter().map(|own| of(own)).sum::<f64>() / count;
        let each = |of: &dyn Fn(&Self) -> &Vec<f64>| -> Vec<f64> {
            let of_level = |level: usize| mean(&|own| of(own)[level]);
            (0..first.levels.len()).map(of_level).collect()
        };
        Some(Self {
            mase: mean(&|own| own.mase),
            smape: mean(&|own| own.smape),
            crps: mean(&|own| own.crps),
            levels: first.levels.clone(),
            coverage: each(&|own| &own.coverage),
            interval_score: each(&|own| &own.interval_score),
            count: all.iter().map(|own| own.count).sum(),
        })
    }
}
