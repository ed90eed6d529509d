//! Numbers of successes among trials.

use burn_gp_core::likelihoods::{BetaBinomialConfig, LikelihoodConfig};

use super::Case;
use crate::formulas::{log_beta_binomial, log_binomial, logistic};

/// Successes and trials.
const SUCCESSES: [f64; 10] = [0.0, 4.0, 3.0, 7.0, 12.0, 12.0, 1.0, 1.0, 38.0, 100.0];

/// The dispersion of the beta-binomial case.
const DISPERSION: f64 = 0.2;

pub fn successes() -> Vec<Case> {
    let impossible = vec![
        (0, -1.0),
        (0, 0.5),
        (0, 1000.0),
        (1, 0.0),
        (1, -2.0),
        (1, 1.5),
    ];
    vec![
        Case {
            name: "binomial",
            config: LikelihoodConfig::binomial(),
            targets: SUCCESSES.to_vec(),
            impossible: impossible.clone(),
            latents: 1,
            log_density: |y, f| log_binomial(y[0], y[1], f[0]),
            moments: |f| vec![(logistic(f[0]), 0.0)],
            quadrature_error: 1e-6,
        },
        Case {
            name: "beta-binomial",
            config: BetaBinomialConfig {
                dispersion: DISPERSION,
            }
            .into(),
            targets: SUCCESSES.to_vec(),
            impossible,
            latents: 1,
            log_density: |y, f| log_beta_binomial(y[0], y[1], f[0], DISPERSION),
            moments: |f| {
                let mean = logistic(f[0]);
                vec![(mean, mean * (1.0 - mean) * DISPERSION)]
            },
            quadrature_error: 1e-6,
        },
    ]
}
