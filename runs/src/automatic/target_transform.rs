//! The transformation of a skewed target.
//!
//! Prices, sales and concentrations vary in proportion to their size. A model of their logarithms then has noise of the
//! same size everywhere, intervals that end above zero, and fewer outliers.

use burn::tensor::{DType, Device};
use burn_gp_core::likelihoods::{GaussianConfig, PredictiveDistribution};
use burn_gp_core::metrics::root_mean_squared_error;
use burn_gp_datasets::{DataSource, TransformName, TransformOfColumn};

use super::best_of;
use super::start::{few_rows, mean_and_scale, starts};
use crate::arguments::RunOptions;
use crate::preparation::PreparedData;
use crate::transformed::in_units_of_data;

/// The minimum number of training rows. With fewer, the best scale is often just the luckiest.
const FEWEST_ROWS: usize = 30;
/// Targets are skewed if the absolute value of their skewness is larger than this, or if all are positive and the
/// largest is this many times the smallest.
const SKEWNESS: f64 = 1.0;
const LARGEST_RATIO: f64 = 20.0;
/// The gain of leave-one-out log densities that a transformation must bring, in nats and in standard errors.
const NATS: f64 = 2.0;
const STANDARD_ERRORS: f64 = 3.0;
/// The error of leave-one-out means, relative to that without a transformation, that a transformation may have.
const MOST_ERROR: f64 = 1.02;

/// A transformation that predicts rows left out better.
pub struct TargetTransform {
    /// The options with the transformation.
    pub options: RunOptions,
    /// The data with the transformed target.
    pub data: PreparedData,
    /// What the user is told.
    pub line: String,
}

/// The transformation of the target that leave-one-out predictions of some of the rows prefer: the logarithm of positive
/// targets, else Yeo-Johnson. `None` if the target is not skewed, the user chose one, or it predicts no better.
pub fn target_transform(
    options: &RunOptions,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
) -> Option<TargetTransform> {
    let has_known_terms =
        options.offset.is_some() || options.exposure.is_some() || data.train.has_row_noise();
    let is_open =
        options.transform.is_none() && !has_known_terms && data.likelihood.is::<GaussianConfig>();
    let targets = &data.train.observed;
    if !is_open || data.stream.is_some() || targets.len() < FEWEST_ROWS || !is_skewed(targets) {
        return None;
    }
    let transform = match targets.iter().all(|&target| target > 0.0) {
        true => TransformName::Log,
        false => TransformName::YeoJohnson,
    };
    let column = data.schema.target_name.clone();
    let options = RunOptions {
        transform: Some(vec![TransformOfColumn {
            column,
            value: transform,
        }]),
        ..options.clone()
    };
    // Held-out rows may have targets that the transformation does not take.
    let transformed = PreparedData::load(source, &options).ok()?;
    let before = LeftOut::of(&options, data, place)?;
    let after = LeftOut::of(&options, &transformed, place)?;
    let gain = after.gain_over(&before)?;
    let name = &data.schema.target_name;
    let what = match transform {
        TransformName::Log => format!("the logarithm of {name}"),
        _ => format!("a power of {name} ({transform})"),
    };
    let line = format!(
        "target      {what} is modeled, because it predicts rows left out better ({gain:.2} nats a row); \
         predictions and scores are those of {name}; --transform {name}=none turns it off\n"
    );
    Some(TargetTransform {
        options,
        data: transformed,
        line,
    })
}

/// Whether the targets vary in proportion to their size, or have a long tail.
fn is_skewed(targets: &[f64]) -> bool {
    let (mean, scale) = mean_and_scale(targets);
    let cubes = targets
        .iter()
        .map(|target| ((target - mean) / scale).powi(3));
    let skewness = cubes.sum::<f64>() / targets.len() as f64;
    let smallest = targets.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = targets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    skewness.abs() > SKEWNESS || (smallest > 0.0 && largest > LARGEST_RATIO * smallest)
}

/// Predictions of some of the training targets, each from the others.
struct LeftOut {
    /// Their log densities, in standard deviations of the targets before a transformation.
    densities: Vec<f64>,
    /// The root mean squared error of their means, in the units of the data.
    error: f64,
}

impl LeftOut {
    /// Those of the best of the starts of training.
    fn of(options: &RunOptions, data: &PreparedData, place: (&Device, DType)) -> Option<Self> {
        let mut starts = starts(options, data, place, || ());
        let best = best_of(&starts);
        let score = starts.swap_remove(best).score?;
        let rows = few_rows(data, options.seed());
        let part = data.train.select(&rows);
        // The starts standardize their rows again.
        let (mean, scale) = mean_and_scale(&part.targets);
        let standardizer = &data.standardizer;
        let slopes = standardizer.log_slopes(&part.observed);
        let densities = score.densities().iter().zip(slopes);
        let densities = densities.map(|(density, slope)| density - scale.ln() + slope);
        let (means, variances) = score.moments();
        let means: Vec<f64> = means.iter().map(|own| mean + scale * own).collect();
        let variances: Vec<f64> = variances.iter().map(|own| scale * scale * own).collect();
        let means = match &standardizer.target_transform {
            None => standardizer.inverse_targets(&means),
            Some(own) => {
                let distribution = PredictiveDistribution::of_normals(means, variances);
                in_units_of_data(&distribution, own, standardizer)
                    .moments()
                    .0
            }
        };
        Some(Self {
            densities: densities.collect(),
            error: root_mean_squared_error(&part.observed, &means),
        })
    }

    /// The gain in nats a row, if it is beyond chance and the means are as good.
    fn gain_over(&self, other: &Self) -> Option<f64> {
        let differences = self.densities.iter().zip(&other.densities);
        let differences: Vec<f64> = differences.map(|(own, other)| own - other).collect();
        let (mean, deviation) = mean_and_scale(&differences);
        let count = differences.len() as f64;
        let needed = NATS.max(STANDARD_ERRORS * count.sqrt() * deviation);
        let is_better = count * mean > needed && self.error <= MOST_ERROR * other.error;
        is_better.then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_targets() {
        let even: Vec<f64> = (0..50).map(|row| f64::from(row) - 20.0).collect();
        assert!(!is_skewed(&even));
        let exponential: Vec<f64> = even.iter().map(|value| (value / 10.0).exp()).collect();
        assert!(is_skewed(&exponential));
        let tail: Vec<f64> = exponential.iter().map(|value| 3.0 - value).collect();
        assert!(is_skewed(&tail));
        let ratio: Vec<f64> = (1..50).map(f64::from).collect();
        assert!(is_skewed(&ratio), "from 1 to 49");
        let far_from_zero: Vec<f64> = (1..50).map(|row| f64::from(row) + 100.0).collect();
        assert!(!is_skewed(&far_from_zero));
    }

    #[test]
    fn a_gain_is_beyond_chance_and_costs_no_error() {
        let left_out = |densities: &[f64], error| LeftOut {
            densities: densities.to_vec(),
            error,
        };
        let before = left_out(&[0.0; 100], 1.0);
        let gain = |after: &LeftOut| after.gain_over(&before);
        assert!((gain(&left_out(&[0.1; 100], 1.01)).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(
            gain(&left_out(&[0.1; 100], 1.05)),
            None,
            "the means are worse"
        );
        assert_eq!(gain(&left_out(&[0.01; 100], 1.0)), None, "one nat");
        let scattered: Vec<f64> = (0..100)
            .map(|row| if row % 2 == 0 { 1.1 } else { -0.9 })
            .collect();
        assert_eq!(gain(&left_out(&scattered, 1.0)), None, "chance");
    }
}
