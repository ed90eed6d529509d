//! Targets that are ordered labels.

use super::{Support, TargetDistribution, normal::cdf_of_normal};

/// Labels defined by cut points of `f` plus standard normal noise.
#[derive(Clone, Debug)]
pub struct OrdinalTarget {
    /// The cut points b_1 … b_{C−1}.
    pub cut_points: Vec<f64>,
}

impl TargetDistribution for OrdinalTarget {
    fn support(&self) -> Support {
        Support::Labels(self.cut_points.len() + 1)
    }

    /// `P(y ≤ c) = Φ((b_{c+1} − μ)/√(1 + σ²))`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target < 0.0 {
            return 0.0;
        }
        match self.cut_points.get(target as usize) {
            Some(&cut) => cdf_of_normal(cut, mean[0], variance[0] + 1.0),
            None => 1.0,
        }
    }

    fn location_and_scale(&self, _mean: &[f64], _variance: &[f64]) -> (f64, f64) {
        (0.0, 1.0)
    }
}
