//! Prior densities compared with their formulas.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use crate::support::{assert_close, check_gradients, check_module_gradients, numbers, platforms};
use burn_gp_core::{
    kernels::{KernelConfig, LinearConfig, SpectralMixtureConfig, StationaryConfig},
    ops::Stationary,
    parameter::{Bounds, ParameterError, Parameters, Prior, Priors},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

type Density = fn(f64) -> f64;

/// Priors with test values, and their densities by other formulas: those of θ times θ, but for a uniform one.
fn cases() -> Vec<(Prior, Density)> {
    vec![
        // Γ(3) = 2.
        (
            Prior::Gamma {
                shape: 3.0,
                rate: 2.0,
            },
            |x| x * 8.0 / 2.0 * x * x * (-2.0 * x).exp(),
        ),
        // Γ(1/2) = √π.
        (
            Prior::Gamma {
                shape: 0.5,
                rate: 1.5,
            },
            |x| x * (1.5 / (PI * x)).sqrt() * (-1.5 * x).exp(),
        ),
        (
            Prior::LogNormal {
                mean: 0.3,
                deviation: 0.7,
            },
            |x| {
                let standard = (x.ln() - 0.3) / 0.7;
                (-0.5 * standard * standard).exp() / (0.7 * (2.0 * PI).sqrt())
            },
        ),
        // ½(s₁ + s₂) = 0.8
        (
            Prior::SplitLogNormal {
                mode: 0.3,
                below: 0.4,
                above: 1.2,
            },
            |x| {
                let width = if x.ln() < 0.3 { 0.4 } else { 1.2 };
                (-0.5 * ((x.ln() - 0.3) / width).powi(2)).exp() / (0.8 * (2.0 * PI).sqrt())
            },
        ),
        (Prior::HalfNormal { scale: 1.3 }, |x| {
            let normal = (-0.5 * (x / 1.3).powi(2)).exp() / (1.3 * (2.0 * PI).sqrt());
            x * 2.0 * normal
        }),
        (
            Prior::Uniform {
                lower: 0.05,
                upper: 4.0,
            },
            |_| 1.0 / 3.95,
        ),
    ]
}

const VALUES: [f64; 4] = [0.1, 0.7, 1.5, 3.6];

#[test]
fn densities_are_those_of_the_formulas() {
    for platform in platforms() {
        for (prior, density) in cases() {
            let value = platform.tensor(&VALUES, [2, 2]);
            let expected: Vec<f64> = VALUES.iter().map(|x| density(*x).ln()).collect();
            assert_close(
                &format!("{prior} on {platform}"),
                &numbers(prior.log_density(value)),
                &expected,
                platform.tolerance(1e-14, 1e-6),
            );
        }
    }
}

/// Densities are normalized, over θ for a uniform prior and over log θ for others: the midpoint rule over the
/// support, with steps small enough that the densities hardly change within them.
#[test]
fn densities_have_mass_one() {
    let platform = &platforms()[0];
    let (count, end) = (200_000, 40.0);
    let middles: Vec<f64> = (0..count)
        .map(|i| (f64::from(i) + 0.5) * end / f64::from(count))
        .collect();
    for (prior, _) in cases() {
        let values = platform.tensor(&middles, [middles.len()]);
        let (lower, upper) = prior.support().ends();
        let densities = numbers(prior.log_density(values));
        let mass: f64 = (middles.iter().zip(densities))
            .filter(|(middle, _)| lower < **middle && **middle < upper)
            .map(|(middle, density)| {
                let step = match prior {
                    Prior::Uniform { .. } => 1.0,
                    _ => middle.recip(),
                };
                density.exp() * step * end / f64::from(count)
            })
            .sum();
        // The density of a gamma with shape ½ is infinite at zero, so the first step has an error
        // of √h.
        assert!((mass - 1.0).abs() < 1e-2, "{prior}: {mass}");
    }
}

#[test]
fn gradients() {
    for (prior, _) in cases() {
        check_gradients(
            &prior.to_string(),
            &[VALUES.to_vec().into()],
            1e-4,
            &|_, inputs| {
                // A uniform density has no gradient, so the loss contains another term.
                prior.log_density(inputs[0].clone()).sum() + inputs[0].clone().square().sum()
            },
        );
    }
}

fn priors(pairs: &[(&str, Prior)]) -> Priors {
    let pairs = pairs
        .iter()
        .map(|(path, prior)| ((*path).to_owned(), *prior));
    Priors(pairs.collect::<BTreeMap<_, _>>())
}

/// The gradients of all parameters, through softplus, bounds and intervals.
#[test]
fn gradients_with_respect_to_stored_numbers() {
    let config = KernelConfig::from(
        StationaryConfig::new(Stationary::Matern52)
            .with_lengthscale(0.7)
            .with_variance(1.2),
    )
    .plus(KernelConfig::from(LinearConfig {
        ard: true,
        variance: 0.4,
        ..LinearConfig::default()
    }));
    let gamma = Prior::Gamma {
        shape: 3.0,
        rate: 2.0,
    };
    let priors = priors(&[
        ("first.lengthscale", gamma),
        ("first.variance", Prior::HalfNormal { scale: 0.8 }),
        ("second.variance", gamma),
    ]);
    check_module_gradients(
        "log prior",
        (1e-6, 1e-4),
        |platform| config.init(3, platform.options()),
        |_, kernel| priors.log_density(kernel).expect("there are priors"),
    );
    let bounded = |platform: &crate::support::Platform| {
        let kernel = config.init(3, platform.options());
        kernel.with_bounds("first.lengthscale", Bounds::between(0.2, 3.0))
    };
    for platform in platforms() {
        let free = config.init(3, platform.options());
        let free = numbers(priors.log_density(&free).expect("there are priors"));
        let bounded = bounded(&platform).expect("within");
        let bounded = numbers(priors.log_density(&bounded).expect("there are priors"));
        // The density depends on the value, not on the stored number that represents it.
        let tolerance = platform.tolerance(1e-13, 1e-5);
        assert_close(&format!("{platform}"), &bounded, &free, tolerance);
    }
}

#[test]
fn priors_that_cannot_be() {
    let platform = &platforms()[0];
    let kernel = KernelConfig::from(SpectralMixtureConfig::default()).init(1, platform.options());
    let frequency = "components.0.frequency";
    let half_normal = Prior::HalfNormal { scale: 1.0 };
    let refusal = |pairs: &[(&str, Prior)]| match priors(pairs).check(&kernel) {
        Ok(()) => panic!("{pairs:?} were taken"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        refusal(&[(frequency, half_normal)]),
        "half-normal(1) has zero density at some values that components.0.frequency may take; \
         give components.0.frequency bounds within 0 and inf"
    );
    let bounded = kernel.clone().with_bounds(frequency, Bounds::above(0.0));
    let bounded = bounded.expect("the first frequency is positive");
    assert_eq!(priors(&[(frequency, half_normal)]).check(&bounded), Ok(()));
    let gamma = Prior::Gamma {
        shape: -1.0,
        rate: 2.0,
    };
    assert_eq!(
        refusal(&[("components.0.variance", gamma)]),
        "the prior gamma(-1, 2) of components.0.variance is not a distribution; shape and rate \
         must be positive"
    );
    let unknown = priors(&[("components.9.variance", half_normal)]).check(&kernel);
    assert!(matches!(unknown, Err(ParameterError::Unknown { .. })));
}

#[test]
fn priors_are_written_by_name() {
    let text = r#"{"kernel.variance":{"prior":"half-normal","scale":2.0}}"#;
    let read: Priors = serde_json::from_str(text).expect("readable");
    assert_eq!(
        read,
        priors(&[("kernel.variance", Prior::HalfNormal { scale: 2.0 })])
    );
    assert_eq!(serde_json::to_string(&read).expect("serializable"), text);
}

/// The share of draws below a value is the integral of the density up to there.
#[test]
fn draws_have_the_density() {
    const DRAWS: usize = 20_000;
    for (prior, density) in cases() {
        let mut random = ChaCha8Rng::seed_from_u64(811);
        let draws: Vec<f64> = (0..DRAWS).map(|_| prior.draw(&mut random)).collect();
        let in_log = |x: f64| match prior {
            Prior::Uniform { .. } => x * density(x),
            _ => density(x),
        };
        for end in [0.2, 0.7, 1.2, 2.5] {
            let share = draws.iter().filter(|draw| **draw < end).count() as f64 / DRAWS as f64;
            // The midpoint rule in log θ from e⁻⁴⁰, below which no prior has a probability of 1e-8.
            let (from, steps) = (-40.0, 200_000);
            let width = (f64::ln(end) - from) / f64::from(steps);
            let middle = |step: i32| (from + (f64::from(step) + 0.5) * width).exp();
            let expected: f64 = (0..steps)
                .map(middle)
                .filter(|value| prior.support().contain(*value))
                .map(|value| in_log(value) * width)
                .sum();
            // Four standard errors of a share.
            let tolerance = 4.0 * (0.25 / DRAWS as f64).sqrt();
            assert!(
                (share - expected).abs() < tolerance,
                "{prior} below {end}: {share} of the draws, probability {expected}"
            );
        }
    }
}
