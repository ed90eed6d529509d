//! Scalar functions in plain Rust.

use std::{cmp::Ordering, f64::consts::PI};

use burn_gp_core::{
    kernels::{ArcCosineConfig, ArcCosineOrder, GneitingConfig, RationalQuadraticConfig},
    ops::Stationary,
};

use libm::lgamma;

use super::stationary::profile_of_square;

pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

pub fn logistic(x: f64) -> f64 {
    (-softplus(-x)).exp()
}

/// `log n!/(y!·(n − y)!)`
fn log_choices(y: f64, n: f64) -> f64 {
    lgamma(n + 1.0) - lgamma(y + 1.0) - lgamma(n - y + 1.0)
}

/// The log probability of y successes among n trials with the log odds f.
pub fn log_binomial(y: f64, n: f64, f: f64) -> f64 {
    log_choices(y, n) - y * softplus(-f) - (n - y) * softplus(f)
}

/// The same if the probability is a beta variable with the mean `logistic(f)`, and ρ is the correlation of trials.
pub fn log_beta_binomial(y: f64, n: f64, f: f64, dispersion: f64) -> f64 {
    let precision = 1.0 / dispersion - 1.0;
    let (a, b) = (precision * logistic(f), precision * logistic(-f));
    let log_beta = |a: f64, b: f64| lgamma(a) + lgamma(b) - lgamma(a + b);
    log_choices(y, n) + log_beta(y + a, n - y + b) - log_beta(a, b)
}

/// The log probability of a count whose zeros have a probability of their own.
pub fn log_hurdle_poisson(y: f64, f: f64, zeros: f64) -> f64 {
    let rate = f.exp();
    match y == 0.0 {
        true => zeros.ln(),
        false => (-zeros).ln_1p() + y * f - rate - lgamma(y + 1.0) - (-(-rate).exp_m1()).ln(),
    }
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
    log_normal_between(lower, upper)
}

/// `log[Φ(upper) − Φ(lower)]`, for limits that may be infinite.
pub fn log_normal_between(lower: f64, upper: f64) -> f64 {
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

/// A damped oscillator with variance one at the phase θ.
pub fn oscillator_profile(quality: f64, theta: f64) -> f64 {
    let damping = 0.5 / quality;
    let decay = (-damping * theta).exp();
    let rate = (1.0 - damping * damping).abs().sqrt();
    decay
        * match damping.total_cmp(&1.0) {
            Ordering::Less => (rate * theta).cos() + damping / rate * (rate * theta).sin(),
            Ordering::Equal => 1.0 + theta,
            Ordering::Greater => (rate * theta).cosh() + damping / rate * (rate * theta).sinh(),
        }
}

/// An arc-cosine kernel.
/// It computes the angle from its tangent, with the part of `b̃` that is orthogonal to `ã`.
pub fn arc_cosine_formula(config: &ArcCosineConfig, a: &[f64], b: &[f64]) -> f64 {
    let extend = |x: &[f64]| {
        let weighted = x.iter().map(|x| config.weight_variance.sqrt() * x);
        weighted.chain([config.bias_variance.sqrt()]).collect()
    };
    let (a, b): (Vec<f64>, Vec<f64>) = (extend(a), extend(b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (norm_a, norm_b) = (dot(&a, &a).sqrt(), dot(&b, &b).sqrt());
    let along = dot(&a, &b) / norm_a.powi(2);
    let across: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - along * a).collect();
    let angle = dot(&across, &across).sqrt().atan2(along * norm_a);
    let (sine, cosine, rest) = (angle.sin(), angle.cos(), PI - angle);
    let scale = norm_a * norm_b;
    config.variance / PI
        * match config.order {
            ArcCosineOrder::Step => rest,
            ArcCosineOrder::Ramp => scale * (sine + rest * cosine),
            ArcCosineOrder::Quadratic => {
                scale.powi(2) * (3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine))
            }
        }
}

/// A rational quadratic kernel at a squared distance.
pub fn rational_profile(config: &RationalQuadraticConfig, square: f64) -> f64 {
    config.variance * (1.0 + square / (2.0 * config.shape)).powf(-config.shape)
}

/// The Matérn covariance of variance one, with `K_ν(z) = ∫ exp(−z·cosh t)·cosh(νt) dt` over positive t by the
/// trapezoidal rule with a small step.
pub fn matern_profile(smoothness: f64, square: f64) -> f64 {
    if square == 0.0 {
        return 1.0;
    }
    let z = (2.0 * smoothness * square).sqrt();
    let step = 0.02;
    let term = |index: i32| {
        let t = step * f64::from(index);
        let weight = if index == 0 { 0.5 } else { 1.0 };
        weight * (-z * t.cosh()).exp() * (smoothness * t).cosh()
    };
    let bessel = step * (0..2000).map(term).sum::<f64>();
    let logarithm = (1.0 - smoothness) * 2f64.ln() + smoothness * z.ln() - libm::lgamma(smoothness);
    logarithm.exp() * bessel
}

/// Gneiting's covariance of space and time: one lengthscale for all dimensions of space.
pub fn gneiting_formula(config: &GneitingConfig, a: &[f64], b: &[f64]) -> f64 {
    let dimensions = a.len();
    let time = config.dimension.unwrap_or(dimensions - 1);
    let space = (dimensions - 1) as f64;
    let lengthscale = config.lengthscale.unwrap_or(space.sqrt());
    let lag = (a[time] - b[time]).abs() / config.time_lengthscale;
    let psi = lag.powf(2.0 * config.time_smoothness) + 1.0;
    let square: f64 = (0..dimensions)
        .filter(|&dimension| dimension != time)
        .map(|dimension| ((a[dimension] - b[dimension]) / lengthscale).powi(2))
        .sum();
    let kind = match config.smoothness {
        0.5 => Stationary::Matern12,
        1.5 => Stationary::Matern32,
        _ => Stationary::Matern52,
    };
    let power = config.decay + 0.5 * config.interaction * space;
    let profile = profile_of_square(kind, square / psi.powf(config.interaction));
    config.variance * psi.powf(-power) * profile
}
