//! Counts above zero, and zeros with a probability of their own.

use burn_gp_core::likelihoods::HurdlePoissonConfig;

use super::{COUNTS, Case};
use crate::formulas::log_hurdle_poisson;

pub fn hurdle() -> Case {
    Case {
        name: "hurdle-poisson",
        config: HurdlePoissonConfig { zeros: 0.25 }.into(),
        targets: COUNTS.to_vec(),
        impossible: vec![(0, -1.0), (0, 0.5)],
        latents: 1,
        log_density: |y, f| log_hurdle_poisson(y[0], f[0], 0.25),
        moments: |f| {
            let rate = f[0].exp();
            let above = rate / -(-rate).exp_m1();
            let (mean, square) = (0.75 * above, 0.75 * above * (1.0 + rate));
            vec![(mean, square - mean * mean)]
        },
        quadrature_error: 1e-6,
    }
}
