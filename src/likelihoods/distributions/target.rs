//! The distribution of one target under Gaussian functions.

use core::fmt::Debug;

/// The set of possible targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All real numbers.
    Reals,
    /// Positive numbers.
    Positive,
    /// Numbers between 0 and 1.
    UnitInterval,
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

    /// The approximate location and scale of `y`, used to start the quantile search: mean and
    /// standard deviation of `y` on the reals, of `log y` for positive numbers and counts, and of
    /// `log y/(1 − y)` in the unit interval. Not used for labels.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64);

    /// The variance of `y`, if it is normal around the mean of the first function.
    fn normal_variance(&self, _variance: &[f64]) -> Option<f64> {
        None
    }
}
