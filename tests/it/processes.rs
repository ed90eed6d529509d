//! Conditioned processes: their marginals, joint distributions and samples.

use crate::support::{
    Dense, assert_close, numbers,
    orthogonal_case::OrthogonalCase,
    platforms,
    posterior_case::{Case, POINTS, assert_same_marginals, kernel},
};
use burn_gp_core::{
    process::{Joint, Marginals, Process},
    variational::{Evaluation, Posterior},
};

#[test]
fn predictions_of_the_conditioned_process_are_those_of_the_evaluation() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = Case::new(outputs);
            // The process is detached, also from a module with gradients.
            for tracked in [platform.clone(), platform.autodiff()] {
                let kernel = kernel(&tracked);
                let x = || case.x(&tracked);
                let check = |name: &str, evaluation: Evaluation, process: &dyn Process| {
                    let what = format!("{name} on {platform}, {outputs} outputs");
                    let predicted = process.marginals(case.x(&platform));
                    assert!(!predicted.mean.device().is_autodiff(), "{what}");
                    let expected = Marginals {
                        mean: evaluation.marginals.mean.inner(),
                        variance: evaluation.marginals.variance.inner(),
                    };
                    let tolerance = platform.tolerance(1e-13, 1e-5);
                    assert_same_marginals(&what, &predicted, &expected, tolerance);
                };
                let posterior = case.whitened(&tracked);
                let process = posterior.condition(&kernel).expect("factor");
                check(
                    "whitened",
                    posterior.evaluate(&kernel, x()).expect("factor"),
                    &process,
                );
                let posterior = case.unwhitened(&tracked);
                let process = posterior.condition(&kernel).expect("factor");
                check(
                    "unwhitened",
                    posterior.evaluate(&kernel, x()).expect("factor"),
                    &process,
                );
                let sets = OrthogonalCase::new(&[8, 5], outputs);
                let x = || sets.x(&tracked);
                for (name, posterior) in sets.posteriors(&tracked) {
                    let process = posterior.condition(&kernel).expect("factor");
                    let what = format!("{name} on {platform}, {outputs} outputs");
                    let predicted = process.marginals(sets.x(&platform));
                    let expected = posterior.evaluate(&kernel, x()).expect("factor").marginals;
                    let expected = Marginals {
                        mean: expected.mean.inner(),
                        variance: expected.variance.inner(),
                    };
                    // The conditioned process treats all sets as one, so sums are in another order.
                    let tolerance = platform.tolerance(1e-12, 1e-4);
                    assert_same_marginals(&what, &predicted, &expected, tolerance);
                }
            }
        }
    }
}

#[test]
fn the_joint_covariance_has_the_marginal_variances_on_its_diagonal() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let case = Case::new(outputs);
            let process = case
                .whitened(&platform)
                .condition(&kernel(&platform))
                .expect("factor");
            let Joint { mean, covariance } = process.joint(case.x(&platform));
            assert_eq!(covariance.dims(), [outputs, POINTS, POINTS]);
            let covariance = numbers(covariance);
            let variances = Dense::from_function(POINTS, outputs, |n, p| {
                covariance[p * POINTS * POINTS + n * POINTS + n]
            });
            let marginals = process.marginals(case.x(&platform));
            let what = format!("{platform}, {outputs} outputs");
            let tolerance = platform.tolerance(1e-12, 1e-4);
            assert_close(
                &what,
                &variances.values,
                &numbers(marginals.variance),
                tolerance,
            );
            assert_close(&what, &numbers(mean), &numbers(marginals.mean), tolerance);
        }
    }
}

/// The jitter of the covariance doesn't make a function have two values at a point.
#[test]
fn samples_have_equal_values_at_equal_inputs() {
    for platform in platforms() {
        let case = Case::new(2);
        let process = case
            .whitened(&platform)
            .condition(&kernel(&platform))
            .expect("factor");
        let x = case.x(&platform).narrow(0, 0, 3);
        let draws = process.sample(x.repeat_dim(0, 2), 5, 3).expect("factor");
        let draws = numbers(draws);
        for draw in draws.chunks_exact(6) {
            assert_eq!(draw[..3], draw[3..], "{platform}");
        }
    }
}

/// Draws follow the joint distribution: their mean and covariance are within five standard errors.
#[test]
fn samples_have_the_mean_and_the_covariance() {
    let samples = 20_000;
    let points = 6;
    for platform in platforms() {
        let case = Case::new(2);
        let process = case
            .whitened(&platform)
            .condition(&kernel(&platform))
            .expect("factor");
        let x = case.x(&platform).narrow(0, 0, points);
        let draws = process.sample(x.clone(), samples, 199).expect("factor");
        assert_eq!(draws.dims(), [samples, 2, points]);
        let draws = numbers(draws);
        let Joint { mean, covariance } = process.joint(x);
        let (mean, covariance) = (numbers(mean), numbers(covariance));
        let draw = |s: usize, p: usize, n: usize| draws[(s * 2 + p) * points + n];
        let count = samples as f64;
        for p in 0..2 {
            let covariance = |i: usize, j: usize| covariance[(p * points + i) * points + j];
            let centered = |s: usize, n: usize| draw(s, p, n) - mean[n * 2 + p];
            for i in 0..points {
                let average = (0..samples).map(|s| centered(s, i)).sum::<f64>() / count;
                let error = (covariance(i, i) / count).sqrt();
                let what = format!("{platform}, output {p}, point {i}");
                assert!(
                    average.abs() <= 5.0 * error,
                    "{what}: mean off by {average} ± {error}"
                );
                for j in 0..=i {
                    let product = (0..samples)
                        .map(|s| centered(s, i) * centered(s, j))
                        .sum::<f64>()
                        / count;
                    let square = covariance(i, j).powi(2) + covariance(i, i) * covariance(j, j);
                    let (error, off) = ((square / count).sqrt(), product - covariance(i, j));
                    assert!(
                        off.abs() <= 5.0 * error,
                        "{what}, {j}: off by {off} ± {error}"
                    );
                }
            }
        }
        // The two outputs are independent.
        let product: f64 = (0..samples)
            .map(|s| (draw(s, 0, 0) - mean[0]) * (draw(s, 1, 0) - mean[1]))
            .sum::<f64>()
            / count;
        let error = (covariance[0] * covariance[points * points] / count).sqrt();
        assert!(
            product.abs() <= 5.0 * error,
            "{platform}: outputs covary by {product} ± {error}"
        );
    }
}
