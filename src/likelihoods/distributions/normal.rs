//! Targets with Gaussian noise.

use super::TargetDistribution;
use crate::ops::special::functions::normal_cdf;

/// `y = f + ε`, `ε ~ N(0, v)`: `y ~ N(μ, σ² + v)`.
#[derive(Clone, Debug)]
pub struct NormalTarget {
    /// The noise variance v.
    pub noise: f64,
}

/// `Φ((target − μ)/√v)`, or a step function if the variance is zero.
pub(super) fn cdf_of_normal(target: f64, mean: f64, variance: f64) -> f64 {
    let distance = target - mean;
    if variance <= 0.0 {
        return f64::from(u8::from(distance >= 0.0));
    }
    normal_cdf(distance / variance.sqrt())
}

impl TargetDistribution for NormalTarget {
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        cdf_of_normal(target, mean[0], variance[0] + self.noise)
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        (mean[0], (variance[0] + self.noise).max(0.0).sqrt())
    }

    fn normal_variance(&self, variance: &[f64]) -> Option<f64> {
        Some((variance[0] + self.noise).max(0.0))
    }
}
