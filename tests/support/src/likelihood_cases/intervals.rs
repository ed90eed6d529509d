//! Intervals of numbers.

use burn_gp_core::likelihoods::IntervalCensoredConfig;

use super::{Case, log_normal};
use crate::formulas::normal_cdf;

const NOISE: f64 = 0.7;

/// An exact number, a wide interval, one open above, one open below, and a narrow one.
const LIMITS: [f64; 10] = [
    0.4,
    0.4,
    -1.0,
    0.3,
    1.2,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.2,
    0.75,
    0.765_625,
];

pub fn intervals() -> Case {
    Case {
        name: "interval-censored",
        config: IntervalCensoredConfig {
            noise: NOISE,
            ..Default::default()
        }
        .into(),
        targets: LIMITS.to_vec(),
        impossible: vec![(0, 0.5), (0, 1000.0)],
        latents: 1,
        log_density: |y, f| log_density(y[0], y[1], f[0]),
        moments: |f| vec![(f[0], NOISE)],
        quadrature_error: 1e-8,
    }
}

fn log_density(lower: f64, upper: f64, f: f64) -> f64 {
    let below = |limit: f64| normal_cdf((limit - f) / NOISE.sqrt());
    match lower == upper {
        true => log_normal(lower - f, NOISE),
        false => (below(upper) - below(lower)).ln(),
    }
}
