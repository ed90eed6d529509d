//! Likelihoods: closed forms against quadrature and against Monte Carlo.

mod support;

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    likelihoods::{
        AnyLikelihood, Bernoulli, GaussHermite, Gaussian, GaussianConfig, ImpossibleTarget,
        Likelihood, LikelihoodConfig, Marginals,
    },
    parameter::Hyperparameter,
};
use support::{
    Platform, Random, assert_close, assert_finite, check_gradients, check_module_gradients,
    double_precision_platforms, numbers, platforms,
};

const SAMPLES: usize = 1_000_000;

/// Means and variances from almost certain to vague.
const MEANS: [f64; 5] = [-2.5, -0.3, 0.0, 0.8, 3.0];
const VARIANCES: [f64; 5] = [0.01, 0.5, 1.0, 2.0, 0.3];

fn marginals(platform: &Platform) -> Marginals {
    Marginals {
        mean: platform.tensor(&MEANS, [5, 1]),
        variance: platform.tensor(&VARIANCES, [5, 1]),
    }
}

/// A likelihood with its closed forms hidden: everything by the trait's quadrature.
#[derive(Module, Debug)]
struct QuadratureOnly<L: Module> {
    likelihood: L,
}

impl<L: Likelihood> Likelihood for QuadratureOnly<L> {
    fn log_density<const D: usize>(&self, targets: Tensor<D>, function: Tensor<D>) -> Tensor<D> {
        self.likelihood.log_density(targets, function)
    }

    fn conditional_moments<const D: usize>(&self, function: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
        self.likelihood.conditional_moments(function)
    }

    fn check_targets(&self, targets: &[f64]) -> Result<(), ImpossibleTarget> {
        self.likelihood.check_targets(targets)
    }

    fn quadrature(&self) -> GaussHermite {
        GaussHermite::new(100)
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.likelihood.hyperparameters()
    }
}

fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / 2f64.sqrt())
}

/// Mean and standard error of `function` under N(mean, variance).
fn monte_carlo(
    random: &mut Random,
    mean: f64,
    variance: f64,
    function: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..SAMPLES {
        let value = function(mean + variance.sqrt() * random.normal());
        sum += value;
        squares += value * value;
    }
    let count = SAMPLES as f64;
    let average = sum / count;
    let spread = (squares / count - average * average).max(0.0);
    (average, (spread / count).sqrt())
}

#[track_caller]
fn assert_within_four_errors(what: &str, value: f64, (estimate, error): (f64, f64)) {
    let distance = (value - estimate).abs();
    assert!(
        distance <= 4.0 * error,
        "{what}: {value}, Monte Carlo {estimate} ± {error}"
    );
}

/// H10: twenty nodes give the Gaussian's expected log density exactly, a polynomial in f.
#[test]
fn quadrature_gives_the_closed_form_of_the_gaussian() {
    for platform in double_precision_platforms() {
        let likelihood = Gaussian::new(0.3, platform.options());
        let targets = platform.tensor(&[0.4, -1.0, 2.0, 0.8, 2.9], [5, 1]);
        let closed = likelihood.expected_log_density(targets.clone(), marginals(&platform));
        let expected = GaussHermite::default().expectation(marginals(&platform), |function| {
            likelihood.log_density(targets.clone().unsqueeze_dim(2), function)
        });
        let what = format!("{platform}");
        assert_close(&what, &numbers(closed), &numbers(expected), 1e-10);
    }
}

/// With a hundred nodes the quadrature behind the trait's defaults converges to the closed forms
/// of both likelihoods.
#[test]
fn closed_forms_agree_with_the_defaults_they_replace() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-9, 1e-5);
        let gaussian = Gaussian::new(0.8, platform.options());
        let targets = [0.4, -1.0, 2.0, 0.8, 2.9];
        compare("gaussian", &platform, gaussian, &targets, tolerance);
        compare(
            "bernoulli",
            &platform,
            Bernoulli::new(),
            &[0.0, 1.0, 1.0, 0.0, 1.0],
            tolerance,
        );
    }
}

