//! The accuracy of expectations over a grid of functions, parameters and targets, near and far,
//! narrow and wide. Every likelihood whose expectations have no closed form is compared with fine
//! quadrature in double precision, within 10⁻³.

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{LikelihoodConfig, StudentTConfig},
    process::Marginals,
};

use crate::{
    likelihoods::{
        grids::{Grid, grids},
        registration::variants,
    },
    support::{
        Platform,
        lines::{Line, log_sum_exp},
        numbers, platforms,
    },
};

/// The error bound. Large values have an additional tolerance: the rounding of their parts in
/// single precision, and the fifth digit of densities far below 10⁻⁴⁰ in double precision.
const BAR: f64 = 1e-3;

fn allowed(platform: &Platform, size: f64) -> f64 {
    BAR + platform.tolerance(1e-5, 3e-5) * size.abs()
}

/// Smaller densities are zero in single precision.
pub const SMALLEST_LOG_DENSITY: f64 = -100.0;

/// The results for a row.
#[derive(Clone, Copy, Debug)]
struct Found {
    expected: f64,
    slope_in_mean: f64,
    slope_in_variance: f64,
    predictive: f64,
    mean: f64,
    variance: f64,
}

/// Fine quadrature, with gradients by `E[z·g]/σ` and `½·E[(z² − 1)·g]/σ²`.
fn reference(grid: &Grid, (mean, deviation, target): (f64, f64, f64)) -> Found {
    let foci = (grid.foci)(target);
    let nodes = Line {
        mean,
        deviation,
        foci,
    }
    .nodes();
    let mut sums = [0.0; 5];
    let mut logs = Vec::with_capacity(nodes.len());
    for &(f, log_weight) in &nodes {
        let (weight, z) = (log_weight.exp(), (f - mean) / deviation);
        let log_density = (grid.log_density)(target, f);
        logs.push(log_density + log_weight);
        if weight < 1e-30 {
            continue;
        }
        let (own_mean, own_variance) = grid.moments.map_or((0.0, 0.0), |m| m(grid.parameter, f));
        let values = [
            log_density,
            log_density * z / deviation,
            log_density * 0.5 * (z * z - 1.0) / (deviation * deviation),
            own_mean,
            own_mean * own_mean + own_variance,
        ];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += weight * value;
        }
    }
    Found {
        expected: sums[0],
        slope_in_mean: sums[1],
        slope_in_variance: sums[2],
        predictive: log_sum_exp(&logs),
        mean: sums[3],
        variance: sums[4] - sums[3] * sums[3],
    }
}

/// The library's results for all rows at once.
fn found(grid: &Grid, platform: &Platform) -> Vec<Found> {
    let tracked = platform.autodiff();
    let likelihood = grid.config.init(tracked.options());
    let rows = grid.rows();
    let shape = [rows.len(), 1];
    let column = |of: &dyn Fn(&(f64, f64, f64)) -> f64| -> Tensor<2> {
        tracked.tensor(&rows.iter().map(of).collect::<Vec<_>>(), shape)
    };
    let mean = column(&|row| row.0).require_grad();
    let variance = column(&|row| row.1 * row.1).require_grad();
    let targets = match grid.second {
        None => column(&|row| row.2),
        Some(second) => Tensor::cat(vec![column(&|row| row.2), column(&|_| second)], 1),
    };
    let marginals = Marginals {
        mean: mean.clone(),
        variance: variance.clone(),
    };
    let expected = likelihood.expected_log_density(targets.clone(), marginals.clone());
    let gradients = expected.clone().sum().backward();
    let slope = |input: Tensor<2>| numbers(input.grad(&gradients).expect("a gradient"));
    let slopes = (slope(mean), slope(variance));
    let predictive = numbers(likelihood.log_predictive_density(targets, marginals.clone()));
    let predicted = likelihood.predict(marginals);
    let (means, variances) = (numbers(predicted.mean), numbers(predicted.variance));
    let expected = numbers(expected);
    (0..rows.len())
        .map(|row| Found {
            expected: expected[row],
            slope_in_mean: slopes.0[row],
            slope_in_variance: slopes.1[row],
            predictive: predictive[row],
            mean: means[row],
            variance: variances[row],
        })
        .collect()
}

