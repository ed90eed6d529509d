//! Zero variances, and functions with extreme values.

use burn_gp_core::{
    likelihoods::{
        Bernoulli, BernoulliLogit, CensoredConfig, Likelihood, LikelihoodConfig, OrdinalConfig,
        RobustMaxConfig, SoftmaxConfig,
    },
    process::Marginals,
};

use crate::support::{
    Platform, assert_close, assert_finite,
    likelihood_cases::{ROWS, registry},
    numbers, platforms,
};

/// A variance of zero is an ordinary value. Rounding can produce it, because posteriors clamp
/// variances at zero.
#[test]
fn a_variance_of_zero_gives_finite_values_and_gradients() {
    for case in registry() {
        let shape = [ROWS, case.latents];
        let (means, _) = case.moments_of_functions();
        let variances = [0.0, -1e-9].repeat(ROWS * case.latents);
        for platform in platforms() {
            let tracked = platform.autodiff();
            let likelihood = case.init(&tracked);
            let mean = tracked.tensor(&means, shape).require_grad();
            let variance = tracked
                .tensor(&variances[..means.len()], shape)
                .require_grad();
            let targets = tracked.tensor(&case.targets, [ROWS, case.columns()]);
            let marginals = Marginals {
                mean: mean.clone(),
                variance: variance.clone().clamp_min(0.0),
            };
            let what = format!("{} on {platform}", case.name);
            let expected = likelihood.log_density(targets.clone(), mean.clone().unsqueeze());
            let expected = numbers(expected);
            let tolerance = platform.tolerance(1e-9, 1e-5);
            // Its integrals run over the noise and omit a part of its tail.
            let tolerance = match case.name {
                "softmax" | "dirichlet" => 3e-5,
                _ => tolerance,
            };
            let value = likelihood.expected_log_density(targets.clone(), marginals.clone());
            let trained = match case.name {
                "dirichlet" => (0..ROWS)
                    .map(|row| {
                        let own = &means[row * case.latents..][..case.latents];
                        case.trained_density(case.row(row), own)
                    })
                    .collect(),
                _ => expected.clone(),
            };
            assert_close(&what, &numbers(value.clone()), &trained, tolerance);
            let density = likelihood.log_predictive_density(targets, marginals);
            assert_close(&what, &numbers(density.clone()), &expected, tolerance);
            let gradients = (value + density).sum().backward();
            for tensor in [mean, variance] {
                assert_finite(&what, &numbers(tensor.grad(&gradients).expect("gradient")));
            }
        }
    }
}

/// `(density, expected)` log densities of one target at a single function value.
fn at(platform: &Platform, likelihood: &dyn Likelihood, target: f64, mean: &[f64]) -> (f64, f64) {
    let marginals = Marginals {
        mean: platform.tensor(mean, [1, mean.len()]),
        variance: platform.tensor(&vec![1.0; mean.len()], [1, mean.len()]),
    };
    let target = platform.tensor(&[target], [1, 1]);
    let expected = likelihood.expected_log_density(target.clone(), marginals.clone());
    let density = likelihood.log_predictive_density(target, marginals);
    (numbers(density)[0], numbers(expected)[0])
}

/// If the function strongly favors the wrong label, the log density is large and negative, but
/// finite.
#[test]
fn labels_are_finite_far_on_the_wrong_side() {
    for platform in platforms() {
        let check = |name: &str, (density, expected): (f64, f64), range: core::ops::Range<f64>| {
            for value in [density, expected] {
                assert!(range.contains(&value), "{name} on {platform}: {value}");
            }
        };
        // Φ(−50/√2) and E[log Φ(−50 + z)]. The value of a logit is about −50.
        let probit = Bernoulli::default();
        check(
            "probit",
            at(&platform, &probit, 1.0, &[-50.0]),
            -1260.0..-600.0,
        );
        check(
            "probit",
            at(&platform, &probit, 0.0, &[50.0]),
            -1260.0..-600.0,
        );
        let logit = BernoulliLogit::default();
        check("logit", at(&platform, &logit, 1.0, &[-50.0]), -51.0..-48.0);
        let softmax = SoftmaxConfig::new(3).init(platform.options());
        check(
            "softmax",
            at(&platform, &softmax, 0.0, &[-50.0, 50.0, 0.0]),
            -101.0..-90.0,
        );
        // log(ε/2)
        let robust = RobustMaxConfig::new(3).init(platform.options());
        check(
            "robust-max",
            at(&platform, &robust, 0.0, &[-50.0, 50.0, 0.0]),
            -7.61..-7.6,
        );
        let ordinal = OrdinalConfig { classes: 4 }.init(platform.options());
        for (label, mean) in [(0.0, 50.0), (1.0, 50.0), (2.0, -50.0), (3.0, -50.0)] {
            check(
                "ordinal",
                at(&platform, &ordinal, label, &[mean]),
                -1330.0..-600.0,
            );
        }
    }
}