fn compare<L: Likelihood>(
    name: &str,
    platform: &Platform,
    likelihood: L,
    targets: &[f64],
    tolerance: f64,
) {
    let slow = QuadratureOnly {
        likelihood: likelihood.clone(),
    };
    let targets = || platform.tensor(targets, [5, 1]);
    let what = format!("{name} on {platform}");
    let values =
        |likelihood: &dyn Fn(Marginals) -> Tensor<1>| numbers(likelihood(marginals(platform)));
    let fast = values(&|m| likelihood.log_predictive_density(targets(), m));
    let expected = values(&|m| slow.log_predictive_density(targets(), m));
    assert_close(&what, &fast, &expected, tolerance);
    let (fast, expected) = (
        likelihood.predict(marginals(platform)),
        slow.predict(marginals(platform)),
    );
    assert_close(
        &what,
        &numbers(fast.mean),
        &numbers(expected.mean),
        tolerance,
    );
    assert_close(
        &what,
        &numbers(fast.variance),
        &numbers(expected.variance),
        tolerance,
    );
}

/// H10: the Bernoulli likelihood by quadrature and closed forms against a million draws.
#[test]
fn bernoulli_agrees_with_monte_carlo() {
    let mut random = Random::new(173);
    let cases: Vec<_> = MEANS
        .iter()
        .zip(VARIANCES)
        .zip([1.0, 0.0, 1.0, 1.0, 0.0])
        .map(|((&mean, variance), target)| {
            let sign = 2.0 * target - 1.0;
            let mut draw =
                |function: &dyn Fn(f64) -> f64| monte_carlo(&mut random, mean, variance, function);
            let expected_log = draw(&|f| normal_cdf(sign * f).ln());
            let probability = draw(&normal_cdf);
            (target, expected_log, probability)
        })
        .collect();
    for platform in double_precision_platforms() {
        let likelihood = Bernoulli::new();
        let targets: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let targets = || platform.tensor(&targets, [5, 1]);
        let expected_log =
            numbers(likelihood.expected_log_density(targets(), marginals(&platform)));
        let density = numbers(likelihood.log_predictive_density(targets(), marginals(&platform)));
        let Marginals { mean, variance } = likelihood.predict(marginals(&platform));
        let (mean, variance) = (numbers(mean), numbers(variance));
        for (row, (target, log, probability)) in cases.iter().enumerate() {
            let what = format!("{platform}, row {row}");
            assert_within_four_errors(&what, expected_log[row], *log);
            assert_within_four_errors(&what, mean[row], *probability);
            let own = if *target == 1.0 {
                mean[row]
            } else {
                1.0 - mean[row]
            };
            assert!(
                (density[row] - own.ln()).abs() < 1e-12,
                "{what}: log predictive density"
            );
            let product = mean[row] * (1.0 - mean[row]);
            assert!(
                (variance[row] - product).abs() < 1e-12,
                "{what}: variance of a label"
            );
        }
    }
}

#[test]
fn gaussian_agrees_with_monte_carlo() {
    let noise = 0.8;
    let targets = [0.4, -1.0, 2.0, 0.8, 2.9];
    let mut random = Random::new(179);
    let log_density = |y: f64, f: f64| {
        -0.5 * ((y - f).powi(2) / noise + (2.0 * std::f64::consts::PI * noise).ln())
    };
    let cases: Vec<_> = (0..5)
        .map(|row| {
            let mut draw = |function: &dyn Fn(f64) -> f64| {
                monte_carlo(&mut random, MEANS[row], VARIANCES[row], function)
            };
            let y = targets[row];
            (
                draw(&|f| log_density(y, f)),
                draw(&|f| log_density(y, f).exp()),
            )
        })
        .collect();
    for platform in double_precision_platforms() {
        let likelihood = Gaussian::new(noise, platform.options());
        let targets = || platform.tensor(&targets, [5, 1]);
        let expected_log =
            numbers(likelihood.expected_log_density(targets(), marginals(&platform)));
        let density = numbers(likelihood.log_predictive_density(targets(), marginals(&platform)));
        for (row, (log, density_of_draws)) in cases.iter().enumerate() {
            let what = format!("{platform}, row {row}");
            assert_within_four_errors(&what, expected_log[row], *log);
            assert_within_four_errors(&what, density[row].exp(), *density_of_draws);
        }
        let Marginals { mean, variance } = likelihood.predict(marginals(&platform));
        assert_close("mean", &numbers(mean), &MEANS, 0.0);
        let expected = VARIANCES.map(|variance| variance + noise);
        assert_close("variance", &numbers(variance), &expected, 1e-15);
    }
}

