//! Densities, moments and their expectations, compared with naive formulas.

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{Likelihood, Quadrature, RobustMaxConfig},
    process::Marginals,
};

use crate::support::{
    Platform, Random, assert_close,
    comparison::assert_within,
    double_precision_platforms, first_platform,
    formulas::normal_cdf,
    integrals::{by_monte_carlo, on_grid},
    likelihood_cases::{Case, ROWS, registry},
    numbers, platforms,
};

/// The number of draws of a Monte Carlo estimate: more if one draw is cheap.
fn draws(case: &Case) -> usize {
    if case.name.starts_with("bernoulli") {
        1_000_000
    } else {
        100_000
    }
}

/// `log p(y | f)` and the moments of `y` for given functions.
#[test]
fn densities_and_moments_given_the_functions() {
    let samples = 3;
    for case in registry() {
        let count = samples * ROWS * case.latents;
        let values = Random::new(193).uniforms(count, -2.0, 2.0);
        let each = || values.chunks(case.latents).enumerate();
        let density: Vec<f64> = each()
            .map(|(index, f)| (case.log_density)(case.row(index % ROWS), f))
            .collect();
        let moments: Vec<(f64, f64)> = each().flat_map(|(_, f)| (case.moments)(f)).collect();
        let (means, variances): (Vec<f64>, Vec<f64>) = moments.into_iter().unzip();
        for platform in platforms() {
            let likelihood = case.init(&platform);
            assert_eq!(likelihood.description().latents, case.latents);
            let function = platform.tensor(&values, [samples, ROWS, case.latents]);
            let targets = platform.tensor(&case.targets, [ROWS, case.columns()]);
            let what = format!("{} on {platform}", case.name);
            let tolerance = platform.tolerance(1e-12, 1e-5);
            let found = likelihood.log_density(targets, function.clone());
            assert_eq!(found.dims(), [samples, ROWS, 1], "{what}");
            assert_close(&what, &numbers(found), &density, tolerance);
            let (mean, variance) = likelihood.conditional_moments(function);
            assert_close(&what, &numbers(mean), &means, tolerance);
            assert_close(&what, &numbers(variance), &variances, tolerance);
        }
    }
}

/// The quantities that a likelihood computes from the moments of its functions.
#[derive(Default)]
struct Expectations {
    expected_log_density: Vec<f64>,
    predictive_density: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    probabilities: Vec<f64>,
}

fn expectations(likelihood: &dyn Likelihood, targets: Tensor<2>, m: Marginals) -> Expectations {
    let density = likelihood.log_predictive_density(targets.clone(), m.clone());
    let Marginals { mean, variance } = likelihood.predict(m.clone());
    Expectations {
        expected_log_density: numbers(likelihood.expected_log_density(targets, m.clone())),
        predictive_density: numbers(density).iter().map(|log| log.exp()).collect(),
        mean: numbers(mean),
        variance: numbers(variance),
        probabilities: (likelihood.class_probabilities(m)).map_or(Vec::new(), numbers),
    }
}

/// The integrands of one row: the log density, the density, then the mean and second moment of each
/// component of the target, then the density of every label.
fn integrands(case: &Case, row: usize, classes: usize, f: &[f64]) -> Vec<f64> {
    let targets = case.row(row);
    let density = (case.log_density)(targets, f).exp();
    let mut values = vec![case.trained_density(targets, f), density];
    for (mean, variance) in (case.moments)(f) {
        values.extend([mean, mean * mean + variance]);
    }
    values.extend((0..classes).map(|label| (case.log_density)(&[label as f64], f).exp()));
    values
}

/// All quantities from the integrals of the integrands, row by row.
fn collect(integrals: &[Vec<f64>], classes: usize) -> Expectations {
    let mut all = Expectations::default();
    for row in integrals {
        let (densities, rest) = row.split_at(2);
        let (moments, labels) = rest.split_at(rest.len() - classes);
        all.expected_log_density.push(densities[0]);
        all.predictive_density.push(densities[1]);
        for moment in moments.chunks(2) {
            all.mean.push(moment[0]);
            all.variance.push(moment[1] - moment[0] * moment[0]);
        }
        all.probabilities.extend(labels);
    }
    all
}

fn dense(case: &Case, classes: usize) -> Expectations {
    let (means, variances) = case.moments_of_functions();
    let latents = case.latents;
    let rows = (0..ROWS).map(|row| {
        let own = row * latents..(row + 1) * latents;
        on_grid(&means[own.clone()], &variances[own], &|f| {
            integrands(case, row, classes, f)
        })
    });
    collect(&rows.collect::<Vec<_>>(), classes)
}

