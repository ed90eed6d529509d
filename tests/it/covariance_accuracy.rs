//! Sizes, layouts and positions of points that are hard for the fused covariance, each compared with
//! the formula for the points as the element type rounds them.

use crate::support::{
    Dense, Platform, Random, assert_close, assert_finite, check_gradients,
    gradients::autodiff_gradients,
    numbers, platforms, platforms_of_operations,
    stationary::{KINDS, profile},
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{Stationary, covariance, covariances};

/// N1, N2, D: around the tiles of GPUs (64 rows, 8 dimensions), which differ from those of the CPU.
const SHAPES: [[usize; 3]; 6] = [
    [64, 64, 8],
    [65, 129, 65],
    [33, 31, 9],
    [1, 65, 3],
    [129, 1, 1],
    [130, 300, 16],
];

/// `φ` between two sets of points as the platform rounds them.
fn expected(
    platform: &Platform,
    kind: Stationary,
    [x1, x2]: [&Dense; 2],
    lengthscales: &[f64],
) -> Vec<f64> {
    let rounded = |x: &Dense| Dense::new(x.rows, x.columns, platform.rounded(&x.values));
    let (x1, x2) = (rounded(x1), rounded(x2));
    let scales = platform.rounded(lengthscales);
    let values = Dense::from_function(x1.rows, x2.rows, |i, j| {
        profile(kind, x1.row(i), x2.row(j), &scales)
    });
    values.values
}

/// `φ` between two sets of points.
fn values(
    platform: &Platform,
    kind: Stationary,
    [x1, x2]: [Tensor<2>; 2],
    lengthscales: &[f64],
) -> Vec<f64> {
    let scales = platform.tensor(lengthscales, [lengthscales.len()]);
    numbers(covariance(
        kind,
        x1,
        x2,
        scales,
        platform.tensor(&[1.0], [1]),
    ))
}

/// At squared distances that are exact in single precision, the error is that of the exponential
/// alone: two units in the last place of every number, however small.
#[test]
fn the_squared_exponential_has_all_digits() {
    let points = Dense::from_function(209, 1, |i, _| i as f64 / 16.0);
    let origin = Dense::new(1, 1, vec![0.0]);
    for platform in platforms_of_operations() {
        let pair = [platform.matrix(&origin), platform.matrix(&points)];
        let actual = values(&platform, Stationary::SquaredExponential, pair, &[1.0]);
        for (point, actual) in points.values.iter().zip(actual) {
            let expected = (-0.5 * point * point).exp();
            let error = (actual - expected).abs();
            assert!(
                error <= 2.0 * platform.epsilon() * expected,
                "{platform}: exp(−{point}²/2) = {expected:e}, not {actual:e}"
            );
        }
    }
}

#[test]
fn shapes_around_the_tiles() {
    for platform in platforms_of_operations() {
        for [rows, columns, dimensions] in SHAPES {
            let mut random = Random::new(rows as u64);
            let unit = (dimensions as f64).sqrt();
            let scales = random.uniforms(dimensions, 0.5 * unit, 1.5 * unit);
            let x1 = random.points(rows, dimensions);
            let x2 = random.points(columns, dimensions);
            for kind in KINDS {
                let what = format!("{platform}, {kind:?}, {rows} x {columns} x {dimensions}");
                let pair = [platform.matrix(&x1), platform.matrix(&x2)];
                let actual = values(&platform, kind, pair, &scales);
                let expected = expected(&platform, kind, [&x1, &x2], &scales);
                let tolerance = platform.tolerance(1e-14, 1e-6);
                assert_close(&what, &actual, &expected, tolerance);
            }
        }
    }
}

#[test]
fn gradients_of_shapes_around_the_tiles() {
    for [rows, columns, dimensions] in SHAPES {
        let mut random = Random::new(rows as u64);
        let unit = (dimensions as f64).sqrt();
        let scales = random.uniforms(dimensions, 0.5 * unit, 1.5 * unit);
        let x1 = random.points(rows, dimensions);
        let x2 = random.points(columns, dimensions);
        let weights = random.matrix(columns, rows);
        for kind in [Stationary::Matern12, Stationary::Matern52] {
            let inputs = [
                (&x1).into(),
                (&x2).into(),
                scales.clone().into(),
                vec![1.3].into(),
            ];
            let what = format!("{kind:?}, {rows} x {columns} x {dimensions}");
            // The gradient of the covariance is a transposed tensor.
            check_gradients(&what, &inputs, 2e-5, &|platform, inputs| {
                let x1 = inputs[0].clone().reshape([rows, dimensions]);
                let x2 = inputs[1].clone().reshape([columns, dimensions]);
                let values = covariance(kind, x1, x2, inputs[2].clone(), inputs[3].clone());
                (values.transpose() * platform.matrix(&weights)).sum()
            });
        }
    }
}

/// The gradient of a sum is one number, repeated with strides of zero.
#[test]
fn gradients_of_sums() {
    let mut random = Random::new(3);
    let (x1, x2) = (random.points(70, 3), random.points(150, 3));
    let inputs = [
        (&x1).into(),
        (&x2).into(),
        vec![0.8].into(),
        vec![1.3].into(),
    ];
    for kind in KINDS {
        check_gradients(&format!("{kind:?}"), &inputs, 2e-5, &|_, inputs| {
            let x1 = inputs[0].clone().reshape([70, 3]);
            let x2 = inputs[1].clone().reshape([150, 3]);
            covariance(kind, x1, x2, inputs[2].clone(), inputs[3].clone()).sum()
        });
    }
}

#[test]
fn no_points_have_no_covariances_and_zero_gradients() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for [rows, columns] in [[0, 5], [5, 0], [0, 0]] {
            let points = |count: usize| -> Tensor<2> {
                let points = tracked.tensor(&vec![0.5; count * 3], [count, 3]);
                points.require_grad()
            };
            let (x1, x2) = (points(rows), points(columns));
            let scales = tracked.tensor(&[1.0; 3], [3]).require_grad();
            let variance = tracked.tensor(&[1.0], [1]).require_grad();
            let values = covariance(
                Stationary::Matern32,
                x1.clone(),
                x2.clone(),
                scales.clone(),
                variance.clone(),
            );
            assert_eq!(values.dims(), [rows, columns], "{platform}");
            let gradients = values.sum().backward();
            let what = format!("{platform}, {rows} x {columns}");
            for (points, count) in [(x1, rows), (x2, columns)] {
                let gradient = points.grad(&gradients).expect("gradient");
                assert_eq!(numbers(gradient), vec![0.0; 3 * count], "{what}");
            }
            let gradient = scales.grad(&gradients).expect("gradient");
            assert_eq!(numbers(gradient), vec![0.0; 3], "{what}");
            let gradient = variance.grad(&gradients).expect("gradient");
            assert_eq!(numbers(gradient), vec![0.0], "{what}");
        }
    }
}

