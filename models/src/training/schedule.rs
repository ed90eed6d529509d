//! Learning-rate schedules.

use serde::{Deserialize, Serialize};

/// The learning rate as a fraction of its first value, a function of the step alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schedule", rename_all = "kebab-case")]
pub enum Schedule {
    /// Always the first value.
    #[default]
    Constant,
    /// Half a cosine from the first value down to `final_fraction` of it.
    Cosine {
        /// The fraction at the end.
        final_fraction: f64,
    },
    /// Geometric decay from the first value down to `final_fraction` of it.
    Exponential {
        /// The fraction at the end.
        final_fraction: f64,
    },
}

impl Schedule {
    /// The fraction at step `step` of `steps`, counted from zero.
    pub fn fraction(self, step: usize, steps: usize) -> f64 {
        let progress = step as f64 / steps.max(1) as f64;
        match self {
            Self::Constant => 1.0,
            Self::Cosine { final_fraction } => {
                let wave = 0.5 * (1.0 + (core::f64::consts::PI * progress).cos());
                final_fraction + (1.0 - final_fraction) * wave
            }
            Self::Exponential { final_fraction } => final_fraction.powf(progress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn schedules_start_at_one_and_end_at_their_fraction() {
        let final_fraction = 0.01;
        assert_eq!(Schedule::Constant.fraction(70, 100), 1.0);
        for schedule in [
            Schedule::Cosine { final_fraction },
            Schedule::Exponential { final_fraction },
        ] {
            assert_eq!(schedule.fraction(0, 100), 1.0);
            assert!((schedule.fraction(100, 100) - final_fraction).abs() < 1e-15);
            let fractions: Vec<f64> = (0..=100).map(|step| schedule.fraction(step, 100)).collect();
            assert!(fractions.is_sorted_by(|a, b| a > b));
        }
    }
}
