//! Shares and numbers of successes among trials.

use std::sync::Arc;

use cdflib::special::{beta_log, try_beta_inc};

use super::{
    BetaTarget, Support, TargetDistribution, counts::at_count, monotone::expectation_of_decreasing,
    normal::cdf_of_normal,
};
use crate::likelihoods::bernoulli_logit::logistic;

/// The share of successes in many trials, with mean `m = 1/(1 + e^{−f})`: m itself for a dispersion of zero, else a
/// beta variable with variance `ρ·m·(1 − m)`.
#[derive(Clone, Debug)]
pub struct ShareTarget {
    /// The dispersion ρ.
    pub dispersion: f64,
}

impl ShareTarget {
    fn beta(&self) -> BetaTarget {
        BetaTarget {
            precision: precision(self.dispersion),
        }
    }
}

/// The sum s of the parameters of a beta distribution: `ρ = 1/(1 + s)`.
fn precision(dispersion: f64) -> f64 {
    (1.0 - dispersion) / dispersion
}

impl TargetDistribution for ShareTarget {
    fn support(&self) -> Support {
        Support::UnitInterval
    }

    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        match target {
            low if low <= 0.0 => 0.0,
            high if high >= 1.0 => 1.0,
            _ if self.dispersion > 0.0 => self.beta().cdf(target, mean, variance),
            _ => cdf_of_normal(target.ln() - (-target).ln_1p(), mean[0], variance[0]),
        }
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        match self.dispersion > 0.0 {
            true => self.beta().location_and_scale(mean, variance),
            false => (mean[0], variance[0].max(0.0).sqrt()),
        }
    }

    fn of_trials(&self, trials: f64) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(SuccessesTarget {
            trials,
            dispersion: self.dispersion,
        }))
    }
}

/// The number of successes among trials whose share in many trials is a [`ShareTarget`].
#[derive(Clone, Debug)]
struct SuccessesTarget {
    /// The number of trials n.
    trials: f64,
    /// The dispersion ρ.
    dispersion: f64,
}

impl SuccessesTarget {
    /// `P(y ≤ t | f)` of a binomial distribution, `I_{1−m}(n − t, t + 1)` with the regularized incomplete beta
    /// function I.
    fn of_binomial(&self, target: f64, f: f64) -> f64 {
        let (first, second) = (self.trials - target, target + 1.0);
        try_beta_inc(first, second, logistic(-f), logistic(f)).map_or(f64::NAN, |(below, _)| below)
    }

    /// `P(y ≤ t | f)` of a beta-binomial distribution: the sum of the probabilities on the side of the target on which
    /// the mean is not. Each follows from its neighbor by
    /// `p(k − 1)/p(k) = k·(n − k + b)/((n − k + 1)·(k − 1 + a))` with `a = s·m`, `b = s·(1 − m)`.
    fn of_beta_binomial(&self, target: f64, f: f64) -> f64 {
        let (trials, precision) = (self.trials, precision(self.dispersion));
        let parameter = |f: f64| (precision * logistic(f)).max(f64::MIN_POSITIVE);
        let (a, b) = (parameter(f), parameter(-f));
        match target < trials * logistic(f) {
            true => sum_to_zero(target, trials, (a, b)),
            false => 1.0 - sum_to_zero(trials - target - 1.0, trials, (b, a)),
        }
    }
}

/// `P(y ≤ t)` of a beta-binomial distribution with the parameters a and b.
fn sum_to_zero(target: f64, trials: f64, (a, b): (f64, f64)) -> f64 {
    let (mut term, mut sum, mut count) = (1.0, 1.0, target);
    while count > 0.0 {
        let (failures, before) = (trials - count, count - 1.0);
        term *= count / (failures + 1.0) * ((failures + b) / (before + a));
        sum += term;
        count = before;
    }
    (log_beta_binomial(target, trials, (a, b)) + sum.ln()).exp()
}

/// `log p(y)` of a beta-binomial distribution, `log n!/(y!·(n − y)!) + log B(y + a, n − y + b) − log B(a, b)`.
fn log_beta_binomial(successes: f64, trials: f64, (a, b): (f64, f64)) -> f64 {
    let failures = trials - successes;
    let choices = -(trials + 1.0).ln() - beta_log(successes + 1.0, failures + 1.0);
    choices + beta_log(successes + a, failures + b) - beta_log(a, b)
}

impl TargetDistribution for SuccessesTarget {
    fn support(&self) -> Support {
        Support::Counts
    }

    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        at_count(target, |count| {
            if count >= self.trials {
                return match (mean[0] + variance[0]).is_nan() {
                    true => f64::NAN,
                    false => 1.0,
                };
            }
            expectation_of_decreasing(mean[0], variance[0], |f| match self.dispersion > 0.0 {
                true => self.of_beta_binomial(count, f),
                false => self.of_binomial(count, f),
            })
        })
    }

    /// Those of the logarithm of the number of successes.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let successes = self.trials * logistic(mean[0]);
        let relative = (1.0 / successes.max(1.0)) + self.dispersion;
        (successes.ln(), (variance[0].max(0.0) + relative).sqrt())
    }
}
