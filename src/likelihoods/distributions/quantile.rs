//! Quantile search for monotone distribution functions. Crates have quantiles of named distributions, but
//! not of their mixtures over a Gaussian function.

use super::Support;
use crate::{likelihoods::bernoulli_logit::logistic, ops::special::functions::normal_quantile};

/// The accuracy of a quantile, as a fraction of the scale of the targets.
const TOLERANCE: f64 = 1e-11;

/// From here on, consecutive whole numbers cannot be represented.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0; // 2⁵³

/// The smallest `y` with `P(y) ≥ p`, where P is a distribution function on the given support. The
/// search starts from the lowest and highest location and the largest scale.
pub(super) fn quantile(
    support: Support,
    p: f64,
    (lowest, highest, scale): (f64, f64, f64),
    cdf: impl Fn(f64) -> f64,
) -> f64 {
    if ![lowest, highest, scale]
        .iter()
        .all(|value| value.is_finite())
    {
        return f64::NAN;
    }
    let shift = scale * normal_quantile(p);
    match support {
        Support::Labels(classes) => {
            let below = (0..classes - 1).take_while(|&label| cdf(label as f64) < p);
            below.count() as f64
        }
        Support::Counts => least_count(p, (highest + shift).exp(), cdf),
        // The ends that are possible targets.
        Support::NonNegative if cdf(0.0) >= p => 0.0,
        Support::Within(lower, _) if cdf(lower) >= p => lower,
        Support::Within(_, upper) if cdf(support.below(upper)) < p => upper,
        Support::Reals
        | Support::Positive
        | Support::NonNegative
        | Support::UnitInterval
        | Support::Within(..) => {
            let (least, most) = ends(support);
            let bracket = (
                (lowest + shift).clamp(least, most),
                (highest + shift).clamp(least, most),
            );
            let excess = |place: f64| cdf(target(support, place)) - p;
            let place = crossing(excess, bracket, (least, most), scale);
            target(support, place)
        }
    }
}

/// The target for a place on the real line.
fn target(support: Support, place: f64) -> f64 {
    match support {
        Support::Positive | Support::NonNegative => place.exp(),
        // Keep the result below 1 in floating point, too.
        Support::UnitInterval => logistic(place).min(1.0 - 0.5 * f64::EPSILON),
        _ => place,
    }
}

/// The range of places whose targets are neither zero nor infinite.
fn ends(support: Support) -> (f64, f64) {
    match support {
        Support::Positive | Support::NonNegative => (-744.0, 709.0),
        Support::UnitInterval => (-709.0, 40.0),
        Support::Within(lower, upper) => (lower.max(f64::MIN), upper.min(f64::MAX)),
        _ => (f64::MIN, f64::MAX),
    }
}

/// The zero of an increasing function. A bracket grows until it contains the zero. Chandrupatla's
/// method then refines it, by inverse quadratic interpolation if the inverse is nearly quadratic
/// and by bisection otherwise (T. R. Chandrupatla, *A new hybrid quadratic/bisection algorithm for
/// finding the zero of a nonlinear function without using derivatives*, 1997). Returns the end of
/// the range if there is no zero before it.
fn crossing(
    function: impl Fn(f64) -> f64,
    bracket: (f64, f64),
    (least, most): (f64, f64),
    scale: f64,
) -> f64 {
    let smallest = |place: f64| 4.0 * f64::EPSILON * place.abs() + f64::MIN_POSITIVE;
    let mut step = (0.25 * scale)
        .max(smallest(bracket.0))
        .max(smallest(bracket.1));
    let (mut low, mut high) = (bracket.0 - step, bracket.1 + step);
    let (mut at_low, mut at_high) = (function(low), function(high));
    while at_low >= 0.0 {
        if low <= least {
            return least;
        }
        (high, at_high) = (low, at_low);
        step *= 2.0;
        low = (low - step).max(least);
        at_low = function(low);
    }
    while at_high < 0.0 {
        if high >= most {
            return most;
        }
        (low, at_low) = (high, at_high);
        step *= 2.0;
        high = (high + step).min(most);
        at_high = function(high);
    }
    if at_low.is_nan() || at_high.is_nan() {
        return f64::NAN;
    }
    chandrupatla(function, (low, at_low), (high, at_high), |place| {
        smallest(place) + TOLERANCE * scale
    })
}

/// A zero between two places where the function has opposite signs.
fn chandrupatla(
    function: impl Fn(f64) -> f64,
    low: (f64, f64),
    high: (f64, f64),
    tolerance: impl Fn(f64) -> f64,
) -> f64 {
    let ((mut b, mut at_b), (mut a, mut at_a)) = (low, high);
    let mut part = 0.5;
    loop {
        let place = a + part * (b - a);
        let value = function(place);
        if value.is_nan() {
            return value;
        }
        let (c, at_c);
        if (value >= 0.0) == (at_a >= 0.0) {
            (c, at_c) = (a, at_a);
        } else {
            (c, at_c) = (b, at_b);
            (b, at_b) = (a, at_a);
        }
        (a, at_a) = (place, value);
        let (best, at_best) = if at_a.abs() < at_b.abs() {
            (a, at_a)
        } else {
            (b, at_b)
        };
        let width = (b - a).abs();
        let smallest = 0.5 * tolerance(best) / width;
        if at_best == 0.0 || smallest >= 0.5 {
            return best;
        }
        let (xi, phi) = ((a - b) / (c - b), (at_a - at_b) / (at_c - at_b));
        part = if phi * phi < xi && (1.0 - phi).powi(2) < 1.0 - xi {
            let first = at_a / (at_b - at_a) * at_c / (at_b - at_c);
            let second = (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b);
            first + second
        } else {
            0.5
        };
        part = part.clamp(smallest, 1.0 - smallest);
    }
}

/// The smallest count with `P(y) ≥ p`, searched from an initial guess.
fn least_count(p: f64, guess: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let reached = |count: f64| count >= 0.0 && cdf(count) >= p;
    let guess = guess.min(LARGEST_COUNT).floor();
    let (mut below, mut step) = (guess - 1.0, 1.0);
    let mut reaches = guess;
    if reached(guess) {
        while reached(below) {
            reaches = below;
            step *= 2.0;
            below = (below - step).max(-1.0);
        }
    } else {
        below = guess;
        reaches = guess + step;
        while !reached(reaches) {
            // Beyond this, counts are indistinguishable, and the search might not end.
            if reaches >= LARGEST_COUNT {
                return reaches;
            }
            below = reaches;
            step *= 2.0;
            reaches += step;
        }
    }
    while reaches - below > 1.0 {
        let middle = (0.5 * (below + reaches)).floor();
        if reached(middle) {
            reaches = middle;
        } else {
            below = middle;
        }
    }
    reaches
}
