//! Draws of targets, compared with predicted means and variances.

use burn_gp_core::{likelihoods::TargetKind, process::Marginals};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::support::{
    Platform, Random, double_precision_platforms,
    likelihood_cases::{Case, ROWS, registry},
    numbers, platforms,
};

const SAMPLES: usize = 20_000;

/// Draws of the functions, `[SAMPLES, ROWS, latents]`.
fn functions(case: &Case) -> Vec<f64> {
    let mut random = Random::new(229);
    let (means, variances) = case.moments_of_functions();
    let mut values = Vec::with_capacity(SAMPLES * means.len());
    for _ in 0..SAMPLES {
        for (mean, variance) in means.iter().zip(&variances) {
            values.push(mean + variance.sqrt() * random.normal());
        }
    }
    values
}

fn draw(case: &Case, platform: &Platform, functions: &[f64], samples: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(233);
    let count = samples * ROWS * case.latents;
    let function = platform.tensor(&functions[..count], [samples, ROWS, case.latents]);
    let drawn = case.init(platform).sample(function, &mut random);
    assert_eq!(drawn.dims(), [samples, ROWS, 1], "{}", case.name);
    numbers(drawn)
}

/// The mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / count;
    (mean, (spread / count).sqrt())
}

#[test]
fn samples_have_the_predicted_moments() {
    for case in registry() {
        let functions = functions(&case);
        for platform in double_precision_platforms() {
            let likelihood = case.init(&platform);
            let drawn = draw(&case, &platform, &functions, SAMPLES);
            let Marginals { mean, variance } = likelihood.predict(case.marginals(&platform));
            let described = mean.dims()[1];
            let (mean, variance) = (numbers(mean), numbers(variance));
            for index in 0..ROWS * described {
                let (row, class) = (index / described, index % described);
                let own: Vec<f64> = drawn
                    .iter()
                    .skip(row)
                    .step_by(ROWS)
                    .map(|&value| match described {
                        1 => value,
                        _ => f64::from(u8::from(value == class as f64)),
                    })
                    .collect();
                let what = format!("{} on {platform}, row {row}, number {class}", case.name);
                let (found, error) = mean_and_error(&own);
                // Five standard errors, plus the error of the predictions.
                let allowed = 5.0 * error + 2.0 * case.quadrature_error;
                assert!(
                    (found - mean[index]).abs() <= allowed,
                    "{what}: mean {found} ± {error}, predicted {}",
                    mean[index]
                );
                let squares: Vec<f64> = own.iter().map(|y| (y - mean[index]).powi(2)).collect();
                let (found, error) = mean_and_error(&squares);
                let allowed = 5.0 * error + 2.0 * case.quadrature_error;
                assert!(
                    (found - variance[index]).abs() <= allowed,
                    "{what}: variance {found} ± {error}, predicted {}",
                    variance[index]
                );
            }
        }
    }
}

/// Every draw is a possible target, and the same seed gives the same draws.
#[test]
fn samples_are_possible_and_repeat() {
    for case in registry() {
        let functions = functions(&case);
        for platform in platforms() {
            let what = format!("{} on {platform}", case.name);
            let drawn = draw(&case, &platform, &functions, 100);
            let likelihood = case.init(&platform).description();
            for &value in &drawn {
                let is_possible = match case.config.target() {
                    // The share of successes in many trials.
                    TargetKind::Successes => (0.0..=1.0).contains(&value),
                    _ => likelihood.is_possible(0, value),
                };
                assert!(is_possible, "{what}: {value}");
            }
            assert_eq!(drawn, draw(&case, &platform, &functions, 100), "{what}");
        }
    }
}