fn assert_expectations(what: &str, found: &Expectations, expected: &Expectations, tolerance: f64) {
    let pairs = [
        (
            "expected",
            &found.expected_log_density,
            &expected.expected_log_density,
        ),
        (
            "predictive",
            &found.predictive_density,
            &expected.predictive_density,
        ),
        ("mean", &found.mean, &expected.mean),
        ("variance", &found.variance, &expected.variance),
        (
            "probabilities",
            &found.probabilities,
            &expected.probabilities,
        ),
    ];
    for (name, found, expected) in pairs {
        assert_close(&format!("{what}, {name}"), found, expected, tolerance);
    }
}

/// All closed forms and quadratures, compared with dense quadrature of the naive formulas. The
/// robust arg max is not smooth, so a test below uses its integral in one dimension.
#[test]
fn expectations_agree_with_dense_quadrature() {
    for case in registry().into_iter().filter(Case::is_smooth) {
        let classes = case
            .init(&platforms()[0])
            .description()
            .classes
            .unwrap_or(0);
        let expected = dense(&case, classes);
        for platform in platforms() {
            let likelihood = case.init(&platform);
            let targets = platform.tensor(&case.targets, [ROWS, case.columns()]);
            let found = expectations(&*likelihood, targets, case.marginals(&platform));
            let what = format!("{} on {platform}", case.name);
            let tolerance = case.quadrature_error.max(platform.tolerance(0.0, 1e-5));
            assert_expectations(&what, &found, &expected, tolerance);
        }
    }
}

/// All results lie within four standard errors of Monte Carlo estimates.
#[test]
fn expectations_agree_with_monte_carlo() {
    let Some(platform) = &first_platform() else {
        return;
    };
    for case in registry() {
        let mut random = Random::new(197);
        let classes = case.init(platform).description().classes.unwrap_or(0);
        let (means, variances) = case.moments_of_functions();
        let estimates: Vec<Vec<(f64, f64)>> = (0..ROWS)
            .map(|row| {
                let own = row * case.latents..(row + 1) * case.latents;
                let (means, variances) = (&means[own.clone()], &variances[own]);
                by_monte_carlo(&mut random, draws(&case), means, variances, &|f| {
                    integrands(&case, row, classes, f)
                })
            })
            .collect();
        let likelihood = case.init(platform);
        let targets = platform.tensor(&case.targets, [ROWS, case.columns()]);
        let found = expectations(&*likelihood, targets, case.marginals(platform));
        for (row, estimates) in estimates.iter().enumerate() {
            let described = found.mean.len() / ROWS;
            let mut values = vec![
                found.expected_log_density[row],
                found.predictive_density[row],
            ];
            for index in row * described..(row + 1) * described {
                let (mean, variance) = (found.mean[index], found.variance[index]);
                values.extend([mean, variance + mean * mean]);
            }
            values.extend_from_slice(&found.probabilities[row * classes..(row + 1) * classes]);
            assert_eq!(values.len(), estimates.len());
            for (index, (value, (estimate, error))) in values.iter().zip(estimates).enumerate() {
                // The quadrature error of the likelihood, if any, is added.
                let allowed = 4.0 * error + case.quadrature_error * (1.0 + estimate.abs());
                assert!(
                    (value - estimate).abs() <= allowed,
                    "{} on {platform}, row {row}, number {index}: {value}, Monte Carlo \
                     {estimate} ± {error}",
                    case.name
                );
            }
        }
    }
}

/// The probability that a function is the largest, `E_t[Π_j Φ((t − μ_j)/σ_j)]`, by dense quadrature
/// in one dimension. The error of the nodes is below 10⁻³, and the probabilities of all classes sum
/// to one.
#[test]
fn robust_max_agrees_with_its_integral() {
    let classes = 10;
    let mut random = Random::new(199);
    let (means, variances) = (
        random.normals(ROWS * classes),
        random.uniforms(ROWS * classes, 0.2, 1.8),
    );
    let config = RobustMaxConfig::new(classes);
    let expected: Vec<f64> = (0..ROWS * classes)
        .map(|index| {
            let (row, class) = (index / classes, index % classes);
            let own = row * classes..(row + 1) * classes;
            let (means, variances) = (&means[own.clone()], &variances[own]);
            let largest = on_grid(&means[class..=class], &variances[class..=class], &|t| {
                let others = (0..classes).filter(|&other| other != class);
                vec![
                    others
                        .map(|other| normal_cdf((t[0] - means[other]) / variances[other].sqrt()))
                        .product(),
                ]
            })[0];
            largest * (1.0 - config.epsilon) + (1.0 - largest) * config.epsilon / 9.0
        })
        .collect();
    for platform in platforms() {
        let marginals = Marginals {
            mean: platform.tensor(&means, [ROWS, classes]),
            variance: platform.tensor(&variances, [ROWS, classes]),
        };
        let found = numbers(
            config
                .init(platform.options())
                .predict(marginals.clone())
                .mean,
        );
        let what = format!("probabilities on {platform}");
        // The tolerance is relative to the largest probability, one half.
        assert_close(&what, &found, &expected, 2e-3);
        for row in found.chunks(classes) {
            let sum: f64 = row.iter().sum();
            assert!((sum - 1.0).abs() < 2e-3, "{what} add up to {sum}");
        }
        // The log density of a label is the logarithm of its probability.
        let labels = platform.tensor(&[3.0; ROWS], [ROWS, 1]);
        let likelihood = config.init(platform.options());
        let density = likelihood.log_predictive_density(labels, marginals);
        let own: Vec<f64> = found
            .iter()
            .skip(3)
            .step_by(classes)
            .map(|p| p.ln())
            .collect();
        assert_close(
            &what,
            &numbers(density),
            &own,
            platform.tolerance(1e-12, 1e-5),
        );
    }
}

