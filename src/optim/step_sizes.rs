//! Step sizes of natural-gradient inversion.

use serde::{Deserialize, Serialize};

/// The step sizes of one call of [`NaturalInversion`](super::NaturalInversion). Every call counts
/// its steps from zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schedule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StepSizes {
    /// A constant size.
    Constant {
        /// The size γ; convergence is quadratic for γ = 1.
        step_size: f64,
    },
    /// Sizes that grow geometrically from `first` to 1 over `steps` steps and then stay at 1.
    LogLinear {
        /// The size of the first step.
        first: f64,
        /// The number of steps up to and including the first of size 1.
        steps: usize,
    },
}

impl StepSizes {
    /// Steps of size 1.
    pub const FULL: Self = Self::Constant { step_size: 1.0 };

    /// From `1e-5` to 1 in ten steps.
    pub const LOG_LINEAR: Self = Self::LogLinear {
        first: 1e-5,
        steps: 10,
    };

    /// The size of step `step`, counted from zero.
    pub fn at(self, step: usize) -> f64 {
        match self {
            Self::Constant { step_size } => step_size,
            Self::LogLinear { first, steps } if step + 1 < steps => {
                first.powf(1.0 - step as f64 / (steps - 1) as f64)
            }
            Self::LogLinear { .. } => 1.0,
        }
    }

    /// Whether the size is constant from step `step` on.
    pub(super) fn is_final(self, step: usize) -> bool {
        step >= self.growing()
    }

    /// The number of steps before the size is constant.
    pub(crate) fn growing(self) -> usize {
        match self {
            Self::Constant { .. } => 0,
            Self::LogLinear { steps, .. } => steps.saturating_sub(1),
        }
    }
}

impl Default for StepSizes {
    fn default() -> Self {
        Self::FULL
    }
}
