//! Coverage of central intervals.

/// The default confidence level of intervals.
pub const LEVEL: f64 = 0.95;

/// Half the width of a normal interval of level [`LEVEL`], in standard deviations.
pub const HALF_WIDTH: f64 = 1.959_963_984_540_054;

/// Steps of 0.05 from 0 to 1.
const STEPS: u32 = 20;

/// The nominal coverages to evaluate: 0.05, 0.10, …, 0.95, and 0.99.
pub fn nominal_coverages() -> impl Iterator<Item = f64> {
    (1..STEPS)
        .map(|step| f64::from(step) / f64::from(STEPS))
        .chain([0.99])
}

/// The observed coverage of central intervals. The interval of confidence level p lies between the quantiles
/// `(1 − p)/2` and `(1 + p)/2` of a predictive distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The smallest nominal coverage whose interval contains each observation, sorted.
    least: Vec<f64>,
}

impl Coverage {
    /// The coverage from the smallest confidence level whose central interval contains each observation
    /// ([`central_level`](burn_gp_core::likelihoods::PredictiveDistribution::central_level)).
    pub fn of_levels(levels: impl IntoIterator<Item = f64>) -> Self {
        let mut least: Vec<f64> = levels.into_iter().collect();
        least.sort_by(f64::total_cmp);
        Self { least }
    }

    /// The share of the observations inside their intervals of nominal coverage `nominal`; NaN without
    /// observations.
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
        let coverage = Coverage::of_levels([0.683, 0.0, 0.954, 1.0]);
        let observed = [0.0, 0.68, 0.69, 0.95, 0.96].map(|nominal| coverage.observed(nominal));
        assert_eq!(observed, [0.25, 0.25, 0.5, 0.5, 0.75]);
        assert!(Coverage::of_levels([]).observed(0.5).is_nan());
        // An observation without a level is in no interval.
        assert_eq!(Coverage::of_levels([f64::NAN, 0.1]).observed(0.99), 0.5);
        assert_eq!(nominal_coverages().count(), STEPS as usize);
    }
}
