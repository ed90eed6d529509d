//! Intervals that hold normal variables.

use core::f64::consts::PI;

use burn::tensor::{Bool, Tensor};

use super::likelihood::block;
use crate::ops::{log_normal_cdf, log_one_minus_exp};

/// The smallest difference of `log Φ` at two limits. It applies only if the difference is lost to rounding, and keeps
/// its logarithm finite.
const SMALLEST_DIFFERENCE: f64 = 1e-7;

/// A limit of at least this size stands for an infinite one, whatever a device makes of infinite numbers.
const INFINITE: f64 = 1e30;

/// The largest half width h of a narrow interval, in standard deviations.
const NARROW: f64 = 1.0 / 16.0;

/// The largest product `c·h` of a narrow interval, for the distance c of its middle from the mean. The logarithm of the
/// density changes by that much within the interval.
const GENTLE: f64 = 1.0 / 8.0;

/// Places and weights of Gauss–Legendre quadrature with four nodes on [−1, 1], of which two are positive. In narrow
/// intervals the relative error is below 10⁻¹⁴.
const NODES: [(f64, f64); 2] = [
    (0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_8),
];

/// The two parts of `log[Φ(high) − Φ(low)]`, elementwise, for `low < high`: `log Φ(high)` and
/// `log[1 − Φ(low)/Φ(high)]`. Where the sum of low and high is negative, Φ keeps its precision.
pub(super) fn log_difference<const D: usize>(
    low: Tensor<D>,
    high: Tensor<D>,
) -> (Tensor<D>, Tensor<D>) {
    let log_high = log_normal_cdf(high);
    let ratio = log_normal_cdf(low) - log_high.clone();
    let share = log_one_minus_exp(ratio.clamp_max(-SMALLEST_DIFFERENCE));
    (log_high, share)
}

/// The middle of an interval: the finite limit if the other one is infinite.
pub fn middle_of_interval(lower: f64, upper: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => lower + 0.5 * (upper - lower),
        (true, false) => lower,
        (false, _) => upper,
    }
}

/// The intervals that hold targets, `[…, N, P]`.
#[derive(Clone, Debug)]
pub(super) struct TargetIntervals<const D: usize> {
    /// The lower limits; the upper one where there is none.
    pub lower: Tensor<D>,
    /// The upper limits; the lower one where there is none.
    pub upper: Tensor<D>,
    /// Where there is no lower limit.
    pub is_open_below: Tensor<D, Bool>,
    /// Where there is no upper limit.
    pub is_open_above: Tensor<D, Bool>,
    /// Where both limits are equal.
    pub is_point: Tensor<D, Bool>,
}

impl TargetIntervals<2> {
    /// The intervals of targets `[N, 2P]`: lower limits, then upper limits.
    pub fn of(targets: Tensor<2>) -> Self {
        let (lower, upper) = (block(targets.clone(), 0, 2), block(targets, 1, 2));
        let is_open_below = lower.clone().lower_equal_elem(-INFINITE);
        let is_open_above = upper.clone().greater_equal_elem(INFINITE);
        Self {
            is_point: lower.clone().equal(upper.clone()),
            lower: (lower.clone()).mask_where(is_open_below.clone(), upper.clone()),
            upper: upper.mask_where(is_open_above.clone(), lower),
            is_open_below,
            is_open_above,
        }
    }

    /// With an axis for samples of the functions, `[1, N, P]`.
    pub fn of_samples(self) -> TargetIntervals<3> {
        TargetIntervals {
            lower: self.lower.unsqueeze(),
            upper: self.upper.unsqueeze(),
            is_open_below: self.is_open_below.unsqueeze(),
            is_open_above: self.is_open_above.unsqueeze(),
            is_point: self.is_point.unsqueeze(),
        }
    }
}

impl<const D: usize> TargetIntervals<D> {
    /// The middles of the intervals; the only limit of those with one.
    pub fn middle(&self) -> Tensor<D> {
        (self.lower.clone() + self.upper.clone()) * 0.5
    }

    /// Where one limit is missing.
    pub fn is_open(&self) -> Tensor<D, Bool> {
        (self.is_open_below.clone()).bool_or(self.is_open_above.clone())
    }

    /// `log[Φ((u − m)/s) − Φ((l − m)/s)]` for limits l and u, in any shape that means and deviations have together with
    /// the limits. A finite number without meaning where the interval is a point.
    pub fn log_probability(&self, mean: Tensor<D>, deviation: Tensor<D>) -> Tensor<D> {
        let standard = |place: Tensor<D>| (place - mean.clone()) / deviation.clone();
        let middle = standard(self.middle());
        let shape = middle.dims();
        let half = (self.upper.clone() - self.lower.clone()) / deviation.clone() * 0.5;
        let half = half.expand(shape);
        let is_gentle = (middle.clone().abs() * half.clone()).lower_equal_elem(GENTLE);
        let is_narrow = (half.clone().lower_equal_elem(NARROW))
            .bool_and(half.clone().greater_elem(0.0))
            .bool_and(is_gentle);
        let limits = (standard(self.lower.clone()), standard(self.upper.clone()));
        let wide = self.log_probability_of_wide(middle.clone(), limits);
        let is_wide = is_narrow.clone().bool_not();
        let narrow = log_probability_of_narrow(
            middle.mask_fill(is_wide.clone(), 0.0),
            half.mask_fill(is_wide, NARROW),
        );
        wide.mask_where(is_narrow, narrow)
    }

    /// The log probability of intervals that are not narrow, from their middles and limits in standard deviations from the mean.
    /// Intervals in the upper tail are reflected to the lower one, where Φ keeps its precision.
    fn log_probability_of_wide(
        &self,
        middle: Tensor<D>,
        (lower, upper): (Tensor<D>, Tensor<D>),
    ) -> Tensor<D> {
        let shape = middle.dims();
        let is_reflected = (middle.greater_elem(0.0))
            .bool_or(self.is_open_above.clone().expand(shape))
            .bool_and(self.is_open_below.clone().expand(shape).bool_not());
        let low = (lower.clone()).mask_where(is_reflected.clone(), upper.clone().neg());
        let high = upper.mask_where(is_reflected, lower.neg());
        let (log_high, log_share) = log_difference(low, high);
        log_high + log_share.mask_fill(self.is_open().expand(shape), 0.0)
    }
}

/// `log[φ(c)·∫_{−h}^{h} exp(−c·t − t²/2) dt]` for the middle c and the half width h, by quadrature: a difference of Φ
/// would lose its digits.
fn log_probability_of_narrow<const D: usize>(middle: Tensor<D>, half: Tensor<D>) -> Tensor<D> {
    let mut sum = middle.zeros_like();
    for (place, weight) in NODES {
        let place = half.clone() * place;
        let slope = middle.clone() * place.clone();
        let both = slope.clone().exp() + slope.neg().exp();
        sum = sum + (place.square() * -0.5).exp() * both * (0.5 * weight);
    }
    sum.log() + (half * 2.0).log() - (middle.square() + (2.0 * PI).ln()) * 0.5
}
