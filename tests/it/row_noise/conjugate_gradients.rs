//! Regression by conjugate gradients.

use burn_gp_core::inference::{ConjugateGradients, ConjugateGradientsSettings};

use super::*;
use crate::reference::{gradients, scalar};

/// Settings that iterate to convergence.
fn converged(rank: usize) -> ConjugateGradientsSettings {
    ConjugateGradientsSettings::default()
        .with_rank(Some(rank))
        .with_tolerance(1e-12)
        .with_iterations(4 * ROWS)
}

fn plain(
    platform: &Platform,
    noise: f64,
    settings: ConjugateGradientsSettings,
) -> ConjugateGradients<AnyKernel> {
    let noise = Gaussian::new(noise, platform.options());
    ConjugateGradients::new(kernel(platform), ZeroMean::new(OUTPUTS), noise, settings)
}

/// With as many pivots as rows, the preconditioner is the covariance but for the jitter of the pivots, 1e-8 in double
/// precision: nothing is left to estimate.
#[test]
fn the_evidence_is_that_of_dense_algebra() {
    let (x, y) = points();
    let evidence = log_density(&with_diagonal(&covariances(&x, &x), &total()), &y);
    for platform in &platforms() {
        let model = plain(platform, NOISE, converged(ROWS)).with_row_noise();
        let found = model.full_objective(plane(platform, ROWS).0, rows(platform));
        let found = numbers(found.expect("positive definite"));
        let tolerance = platform.tolerance(1e-7, 1e-3);
        assert_close(
            &format!("evidence on {platform}"),
            &found,
            &[evidence],
            tolerance,
        );
    }
}

/// By solves and by variances that are made once, with and without a preconditioner.
#[test]
fn predictions_are_those_of_dense_algebra() {
    let expected = exact_moments(&total());
    for platform in &platforms() {
        for rank in [0, 4, ROWS] {
            for settings in [
                converged(rank),
                converged(rank).with_cached_variances(Some(ROWS)),
            ] {
                let model = plain(platform, NOISE, settings).with_row_noise();
                let process = model.condition(plane(platform, ROWS).0, rows(platform));
                let found = moments(process.expect("a process").marginals(new(platform)));
                let tolerance = platform.tolerance(1e-9, 1e-3);
                let what = format!("{rank} pivots on {platform}");
                assert_close(&what, &found, &expected, tolerance);
            }
        }
    }
}

/// Variances from few directions are never below the exact ones, and close to them.
#[test]
fn variances_made_once_are_no_smaller_than_the_exact_ones() {
    let expected = exact_moments(&total());
    for platform in &platforms() {
        let settings = converged(4).with_cached_variances(Some(8));
        let model = plain(platform, NOISE, settings).with_row_noise();
        let process = model.condition(plane(platform, ROWS).0, rows(platform));
        let found = moments(process.expect("a process").marginals(new(platform)));
        let from = OUTPUTS * NEW.len();
        for (found, expected) in found[from..].iter().zip(&expected[from..]) {
            let rounding = platform.tolerance(1e-9, 1e-3);
            assert!(
                *found >= expected - rounding && *found <= expected + 0.1,
                "{found}, {expected}"
            );
        }
    }
}

/// The same probes estimate both without a preconditioner, and with one of the same covariance.
#[test]
fn equal_noise_is_trained_noise() {
    for rank in [0, 4] {
        let values = |platform: &Platform, noise, own: Option<&[f64]>| {
            let (inputs, targets) = plane(platform, ROWS);
            let model = plain(platform, noise, converged(rank));
            let (model, targets) = match own {
                Some(own) => (model.with_row_noise(), rows_with(platform, own)),
                None => (model, targets),
            };
            let objective = model.full_objective(inputs.clone(), targets.clone());
            let process = model.condition(inputs, targets).expect("a process");
            let mut found = numbers(objective.expect("positive definite"));
            found.extend(moments(process.marginals(new(platform))));
            found
        };
        check_equal_noise(values, (1e-9, 1e-3));
    }
}

/// The mean and four standard errors of independent numbers.
fn interval(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, 4.0 * (variance / count).sqrt())
}

/// Over many seeds the estimates of the evidence and of its gradient are unbiased, with and without a preconditioner. The
/// gradient of the exact model is compared with central differences above. Errors of 1e-6 are those of the jitter.
#[test]
fn evidence_and_gradient_are_unbiased() {
    for platform in platforms() {
        if !platform.is_double() {
            continue;
        }
        let platform = platform.autodiff();
        let (inputs, rows) = (plane(&platform, ROWS).0, rows(&platform));
        let model = exact(&platform);
        let objective = model.full_objective(inputs.clone(), rows.clone());
        let objective = objective.expect("positive definite");
        let mut expected = vec![scalar(objective.clone())];
        expected.extend(gradients(&model, &objective.backward()));
        for rank in [0, 4] {
            let samples: Vec<Vec<f64>> = (0..200)
                .map(|seed| {
                    let settings = converged(rank).with_seed(seed);
                    let model = plain(&platform, NOISE, settings).with_row_noise();
                    let found = model.full_objective(inputs.clone(), rows.clone());
                    let found = found.expect("positive definite");
                    let mut sample = vec![scalar(found.clone())];
                    sample.extend(gradients(&model, &found.backward()));
                    sample
                })
                .collect();
            for (index, expected) in expected.iter().enumerate() {
                let own: Vec<f64> = samples.iter().map(|sample| sample[index]).collect();
                let (mean, error) = interval(&own);
                assert!(
                    (mean - expected).abs() <= error + 1e-6 * expected.abs(),
                    "{rank} pivots, {index} on {platform}: {mean} ± {error}, not {expected}"
                );
            }
        }
    }
}
