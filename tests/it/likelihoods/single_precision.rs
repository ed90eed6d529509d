//! Accuracy in single precision where textbook formulas would lose digits.

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{
        BetaConfig, GammaConfig, LikelihoodConfig, NegativeBinomialConfig, StudentTConfig,
        TweedieConfig,
    },
    process::Marginals,
};
use libm::lgamma;

use crate::support::{Platform, numbers, platforms};

fn marginals(platform: &Platform, mean: f64, variance: f64) -> Marginals {
    Marginals {
        mean: platform.tensor(&[mean], [1, 1]),
        variance: platform.tensor(&[variance], [1, 1]),
    }
}

/// `log p(y | f)`.
fn density(platform: &Platform, config: &LikelihoodConfig, y: f64, f: f64) -> f64 {
    let targets = platform.tensor(&[y], [1, 1]);
    let function: Tensor<3> = platform.tensor(&[f], [1, 1, 1]);
    numbers(
        config
            .init(platform.options())
            .log_density(targets, function),
    )[0]
}

/// `Var[y] = m + m²·(e^v − 1)` and similar formulas, where the second moment of the rate overflows
/// single precision, and where `e^v` rounds to one.
#[test]
fn variances_of_large_and_of_certain_means() {
    let cases: [(LikelihoodConfig, f64, f64); 4] = [
        (LikelihoodConfig::poisson(), 1.0, 0.0),
        (LikelihoodConfig::exponential(), 0.0, 1.0),
        (GammaConfig { shape: 4.0 }.into(), 0.0, 0.25),
        (NegativeBinomialConfig { dispersion: 0.5 }.into(), 1.0, 0.5),
    ];
    // A mean of exp 43 has a square of exp 86, near the largest number. The square of exp 44.4
    // overflows.
    let functions = [
        (43.0, 0.25),
        (30.0, 1e-9),
        (2.0, 1e-10),
        (0.0, 0.5),
        (44.4, 1e-30),
    ];
    for platform in platforms() {
        for (config, linear, square) in &cases {
            for (mean, variance) in functions {
                if mean > 44.0 && *square > 0.0 {
                    continue;
                }
                let likelihood = config.init(platform.options());
                let found = likelihood.predict(marginals(&platform, mean, variance));
                let rate = f64::exp(mean + 0.5 * variance);
                let growth = variance.exp_m1();
                let expected = linear * rate + rate * rate * (growth + square * (growth + 1.0));
                let found = numbers(found.variance)[0];
                assert!(
                    (found / expected - 1.0).abs() < platform.tolerance(1e-9, 2e-5),
                    "{config:?} on {platform} at {mean}, {variance}: {found}, expected {expected}"
                );
            }
        }
    }
}

