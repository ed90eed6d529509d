//! Numbers of successes among few, some and many trials.

use burn_gp_core::likelihoods::{BetaBinomialConfig, LikelihoodConfig};

use super::Grid;
use crate::support::formulas::{log_beta_binomial, log_binomial, logistic};

/// Numbers of successes of these trials, from none to all.
fn counts(trials: f64) -> Vec<f64> {
    let mut counts = vec![
        0.0,
        1.0,
        (0.1 * trials).floor(),
        (0.5 * trials).floor(),
        trials - 1.0,
        trials,
    ];
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    counts
}

/// The log odds, and the distances over which densities of independent trials and of beta variables change.
fn foci(trials: f64, dispersion: f64) -> impl Fn(f64) -> Vec<(f64, f64)> {
    move |y| {
        let (success, failure) = (y.max(0.5), (trials - y).max(0.5));
        let log_odds = f64::ln(success / failure);
        let precision = 1.0 / dispersion.max(1e-6);
        vec![
            (log_odds, (1.0 / success + 1.0 / failure).sqrt()),
            (log_odds, 1.0),
            (0.0, 1.0),
            (-precision.ln(), 1.0),
            (precision.ln(), 1.0),
        ]
    }
}

pub fn successes() -> Vec<Grid> {
    let mut grids = Vec::new();
    for trials in [1.0, 5.0, 60.0, 1000.0] {
        let density = move |y: f64, f: f64| log_binomial(y, trials, f);
        let what = format!("binomial, {trials} trials");
        let config = LikelihoodConfig::binomial();
        let grid = Grid::new(what, config, &counts(trials), density, foci(trials, 0.0));
        let moments = |_: f64, f: f64| (logistic(f), 0.0);
        grids.push(grid.with_second(trials).with_moments(0.0, moments));
        for dispersion in [1e-4, 0.01, 0.1, 0.5, 0.9] {
            let density = move |y: f64, f: f64| log_beta_binomial(y, trials, f, dispersion);
            let what = format!("beta-binomial, {trials} trials, dispersion {dispersion}");
            let config = BetaBinomialConfig { dispersion };
            let own = foci(trials, dispersion);
            let grid = Grid::new(what, config, &counts(trials), density, own);
            let moments =
                |dispersion: f64, f: f64| (logistic(f), dispersion * logistic(f) * logistic(-f));
            grids.push(grid.with_second(trials).with_moments(dispersion, moments));
        }
    }
    grids
}
