//! Counts above zero, and zeros with a probability of their own.

use burn_gp_core::likelihoods::HurdlePoissonConfig;

use super::{COUNTS, Grid};
use crate::support::formulas::log_hurdle_poisson;

/// The mean and variance of a count. `1 + λ − m` is `1 − λ/(e^λ − 1)` with the mean m of counts above zero.
fn moments(zeros: f64, f: f64) -> (f64, f64) {
    let rate = f.exp();
    let above = rate / -(-rate).exp_m1();
    let spread = above * (1.0 - rate / rate.exp_m1());
    let mean = (1.0 - zeros) * above;
    (mean, (1.0 - zeros) * spread + zeros * mean * above)
}

pub fn hurdle() -> Vec<Grid> {
    let of = |zeros: f64| {
        let density = move |y: f64, f: f64| log_hurdle_poisson(y, f, zeros);
        let foci = |y: f64| {
            let y = y.max(1.0);
            vec![(y.ln(), 1.0), (y.ln(), y.powf(-0.5)), (0.0, 1.0)]
        };
        let config = HurdlePoissonConfig { zeros };
        let what = format!("hurdle-poisson, zeros {zeros}");
        Grid::new(what, config, &COUNTS, density, foci)
    };
    let zeros = [0.001, 0.3, 0.99];
    // Means and variances of wider functions are those of rates far in their tails, which have closed forms.
    let with_moments = zeros.map(|zeros| {
        let grid = of(zeros).with_functions(&[-5.0, -1.0, 0.0, 2.0], &[0.03, 0.3, 1.0]);
        grid.with_moments(zeros, moments)
    });
    zeros.map(of).into_iter().chain(with_moments).collect()
}
