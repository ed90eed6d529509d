//! Quantiles and intervals of predictive distributions.

use super::{PredictiveDistribution, quantile::quantile};
use crate::ops::special::functions::normal_quantile;

/// The ends of an interval for every target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower ends, one per target.
    pub lower: Vec<f64>,
    /// The upper ends.
    pub upper: Vec<f64>,
}

impl PredictiveDistribution {
    /// The quantiles at probability `p`, one per target: the smallest numbers with `P(y ≤ t) ≥ p`.
    /// They are valid targets, or their lower end if targets are [transformed](Self::transformed).
    ///
    /// # Panics
    ///
    /// Unless `0 < p < 1`.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        assert!(
            p > 0.0 && p < 1.0,
            "quantile: probability {p}; expected a number between 0 and 1"
        );
        self.each(|index| self.quantile_of(index, p))
    }

    /// The quantiles at a probability for each target, one per target, the inverse of [`cdf`](Self::cdf).
    ///
    /// # Panics
    ///
    /// If the number of probabilities differs from the number of distributions, or unless `0 < p < 1` for each.
    #[track_caller]
    pub fn quantiles_at(&self, probabilities: &[f64]) -> Vec<f64> {
        self.check(probabilities);
        if let Some(p) = probabilities.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
            panic!("quantiles_at: probability {p}; expected numbers between 0 and 1");
        }
        self.each(|index| self.quantile_of(index, probabilities[index]))
    }

    /// Central intervals, from the quantile at `(1 − level)/2` to the quantile at `(1 + level)/2`.
    /// They contain a target with probability `level`, or more if targets are whole numbers.
    ///
    /// # Panics
    ///
    /// Unless `0 < level < 1`.
    #[track_caller]
    pub fn interval(&self, level: f64) -> Interval {
        assert!(
            level > 0.0 && level < 1.0,
            "interval: level {level}; expected a number between 0 and 1"
        );
        let tail = 0.5 * (1.0 - level);
        Interval {
            lower: self.quantile(tail),
            // If `1 − tail` rounds to 1, use the largest number below 1.
            upper: self.quantile((1.0 - tail).min(1.0 - 0.5 * f64::EPSILON)),
        }
    }

    /// For every target, the smallest level whose central interval contains it:
    /// `max(1 − 2·P(y ≤ t), 2·P(y < t) − 1, 0)`. The fraction of targets at or below a level is the
    /// coverage of the intervals with that level.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn central_level(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        self.each(|index| {
            let target = targets[index];
            let above = 1.0 - 2.0 * self.cdf_of(index, target);
            let below = 2.0 * self.cdf_below(index, target) - 1.0;
            if above.is_nan() {
                return f64::NAN;
            }
            above.max(below).max(0.0)
        })
    }

    /// `P(y < t)` of one target.
    fn cdf_below(&self, index: usize, target: f64) -> f64 {
        let own = self.within(index, target);
        match own <= self.lowest_within(index) {
            true => 0.0,
            false => self.cdf_within(index, self.target_of(index).support().below(own)),
        }
    }

    /// The quantile of one target.
    pub(super) fn quantile_of(&self, index: usize, p: f64) -> f64 {
        self.in_unit(index, self.quantile_within(index, p))
    }

    /// A target of the likelihood, after rescaling and transformation.
    pub(super) fn in_unit(&self, index: usize, own: f64) -> f64 {
        let support = self.target_of(index).support();
        let rescaled = (self.unit(index)).map_or(own, |unit| {
            support.in_units(own, unit.shift + unit.scale * own)
        });
        let transform = self.transform_of(index);
        transform.map_or(rescaled, |transform| transform.invert(rescaled))
    }

    /// The quantile of one target of the likelihood, before rescaling.
    pub(super) fn quantile_within(&self, index: usize, p: f64) -> f64 {
        let map = self.recalibration.as_deref();
        if let Some((mean, variance)) = self.normal_of(index) {
            let score = normal_quantile(p);
            return mean + variance.sqrt() * map.map_or(score, |map| map.inverse(score));
        }
        let p = map.map_or(p, |map| map.inverse_probability(p));
        self.model_quantile(index, p, |target| self.model_cdf(index, target))
    }

    /// The quantile of one target of the likelihood before recalibration, whose distribution function is given.
    pub(super) fn model_quantile(&self, index: usize, p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
        let support = self.target_of(index).support();
        quantile(support, p, self.range_within(index), cdf)
    }
}
