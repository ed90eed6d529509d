//! Predictive distributions whose distribution functions are mapped by a [`Recalibration`].

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use rand::{Rng, RngExt};
use rayon::prelude::*;

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
            match self.step_at(index, own, |target| self.model_cdf(index, target)) {
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
        let shares: Vec<f64> = draws.iter().map(|_| random.random()).collect();
        let of_target = |index: usize| -> Vec<f64> {
            // Draws of counts repeat, and so do the counts that a search of a quantile tries.
            let known = RefCell::new(HashMap::new());
            let cdf = |target: f64| -> f64 {
                let mut known = known.borrow_mut();
                let own = known.entry(target.to_bits());
                *own.or_insert_with(|| self.model_cdf(index, target))
            };
            let places = (index..draws.len()).step_by(count);
            places
                .map(|place| self.moved(map, index, (draws[place], shares[place]), cdf))
                .collect()
        };
        let moved: Vec<Vec<f64>> = (0..count).into_par_iter().map(of_target).collect();
        let places = 0..draws.len();
        places
            .map(|place| moved[place % count][place / count])
            .collect()
    }

    /// A draw of one target after the recalibration, from one before it and its share of a step.
    fn moved(
        &self,
        map: &Recalibration,
        index: usize,
        (draw, share): (f64, f64),
        cdf: impl Fn(f64) -> f64,
    ) -> f64 {
        let own = self.within(index, draw);
        let moved = match (self.normal_of(index), self.step_at(index, own, &cdf)) {
            (Some((mean, variance)), None) => {
                let score = self.normal_score(index, own);
                mean + variance.sqrt() * map.inverse(score)
            }
            (_, None) => self.model_quantile(index, map.inverse_probability(cdf(own)), cdf),
            (_, Some((below, at))) => {
                let p = map.inverse_probability(below + share * (at - below));
                self.model_quantile(index, p, cdf)
            }
        };
        self.in_unit(index, moved)
    }

    /// `Φ⁻¹(F(t))` for a target of the likelihood, before rescaling and recalibration: `(t − μ)/σ` of a normal target,
    /// however far it is in a tail.
    pub(super) fn normal_score(&self, index: usize, target: f64) -> f64 {
        match self.normal_of(index) {
            Some((mean, variance)) if variance > 0.0 => (target - mean) / variance.sqrt(),
            _ => score_of(self.model_cdf(index, target)),
        }
    }

    /// `P(y < t)` and `P(y ≤ t)` before recalibration by the given distribution function, if the target has a positive
    /// probability.
    pub(super) fn step_at(
        &self,
        index: usize,
        target: f64,
        cdf: impl Fn(f64) -> f64,
    ) -> Option<(f64, f64)> {
        let support = self.target_of(index).support();
        let before = support.below(target);
        if before == target && !support.is_discrete() {
            return None;
        }
        let [below, at] = [before, target].map(cdf);
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
