//! The Matérn covariance of any smoothness compared with values of many digits, with its closed forms and with its limit.

mod reference_values;

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{KernelModule, Matern, StationaryKernel},
    ops::{Stationary, matern},
};

use crate::support::{
    Input, Platform, Random, assert_close, check_gradients_to, double_precision_platforms, numbers,
    parameter_gradients, platforms,
};
use reference_values::REFERENCE;

/// `φ`, `dφ/dr²` and `dφ/dν` at squared distances and smoothness, one after the other.
fn values_and_slopes(platform: &Platform, rows: &[[f64; 2]]) -> [Vec<f64>; 3] {
    let tracked = platform.autodiff();
    let count = rows.len();
    let column = |index: usize| -> Vec<f64> { rows.iter().map(|row| row[index]).collect() };
    let squares: Tensor<3> = tracked.tensor(&column(1), [count, 1, 1]).require_grad();
    let smoothness: Tensor<1> = tracked.tensor(&column(0), [count]).require_grad();
    let values = matern(squares.clone(), smoothness.clone());
    let gradients = values.clone().sum().backward();
    let of = |gradient: Option<Vec<f64>>| gradient.expect("tracked");
    [
        numbers(values),
        of(squares.grad(&gradients).map(numbers)),
        of(smoothness.grad(&gradients).map(numbers)),
    ]
}

/// Relative to the values. The derivative in ν is the difference of one at equal z and of one in z, each of about
/// the size of the value times `1/ν`.
#[test]
fn values_and_derivatives_have_many_digits() {
    let rows: Vec<[f64; 2]> = REFERENCE.iter().map(|row| [row[0], row[1]]).collect();
    for platform in platforms() {
        let [values, slopes, of_smoothness] = values_and_slopes(&platform, &rows);
        let tolerance = platform.tolerance(2e-14, 3e-5);
        for (index, &[nu, square, value, slope, change]) in REFERENCE.iter().enumerate() {
            let what = format!("ν = {nu}, r² = {square:e} on {platform}");
            // The smallest normal number in single precision; rounding r² changes φ by its relative error times z.
            let floor = platform.tolerance(0.0, 1e-30);
            let relative = tolerance * (1.0 + platform.tolerance(0.0, (nu * square).sqrt()));
            let check = |name: &str, found: f64, expected: f64, scale: f64| {
                let error = (found - expected).abs();
                assert!(
                    error <= relative * scale + floor,
                    "{name} {found:e}, not {expected:e}, for {what}"
                );
            };
            check("φ", values[index], value, value);
            check("dφ/dr²", slopes[index], slope, slope.abs());
            let scale = value / nu + (slope * square / nu).abs() + change.abs();
            check("dφ/dν", of_smoothness[index], change, scale);
        }
    }
}

/// Single precision gets the covariance of a trained kernel with the digits of its type.
#[test]
fn closed_forms_are_equal() {
    let mut random = Random::new(881);
    let (x1, x2) = (random.points(30, 3), random.points(20, 3));
    for platform in platforms() {
        let tracked = platform.autodiff();
        for (kind, smoothness) in [
            (Stationary::Matern12, 0.5),
            (Stationary::Matern32, 1.5),
            (Stationary::Matern52, 2.5),
        ] {
            let what = format!("ν = {smoothness} on {platform}");
            let lengthscales = [0.6, 1.0, 1.9];
            let same = StationaryKernel::new(kind, &lengthscales, 1.3, tracked.options());
            let kernel = Matern::new(&lengthscales, 1.3, smoothness, tracked.options());
            let [expected, found] = [
                same.covariance_at(tracked.matrix(&x1), tracked.matrix(&x2)),
                kernel.covariance_at(tracked.matrix(&x1), tracked.matrix(&x2)),
            ];
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(
                &what,
                &numbers(found.clone()),
                &numbers(expected.clone()),
                tolerance,
            );
            let [expected, found] = [
                parameter_gradients(&same, &expected.sum().backward()),
                parameter_gradients(&kernel, &found.sum().backward()),
            ];
            // The lengthscales and the variance.
            assert_close(&what, &found[..2].concat(), &expected.concat(), tolerance);
        }
    }
}