/// The probability that each function is the largest, from the label probabilities, `[N·C]`.
fn largest(
    config: &RobustMaxConfig,
    platform: &Platform,
    (means, variances): (&[f64], &[f64]),
) -> Vec<f64> {
    let (classes, epsilon) = (config.classes, config.epsilon);
    let shape = [means.len() / classes, classes];
    let predicted = config.init(platform.options()).predict(Marginals {
        mean: platform.tensor(means, shape),
        variance: platform.tensor(variances, shape),
    });
    let other = epsilon / (classes - 1) as f64;
    let invert = |label: f64| (label - other) / (1.0 - epsilon - other);
    numbers(predicted.mean).into_iter().map(invert).collect()
}

/// Functions with equal marginals have equal probabilities to be the largest, for any number of
/// them.
#[test]
fn equal_functions_are_equally_likely_the_largest() {
    for platform in platforms() {
        for classes in 2..=20 {
            let config = RobustMaxConfig::new(classes);
            let (means, variances) = (vec![0.4; classes], vec![0.7; classes]);
            let found = largest(&config, &platform, (&means, &variances));
            let expected = vec![1.0 / classes as f64; classes];
            let what = format!("{classes} classes on {platform}");
            assert_within(&what, &found, &expected, 1e-4);
        }
    }
}

/// The probabilities of all functions sum to one if 100 nodes suffice for the integrals and the
/// standard deviations differ by up to a factor of three.
#[test]
fn the_largest_function_is_one_of_all() {
    let mut random = Random::new(211);
    for platform in platforms() {
        for classes in [3, 10] {
            let config = RobustMaxConfig {
                nodes: 100,
                ..RobustMaxConfig::new(classes)
            };
            let means = random.normals(ROWS * classes);
            let variances = random.uniforms(ROWS * classes, 0.2, 1.8);
            let found = largest(&config, &platform, (&means, &variances));
            for row in found.chunks(classes) {
                let what = format!("{classes} classes on {platform}");
                assert_within(&what, &[row.iter().sum()], &[1.0], 1e-5);
            }
        }
    }
}

/// Probabilities and an expected log density from an independent integration.
#[test]
fn robust_max_has_the_golden_values() {
    const LARGEST: [f64; 3] = [0.30735389810, 0.11579679701, 0.57684930489];
    let (means, variances) = ([0.2, -0.1, 0.5], [0.3, 0.2, 0.4]);
    for platform in platforms() {
        for (nodes, tolerance) in [(20, 1e-5), (100, platform.tolerance(1e-9, 1e-5))] {
            let config = RobustMaxConfig {
                nodes,
                ..RobustMaxConfig::new(3)
            };
            let what = format!("{nodes} nodes on {platform}");
            let found = largest(&config, &platform, (&means, &variances));
            assert_within(&what, &found, &LARGEST, tolerance);
            let marginals = Marginals {
                mean: platform.tensor(&means, [1, 3]),
                variance: platform.tensor(&variances, [1, 3]),
            };
            let label = platform.tensor(&[2.0], [1, 1]);
            let expected = config
                .init(platform.options())
                .expected_log_density(label, marginals);
            // The log densities of the labels differ by seven, and the error by the same factor.
            assert_within(
                &what,
                &numbers(expected),
                &[-3.21690429713],
                7.0 * tolerance,
            );
        }
    }
}

/// Twenty nodes give the expected log density of the Gaussian exactly, because it is a polynomial
/// in f.
#[test]
fn quadrature_gives_the_closed_form_of_the_gaussian() {
    let case = &registry()[0];
    for platform in double_precision_platforms() {
        let likelihood = case.init(&platform);
        let targets = platform.tensor(&case.targets, [ROWS, 1]);
        let marginals = case.marginals(&platform);
        let closed = likelihood.expected_log_density(targets.clone(), marginals.clone());
        let expected = Quadrature::gauss_hermite(20, 1).expectation(marginals, |function| {
            likelihood.log_density(targets, function)
        });
        let what = format!("{platform}");
        assert_close(&what, &numbers(closed), &numbers(expected), 1e-10);
    }
}
