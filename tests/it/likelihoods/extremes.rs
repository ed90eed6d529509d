//! Zero variances, and functions with extreme values.

use burn_gp_core::{
    likelihoods::{
        Bernoulli, BernoulliLogit, Likelihood, LikelihoodConfig, OrdinalConfig, RobustMaxConfig,
        SoftmaxConfig,
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
            let tolerance = if case.name == "softmax" {
                3e-5
            } else {
                tolerance
            };
            let value = likelihood.expected_log_density(targets.clone(), marginals.clone());
            assert_close(&what, &numbers(value.clone()), &expected, tolerance);
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
