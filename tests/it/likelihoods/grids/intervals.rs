//! Wide and narrow intervals, some of them without a limit.

use std::f64::consts::PI;

use burn_gp_core::likelihoods::IntervalCensoredConfig;

use super::Grid;
use crate::support::formulas::log_normal_between;

/// The log probability of an interval, or the log density of a point.
fn log_density(lower: f64, upper: f64, f: f64, noise: f64) -> f64 {
    let deviation = noise.sqrt();
    match lower == upper {
        true => -0.5 * ((lower - f).powi(2) / noise + (2.0 * PI * noise).ln()),
        false => log_normal_between((lower - f) / deviation, (upper - f) / deviation),
    }
}

pub fn intervals() -> Vec<Grid> {
    // Lower limits for each upper one.
    let limits = [
        (f64::INFINITY, vec![-1.0, 0.0, 3.0]),
        (
            1.0,
            vec![f64::NEG_INFINITY, -2.0, 0.0, 0.875, 0.9921875, 1.0],
        ),
    ];
    let mut grids = Vec::new();
    for noise in [1e-4, 0.09, 1.0, 100.0] {
        for (upper, lowers) in &limits {
            let upper = *upper;
            let what = format!("interval-censored below {upper}, noise {noise}");
            let config = IntervalCensoredConfig {
                noise,
                ..Default::default()
            };
            let density = move |lower: f64, f: f64| log_density(lower, upper, f, noise);
            let foci = move |lower: f64| {
                let finite = [lower, upper].into_iter().filter(|limit| limit.is_finite());
                finite.map(|limit| (limit, noise.sqrt())).collect()
            };
            grids.push(Grid::new(what, config, lowers, density, foci).with_second(upper));
        }
    }
    grids
}
