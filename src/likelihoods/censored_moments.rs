//! Moments of normal variables that are cut off at limits.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use crate::ops::log_normal_cdf;

/// Beyond this many standard deviations the normal distribution has no mass left in double precision.
const FARTHEST: f64 = 40.0;

/// `G(x) = E[max(x + ε, 0)] = x·Φ(x) + φ(x)` and `H(x) = E[max(x + ε, 0)²] = x·G(x) + Φ(x)` for `ε ~ N(0, 1)`, and Φ(x).
struct Part<const D: usize> {
    first: Tensor<D>,
    second: Tensor<D>,
    probability: Tensor<D>,
}

fn part<const D: usize>(x: Tensor<D>) -> Part<D> {
    let probability = log_normal_cdf(x.clone()).exp();
    let density = (x.clone().square() * -0.5 - (2.0 * PI).ln() * 0.5).exp();
    let first = x.clone() * probability.clone() + density;
    Part {
        second: x * first.clone() + probability.clone(),
        first,
        probability,
    }
}

/// The mean and variance of `min(max(z, l), u)` for `z ~ N(m, s²)`, `[…, P]`, without a limit that is `None`.
///
/// With `a = (l − m)/s` and `b = (u − m)/s`, it is one of
/// `m + s·(ε + max(a − ε, 0) − max(ε − b, 0))`, `l + s·(max(ε − a, 0) − max(ε − b, 0))` and
/// `u − s·(max(b − ε, 0) − max(a − ε, 0))`. The first is exact if m is between the limits; where m is below l or above
/// u, its large terms would cancel, and the others have small ones.
pub(super) fn moments<const D: usize>(
    mean: Tensor<D>,
    deviation: Tensor<D>,
    (lower, upper): (Option<Tensor<D>>, Option<Tensor<D>>),
) -> (Tensor<D>, Tensor<D>) {
    let distance = |limit: &Option<Tensor<D>>, none: f64| match limit {
        Some(limit) => {
            let distance = (limit.clone() - mean.clone()) / deviation.clone();
            distance.clamp(-FARTHEST, FARTHEST)
        }
        None => mean.zeros_like() + none,
    };
    let (a, b) = (distance(&lower, -FARTHEST), distance(&upper, FARTHEST));
    let gap = (b.clone() - a.clone()) * 2.0;
    // Below a, above b, and their complements.
    let (below, beyond) = (part(a.clone()), part(b.clone().neg()));
    let (above, within) = (part(a.clone().neg()), part(b.clone()));
    let middle = below.first.clone() - beyond.first.clone();
    let square = below.second.clone() + beyond.second.clone()
        - (below.probability + beyond.probability) * 2.0
        + 1.0;
    let middle_variance = square - middle.clone().square();
    let mut total = mean.clone() + deviation.clone() * middle;
    let mut relative = middle_variance;
    if let Some(lower) = lower {
        let first = above.first - beyond.first.clone();
        let own = above.second - beyond.second - gap.clone() * beyond.first;
        let is_low = a.greater_elem(0.0);
        total = total.mask_where(is_low.clone(), deviation.clone() * first.clone() + lower);
        relative = relative.mask_where(is_low, own - first.square());
    }
    if let Some(upper) = upper {
        let first = within.first - below.first.clone();
        let own = within.second - below.second - gap * below.first;
        let is_high = b.lower_elem(0.0);
        total = total.mask_where(
            is_high.clone(),
            (deviation.clone() * first.clone()).neg() + upper,
        );
        relative = relative.mask_where(is_high, own - first.square());
    }
    (total, relative.clamp_min(0.0) * deviation.square())
}

/// `E[min(x, 0)²] = (m² + s²)·Φ(−m/s) − m·s·φ(m/s)` for `x ~ N(m, s²)` with positive s.
pub(super) fn square_below_zero<const D: usize>(
    mean: Tensor<D>,
    deviation: Tensor<D>,
) -> Tensor<D> {
    let ratio = (mean.clone() / deviation.clone()).clamp(-FARTHEST, FARTHEST);
    let probability = log_normal_cdf(ratio.clone().neg()).exp();
    let density = (ratio.square() * -0.5 - (2.0 * PI).ln() * 0.5).exp();
    let square = mean.clone().square() + deviation.clone().square();
    square * probability - mean * deviation * density
}
