//! The fused stationary covariance compared with its definition.

use crate::support::{
    Dense, Input, Random, assert_close, assert_finite, check_gradients, check_gradients_by_entry,
    gradients::Loss,
    numbers, platforms,
    stationary::{KINDS, profile},
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{Jitter, Stationary, cholesky, covariance};

/// One of the two gradient checks.
type Checker = fn(&str, &[Input], f64, Loss<'_>);

/// N1, N2, D: single points, numbers around the lane count, and several threads.
const SHAPES: [(usize, usize, usize); 10] = [
    (1, 1, 1),
    (5, 7, 3),
    (3, 64, 2),
    (64, 65, 1),
    (63, 130, 8),
    (1, 200, 4),
    (200, 131, 30),
    (300, 300, 5),
    (70, 33, 40),
    (9, 300, 200),
];

fn reference_matrix(
    kind: Stationary,
    x1: &Dense,
    x2: &Dense,
    lengthscales: &[f64],
    variance: f64,
) -> Dense {
    Dense::from_function(x1.rows, x2.rows, |i, j| {
        variance * profile(kind, x1.row(i), x2.row(j), lengthscales)
    })
}

/// Lengthscales grow with the dimension, which keeps distances of order one.
fn lengthscales(random: &mut Random, dimensions: usize, shared: bool) -> Vec<f64> {
    let unit = (dimensions as f64).sqrt();
    let count = if shared { 1 } else { dimensions };
    random.uniforms(count, 0.5 * unit, 1.5 * unit)
}

/// The covariance matrix of one set of points.
fn covariance_matrix(
    kind: Stationary,
    x: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
) -> Tensor<2> {
    covariance(kind, x.clone(), x, lengthscales, variance)
}

#[test]
fn covariances_are_those_of_the_definition() {
    for platform in platforms() {
        for (rows, columns, dimensions) in SHAPES {
            for shared in [false, true] {
                let mut random = Random::new(rows as u64);
                let (x1, x2) = (
                    random.points(rows, dimensions),
                    random.points(columns, dimensions),
                );
                let scales = lengthscales(&mut random, dimensions, shared);
                for kind in KINDS {
                    let values = covariance(
                        kind,
                        platform.matrix(&x1),
                        platform.matrix(&x2),
                        platform.tensor(&scales, [scales.len()]),
                        platform.tensor(&[1.7], [1]),
                    );
                    assert_eq!(values.dims(), [rows, columns]);
                    let expected = reference_matrix(kind, &x1, &x2, &scales, 1.7);
                    let what = format!("{platform}, {kind:?}, {rows} x {columns} x {dimensions}");
                    let tolerance = platform.tolerance(1e-14, 5e-6);
                    assert_close(&what, &numbers(values), &expected.values, tolerance);
                }
            }
        }
    }
}

#[test]
fn the_matrix_of_one_set_is_symmetric_with_the_variance_on_its_diagonal() {
    for platform in platforms() {
        for (size, dimensions) in [(1, 1), (65, 3), (200, 30), (70, 40)] {
            let mut random = Random::new(67);
            let x = random.points(size, dimensions);
            let scales = lengthscales(&mut random, dimensions, false);
            for kind in KINDS {
                let matrix = covariance_matrix(
                    kind,
                    platform.matrix(&x),
                    platform.tensor(&scales, [dimensions]),
                    platform.tensor(&[0.5], [1]),
                );
                let matrix = Dense::new(size, size, numbers(matrix));
                assert_eq!(matrix, matrix.transposed(), "{platform}, {kind:?}");
                assert_eq!(matrix.diagonal(), vec![0.5; size], "{platform}, {kind:?}");
            }
        }
    }
}

#[test]
fn points_in_a_window_of_a_larger_tensor() {
    for platform in platforms() {
        let x = Random::new(71).points(70, 4);
        let (one, whole) = (platform.tensor(&[1.0], [1]), platform.matrix(&x));
        let window = whole.narrow(1, 1, 2).narrow(0, 5, 65);
        let copy = Dense::from_function(65, 2, |i, j| x[(i + 5, j + 1)]);
        for kind in KINDS {
            let matrix = |x| numbers(covariance_matrix(kind, x, one.clone(), one.clone()));
            assert_eq!(
                matrix(window.clone()),
                matrix(platform.matrix(&copy)),
                "{platform}"
            );
        }
    }
}

/// Two points whose squared distance overflows have zero covariance, not NaN.
#[test]
fn points_at_any_distance_are_finite() {
    for platform in platforms() {
        for distance in [1e3, 1e10, platform.tolerance(1e200, 1e25)] {
            for kind in KINDS {
                let tracked = platform.autodiff();
                let x = tracked
                    .tensor(&[0.0, distance, -distance], [3, 1])
                    .require_grad();
                let scale = tracked.tensor(&[1.0], [1]).require_grad();
                let matrix = covariance_matrix(kind, x.clone(), scale.clone(), scale.clone());
                let what = format!("{platform}, {kind:?}, distance {distance}");
                let identity = Dense::identity(3).values;
                assert_close(&what, &numbers(matrix.clone()), &identity, 0.0);
                let gradients = matrix.sum().backward();
                assert_finite(&what, &numbers(x.grad(&gradients).expect("gradient")));
                assert_finite(&what, &numbers(scale.grad(&gradients).expect("gradient")));
            }
        }
    }
}

/// A NaN coordinate or lengthscale is not hidden: the factorization returns an error.
#[test]
fn nan_is_reported_by_the_factorization() {
    for platform in platforms() {
        for kind in KINDS {
            for bad in [0, 2] {
                let mut x = [0.0, 0.5, 1.0, 1.5];
                x[bad] = f64::NAN;
                let one = platform.tensor(&[1.0], [1]);
                let points = platform.tensor(&x, [4, 1]);
                let matrix = covariance_matrix(kind, points, one.clone(), one.clone());
                let error = cholesky(matrix, Jitter::INDUCING).expect_err("NaN");
                let what = format!("{platform}, {kind:?}, point {bad}: {error}");
                assert!(error.smallest_diagonal.is_nan(), "{what}");
                assert_eq!(error.pivot, bad, "{what}");
                let scale = platform.tensor(&[f64::NAN], [1]);
                let points = platform.tensor(&[0.0, 1.0], [2, 1]);
                let matrix = covariance_matrix(kind, points, scale, one);
                assert!(cholesky(matrix, Jitter::INDUCING).is_err(), "{what}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "expected equal dimensions")]
fn points_of_different_dimensions_are_the_callers_error() {
    let platform = &platforms()[0];
    let one = platform.tensor(&[1.0], [1]);
    let (x1, x2) = (
        platform.tensor(&[0.0; 4], [2, 2]),
        platform.tensor(&[0.0; 3], [1, 3]),
    );
    covariance(Stationary::Matern32, x1, x2, one.clone(), one);
}

/// Matérn-1/2 has a kink at coincident points. There, only differences in a single coordinate give
/// the mean of the one-sided slopes.
fn checker(kind: Stationary) -> Checker {
    if kind == Stationary::Matern12 {
        check_gradients_by_entry
    } else {
        check_gradients
    }
}

/// Checks the gradients of `Σ W∘k(x1, x2)` with respect to all inputs.
fn check(what: &str, kind: Stationary, x1: &Dense, x2: &Dense, scales: &[f64], checker: Checker) {
    let weights = Random::new(73).matrix(x1.rows, x2.rows);
    let (rows, columns, dimensions) = (x1.rows, x2.rows, x1.columns);
    checker(
        &format!("{what}, {kind:?}"),
        &[
            x1.into(),
            x2.into(),
            scales.to_vec().into(),
            vec![1.3].into(),
        ],
        1e-4,
        &|platform, inputs| {
            let values = covariance(
                kind,
                inputs[0].clone().reshape([rows, dimensions]),
                inputs[1].clone().reshape([columns, dimensions]),
                inputs[2].clone(),
                inputs[3].clone(),
            );
            (values * platform.matrix(&weights)).sum()
        },
    );
}

#[test]
fn gradients_of_two_sets() {
    for (rows, columns, dimensions) in [
        (1, 1, 1),
        (4, 3, 2),
        (3, 64, 2),
        (63, 130, 8),
        (200, 131, 30),
        (5, 70, 40),
        (150, 131, 100),
    ] {
        for shared in [false, true] {
            let mut random = Random::new(79);
            let (x1, x2) = (
                random.points(rows, dimensions),
                random.points(columns, dimensions),
            );
            let scales = lengthscales(&mut random, dimensions, shared);
            for kind in KINDS {
                let what = format!("{rows} x {columns} x {dimensions}, shared {shared}");
                check(&what, kind, &x1, &x2, &scales, check_gradients);
            }
        }
    }
}

/// Points of the second set coincide with points of the first. The profiles are even functions of
/// the distance, so central differences give a zero slope there, also for Matérn-1/2.
#[test]
fn gradients_at_coincident_points() {
    for dimensions in [1, 3, 40] {
        let mut random = Random::new(83);
        let x1 = random.points(6, dimensions);
        let x2 = Dense::from_function(5, dimensions, |i, d| {
            if i < 3 {
                x1[(2 * i, d)]
            } else {
                x1[(i, d)] + 0.7
            }
        });
        for scales in [vec![0.8], vec![0.8; dimensions]] {
            for kind in KINDS {
                check("coincident points", kind, &x1, &x2, &scales, checker(kind));
            }
        }
    }
}

fn check_matrix(what: &str, kind: Stationary, x: &Dense, scales: &[f64], checker: Checker) {
    let weights = Random::new(89).matrix(x.rows, x.rows);
    let (size, dimensions) = (x.rows, x.columns);
    checker(
        &format!("{what}, {kind:?}"),
        &[x.into(), Input::from(scales.to_vec()), vec![0.6].into()],
        1e-4,
        &|platform, inputs| {
            let x: Tensor<2> = inputs[0].clone().reshape([size, dimensions]);
            let matrix = covariance_matrix(kind, x, inputs[1].clone(), inputs[2].clone());
            (matrix * platform.matrix(&weights)).sum()
        },
    );
}

/// With `x1 = x2`, both gradients reach the same points.
#[test]
fn gradients_of_one_set() {
    for (size, dimensions) in [(1, 1), (5, 2), (65, 3), (150, 8), (70, 40)] {
        let mut random = Random::new(97);
        let x = random.points(size, dimensions);
        for shared in [false, true] {
            let scales = lengthscales(&mut random, dimensions, shared);
            for kind in KINDS {
                check_matrix(
                    &format!("{size} points, shared {shared}"),
                    kind,
                    &x,
                    &scales,
                    check_gradients,
                );
            }
        }
    }
}

/// The set contains a point twice.
#[test]
fn gradients_of_one_set_with_repeated_points() {
    let base = Random::new(101).points(6, 2);
    let x = Dense::from_function(8, 2, |i, d| base[(i % 6, d)]);
    for kind in KINDS {
        check_matrix("repeated points", kind, &x, &[0.9, 1.4], checker(kind));
    }
}
