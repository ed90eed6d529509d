//! Distributions of future values.

use burn_gp_core::likelihoods::PredictiveDistribution;

use super::Transform;

/// The distributions of the values at some times: normal, after a transformation of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The times, in steps, `[T]`.
    pub times: Vec<f64>,
    /// The means of the transformed values, `[T]`.
    pub means: Vec<f64>,
    /// The standard deviations of the transformed values, `[T]`.
    pub deviations: Vec<f64>,
    /// The transformation.
    pub transform: Transform,
}

/// The quantile of the standard normal distribution.
///
/// # Panics
///
/// Unless `0 < p < 1`.
#[track_caller]
pub(super) fn standard_quantile(p: f64) -> f64 {
    PredictiveDistribution::of_normals(vec![0.0], vec![1.0]).quantile(p)[0]
}

impl Forecast {
    /// The number of times.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no times.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The quantiles at probability `p`, `[T]`.
    ///
    /// # Panics
    ///
    /// Unless `0 < p < 1`.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        self.at(standard_quantile(p))
    }

    /// The medians, `[T]`: the point forecasts.
    pub fn medians(&self) -> Vec<f64> {
        self.at(0.0)
    }

    /// The ends of the central intervals of a level, `[T]` each.
    ///
    /// # Panics
    ///
    /// Unless `0 < level < 1`.
    #[track_caller]
    pub fn interval(&self, level: f64) -> [Vec<f64>; 2] {
        let half = standard_quantile(0.5 + 0.5 * level);
        [self.at(-half), self.at(half)]
    }

    /// The means and the standard deviations of the values, `[T]` each.
    pub fn moments(&self) -> [Vec<f64>; 2] {
        let pairs = self.means.iter().zip(&self.deviations);
        let (means, deviations) = pairs
            .map(|(&mean, &deviation)| self.transform.moments(mean, deviation))
            .unzip();
        [means, deviations]
    }

    /// The values this many standard deviations from the means, before the transformation.
    pub(super) fn at(&self, deviations: f64) -> Vec<f64> {
        let pairs = self.means.iter().zip(&self.deviations);
        let values = pairs.map(|(mean, own)| self.transform.invert(mean + deviations * own));
        values.collect()
    }
}