#[test]
fn points_may_be_transposed() {
    let mut random = Random::new(5);
    let (x1, x2) = (random.points(70, 3), random.points(9, 3));
    for platform in platforms() {
        let turned = |x: &Dense| platform.matrix(&x.transposed()).transpose();
        for kind in KINDS {
            let straight = [platform.matrix(&x1), platform.matrix(&x2)];
            let expected = values(&platform, kind, straight, &[0.7, 1.1, 1.9]);
            let actual = values(
                &platform,
                kind,
                [turned(&x1), turned(&x2)],
                &[0.7, 1.1, 1.9],
            );
            assert_eq!(actual, expected, "{platform}, {kind:?}");
        }
    }
}

/// Members of a batch have the gradients that they have alone.
#[test]
fn batches_are_their_members() {
    let (batch, rows, columns, dimensions) = (3, 33, 70, 5);
    let mut random = Random::new(7);
    let mut members = |size: usize| -> Vec<Vec<f64>> {
        (0..batch)
            .map(|_| random.uniforms(size, 0.5, 2.0))
            .collect()
    };
    let [x1, x2] = [rows, columns].map(|points| members(points * dimensions));
    let (weights, variances) = (members(rows * columns), members(1));
    for scales in [members(1), members(dimensions)] {
        for kind in KINDS {
            for platform in platforms() {
                let tracked = platform.autodiff();
                // The gradients of some members in one operation.
                let some = |chosen: core::ops::Range<usize>| {
                    let joined = |all: &[Vec<f64>]| all[chosen.clone()].concat();
                    let p = chosen.len();
                    let inputs = [&x1, &x2, &scales, &variances].map(|all| joined(all).into());
                    let weights = tracked.tensor(&joined(&weights), [p, rows, columns]);
                    let values = |x: &[Tensor<1>]| {
                        covariances(
                            kind,
                            x[0].clone().reshape([p, rows, dimensions]),
                            x[1].clone().reshape([p, columns, dimensions]),
                            x[2].clone(),
                            x[3].clone(),
                        )
                    };
                    let loss = |_: &Platform, x: &[Tensor<1>]| (values(x) * weights.clone()).sum();
                    autodiff_gradients(&tracked, &inputs, &loss)
                };
                let together = some(0..batch);
                for member in 0..batch {
                    let alone = some(member..member + 1);
                    for (together, alone) in together.iter().zip(alone) {
                        let part = &together[member * alone.len()..][..alone.len()];
                        assert_eq!(part, alone, "{platform}, {kind:?}, member {member}");
                    }
                }
            }
        }
    }
}

/// Nearby points, relative to the lengthscale or to their distance from zero. The difference of two
/// coordinates is exact, so that the error is that of a few operations; a scalar product of the
/// coordinates would lose every digit.
#[test]
fn nearby_points_keep_their_digits() {
    let mut random = Random::new(13);
    let offsets = random.points(40, 2);
    // The CPU scales coordinates before it subtracts them, which is exact for powers of two only.
    for platform in platforms() {
        for (what, center, spread, scales) in [
            ("close points", 0.0, 1e-4, [0.7, 1.9]),
            ("points around 1000", 1e3, 1e-3, [1.0 / 1024.0, 1.0 / 256.0]),
            ("points around 1000000", 1e6, 1.0, [0.5, 2.0]),
            ("points around 1000000", 1e6, 1.0, [0.3, 1.7]),
        ] {
            let exact = scales.iter().all(|scale: &f64| scale.log2().fract() == 0.0);
            if platform.is_host() && center > 0.0 && !exact {
                continue;
            }
            let x1 = Dense::from_function(40, 2, |i, d| center + spread * offsets[(i, d)]);
            let x2 = Dense::from_function(9, 2, |i, d| center + spread * offsets[(4 * i, d)]);
            for kind in KINDS {
                let pair = [platform.matrix(&x1), platform.matrix(&x2)];
                let actual = values(&platform, kind, pair, &scales);
                let expected = expected(&platform, kind, [&x1, &x2], &scales);
                assert_finite(what, &actual);
                // `φ ≥ 1e-3` where it matters; its argument is exact to a few units.
                let tolerance = 8.0 * platform.epsilon();
                let what = format!("{platform}, {kind:?}, {what}");
                assert_close(&what, &actual, &expected, tolerance);
            }
        }
    }
}
