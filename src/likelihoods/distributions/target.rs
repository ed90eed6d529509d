//! The distribution of one target under Gaussian functions.

use core::fmt::Debug;
use std::sync::Arc;

/// The set of possible targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// All real numbers.
    Reals,
    /// Positive numbers.
    Positive,
    /// Positive numbers, and zero with positive probability.
    NonNegative,
    /// Numbers between 0 and 1.
    UnitInterval,
    /// Numbers from the first to the second, which have positive probabilities; infinite if there is no such limit.
    Within(f64, f64),
    /// 0, 1, 2, …
    Counts,
    /// 0 … C − 1.
    Labels(usize),
}

impl Support {
    /// Whether targets are whole numbers.
    pub fn is_discrete(self) -> bool {
        matches!(self, Self::Counts | Self::Labels(_))
    }

    /// Whether targets may have other units: they are on the real line, or on a part of it with given ends.
    pub(super) fn is_on_real_line(self) -> bool {
        matches!(self, Self::Reals | Self::Within(..))
    }

    /// The ends of the range of targets that are not whole numbers.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Self::Positive | Self::NonNegative => (0.0, f64::INFINITY),
            Self::UnitInterval => (0.0, 1.0),
            Self::Within(lower, upper) => (lower, upper),
            Self::Reals | Self::Counts | Self::Labels(_) => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// The least number at the lower end, and the least at the upper end, up to the rounding of a change of units.
    pub(super) fn almost_ends(self) -> (f64, f64) {
        let (lower, upper) = self.ends();
        (moved(lower, -ROUNDING), moved(upper, -ROUNDING))
    }

    /// A target in other units, which is `rescaled` up to rounding. A limit is as it was written, with up to 15 digits:
    /// its rounding error would put it inside or beyond the limit.
    pub fn in_units(self, target: f64, rescaled: f64) -> f64 {
        let Self::Within(lower, upper) = self else {
            return rescaled;
        };
        let is_limit = target <= moved(lower, ROUNDING) || target >= moved(upper, -ROUNDING);
        match is_limit {
            true => format!("{rescaled:.14e}").parse().unwrap_or(rescaled),
            false => rescaled,
        }
    }

    /// A number t with `P(y < target) = P(y ≤ t)`.
    pub(super) fn below(self, target: f64) -> f64 {
        match self {
            Self::Counts | Self::Labels(_) => target.ceil() - 1.0,
            Self::NonNegative if target <= 0.0 => f64::NEG_INFINITY,
            Self::Within(lower, _) if target <= moved(lower, ROUNDING) => f64::NEG_INFINITY,
            Self::Within(_, upper) if target >= moved(upper, -ROUNDING) => {
                moved(upper, -2.0 * ROUNDING)
            }
            _ => target,
        }
    }
}

/// The rounding error of ends in other units, as a share of their size.
const ROUNDING: f64 = 1e-9;

/// A number that is moved by a share of its size; an infinite one stays.
fn moved(number: f64, share: f64) -> f64 {
    match number.is_finite() {
        true => number + share * number.abs(),
        false => number,
    }
}

/// The distribution `p(y) = ∫ p(y | f)·N(f | μ, diag(σ²)) df` of one target y, in double precision.
///
/// The slices hold the moments of the functions of one output, one value per function.
pub trait TargetDistribution: Debug + Send + Sync {
    /// The set of possible values of the target, by default all real numbers.
    fn support(&self) -> Support {
        Support::Reals
    }

    /// The distribution function `P(y ≤ target)`.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64;

    /// The approximate location and scale of `y`, used to start the quantile search: mean and standard deviation of `y`
    /// on the reals, before it is cut off at limits; of `log y` for counts and positive numbers, with or without zero;
    /// and of `log y/(1 − y)` in the unit interval. Not used for labels.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64);

    /// The distribution of the number of successes among so many trials, if the target is their share.
    fn of_trials(&self, _trials: f64) -> Option<Arc<dyn TargetDistribution>> {
        None
    }

    /// The variance of `y`, if it is normal around the mean of the first function.
    fn normal_variance(&self, _variance: &[f64]) -> Option<f64> {
        None
    }
}
