//! Targets that are positive numbers.

use cdflib::special::try_gamma_inc;

use super::{Support, TargetDistribution, monotone::expectation_of_decreasing};
use crate::ops::special::functions::log_gamma;

/// Waiting times with mean `exp(f)`.
#[derive(Clone, Debug)]
pub struct ExponentialTarget;

/// Positive numbers with mean `exp(f)` and shape k.
#[derive(Clone, Debug)]
pub struct GammaTarget {
    /// The shape k.
    pub shape: f64,
}

/// The location and scale of `log y = f + log T`, where T has a gamma distribution with shape k and
/// mean one. The trigamma function lies between `1/k` and `1/k + 1/k²`.
fn of_logarithm(shape: f64, mean: f64, variance: f64) -> (f64, f64) {
    let inverse = shape.recip();
    let (_, digamma) = log_gamma(shape);
    let spread = inverse + inverse * inverse;
    (
        mean + digamma - shape.ln(),
        (variance.max(0.0) + spread).sqrt(),
    )
}

impl TargetDistribution for ExponentialTarget {
    fn support(&self) -> Support {
        Support::Positive
    }

    /// `P(y ≤ t | f) = 1 − exp(−t·e^{−f})`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        let log = target.ln();
        expectation_of_decreasing(mean[0], variance[0], |f| -(-(log - f).exp()).exp_m1())
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        of_logarithm(1.0, mean[0], variance[0])
    }
}

impl TargetDistribution for GammaTarget {
    fn support(&self) -> Support {
        Support::Positive
    }

    /// `P(y ≤ t | f) = P(k, k·t·e^{−f})`, where P is the lower regularized incomplete gamma
    /// function.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        let log = target.ln() + self.shape.ln();
        expectation_of_decreasing(mean[0], variance[0], |f| {
            try_gamma_inc(self.shape, (log - f).exp()).map_or(f64::NAN, |(below, _)| below)
        })
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        of_logarithm(self.shape, mean[0], variance[0])
    }
}
