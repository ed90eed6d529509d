//! Targets between 0 and 1.

use cdflib::special::try_beta_inc;

use super::{Support, TargetDistribution, monotone::expectation_of_decreasing};
use crate::likelihoods::bernoulli_logit::logistic;

/// Fractions with mean `m = 1/(1 + e^{−f})` and precision s: a beta distribution with parameters
/// `s·m` and `s·(1 − m)`.
#[derive(Clone, Debug)]
pub struct BetaTarget {
    /// The precision s.
    pub precision: f64,
}

impl TargetDistribution for BetaTarget {
    fn support(&self) -> Support {
        Support::UnitInterval
    }

    /// `P(y ≤ t | f) = I_t(s·m, s·(1 − m))`, where I is the regularized incomplete beta function.
    /// It decreases in f because the ratio of two such densities increases in t.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        if target >= 1.0 {
            return 1.0;
        }
        expectation_of_decreasing(mean[0], variance[0], |f| {
            let parameter = |f: f64| (self.precision * logistic(f)).max(f64::MIN_POSITIVE);
            try_beta_inc(parameter(f), parameter(-f), target, 1.0 - target)
                .map_or(f64::NAN, |(below, _)| below)
        })
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let spread = 4.0 / self.precision;
        (mean[0], (variance[0].max(0.0) + spread).sqrt())
    }
}
