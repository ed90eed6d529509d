//! Targets with input-dependent noise.

use super::{TargetDistribution, normal::cdf_of_normal};

/// Beyond this many standard deviations, the normal density is below `1e-16` of its maximum.
const REACH: f64 = 8.6;

/// The largest spacing of nodes, in standard deviations of g and in units of g. As a function of
/// complex g, the integrand is bounded in a strip of half-width π/2, so the error of the
/// trapezoidal rule is of order `exp(−π²/0.3) = 5e-15`.
const LARGEST_STEPS: (f64, f64) = (0.5, 0.3);

/// `y = f + ε`, `ε ~ N(0, s·exp(g))`: `P(y ≤ t) = E_g[Φ((t − μ_f)/√(σ_f² + s·exp(g)))]`.
#[derive(Clone, Debug)]
pub struct HeteroskedasticTarget {
    /// The base variance s.
    pub noise: f64,
}

impl TargetDistribution for HeteroskedasticTarget {
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let deviation = variance[1].max(0.0).sqrt();
        let step = LARGEST_STEPS.0.min(LARGEST_STEPS.1 / deviation);
        let count = (REACH / step).ceil() as i32;
        let (mut sum, mut total) = (0.0, 0.0);
        for index in -count..=count {
            let place = step * f64::from(index);
            let weight = (-0.5 * place * place).exp();
            let noise = self.noise * (mean[1] + deviation * place).exp();
            sum += weight * cdf_of_normal(target, mean[0], variance[0] + noise);
            total += weight;
        }
        sum / total
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let noise = self.noise * mean[1].exp();
        (mean[0], (variance[0] + noise).max(0.0).sqrt())
    }
}
