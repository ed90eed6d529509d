//! Likelihoods of several functions over a grid, compared with fine quadrature along a line.

use std::f64::consts::PI;

use burn_gp_core::{
    likelihoods::{HeteroskedasticConfig, Likelihood, RobustMaxConfig},
    process::Marginals,
};

use crate::support::{
    formulas::log_normal_cdf,
    lines::{Line, log_sum_exp},
    numbers, platforms,
};

/// If the error is more than about eight standard deviations, the density has two modes, and the
/// search may find the smaller one.
const SMALLEST_LOG_DENSITY: f64 = -30.0;

/// The mean and standard deviation of the log noise, the standard deviation of the function, and
/// the target.
type Row = (f64, f64, f64, f64);

/// The reference integrates over the log noise.
#[test]
fn heteroskedastic_densities_over_the_grid() {
    let noise = 0.1;
    let mut rows = Vec::new();
    for mean in [-5.0, -1.0, 0.0, 2.0, 5.0] {
        for deviation in [0.03, 0.3, 1.0, 3.0] {
            for function in [1e-3, 0.01, 0.3, 1.0, 3.0] {
                rows.extend(
                    [0.0, 0.01, 0.3, 1.0, 3.0, 10.0, 100.0].map(|y| (mean, deviation, function, y)),
                );
            }
        }
    }
    let exact: Vec<f64> = rows
        .iter()
        .map(|&(mean, deviation, function, y): &Row| {
            let places = [y * y, function * function].map(|size| (size.max(1e-8) / noise).ln());
            let foci = places.map(|place| (place, 1.0)).to_vec();
            let logs = Line {
                mean,
                deviation,
                foci,
            }
            .nodes()
            .into_iter()
            .map(|(g, log_weight)| {
                let variance = function * function + noise * g.exp();
                log_weight - 0.5 * (y * y / variance + (2.0 * PI * variance).ln())
            });
            log_sum_exp(&logs.collect::<Vec<_>>())
        })
        .collect();
    for platform in platforms() {
        let column = |of: &dyn Fn(&Row) -> [f64; 2]| {
            let values: Vec<f64> = rows.iter().flat_map(of).collect();
            platform.tensor(&values, [rows.len(), 2])
        };
        let marginals = Marginals {
            mean: column(&|row| [0.0, row.0]),
            variance: column(&|row| [row.2 * row.2, row.1 * row.1]),
        };
        let targets: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let likelihood = HeteroskedasticConfig { noise }.init(platform.options());
        let targets = platform.tensor(&targets, [rows.len(), 1]);
        let found = numbers(likelihood.log_predictive_density(targets, marginals));
        let all = rows.iter().zip(found).zip(&exact);
        for ((row, found), exact) in all.filter(|(_, exact)| **exact > SMALLEST_LOG_DENSITY) {
            let allowed = 1e-3 + platform.tolerance(1e-5, 3e-5) * exact.abs();
            assert!(
                (found - exact).abs() <= allowed,
                "{row:?} on {platform}: {found}, expected {exact}"
            );
        }
    }
}

/// Probabilities of the largest function, for three functions whose standard deviations differ by a
/// factor of 100.
#[test]
fn robust_max_over_the_grid() {
    let deviations = [0.03, 0.3, 3.0];
    let mut rows: Vec<[(f64, f64); 3]> = Vec::new();
    for own in deviations {
        for other in deviations {
            for third in deviations {
                for means in [
                    [0.0, 0.0, 0.0],
                    [0.0, 0.5, -0.5],
                    [1.0, 0.9, -2.0],
                    [-1.0, 2.0, 1.9],
                ] {
                    rows.push([(means[0], own), (means[1], other), (means[2], third)]);
                }
            }
        }
    }
    let exact: Vec<f64> = (rows.iter())
        .flat_map(|row| {
            (0..3).map(|class| {
                let (mean, deviation) = row[class];
                let others = || {
                    (0..3)
                        .filter(|other| *other != class)
                        .map(|other| row[other])
                };
                let nodes = Line {
                    mean,
                    deviation,
                    foci: others().collect(),
                }
                .nodes();
                let below = |t: f64| -> f64 {
                    others()
                        .map(|(mean, deviation)| log_normal_cdf((t - mean) / deviation))
                        .sum()
                };
                nodes
                    .iter()
                    .map(|(t, log)| (log + below(*t)).exp())
                    .sum::<f64>()
            })
        })
        .collect();
    let config = RobustMaxConfig::new(3).with_fixed_epsilon(1e-3);
    let flat = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> { rows.iter().flatten().map(of).collect() };
    for platform in platforms() {
        let marginals = Marginals {
            mean: platform.tensor(&flat(|function| function.0), [rows.len(), 3]),
            variance: platform.tensor(&flat(|function| function.1 * function.1), [rows.len(), 3]),
        };
        let likelihood = config.init(platform.options());
        let found = numbers(likelihood.predict(marginals).mean);
        for (index, (found, largest)) in found.iter().zip(&exact).enumerate() {
            let expected = largest * (1.0 - 1e-3) + (1.0 - largest) * 0.5e-3;
            assert!(
                (found - expected).abs() <= 1e-3,
                "{:?}, class {} on {platform}: {found}, expected {expected}",
                rows[index / 3],
                index % 3
            );
        }
    }
}
