//! Factorizations that fail in a training step. In CPU memory that is an error at once. A GPU goes on
//! without a wait: everything that depends on the factor is NaN, and nothing else is.

use crate::support::{Dense, Platform, Random, numbers, platforms};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, Jitter, cholesky, gaussian_log_density};

/// A size with a panel and a part of one.
const SIZE: usize = 45;

/// Asserts that there is an error, or whatever is wanted of the result on a GPU.
fn check<T, E>(platform: &Platform, outcome: Result<T, E>, on_a_gpu: impl FnOnce(T)) {
    match outcome {
        Err(_) => assert!(platform.is_host(), "{platform}: a GPU does not wait"),
        Ok(_) if platform.is_host() => panic!("{platform}: no error"),
        Ok(result) => on_a_gpu(result),
    }
}

fn assert_all_nan(what: &str, values: &[f64]) {
    assert!(!values.is_empty(), "{what}: no values");
    let count = values.iter().filter(|value| !value.is_nan()).count();
    assert_eq!(count, 0, "{what}: values that are not NaN");
}

/// Matrices that have no factor: not positive definite at the first, a middle and the last row, and
/// with NaN beside the diagonal and on it.
fn failing() -> Vec<(String, Dense)> {
    let matrix = Random::new(3).positive_definite(SIZE);
    let places = [(0, 0, -5.0), (33, 33, -5.0), (SIZE - 1, SIZE - 1, -5.0)];
    let places =
        places
            .into_iter()
            .chain([(40, 2, f64::NAN), (7, 7, f64::NAN), (0, 0, f64::INFINITY)]);
    places
        .map(|(row, column, value)| {
            let mut bad = matrix.clone();
            bad[(row, column)] = value;
            (format!("{value} at ({row}, {column})"), bad)
        })
        .collect()
}

#[test]
fn a_factor_that_fails_is_nan_in_all_that_depends_on_it() {
    for platform in platforms() {
        let platform = platform.autodiff();
        for (what, bad) in failing() {
            let what = format!("{platform}, {what}");
            let given = platform.matrix(&bad).require_grad();
            check(
                &platform,
                cholesky(given.clone(), Jitter::INDUCING),
                |factor| {
                    assert_all_nan(&what, &numbers(factor.clone().inner().lower())[..1]);
                    let determinant = factor.log_determinant();
                    assert_all_nan(&what, &numbers(determinant.clone()));
                    let right = platform.matrix(&Random::new(5).matrix(SIZE, 3));
                    let solved = factor.solve(right.clone());
                    assert_all_nan(&what, &numbers(solved.clone()));
                    let transposed = factor.solve_transposed(right);
                    assert_all_nan(&what, &numbers(transposed.clone()));
                    let loss = determinant + solved.sum() + transposed.sum();
                    let gradient = given.grad(&loss.backward()).expect("gradient");
                    assert_all_nan(&what, &numbers(gradient));
                },
            );
        }
    }
}

/// All entries of the lower triangle are NaN, also those that were right.
#[test]
fn the_whole_factor_is_nan() {
    for platform in platforms() {
        let platform = platform.autodiff();
        for (what, bad) in failing() {
            let outcome = cholesky(platform.matrix(&bad), Jitter::INDUCING);
            check(&platform, outcome, |factor| {
                let lower = numbers(factor.lower());
                let triangle: Vec<f64> = (0..SIZE)
                    .flat_map(|row| lower[row * SIZE..][..=row].to_vec())
                    .collect();
                assert_all_nan(&format!("{platform}, {what}"), &triangle);
            });
        }
    }
}

#[test]
fn one_member_of_a_batch_fails_alone() {
    for platform in platforms() {
        let good = Random::new(3).positive_definite(SIZE);
        let factor = cholesky(platform.matrix(&good), Jitter::INDUCING).expect("positive definite");
        let alone = numbers(factor.lower());
        let platform = platform.autodiff();
        for (what, bad) in failing() {
            let what = format!("{platform}, {what}");
            let batch = platform.batch(&[good.clone(), bad, good.clone()]);
            check(&platform, cholesky(batch, Jitter::INDUCING), |factor| {
                let lower = numbers(factor.lower());
                let area = SIZE * SIZE;
                assert_eq!(lower[..area], alone, "{what}: the member before");
                assert_eq!(lower[2 * area..], alone, "{what}: the member after");
                let determinants = numbers(factor.log_determinant());
                let failed: Vec<bool> = determinants.iter().map(|value| value.is_nan()).collect();
                assert_eq!(failed, [false, true, false], "{what}");
            });
        }
    }
}

#[test]
fn the_log_density_of_a_matrix_without_a_factor_is_nan() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let residual = Random::new(5).matrix(SIZE, 2);
        for (what, bad) in failing() {
            let what = format!("{platform}, {what}");
            let given = platform.matrix(&bad).require_grad();
            let residual = platform.matrix(&residual).require_grad();
            let outcome = gaussian_log_density(given.clone(), residual.clone(), Jitter::NONE);
            check(&platform, outcome, |density| {
                assert_all_nan(&what, &numbers(density.clone()));
                let gradients = density.backward();
                for tensor in [given, residual] {
                    assert_all_nan(&what, &numbers(tensor.grad(&gradients).expect("gradient")));
                }
            });
        }
    }
}

#[test]
fn a_singular_triangle_is_nan() {
    for platform in platforms() {
        let platform = platform.autodiff();
        for value in [0.0, f64::NAN, f64::INFINITY] {
            let mut bad = Random::new(13).lower_triangle(SIZE);
            bad[(SIZE - 2, SIZE - 2)] = value;
            let batch: Tensor<3> = platform.batch(&[Dense::identity(SIZE), bad]);
            check(&platform, CholeskyFactor::from_lower(batch), |factor| {
                let determinants = numbers(factor.log_determinant());
                assert_eq!(determinants[0], 0.0, "{platform}, {value}");
                assert_all_nan(&format!("{platform}, {value}"), &determinants[1..]);
            });
        }
    }
}