/// Likelihoods with closed forms, and likelihoods of several functions, which `several_functions`
/// and `softmax` test.
const OTHERS: [&str; 6] = [
    "gaussian",
    "fixed-noise",
    "heteroskedastic",
    "softmax",
    "robust-max",
    "dirichlet",
];

#[test]
fn every_likelihood_has_a_grid() {
    let mut names: Vec<String> = OTHERS.iter().map(|name| (*name).to_owned()).collect();
    let platform = &platforms()[0];
    names.extend(grids().iter().map(|grid| {
        grid.config
            .init(platform.options())
            .description()
            .name
            .to_owned()
    }));
    names.sort();
    names.dedup();
    let mut variants = variants();
    variants.sort();
    assert_eq!(names, variants);
}

/// Collects all errors, so a failure shows all of them.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn check(&mut self, what: impl Fn() -> String, found: f64, expected: f64, allowed: f64) {
        // `!(<=)` instead of `>`, because NaN must fail.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !((found - expected).abs() <= allowed) {
            let what = what();
            self.0.push(format!(
                "{what}: {found}, expected {expected}, allowed {allowed:.1e}"
            ));
        }
    }
}

#[test]
fn expectations_over_the_grid() {
    let mut complaints = Complaints::default();
    for grid in grids() {
        let rows = grid.rows();
        let references: Vec<Found> = rows.iter().map(|row| reference(&grid, *row)).collect();
        for platform in platforms() {
            let found = found(&grid, &platform);
            for ((row, found), exact) in rows.iter().zip(found).zip(&references) {
                let mut check = |name: &str, found: f64, expected: f64, extra: f64| {
                    let what = || format!("{} on {platform}, {row:?}, {name}", grid.what);
                    complaints.check(what, found, expected, allowed(&platform, expected) + extra);
                };
                check("expected", found.expected, exact.expected, 0.0);
                if exact.predictive > SMALLEST_LOG_DENSITY {
                    check("predictive", found.predictive, exact.predictive, 0.0);
                }
                // Differences over a narrow Gaussian have rounding errors, and a gradient is
                // relative to a unit.
                let rounding = platform.tolerance(1e-9, 1e-6) * (1.0 + exact.expected.abs());
                let slope = exact.slope_in_mean;
                check(
                    "slope in mean",
                    found.slope_in_mean,
                    slope,
                    BAR * slope.abs() + rounding / row.1,
                );
                let slope = exact.slope_in_variance;
                let extra = BAR * slope.abs() + rounding / (row.1 * row.1);
                check("slope in variance", found.slope_in_variance, slope, extra);
                if grid.moments.is_some() {
                    check("mean", found.mean, exact.mean, 0.0);
                    check("variance", found.variance, exact.variance, 0.0);
                }
            }
        }
    }
    let count = complaints.0.len();
    assert!(count == 0, "{count} values:\n{}", complaints.0.join("\n"));
}

/// Cases with errors of up to 1.6 with 20 Gauss–Hermite nodes, to two digits.
#[test]
fn narrow_densities() {
    let student = |scale| {
        let config = StudentTConfig {
            scale,
            ..Default::default()
        };
        LikelihoodConfig::from(config)
    };
    let cases = [
        (student(0.05), 0.0, 1.0, 0.35, -0.98),
        (student(0.2), 0.0, 1.0, 0.0, -0.95),
        (LikelihoodConfig::poisson(), 2.0, 4.0, 7.0, -3.58),
    ];
    for platform in platforms() {
        for (config, mean, variance, target, expected) in &cases {
            let marginals = Marginals {
                mean: platform.tensor(&[*mean], [1, 1]),
                variance: platform.tensor(&[*variance], [1, 1]),
            };
            let target = platform.tensor(&[*target], [1, 1]);
            let likelihood = config.init(platform.options());
            let found = numbers(likelihood.log_predictive_density(target, marginals))[0];
            assert!(
                (found - expected).abs() < 6e-3,
                "{config:?} on {platform}: {found}"
            );
        }
    }
}
