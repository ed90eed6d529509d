//! Intervals of numbers: narrow and wide, near and far, open on a side, and points, compared with dense integrals and
//! with the likelihoods that they generalize.

use std::f64::consts::{LN_2, PI};

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{
        AnyLikelihood, CensoredConfig, GaussianConfig, IntervalCensoredConfig, LikelihoodConfig,
        middle_of_interval,
    },
    process::Marginals,
};

use crate::support::{
    Platform, assert_close, assert_finite, double_precision_platforms,
    module_gradients::parameter_gradients, numbers, platforms,
};

/// The standard deviation of the noise.
const DEVIATION: f64 = 0.5;

fn init(platform: &Platform, noise: f64) -> AnyLikelihood {
    let config = IntervalCensoredConfig {
        noise,
        ..Default::default()
    };
    LikelihoodConfig::from(config).init(platform.options())
}

/// The log probability that a normal variable with mean f is between the limits, and the mean and variance of its
/// standardized value there, by Simpson's rule where its density is more than e^−800 of that at the nearest place.
fn truncated_normal((lower, upper, f): (f64, f64, f64)) -> (f64, f64, f64) {
    const PANELS: usize = 40_000;
    let (a, b) = ((lower - f) / DEVIATION, (upper - f) / DEVIATION);
    let nearest = 0f64.clamp(a, b);
    let reach = 800.0 / (nearest.abs() + 20.0);
    // Distances from the nearest place keep their digits in narrow intervals.
    let width = (upper - lower) / DEVIATION;
    let [first, last] = match (a > 0.0, b < 0.0) {
        (true, _) => [0.0, width],
        (_, true) => [-width, 0.0],
        _ => [a, b],
    };
    let (first, last) = (first.max(-reach), last.min(reach));
    let step = (last - first) / PANELS as f64;
    let mut sums = [0.0; 3];
    for panel in 0..=PANELS {
        let distance = first + panel as f64 * step;
        let weight = match panel {
            0 | PANELS => 1.0,
            _ if panel % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let density = weight * (-distance * (nearest + 0.5 * distance)).exp();
        for (power, sum) in sums.iter_mut().enumerate() {
            *sum += density * distance.powi(power as i32);
        }
    }
    let log = (sums[0] * step / 3.0).ln() - 0.5 * (nearest * nearest + (2.0 * PI).ln());
    let distance = sums[1] / sums[0];
    (
        log,
        nearest + distance,
        sums[2] / sums[0] - distance * distance,
    )
}

/// Lower and upper limits whose width is a power of two, and the functions that are some standard deviations from the
/// lower one.
fn places() -> Vec<(f64, f64, f64)> {
    let mut places = Vec::new();
    let distances = [
        -3000.0, -60.0, -9.0, -2.0, -0.3, 0.0, 0.1, 1.5, 8.0, 60.0, 3000.0,
    ];
    for width in [-20, -12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 4, 7].map(|power| 2f64.powi(power)) {
        places.extend(distances.map(|distance| (0.5, 0.5 + width, 0.5 + DEVIATION * distance)));
    }
    places.extend(distances.map(|distance| (0.5, f64::INFINITY, 0.5 + DEVIATION * distance)));
    places.extend(distances.map(|distance| (f64::NEG_INFINITY, 0.5, 0.5 + DEVIATION * distance)));
    places
}

/// Log densities and their slopes, `∂/∂f log p = E[y − f]/σ²` over the interval, row by row.
fn densities_and_slopes(platform: &Platform, places: &[(f64, f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let tracked = platform.autodiff();
    let likelihood = init(&tracked, DEVIATION * DEVIATION);
    let rows = places.len();
    let limits: Vec<f64> = places.iter().flat_map(|place| [place.0, place.1]).collect();
    let functions: Vec<f64> = places.iter().map(|place| place.2).collect();
    let targets = tracked.tensor(&limits, [rows, 2]);
    let function = (tracked.tensor(&functions, [1, rows, 1])).require_grad();
    let densities = likelihood.log_density(targets, function.clone());
    let gradients = densities.clone().sum().backward();
    let slopes = function.grad(&gradients).expect("a gradient");
    (numbers(densities), numbers(slopes))
}

/// The log density and its slope keep their digits for any width and distance. In single precision, the distance of the
/// function has a rounding error of up to 2⁻²⁴ of itself, which changes the log density by as much as that of its square,
/// and the slope by the curvature times the distance.
#[test]
fn densities_and_slopes_of_any_width_and_distance() {
    for platform in platforms() {
        let places = places();
        let (densities, slopes) = densities_and_slopes(&platform, &places);
        for ((place, density), slope) in places.iter().zip(densities).zip(slopes) {
            let (log, mean, _) = truncated_normal(*place);
            let what = format!("{place:?} on {platform}");
            let tolerance = platform.tolerance(1e-11, 4e-6);
            assert!(
                (density - log).abs() <= tolerance * (1.0 + log.abs()),
                "{what}: {density}, expected {log}"
            );
            let expected = mean / DEVIATION;
            // Slopes below one are those of a probability near one, or of a function near the middle.
            let tolerance = platform.tolerance(1e-9, 1e-4);
            assert!(
                (slope - expected).abs() <= tolerance * (1.0 + expected.abs()),
                "{what}: slope {slope}, expected {expected}"
            );
        }
    }
}

/// Differences of slopes, from which the Laplace approximation has its curvature: `(Var[y]/σ² − 1)/σ²` over the interval.
/// The step is that of the approximation; its error is of the order of the fourth power of the step.
#[test]
fn curvatures_of_any_width_and_distance() {
    const STEP: f64 = 5e-3 * DEVIATION;
    for platform in double_precision_platforms() {
        let places = places();
        let at = |shift: f64| {
            let moved: Vec<_> = (places.iter())
                .map(|&(lower, upper, f)| (lower, upper, f + shift * STEP))
                .collect();
            densities_and_slopes(&platform, &moved).1
        };
        let [far_below, below, above, far_above] = [-2.0, -1.0, 1.0, 2.0].map(at);
        for (row, place) in places.iter().enumerate() {
            let near = 8.0 * (above[row] - below[row]);
            let found = (near - far_above[row] + far_below[row]) / (12.0 * STEP);
            let (_, _, variance) = truncated_normal(*place);
            let expected = (variance - 1.0) / (DEVIATION * DEVIATION);
            // Slopes far away are large, and the difference has their rounding.
            let rounding = 1e-12 * above[row].abs() / STEP;
            assert!(
                (found - expected).abs() <= 1e-6 + rounding,
                "{place:?} on {platform}: {found}, expected {expected}"
            );
        }
    }
}

/// Marginals at some means, each with a variance of its own.
fn marginals(platform: &Platform, means: &[f64]) -> Marginals {
    let variances: Vec<f64> = (0..means.len()).map(|row| 0.2 + 0.3 * row as f64).collect();
    Marginals {
        mean: platform.tensor(means, [means.len(), 1]),
        variance: platform.tensor(&variances, [means.len(), 1]),
    }
}

/// The three densities of all rows.
fn all_densities(likelihood: &AnyLikelihood, targets: &Tensor<2>, m: &Marginals) -> [Vec<f64>; 3] {
    let function = m.mean.clone().unsqueeze::<3>();
    [
        numbers(likelihood.log_density(targets.clone(), function)),
        numbers(likelihood.expected_log_density(targets.clone(), m.clone())),
        numbers(likelihood.log_predictive_density(targets.clone(), m.clone())),
    ]
}

/// Rows that are censored at common limits, and rows between them, have the densities of the likelihood with common
/// limits, in the units of standardized targets, too.
#[test]
fn common_limits_are_those_of_censored_targets() {
    let means = [-2.0, -0.4, 0.1, 0.8, 1.7, 4.0];
    for platform in platforms() {
        for scale in [None, Some(3.0)] {
            let scales: Vec<f64> = scale.into_iter().collect();
            let standard = scale.unwrap_or(1.0);
            let censored = CensoredConfig {
                noise: 0.4,
                lower: Some(-0.5 * standard),
                upper: Some(1.5 * standard),
                shifts: vec![0.0; scales.len()],
                scales: scales.clone(),
            };
            let own = IntervalCensoredConfig { noise: 0.4, scales };
            let censored = LikelihoodConfig::from(censored).init(platform.options());
            let own = LikelihoodConfig::from(own).init(platform.options());
            let marginals = marginals(&platform, &means);
            let values = [-0.5, 1.5, 0.0, -0.5, 1.5, 0.7];
            let limits = values.map(|value| match value {
                -0.5 => [f64::NEG_INFINITY, -0.5],
                1.5 => [1.5, f64::INFINITY],
                _ => [value, value],
            });
            let values = platform.tensor(&values, [6, 1]);
            let limits = platform.tensor(limits.as_flattened(), [6, 2]);
            let expected = all_densities(&censored, &values, &marginals);
            let found = all_densities(&own, &limits, &marginals);
            for (found, expected) in found.iter().zip(&expected) {
                let tolerance = platform.tolerance(1e-12, 1e-5);
                assert_close(&format!("{platform}"), found, expected, tolerance);
            }
        }
    }
}

/// Points have the densities and predictions of the Gaussian likelihood.
#[test]
fn points_are_gaussian_targets() {
    let means = [-2.0, -0.4, 0.1, 0.8, 1.7, 40.0];
    for platform in platforms() {
        let gaussian = LikelihoodConfig::from(GaussianConfig { noise: 0.3 });
        let gaussian = gaussian.init(platform.options());
        let own = init(&platform, 0.3);
        let marginals = marginals(&platform, &means);
        let values = [0.0, 1.0, -3.0, 0.1, 2.0, 7.0];
        let limits = values.map(|value| [value, value]);
        let values = platform.tensor(&values, [6, 1]);
        let limits = platform.tensor(limits.as_flattened(), [6, 2]);
        let expected = all_densities(&gaussian, &values, &marginals);
        let found = all_densities(&own, &limits, &marginals);
        let what = format!("{platform}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_close(&what, found, expected, platform.tolerance(1e-13, 1e-6));
        }
        let [own, gaussian] = [own, gaussian].map(|likelihood| {
            let predicted = likelihood.predict(marginals.clone());
            let distribution = likelihood.predictive_distribution(std::slice::from_ref(&marginals));
            let median = distribution.expect("quantiles").quantile(0.3);
            [numbers(predicted.mean), numbers(predicted.variance), median].concat()
        });
        assert_eq!(own, gaussian, "{what}");
    }
}

/// An interval and its complements cover the whole line, for the function and for its marginals.
#[test]
fn probabilities_add_up_to_one() {
    for platform in platforms() {
        let likelihood = init(&platform, 0.3);
        let ends = [
            f64::NEG_INFINITY,
            -2.0,
            -0.5,
            -0.4375,
            0.0,
            3.0,
            f64::INFINITY,
        ];
        let limits: Vec<f64> = ends.windows(2).flatten().copied().collect();
        let rows = limits.len() / 2;
        let targets = platform.tensor(&limits, [rows, 2]);
        let marginals = Marginals {
            mean: Tensor::full([rows, 1], 0.2, platform.options()),
            variance: Tensor::full([rows, 1], 0.9, platform.options()),
        };
        let [given, _, predictive] = all_densities(&likelihood, &targets, &marginals);
        for densities in [given, predictive] {
            let total: f64 = densities.iter().map(|log| log.exp()).sum();
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert!((total - 1.0).abs() < tolerance, "{platform}: {total}");
        }
    }
}

/// Values and gradients in the marginals and the noise are finite where the function is far outside, with and without
/// limits.
#[test]
fn values_and_gradients_are_finite_far_outside() {
    let limits = [
        [0.0, 0.0],
        [0.0, 1e-3],
        [0.0, 1.0],
        [0.0, f64::INFINITY],
        [f64::NEG_INFINITY, 0.0],
    ];
    for platform in platforms() {
        let tracked = platform.autodiff();
        for (mean, variance) in [(-300.0, 1e-6), (300.0, 1e-6), (-300.0, 900.0), (0.0, 1e4)] {
            for noise in [1e-4, 1.0, 1e4] {
                let likelihood = init(&tracked, noise);
                let targets = tracked.tensor(limits.as_flattened(), [5, 2]);
                let full = |value: f64| tracked.tensor(&[value; 5], [5, 1]).require_grad();
                let marginals = Marginals {
                    mean: full(mean),
                    variance: full(variance),
                };
                let function = marginals.mean.clone().unsqueeze::<3>();
                let given = likelihood.log_density(targets.clone(), function);
                let expected = likelihood.expected_log_density(targets.clone(), marginals.clone());
                let predictive = likelihood.log_predictive_density(targets, marginals.clone());
                let what = format!("{mean}, {variance}, noise {noise} on {platform}");
                let all = [numbers(given.clone()), numbers(expected.clone())].concat();
                assert_finite(&what, &all);
                assert_finite(&what, &numbers(predictive.clone()));
                let gradients = (given.sum() + (expected + predictive).sum()).backward();
                for input in [marginals.mean, marginals.variance] {
                    assert_finite(&what, &numbers(input.grad(&gradients).expect("gradient")));
                }
                let slopes = parameter_gradients(&likelihood, &gradients).concat();
                assert_finite(&what, &slopes);
            }
        }
    }
}

/// An interval of the width of one unit in the last place of single precision has its probability, and one that single
/// precision does not resolve is a point.
#[test]
fn intervals_at_the_limit_of_single_precision() {
    let next = 1.0 + f64::from(f32::EPSILON);
    for platform in platforms() {
        let likelihood = init(&platform, 1.0);
        let zero = platform.tensor(&[1.0, 1.0], [1, 2, 1]);
        let targets = platform.tensor(&[1.0, next, 1.0, 1.0 + 1e-9], [2, 2]);
        let found = numbers(likelihood.log_density(targets, zero));
        let density = -0.5 * (2.0 * PI).ln();
        let width = match platform.is_double() {
            true => 1e-9f64.ln(),
            false => 0.0,
        };
        let expected = [density - 23.0 * LN_2, density + width];
        let tolerance = platform.tolerance(1e-7, 1e-6);
        assert_close(&format!("{platform}"), &found, &expected, tolerance);
    }
}

/// Reversed and empty limits, with two outputs: both lower limits, then both upper ones.
#[test]
fn reversed_limits_are_impossible() {
    let platform = &platforms()[0];
    let description = init(platform, 1.0).description();
    let check = |row: [f64; 4]| description.check_targets(&row, 4);
    assert_eq!(check([0.0, f64::NEG_INFINITY, 1.0, 2.0]), Ok(()));
    assert_eq!(check([0.0, 3.0, 0.0, f64::INFINITY]), Ok(()));
    for (row, column) in [
        ([0.0, 3.0, 1.0, 2.0], 1),
        ([0.0, f64::NEG_INFINITY, 1.0, f64::INFINITY], 1),
        ([f64::INFINITY, 0.0, f64::INFINITY, 1.0], 0),
        ([0.0, 0.0, 1.0, f64::NEG_INFINITY], 3),
        ([0.0, f64::NAN, 1.0, 2.0], 1),
    ] {
        let error = check(row).expect_err("impossible");
        assert_eq!(error.column, column, "{row:?}");
    }
    let error = check([1.5, 0.0, 1.0, 2.0])
        .expect_err("reversed")
        .to_string();
    let expected = "target 1.5 in row 0, column 0 is not possible under the interval-censored likelihood, which takes a \
                    lower limit and an upper limit that is not below it, one of which may be infinite";
    assert_eq!(error, expected);
}

#[test]
fn middles_of_intervals() {
    assert_eq!(middle_of_interval(1.0, 4.0), 2.5);
    assert_eq!(middle_of_interval(-7.0, -7.0), -7.0);
    assert_eq!(middle_of_interval(1.0, f64::INFINITY), 1.0);
    assert_eq!(middle_of_interval(f64::NEG_INFINITY, 3.0), 3.0);
}