/// A configuration of every likelihood, with targets it takes.
fn registry() -> Vec<(&'static str, LikelihoodConfig, Vec<f64>)> {
    vec![
        (
            "gaussian",
            GaussianConfig { noise: 0.3 }.into(),
            vec![0.4, -1.0, 2.0, 0.8, 2.9, 0.1],
        ),
        (
            "bernoulli",
            LikelihoodConfig::Bernoulli,
            vec![0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        ),
    ]
}

/// A new variant does not compile without a name here, and fails without an entry above.
fn variant(likelihood: &AnyLikelihood) -> &'static str {
    match likelihood {
        AnyLikelihood::Gaussian(_) => "gaussian",
        AnyLikelihood::Bernoulli(_) => "bernoulli",
    }
}

#[test]
fn every_variant_is_registered_under_its_name() {
    let platform = &platforms()[0];
    let names: Vec<_> = registry()
        .iter()
        .map(|(name, config, _)| {
            assert_eq!(variant(&config.init(platform.options())), *name);
            *name
        })
        .collect();
    assert_eq!(names, ["gaussian", "bernoulli"]);
}

/// Two outputs are the sum of each alone, in every density.
#[test]
fn densities_add_up_over_outputs() {
    let mut random = Random::new(181);
    let (means, variances) = (random.normals(6), random.uniforms(6, 0.1, 2.0));
    for platform in platforms() {
        for (name, config, targets) in registry() {
            let likelihood = config.init(platform.options());
            let both = Marginals {
                mean: platform.tensor(&means, [3, 2]),
                variance: platform.tensor(&variances, [3, 2]),
            };
            let targets = platform.tensor(&targets, [3, 2]);
            let one = |output: usize| {
                let column = |tensor: &Tensor<2>| tensor.clone().narrow(1, output, 1);
                let marginals = Marginals {
                    mean: column(&both.mean),
                    variance: column(&both.variance),
                };
                (column(&targets), marginals)
            };
            let ((t0, m0), (t1, m1)) = (one(0), one(1));
            let what = format!("{name} on {platform}");
            let tolerance = platform.tolerance(1e-13, 1e-5);
            let sum = likelihood.expected_log_density(t0.clone(), m0.clone())
                + likelihood.expected_log_density(t1.clone(), m1.clone());
            let whole = likelihood.expected_log_density(targets.clone(), both.clone());
            assert_close(&what, &numbers(whole), &numbers(sum), tolerance);
            let sum = likelihood.log_predictive_density(t0, m0)
                + likelihood.log_predictive_density(t1, m1);
            let whole = likelihood.log_predictive_density(targets.clone(), both.clone());
            assert_close(&what, &numbers(whole), &numbers(sum), tolerance);
        }
    }
}

#[test]
fn gradients_of_the_marginals() {
    for (name, config, targets) in registry() {
        let inputs = [MEANS.to_vec().into(), VARIANCES.to_vec().into()];
        check_gradients(name, &inputs, 1e-3, &|platform, inputs| {
            let likelihood = config.init(platform.options());
            let targets = platform.tensor(&targets[..5], [5, 1]);
            let marginals = Marginals {
                mean: inputs[0].clone().reshape([5, 1]),
                variance: inputs[1].clone().reshape([5, 1]),
            };
            likelihood
                .expected_log_density(targets.clone(), marginals.clone())
                .sum()
                + likelihood.log_predictive_density(targets, marginals).sum()
        });
    }
}

#[test]
fn gradients_of_the_noise() {
    check_module_gradients(
        "gaussian",
        (1e-6, 1e-4),
        |platform| Gaussian::new(0.3, platform.options()),
        |platform, likelihood| {
            let targets = platform.tensor(&[0.4, -1.0, 2.0, 0.8, 2.9], [5, 1]);
            let marginals = marginals(platform);
            likelihood
                .expected_log_density(targets.clone(), marginals.clone())
                .sum()
                + likelihood.log_predictive_density(targets, marginals).sum()
        },
    );
}

