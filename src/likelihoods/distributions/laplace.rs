//! Targets with asymmetric Laplace noise.

use super::{TargetDistribution, monotone::expectation_of_decreasing};

/// `P(y ≤ f) = τ`, with exponential tails of rate `τ/s` above and `(1 − τ)/s` below.
#[derive(Clone, Debug)]
pub struct AsymmetricLaplaceTarget {
    /// The scale s.
    pub scale: f64,
    /// The quantile τ.
    pub quantile: f64,
}

impl TargetDistribution for AsymmetricLaplaceTarget {
    /// `P(y ≤ t | f) = τ·e^{(1 − τ)(t − f)/s}` below f, and `1 − (1 − τ)·e^{−τ(t − f)/s}` above.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let (below, above) = (self.quantile, 1.0 - self.quantile);
        expectation_of_decreasing(mean[0], variance[0], |f| {
            let error = (target - f) / self.scale;
            match error < 0.0 {
                true => below * (above * error).exp(),
                false => 1.0 - above * (-below * error).exp(),
            }
        })
    }

    /// Around the kink of the distribution function at f, not the mean of y: the score is integrated on either side.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let (below, above) = (self.quantile, 1.0 - self.quantile);
        let deviation = self.scale * below.hypot(above) / (below * above);
        (mean[0], deviation.hypot(variance[0].max(0.0).sqrt()))
    }
}