/// Differences of large log-gammas, which would have an absolute error of up to one.
#[test]
fn densities_of_large_parameters() {
    for platform in platforms() {
        let check = |what: &str, found: f64, expected: f64| {
            let allowed = platform.tolerance(1e-8, 1e-3) * (1.0 + 0.01 * expected.abs());
            assert!(
                (found - expected).abs() < allowed,
                "{what} on {platform}: {found}, expected {expected}"
            );
        };
        let single = |value: f64| platform.rounded(&[value])[0];
        for (y, f) in [(0.0, 1.0), (3.0, 1.5), (40.0, 3.5), (1000.0, 6.9)] {
            let f = single(f);
            let poisson = y * f - f.exp() - lgamma(y + 1.0);
            check(
                "poisson",
                density(&platform, &LikelihoodConfig::poisson(), y, f),
                poisson,
            );
            let size = 5e5;
            let config = NegativeBinomialConfig {
                dispersion: 1.0 / size,
            }
            .into();
            let expected =
                lgamma(y + size) - lgamma(size) - lgamma(y + 1.0) - size * (f.exp() / size).ln_1p()
                    + y * (f - (size + f.exp()).ln());
            let found = density(&platform, &config, y, f);
            check("negative-binomial", found, expected);
        }
        for shape in [10.0f64, 1e4, 1e6] {
            let (y, f) = (single(2.0), single(0.7));
            let expected = {
                let d = y.ln() - f;
                let constant = lgamma(shape) - shape * f64::ln(shape) + shape;
                -shape * (d.exp_m1() - d) - y.ln() - constant
            };
            let config = GammaConfig { shape }.into();
            check("gamma", density(&platform, &config, y, f), expected);
        }
        for degrees in [5.0f64, 1e3, 1e5, 1e6] {
            let config = StudentTConfig {
                scale: 1.0,
                degrees_of_freedom: degrees,
                train_degrees_of_freedom: true,
            };
            let expected = if degrees < 1e4 {
                lgamma((degrees + 1.0) / 2.0)
                    - lgamma(degrees / 2.0)
                    - 0.5 * (degrees * std::f64::consts::PI).ln()
                    - 0.5 * (degrees + 1.0) * (2.25 / degrees).ln_1p()
            } else {
                // Up to terms of order 1/ν² it is the normal density with its first correction.
                let correction = (2.25f64.powi(2) - 2.0 * 2.25 - 1.0) / (4.0 * degrees);
                -0.5 * (2.25 + (2.0 * std::f64::consts::PI).ln()) + correction
            };
            let found = density(&platform, &config.into(), 1.5, 0.0);
            let allowed = platform.tolerance(1e-8, 1e-5);
            assert!(
                (found - expected).abs() < allowed,
                "{degrees} on {platform}: {found}"
            );
        }
        for precision in [20.0f64, 1e4, 1e6] {
            // At f = 0, y = ½ the density is 2·Γ((s + 1)/2)/(√π·Γ(s/2)), which for large s is
            // √(2s/π)·exp(−1/(4s) + 1/(24s³) − 1/(20s⁵)).
            let config = BetaConfig { precision }.into();
            let found = density(&platform, &config, 0.5, 0.0);
            let leading = (2.0 * precision / std::f64::consts::PI).ln() * 0.5;
            let odd = [
                (1, -1.0 / 4.0),
                (3, 1.0 / 24.0),
                (5, -1.0 / 20.0),
                (7, 17.0 / 112.0),
            ];
            let rest = odd.map(|(power, factor)| factor * precision.powi(-power));
            check("beta", found, leading + rest.iter().sum::<f64>());
        }
    }
}

/// With many gamma variables, the density is `exp(−D/2)/√(2πφ·y^p)` with the deviance D, up to terms of the order of the
/// reciprocal of their number.
#[test]
fn densities_of_sums_of_many_variables() {
    for platform in platforms() {
        for power in [1.1, 1.5, 1.9f64] {
            for (y, dispersion) in [(1.0, 1e-5), (1e6, 1e-2), (1e-4, 1e-8f64)] {
                let rate = f64::powf(y, 2.0 - power) / (dispersion * (2.0 - power));
                if rate < 1e3 {
                    continue;
                }
                let deviation = (dispersion * f64::powf(y, power - 2.0)).sqrt();
                let single = |value: f64| platform.rounded(&[value])[0];
                let y = single(y);
                // One standard deviation above.
                let f = single(f64::ln(y) + deviation);
                let mean = f.exp();
                let half_deviance = (y * (y.powf(1.0 - power) - mean.powf(1.0 - power))
                    / (1.0 - power)
                    - (y.powf(2.0 - power) - mean.powf(2.0 - power)) / (2.0 - power))
                    / dispersion;
                let root = 0.5 * (2.0 * std::f64::consts::PI * dispersion * y.powf(power)).ln();
                let expected = -half_deviance - root;
                let config = TweedieConfig { dispersion, power }.into();
                let found = density(&platform, &config, y, f);
                // Differences of large powers in the reference, and of logarithms here. The terms of the series are as
                // large as the rate.
                let terms = f64::from(f32::EPSILON) * rate;
                let rounding = platform.tolerance(1e-6, 2e-6 / deviation + terms) + 1.0 / rate;
                assert!(
                    (found - expected).abs() < rounding + 1e-5,
                    "{power}, {y}, {dispersion} on {platform}: {found}, expected {expected}"
                );
            }
        }
    }
}
