//! Targets that are counts.

use cdflib::special::{try_beta_inc, try_gamma_inc};

use super::{Support, TargetDistribution, monotone::expectation_of_decreasing};
use crate::likelihoods::bernoulli_logit::logistic;

/// Counts with rate `exp(f)`.
#[derive(Clone, Debug)]
pub struct PoissonTarget;

/// `P(y ≤ t)` for counts y, by the probability `below` of a count: the largest one up to t, if there is one.
pub(super) fn at_count(target: f64, below: impl FnOnce(f64) -> f64) -> f64 {
    match target < 0.0 {
        true => 0.0,
        false => below(target.floor()),
    }
}

/// The approximate location and scale of `log y` if `y` has mean `m = exp(f)` and variance `m +
/// α·m²`.
fn of_logarithm(dispersion: f64, mean: f64, variance: f64) -> (f64, f64) {
    let relative = (-mean).exp().min(1.0) + dispersion.min(1.0);
    (mean, (variance.max(0.0) + relative).sqrt())
}

impl TargetDistribution for PoissonTarget {
    fn support(&self) -> Support {
        Support::Counts
    }

    /// `P(y ≤ t | f) = Q(t + 1, e^f)`, where Q is the upper regularized incomplete gamma function.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        at_count(target, |count| {
            expectation_of_decreasing(mean[0], variance[0], |f| {
                try_gamma_inc(count + 1.0, f.exp()).map_or(f64::NAN, |(_, above)| above)
            })
        })
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        of_logarithm(0.0, mean[0], variance[0])
    }
}

/// Counts with mean `m = exp(f)` and variance `m + α·m²`.
#[derive(Clone, Debug)]
pub struct NegativeBinomialTarget {
    /// The dispersion α.
    pub dispersion: f64,
}

impl TargetDistribution for NegativeBinomialTarget {
    fn support(&self) -> Support {
        Support::Counts
    }

    /// `P(y ≤ t | f) = I_x(1/α, t + 1)` with `x = 1/(1 + α·e^f)`, where I is the regularized
    /// incomplete beta function.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let (size, shift) = (self.dispersion.recip(), self.dispersion.ln());
        at_count(target, |count| {
            expectation_of_decreasing(mean[0], variance[0], |f| {
                let (x, rest) = (logistic(-f - shift), logistic(f + shift));
                try_beta_inc(size, count + 1.0, x, rest).map_or(f64::NAN, |(below, _)| below)
            })
        })
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        of_logarithm(self.dispersion, mean[0], variance[0])
    }
}

/// Zero with probability π, else a count with rate `exp(f)`.
#[derive(Clone, Debug)]
pub struct ZeroInflatedPoissonTarget {
    /// The probability π of an additional zero.
    pub zeros: f64,
}

impl TargetDistribution for ZeroInflatedPoissonTarget {
    fn support(&self) -> Support {
        Support::Counts
    }

    /// `π + (1 − π)·P(count ≤ t)`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        at_count(target, |count| {
            self.zeros + (1.0 - self.zeros) * PoissonTarget.cdf(count, mean, variance)
        })
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        PoissonTarget.location_and_scale(mean, variance)
    }
}