/// A variance that rounding brought to zero (a posterior clamps it there) is an ordinary value.
#[test]
fn a_variance_of_zero_gives_finite_values_and_gradients() {
    for platform in platforms() {
        for (name, config, targets) in registry() {
            let tracked = platform.autodiff();
            let likelihood = config.init(tracked.options());
            let mean = tracked.tensor(&[-0.5, 2.0], [2, 1]).require_grad();
            let variance = tracked.tensor(&[0.0, -1e-9], [2, 1]).require_grad();
            let targets = tracked.tensor(&targets[..2], [2, 1]);
            let marginals = Marginals {
                mean: mean.clone(),
                variance: variance.clone().clamp_min(0.0),
            };
            let value = likelihood.expected_log_density(targets.clone(), marginals);
            let what = format!("{name} on {platform}");
            let expected = likelihood.log_density(targets, mean.clone());
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(
                &what,
                &numbers(value.clone()),
                &numbers(expected),
                tolerance,
            );
            let gradients = value.sum().backward();
            assert_finite(&what, &numbers(mean.grad(&gradients).expect("gradient")));
            assert_finite(
                &what,
                &numbers(variance.grad(&gradients).expect("gradient")),
            );
        }
    }
}

/// Far on the wrong side the log density is large, not infinite.
#[test]
fn bernoulli_is_finite_far_on_the_wrong_side() {
    for platform in platforms() {
        let marginals = Marginals {
            mean: platform.tensor(&[-50.0, 50.0], [2, 1]),
            variance: platform.tensor(&[1.0, 1.0], [2, 1]),
        };
        let targets = platform.tensor(&[1.0, 0.0], [2, 1]);
        let likelihood = Bernoulli::new();
        let expected = numbers(likelihood.expected_log_density(targets.clone(), marginals.clone()));
        let density = numbers(likelihood.log_predictive_density(targets, marginals));
        for value in expected.into_iter().chain(density) {
            assert!(value.is_finite() && value < -600.0, "{platform}: {value}");
        }
    }
}

#[test]
fn targets_without_probability_are_named() {
    let platform = &platforms()[0];
    let bernoulli = LikelihoodConfig::Bernoulli.init(platform.options());
    assert_eq!(bernoulli.check_targets(&[0.0, 1.0, 1.0]), Ok(()));
    for (targets, row) in [
        ([0.0, 2.0, 3.0], 1),
        ([0.0, 1.0, f64::NAN], 2),
        ([-1.0, 0.0, 1.0], 0),
    ] {
        let error = bernoulli.check_targets(&targets).expect_err("no label");
        assert_eq!((error.row, error.likelihood), (row, "bernoulli"));
    }
    let error = bernoulli.check_targets(&[0.0, 2.5]).expect_err("no label");
    assert_eq!(
        error.to_string(),
        "target 2.5 in row 1 is not possible under the bernoulli likelihood, which takes labels 0 \
         and 1"
    );
    let gaussian = LikelihoodConfig::from(GaussianConfig::default()).init(platform.options());
    assert_eq!(gaussian.check_targets(&[-1e300, 0.0, 7.5]), Ok(()));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = gaussian
            .check_targets(&[0.0, 1.0, bad])
            .expect_err("not finite");
        assert_eq!((error.row, error.expected), (2, "finite numbers"));
    }
}

#[test]
fn hyperparameters_and_configurations() {
    for platform in platforms() {
        let likelihood = GaussianConfig { noise: 0.3 }.init(platform.options());
        let reported = likelihood.hyperparameters();
        assert_eq!(reported[0].path, "noise");
        assert_close(
            "noise",
            &reported[0].values,
            &[0.3],
            platform.tolerance(1e-14, 1e-6),
        );
    }
    for (name, config, _) in registry() {
        let text = serde_json::to_string(&config).expect("serialisable");
        let back: LikelihoodConfig = serde_json::from_str(&text).expect("readable");
        assert_eq!(back, config, "{name}: {text}");
    }
}
