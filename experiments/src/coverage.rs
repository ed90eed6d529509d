//! How many observations lie in the central intervals of Gaussian predictions.

use std::f64::consts::SQRT_2;

/// Steps of 0.05 from 0 to 1.
const STEPS: u32 = 20;

/// The nominal coverages that are looked at: 0.05, 0.10, …, 0.95, and 0.99.
pub fn nominal_coverages() -> impl Iterator<Item = f64> {
    (1..STEPS)
        .map(|step| f64::from(step) / f64::from(STEPS))
        .chain([0.99])
}

/// The observed coverage of central intervals: the interval of nominal coverage p holds an observation
/// y when `2Φ(|y − μ|/σ) − 1 = erf(|y − μ| / (σ√2)) ≤ p`.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// For each observation the smallest nominal coverage whose interval holds it, in order.
    least: Vec<f64>,
}

impl Coverage {
    /// Of observations that are so many standard deviations from their means.
    pub fn of_residuals(residuals: impl IntoIterator<Item = f64>) -> Self {
        let least = residuals
            .into_iter()
            .map(|residual| libm::erf(residual.abs() / SQRT_2));
        let mut least: Vec<f64> = least.collect();
        least.sort_by(f64::total_cmp);
        Self { least }
    }

    /// The share of the observations in their intervals of a nominal coverage; not a number if there
    /// are none.
    pub fn observed(&self, nominal: f64) -> f64 {
        let inside = self.least.partition_point(|&level| level <= nominal);
        inside as f64 / self.least.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_what_is_near_enough() {
        // One deviation is the interval of 68.3 %, two that of 95.4 %.
        let coverage = Coverage::of_residuals([-1.0, 0.0, 2.0, f64::INFINITY]);
        let observed = [0.0, 0.68, 0.69, 0.95, 0.96].map(|nominal| coverage.observed(nominal));
        assert_eq!(observed, [0.25, 0.25, 0.5, 0.5, 0.75]);
        assert!(Coverage::of_residuals([]).observed(0.5).is_nan());
        assert_eq!(nominal_coverages().count(), STEPS as usize);
    }
}