/// `φ = e^(−s/2)·(1 + (s²/8 − s/2)/ν) + O(1/ν²)` for `s = r²`, since φ is the mean of `e^(−s/(2g))` over
/// `g ~ Γ(ν, rate ν)`, whose reciprocal has the mean `1 + 1/ν` and the variance `1/ν`, up to higher orders.
#[test]
fn the_limit_is_the_squared_exponential() {
    let platform = &double_precision_platforms()[0];
    for smoothness in [1e2, 1e4, 1e6] {
        for square in [0.0, 1e-3, 0.2, 1.0, 3.0, 12.0] {
            let [values, slopes, of_smoothness] =
                values_and_slopes(platform, &[[smoothness, square]]);
            let limit = f64::exp(-0.5 * square);
            let first = limit * (square * square / 8.0 - 0.5 * square);
            let error = (values[0] - limit) * smoothness - first;
            // Higher orders, and rounding.
            assert!(
                error.abs() <= 20.0 / smoothness + 1e-14 * smoothness,
                "φ of {smoothness:e} at {square}: {error:e}"
            );
            let error = of_smoothness[0] * smoothness.powi(2) + first;
            assert!(
                error.abs() <= 40.0 / smoothness + 1e-17 * smoothness.powi(2),
                "dφ/dν of {smoothness:e} at {square}: {error:e}"
            );
            if square > 0.0 {
                assert_close(
                    "dφ/dr²",
                    &slopes,
                    &[-0.5 * limit],
                    10.0 / smoothness + 1e-13,
                );
            }
        }
    }
}

/// For two members with smoothness of their own. The differences have a relative error of about 1e-9.
#[test]
fn gradients_are_those_of_central_differences() {
    for smoothness in [0.12, 0.5, 0.97, 1.0, 2.3, 9.0] {
        let squares: Input = vec![0.04, 0.3, 1.1, 2.0, 5.0, 11.0].into();
        let members: Input = vec![smoothness, smoothness + 0.4].into();
        check_gradients_to(
            &format!("ν = {smoothness}"),
            &[squares, members],
            (1e-7, 1e-3),
            &|platform, inputs| {
                let values = matern(
                    inputs[0].clone().reshape([2, 3, 1]),
                    inputs[1].clone().reshape([2]),
                );
                let weights = platform.tensor(&[0.3, -1.0, 0.7, 1.1, -0.4, 0.9], [2, 3, 1]);
                (values * weights).sum()
            },
        );
    }
}

/// One and zero, whatever the smoothness, and NaN where there is no number.
#[test]
fn ends_of_the_distance() {
    for platform in platforms().into_iter().filter(Platform::is_host) {
        for smoothness in [1e-5, 0.3, 1.0, 4.0, 1e4, 1e30] {
            let rows = [0.0, 1e-35, 1e30, f64::INFINITY].map(|square| [smoothness, square]);
            let [values, slopes, of_smoothness] = values_and_slopes(&platform, &rows);
            let what = format!("ν = {smoothness} on {platform}");
            assert_eq!((values[0], values[3]), (1.0, 0.0), "{what}");
            assert!(values[2] < 1e-30, "{what}: {values:?}");
            assert!(
                (0.0..=1.0 + 1e-13).contains(&values[1]),
                "{what}: {values:?}"
            );
            for value in slopes.iter().chain(&of_smoothness) {
                assert!(value.is_finite(), "{what}: {slopes:?}, {of_smoothness:?}");
            }
        }
        let [values, ..] = values_and_slopes(&platform, &[[1.0, f64::NAN]]);
        assert!(values[0].is_nan());
    }
}
