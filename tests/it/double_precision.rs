//! Operations in double precision, on every device that reports it: arguments whose exponential or logarithm
//! single precision does not have, or not with these digits.

use burn::tensor::{DType, Tensor};
use burn_gp_core::ops::{Jitter, Stationary, cholesky, covariance, log_normal_cdf, softplus};

use crate::support::{
    Dense, Platform, Random, assert_close, numbers, platforms_of_operations,
    stationary::{KINDS, profile},
};

fn platforms() -> impl Iterator<Item = Platform> {
    platforms_of_operations()
        .into_iter()
        .filter(|platform| platform.dtype == DType::F64)
}

/// Every value by itself, relative to it.
#[track_caller]
fn assert_digits(what: &str, actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let error = (actual - expected).abs() / expected.abs();
        assert!(
            error <= tolerance,
            "{what}: entry {index} is {actual:e}, not {expected:e}"
        );
    }
}

/// The squared exponential is 4e-79 at 19 lengthscales and 5e-298 at 37. Single precision ends at 13. An error of
/// `r²/2` in units of its last place is one of the value's.
#[test]
fn covariances_of_far_points_are_tiny() {
    let points = Dense::from_function(73, 1, |i, _| 19.0 + 0.25 * i as f64);
    let origin = Dense::new(1, 1, vec![0.0]);
    for platform in platforms() {
        for kind in KINDS {
            let (scale, variance) = (platform.tensor(&[1.0], [1]), platform.tensor(&[1.0], [1]));
            let (x1, x2) = (platform.matrix(&origin), platform.matrix(&points));
            let actual = numbers(covariance(kind, x1, x2, scale, variance));
            let expected: Vec<f64> = (points.values.iter())
                .map(|&point| profile(kind, &[point], &[0.0], &[1.0]))
                .collect();
            let what = format!("{platform}, {kind:?}");
            assert_digits(&what, &actual, &expected, 1e-13);
        }
    }
}

/// Gradients have the same factor.
#[test]
fn gradients_of_far_points_are_tiny() {
    for platform in platforms() {
        for point in [19.0, 25.0, 37.0f64] {
            let tracked = platform.autodiff();
            let x: Tensor<2> = tracked.tensor(&[point], [1, 1]).require_grad();
            let (scale, variance) = (tracked.tensor(&[1.0], [1]), tracked.tensor(&[1.0], [1]));
            let origin = tracked.tensor(&[0.0], [1, 1]);
            let kind = Stationary::SquaredExponential;
            let value = covariance(kind, x.clone(), origin, scale, variance);
            let gradients = value.sum().backward();
            let slope = numbers(x.grad(&gradients).expect("a gradient"));
            let expected = -point * (-0.5 * point * point).exp();
            assert_digits(&format!("{platform}"), &slope, &[expected], 1e-13);
        }
    }
}

#[test]
fn functions_of_large_numbers() {
    for platform in platforms() {
        let x: [f64; 6] = [-700.0, -300.0, -100.0, 100.0, 300.0, 1e6];
        let of = |apply: fn(Tensor<1>) -> Tensor<1>, x: &[f64]| {
            numbers(apply(platform.tensor(x, [x.len()])))
        };
        let expected = x.map(|x| if x > 40.0 { x } else { x.exp() });
        let what = format!("{platform}");
        assert_digits(&what, &of(softplus, &x), &expected, 1e-15);
        // `−x²/2 − log(−x) − log(2π)/2 − 1/x²` to 16 digits.
        let far: [f64; 2] = [-1e4, -1e6];
        let expected = far.map(|x: f64| {
            -0.5 * x * x - (-x).ln() - 0.5 * (2.0 * std::f64::consts::PI).ln() - 1.0 / (x * x)
        });
        assert_digits(&what, &of(log_normal_cdf, &far), &expected, 4e-15);
    }
}

/// Scales far from one: the diagonal of the factor is of the size of their square root.
#[test]
fn log_determinants_of_every_scale() {
    for size in [1, 33, 300] {
        let mut random = Random::new(size as u64);
        let matrix = random.positive_definite(size);
        let plain = matrix.log_determinant();
        for platform in platforms() {
            for power in [-300, -60, 0, 100, 600] {
                let scale = 2f64.powi(power);
                let scaled: Vec<f64> = matrix.values.iter().map(|value| scale * value).collect();
                let scaled = platform.tensor(&scaled, [size, size]);
                let factor = cholesky(scaled, Jitter::NONE).expect("positive definite");
                let actual = numbers(factor.log_determinant());
                let expected = plain + size as f64 * scale.ln();
                let what = format!("{platform}, {size}, scale 2^{power}");
                assert_close(&what, &actual, &[expected], 1e-12);
            }
        }
    }
}