/// For counts far from the rate, the rate underflows or is huge, but the density is finite.
#[test]
fn counts_are_finite_far_from_the_rate() {
    for platform in platforms() {
        for config in [
            LikelihoodConfig::poisson(),
            burn_gp_core::likelihoods::NegativeBinomialConfig::default().into(),
        ] {
            let likelihood = config.init(platform.options());
            for (count, mean) in [(1000.0, -20.0), (0.0, 20.0)] {
                let (density, expected) = at(&platform, &*likelihood, count, &[mean]);
                let what = format!("{config:?} on {platform}");
                assert_finite(&what, &[density, expected]);
            }
        }
    }
}

/// A function ten thousand standard deviations of the noise from a limit, on either side: log densities, gradients and
/// moments keep their digits.
#[test]
fn censored_targets_far_from_the_limits() {
    let config = CensoredConfig {
        noise: 1e-4,
        lower: Some(-50.0),
        upper: Some(50.0),
        ..Default::default()
    };
    let log_root = 0.5 * (2.0 * std::f64::consts::PI).ln();
    for platform in platforms() {
        let tracked = platform.autodiff();
        let likelihood = config.init(tracked.options());
        let means = [-50.0, 50.0, 50.0, -50.0, 0.0, 0.0, -150.0, 150.0];
        let targets = [50.0, -50.0, 50.0, -50.0, 50.0, -50.0, 0.0, 0.0];
        let rows = means.len();
        let mean = tracked.tensor(&means, [rows, 1]).require_grad();
        let variance = tracked.tensor(&[1e-4; 8], [rows, 1]).require_grad();
        let marginals = Marginals {
            mean: mean.clone(),
            variance: variance.clone(),
        };
        let targets = tracked.tensor(&targets, [rows, 1]);
        let density = likelihood.log_predictive_density(targets.clone(), marginals.clone());
        let expected = likelihood.expected_log_density(targets, marginals.clone());
        // log Φ(−d/s) = −d²/(2s²) − log(d/s) − ½·log 2π, and E[log Φ] with the spread of the function.
        let tail = |distance: f64, variance: f64| {
            let ratio = distance / variance.sqrt();
            -0.5 * ratio * ratio - ratio.ln() - log_root
        };
        let normal = |distance: f64, variance: f64| {
            -0.5 * (distance * distance / variance + variance.ln()) - log_root
        };
        let half = 0.5f64.ln();
        let predictive = [100.0, 100.0, 0.0, 0.0, 50.0, 50.0, 150.0, 150.0].map(|distance| {
            if distance == 0.0 {
                half
            } else if distance == 150.0 {
                normal(distance, 2e-4)
            } else {
                tail(distance, 2e-4)
            }
        });
        let what = format!("{platform}");
        assert_close(
            &what,
            &numbers(density.clone()),
            &predictive,
            platform.tolerance(1e-9, 1e-5),
        );
        // E[(d + ε)²] = d² + σ_n² for a function at a distance d.
        let found = numbers(expected.clone());
        let exact = tail(100.0, 1e-4) - 0.5;
        let error = (found[0] - exact).abs() / exact.abs();
        assert!(
            error < platform.tolerance(1e-9, 1e-5),
            "{what}: {}, {exact}",
            found[0]
        );
        let gradients = (density + expected).sum().backward();
        for tensor in [&mean, &variance] {
            assert_finite(&what, &numbers(tensor.grad(&gradients).expect("gradient")));
        }
        // A function beyond a limit leaves the limit, and one between them the normal distribution.
        let predicted = likelihood.predict(Marginals {
            mean: tracked.tensor(&[-150.0, 150.0, 0.0, -50.0], [4, 1]),
            variance: tracked.tensor(&[1e-4; 4], [4, 1]),
        });
        let deviation = 2e-4f64.sqrt();
        let mean_of_half = -50.0 + deviation / (2.0 * std::f64::consts::PI).sqrt();
        let variance_of_half = 2e-4 * (0.5 - 0.5 / std::f64::consts::PI);
        assert_close(
            &what,
            &numbers(predicted.mean),
            &[-50.0, 50.0, 0.0, mean_of_half],
            platform.tolerance(1e-12, 1e-6),
        );
        assert_close(
            &what,
            &numbers(predicted.variance)
                .iter()
                .map(|own| own / 2e-4)
                .collect::<Vec<_>>(),
            &[0.0, 0.0, 1.0, variance_of_half / 2e-4],
            platform.tolerance(1e-9, 1e-4),
        );
    }
}
