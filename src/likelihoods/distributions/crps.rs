//! The continuous ranked probability score of predictive distributions.

use core::f64::consts::PI;

use super::{
    PredictiveDistribution,
    integrals::{Range, sum},
};
use crate::ops::special::functions::normal_cdf;

/// The probability in each tail of a distribution of counts that is left out. Its square enters the score.
const TAIL: f64 = 1e-10;

impl PredictiveDistribution {
    /// The continuous ranked probability score of every target y,
    /// `∫ (P(Y ≤ t) − 1[t ≥ y])² dt = E|Y − y| − ½E|Y − Y′|`, in the units of the targets. It is the absolute
    /// error of a certain prediction; smaller is better
    /// (T. Gneiting, A. E. Raftery, *Strictly Proper Scoring Rules, Prediction, and Estimation*, 2007).
    ///
    /// Mixtures of normal distributions have a closed form; other distributions are integrated or summed, with a
    /// relative error below 1e-6. For [transformed](Self::transformed) targets, tails of a probability of 1e-9 are left out,
    /// so that an infinite score is large.
    ///
    /// # Panics
    ///
    /// If the number of targets differs from the number of distributions.
    #[track_caller]
    pub fn continuous_ranked_probability_score(&self, targets: &[f64]) -> Vec<f64> {
        self.check(targets);
        self.each(|index| {
            if self.transform_of(index).is_some() {
                return self.score_of_transformed(index, targets[index]);
            }
            let scale = self.unit(index).map_or(1.0, |unit| unit.scale);
            scale * self.score_within(index, self.within(index, targets[index]))
        })
    }

    /// The score of one target of the likelihood, before rescaling.
    fn score_within(&self, index: usize, target: f64) -> f64 {
        if self.recalibration.is_none()
            && let Some(components) = self.normals_of(index)
        {
            return of_normals(target, &components);
        }
        let cdf = |at: f64| self.cdf_within(index, at);
        if self.target_of(index).support().is_discrete() {
            let [low, high] = [TAIL, 1.0 - TAIL].map(|p| self.quantile_within(index, p));
            return of_whole_numbers(target, (low, high), cdf);
        }
        of_density(target, &self.range_of(index), cdf)
    }
}

/// The score of a mixture of normal distributions, from their means and variances:
/// `Σ_s A(y − μ_s, σ_s²)/S − Σ_st A(μ_s − μ_t, σ_s² + σ_t²)/(2S²)`
/// (E. P. Grimit and others, *The continuous ranked probability score for circular variables*, 2006).
fn of_normals(target: f64, components: &[(f64, f64)]) -> f64 {
    let count = components.len() as f64;
    let to_target: f64 = (components.iter())
        .map(|&(mean, variance)| mean_absolute(target - mean, variance))
        .sum();
    let mut between = 0.0;
    for (index, &(mean, variance)) in components.iter().enumerate() {
        // Each pair of different components occurs twice.
        between += 0.5 * mean_absolute(0.0, 2.0 * variance);
        for &(other, other_variance) in &components[..index] {
            between += mean_absolute(mean - other, variance + other_variance);
        }
    }
    to_target / count - between / (count * count)
}

/// `A(μ, σ²) = E|N(μ, σ²)| = μ·(2Φ(μ/σ) − 1) + 2σ·φ(μ/σ)`.
fn mean_absolute(mean: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return mean.abs();
    }
    let deviation = variance.sqrt();
    let ratio = mean / deviation;
    let density = (-0.5 * ratio * ratio).exp() / (2.0 * PI).sqrt();
    mean * (2.0 * normal_cdf(ratio) - 1.0) + 2.0 * deviation * density
}

/// `Σ_k (P(Y ≤ k) − 1[k ≥ y])²`, whose terms outside of `low` to `high` are 0 or 1.
fn of_whole_numbers(target: f64, (low, high): (f64, f64), cdf: impl Fn(f64) -> f64) -> f64 {
    if !(low.is_finite() && high.is_finite() && target.is_finite()) {
        return f64::NAN;
    }
    // All numbers between the target and the range have an error of 1.
    let outside = (low - target).max(0.0) + (target - high - 1.0).max(0.0);
    let squares = |first: f64, last: f64, certain: f64| {
        let [squares] = sum((first, last), low, |count| [(cdf(count) - certain).powi(2)]);
        squares
    };
    outside + squares(low, high.min(target - 1.0), 0.0) + squares(low.max(target), high, 1.0)
}

/// `∫_{−∞}^y P(Y ≤ t)² dt + ∫_y^∞ P(Y > t)² dt`.
fn of_density(target: f64, range: &Range, cdf: impl Fn(f64) -> f64) -> f64 {
    let [score] = range.integral(target, |at| match at <= target {
        true => [cdf(at).powi(2)],
        false => [(1.0 - cdf(at)).powi(2)],
    });
    score
}
