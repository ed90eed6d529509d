//! Predictive distributions whose distribution functions are mapped by a [`Recalibration`].

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{PredictiveDistribution, Recalibration, recalibration::score_of};
use crate::ops::special::functions::normal_cdf;

/// The least probability of a number whose ratio before and after the map has digits. It is the accuracy of distribution
/// functions.
const LEAST_STEP: f64 = 1e-11;

impl PredictiveDistribution {
    /// The distributions with the distribution functions `R(F(y))`. Replaces an earlier recalibration.
    pub fn recalibrated(mut self, by: &Recalibration) -> Self {
        self.recalibration = Some(Arc::new(by.clone()));
        self
    }

    /// Whether the distribution functions are mapped by a [`Recalibration`].
    pub fn is_recalibrated(&self) -> bool {
        self.recalibration.is_some()
    }

    /// What the log density of each target has in addition to that before the recalibration: `log R′(F(y))`, or
    /// `log (R(F(y)) − R(F(y⁻)))/(F(y) − F(y⁻))` for a target with a positive probability. 0 without recalibration.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn log_slopes(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        let Some(map) = &self.recalibration else {
            return vec![0.0; targets.len()];
        };
        self.each(|index| {
            let own = self.within(index, targets[index]);
            match self.step_at(index, own) {
                None => map.log_slope(self.normal_score(index, own)),
                Some((below, at)) if at - below > LEAST_STEP => {
                    let [lower, upper] = [below, at].map(|p| map.probability(score_of(p)));
                    ((upper - lower).max(f64::MIN_POSITIVE) / (at - below)).ln()
                }
                Some((below, at)) => map.log_slope(score_of(0.5 * (below + at))),
            }
        })
    }

    /// Draws `[S, N]` of the targets before the recalibration as draws after it: `F⁻¹(R⁻¹(F(y)))`, which keeps how rows
    /// depend on each other. A draw y with a positive probability becomes a number at random between those of `P(Y < y)`
    /// and `P(Y ≤ y)`. The same draws without recalibration.
    ///
    /// # Panics
    ///
    /// If the number of draws is not a multiple of the number of targets.
    #[track_caller]
    pub fn recalibrated_draws<R: Rng>(&self, draws: &[f64], random: &mut R) -> Vec<f64> {
        let count = self.len();
        assert!(
            draws.len().is_multiple_of(count.max(1)),
            "{} draws for {count} targets",
            draws.len()
        );
        let Some(map) = &self.recalibration else {
            return draws.to_vec();
        };
        let moved = |(place, &draw): (usize, &f64)| {
            let index = place % count;
            let own = self.within(index, draw);
            let score = match self.step_at(index, own) {
                None => self.normal_score(index, own),
                Some((below, at)) => score_of(below + random.random::<f64>() * (at - below)),
            };
            let moved = match self.normal_of(index) {
                Some((mean, variance)) => mean + variance.sqrt() * map.inverse(score),
                None => {
                    let p = normal_cdf(score);
                    let p = p.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON);
                    self.quantile_within(index, p)
                }
            };
            (self.unit(index)).map_or(moved, |unit| unit.shift + unit.scale * moved)
        };
        draws.iter().enumerate().map(moved).collect()
    }

    /// `Φ⁻¹(F(t))` for a target of the likelihood, before rescaling and recalibration: `(t − μ)/σ` of a normal target,
    /// however far it is in a tail.
    pub(super) fn normal_score(&self, index: usize, target: f64) -> f64 {
        match self.normal_of(index) {
            Some((mean, variance)) if variance > 0.0 => (target - mean) / variance.sqrt(),
            _ => score_of(self.model_cdf(index, target)),
        }
    }

    /// `P(y < t)` and `P(y ≤ t)` before recalibration, if the target has a positive probability.
    pub(super) fn step_at(&self, index: usize, target: f64) -> Option<(f64, f64)> {
        let support = self.target.support();
        let before = support.below(target);
        if before == target && !support.is_discrete() {
            return None;
        }
        let [below, at] = [before, target].map(|target| self.model_cdf(index, target));
        (at > below || support.is_discrete()).then_some((below, at))
    }

    /// The targets where the slope of the distribution function jumps, before rescaling.
    pub(super) fn kinks_of(&self, index: usize) -> Vec<f64> {
        let Some(map) = &self.recalibration else {
            return Vec::new();
        };
        let values = map.knots().iter().map(|&(_, value)| normal_cdf(value));
        values
            .map(|p| self.quantile_within(index, p))
            .filter(|place| place.is_finite())
            .collect()
    }
}
