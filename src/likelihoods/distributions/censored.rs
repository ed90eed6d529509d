//! Normal targets that are cut off at limits.

use super::{Support, TargetDistribution, normal::cdf_of_normal};

/// `y = min(max(f + ε, lower), upper)`, `ε ~ N(0, v)`.
#[derive(Clone, Debug)]
pub struct CensoredTarget {
    /// The noise variance v.
    pub noise: f64,
    /// The limits, infinite if there is none.
    pub limits: (f64, f64),
}

impl TargetDistribution for CensoredTarget {
    fn support(&self) -> Support {
        Support::Within(self.limits.0, self.limits.1)
    }

    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let (least, most) = self.support().almost_ends();
        match target {
            below if below < least => 0.0,
            beyond if beyond >= most => 1.0,
            _ => cdf_of_normal(target, mean[0], variance[0] + self.noise),
        }
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        (mean[0], (variance[0] + self.noise).max(0.0).sqrt())
    }
}
