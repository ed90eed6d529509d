//! Scalar functions in plain Rust.

use std::f64::consts::PI;

pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

pub fn logistic(x: f64) -> f64 {
    (-softplus(-x)).exp()
}

/// `Φ(x)`
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / 2f64.sqrt())
}

/// `log Φ(x)`, by the continued fraction of the Mills ratio in the lower tail.
pub fn log_normal_cdf(x: f64) -> f64 {
    if x > -6.0 {
        return normal_cdf(x).ln();
    }
    let fraction = (1..60).rev().fold(-x, |tail, k| -x + f64::from(k) / tail);
    -0.5 * (x * x + (2.0 * PI).ln()) - fraction.ln()
}

/// The log density of an ordinal label with a probit link. Its class lies between two cut points.
pub fn ordinal(cuts: &[f64], y: f64, f: f64) -> f64 {
    let label = y as usize;
    let lower = if label == 0 {
        f64::NEG_INFINITY
    } else {
        cuts[label - 1] - f
    };
    let upper = cuts.get(label).map_or(f64::INFINITY, |cut| cut - f);
    // Moves both into the lower tail.
    let (low, high) = if lower + upper > 0.0 {
        (-upper, -lower)
    } else {
        (lower, upper)
    };
    let log_low = if low == f64::NEG_INFINITY {
        low
    } else {
        log_normal_cdf(low)
    };
    let log_high = if high == f64::INFINITY {
        0.0
    } else {
        log_normal_cdf(high)
    };
    log_high + (-(log_low - log_high).exp_m1()).ln()
}
