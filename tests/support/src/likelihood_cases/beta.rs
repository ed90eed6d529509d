//! Fractions between zero and one.

use burn_gp_core::likelihoods::BetaConfig;
use libm::lgamma;

use super::Case;
use crate::formulas::logistic;

pub fn beta() -> Case {
    Case {
        name: "beta",
        config: BetaConfig { precision: 4.0 }.into(),
        targets: vec![0.1, 0.5, 0.97, 0.3, 0.02],
        impossible: vec![(0, 0.0), (0, 1.0), (0, -0.25)],
        latents: 1,
        log_density: |y, f| {
            let (a, b) = (4.0 * logistic(f[0]), 4.0 * logistic(-f[0]));
            lgamma(4.0) - lgamma(a) - lgamma(b)
                + (a - 1.0) * y[0].ln()
                + (b - 1.0) * (1.0 - y[0]).ln()
        },
        moments: |f| {
            let mean = logistic(f[0]);
            vec![(mean, mean * (1.0 - mean) / 5.0)]
        },
        quadrature_error: 1e-6,
    }
}
