//! Targets that are positive numbers.

use core::f64::consts::PI;

use cdflib::special::try_gamma_inc;

use super::{
    Support, TargetDistribution, monotone::expectation_of_decreasing, normal::cdf_of_normal,
};
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

/// Euler's constant: the mean of `−log T` for an exponential time T with mean one.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Lifetimes with mean `exp(f)` and shape k.
#[derive(Clone, Debug)]
pub struct WeibullTarget {
    /// The shape k.
    pub shape: f64,
}

impl WeibullTarget {
    /// `log Γ(1 + 1/k)`.
    fn offset(&self) -> f64 {
        log_gamma(1.0 + self.shape.recip()).0
    }
}

impl TargetDistribution for WeibullTarget {
    fn support(&self) -> Support {
        Support::Positive
    }

    /// `P(y ≤ t | f) = 1 − exp(−(t/λ)^k)` with `λ = e^f/Γ(1 + 1/k)`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        let log = target.ln() + self.offset();
        expectation_of_decreasing(mean[0], variance[0], |f| {
            -(-(self.shape * (log - f)).exp()).exp_m1()
        })
    }

    /// `log y = log λ + log(T)/k` with an exponential time T, `Var[log T] = π²/6`.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let noise = PI * PI / 6.0 / (self.shape * self.shape);
        (
            mean[0] - self.offset() - EULER / self.shape,
            (variance[0].max(0.0) + noise).sqrt(),
        )
    }
}

/// Positive numbers with `log y ~ N(f, v)`.
#[derive(Clone, Debug)]
pub struct LogNormalTarget {
    /// The variance v of the logarithm.
    pub noise: f64,
}

impl TargetDistribution for LogNormalTarget {
    fn support(&self) -> Support {
        Support::Positive
    }

    /// `Φ((log t − μ)/√(σ² + v))`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        cdf_of_normal(target.ln(), mean[0], variance[0] + self.noise)
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        (mean[0], (variance[0] + self.noise).max(0.0).sqrt())
    }
}
