//! Special functions and their slopes, compared with formulas in double precision, over their whole
//! range and at their ends.

use burn::tensor::Tensor;
use burn_gp_core::ops::{
    arc_sine, exp_minus_one, log_gamma, log_normal_cdf, log_one_minus_exp, log_ratio, softplus,
    stirling_remainder, tanh,
};

use crate::support::{Platform, numbers, platforms_of_operations};

/// A function with a formula for its value and its slope.
struct Function {
    name: &'static str,
    apply: fn(Tensor<1>) -> Tensor<1>,
    reference: fn(f64) -> (f64, f64),
    arguments: Vec<f64>,
}

/// `ψ(x)` and the error of Stirling's formula with its slope, by recurrence from far out, where one
/// term of their series is enough.
fn gamma_functions(x: f64) -> (f64, f64, f64) {
    let (mut y, mut digamma, mut rest, mut slope) = (x, 0.0, 0.0, 0.0);
    while y < 3000.0 {
        let growth = (1.0 / y).ln_1p();
        digamma -= 1.0 / y;
        rest += (y + 0.5) * growth - 1.0;
        slope += growth - (y + 0.5) / (y * (y + 1.0));
        y += 1.0;
    }
    let square = 1.0 / (y * y);
    (
        digamma + y.ln() - 0.5 / y - square / 12.0,
        rest + 1.0 / (12.0 * y) - square / (360.0 * y),
        slope - square / 12.0,
    )
}

fn normal(x: f64) -> (f64, f64) {
    // The Mills ratio as a continued fraction where Φ underflows.
    let fraction = (1..400).rev().fold(-x, |tail, k| -x + f64::from(k) / tail);
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < -8.0 {
        let constant = 0.5 * (2.0 * std::f64::consts::PI).ln();
        return (-0.5 * x * x - constant - fraction.ln(), fraction);
    }
    let cdf = 0.5 * libm::erfc(-x / 2f64.sqrt());
    let value = if x > 0.0 {
        (-0.5 * libm::erfc(x / 2f64.sqrt())).ln_1p()
    } else {
        cdf.ln()
    };
    (value, density / cdf)
}

fn ratio(x: f64) -> (f64, f64) {
    if x == 0.0 {
        return (1.0, -0.5);
    }
    let slope = if x.abs() < 1e-2 {
        (1..12).fold(0.0, |sum, k| {
            let k = f64::from(k);
            sum + (-1f64).powf(k) * k / (k + 1.0) * x.powf(k - 1.0)
        })
    } else {
        (1.0 / (1.0 + x) - x.ln_1p() / x) / x
    };
    (x.ln_1p() / x, slope)
}

fn functions() -> Vec<Function> {
    let line = |from: f64, to: f64| -> Vec<f64> {
        (0..=400)
            .map(|i| from + (to - from) * f64::from(i) / 400.0)
            .collect()
    };
    let positive: Vec<f64> = line(-4.0, 5.0).into_iter().map(|x| 10f64.powf(x)).collect();
    let near = |center: f64| {
        line(-3.0, -1.0)
            .into_iter()
            .map(move |x| center + 10f64.powf(x))
    };
    let with = |mut all: Vec<f64>, more: Vec<f64>| {
        all.extend(more);
        all
    };
    let around_zeros: Vec<f64> = near(1.0).chain(near(2.0)).collect();
    let negative: Vec<f64> = positive.iter().map(|x| -x).collect();
    let small: Vec<f64> = line(-0.9, 1.0);
    vec![
        Function {
            name: "softplus",
            apply: softplus,
            reference: |x| {
                let decay = (-x.abs()).exp();
                (
                    x.max(0.0) + decay.ln_1p(),
                    if x > 0.0 { 1.0 } else { decay } / (1.0 + decay),
                )
            },
            arguments: line(-80.0, 80.0),
        },
        Function {
            name: "log_normal_cdf",
            apply: log_normal_cdf,
            reference: normal,
            arguments: line(-30.0, 12.0),
        },
        Function {
            name: "log_gamma",
            apply: log_gamma,
            reference: |x| (libm::lgamma(x), gamma_functions(x).0),
            arguments: with(with(positive.clone(), line(0.4, 12.0)), around_zeros),
        },
        Function {
            name: "stirling_remainder",
            apply: stirling_remainder,
            reference: |x| {
                let (_, rest, slope) = gamma_functions(x);
                (rest, slope)
            },
            arguments: with(
                line(-2.0, 2.5).into_iter().map(|x| 10f64.powf(x)).collect(),
                line(0.4, 12.0),
            ),
        },
        Function {
            name: "log_one_minus_exp",
            apply: log_one_minus_exp,
            reference: |x| ((-x.exp_m1()).ln(), -1.0 / (-x).exp_m1()),
            arguments: negative.into_iter().filter(|&x| x > -15.0).collect(),
        },
        Function {
            name: "exp_minus_one",
            apply: exp_minus_one,
            reference: |x| (x.exp_m1(), x.exp()),
            arguments: with(with(line(-30.0, 80.0), small.clone()), vec![1e-20, -1e-20]),
        },
        Function {
            name: "log_ratio",
            apply: log_ratio,
            reference: ratio,
            arguments: with(with(positive, small), vec![0.0, 1e-20, -1e-6]),
        },
        Function {
            name: "tanh",
            apply: tanh,
            reference: |x| (x.tanh(), x.cosh().powi(-2)),
            arguments: with(line(-40.0, 40.0), line(-1.0, 1.0)),
        },
        Function {
            name: "arc_sine",
            apply: arc_sine,
            reference: |x| (x.asin(), ((1.0 - x) * (1.0 + x)).sqrt().recip()),
            arguments: with(line(-0.999, 0.999), vec![0.0, 1e-20, -1e-6, 1.0 - 1e-6]),
        },
    ]
}

fn value_and_slope(platform: &Platform, function: &Function, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let x = platform.autodiff().tensor(x, [x.len()]).require_grad();
    let values = (function.apply)(x.clone());
    let gradients = values.clone().sum().backward();
    (
        numbers(values.inner()),
        numbers(x.grad(&gradients).expect("a gradient")),
    )
}

/// Values have a few units in the last place. Slopes have that of their parts, which are at most
/// ten times as large, and the digamma function has a zero.
#[test]
fn values_and_slopes_have_the_digits_of_their_type() {
    for platform in platforms_of_operations() {
        for function in functions() {
            let arguments = platform.rounded(&function.arguments);
            let (values, slopes) = value_and_slope(&platform, &function, &arguments);
            let close = |found: f64, expected: f64, digits: f64, rest: f64| {
                // The recurrences of the references have errors of their own.
                let relative = platform.tolerance(1e-9, digits * f64::from(f32::EPSILON));
                (found - expected).abs() <= relative * (expected.abs() + rest) + 1e-37
            };
            for ((&x, &value), &slope) in arguments.iter().zip(&values).zip(&slopes) {
                let (expected, expected_slope) = (function.reference)(x);
                let name = function.name;
                let rest = platform.tolerance(1e-4, 0.0);
                assert!(
                    close(value, expected, 10.0, rest),
                    "{platform}, {name}({x}) = {value:e}, not {expected:e}"
                );
                let rest = if name == "log_gamma" { 1.0 } else { rest };
                assert!(
                    close(slope, expected_slope, 40.0, rest),
                    "{platform}, slope of {name} at {x} is {slope:e}, not {expected_slope:e}"
                );
            }
        }
    }
}

#[test]
fn the_ends_of_the_line() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    for platform in platforms_of_operations() {
        let of = |apply: fn(Tensor<1>) -> Tensor<1>, x: f64| {
            numbers(apply(platform.tensor(&[x], [1])))[0]
        };
        assert_eq!(of(softplus, infinity), infinity, "{platform}");
        assert_eq!(of(softplus, -infinity), 0.0, "{platform}");
        assert_eq!(of(log_normal_cdf, infinity), 0.0, "{platform}");
        assert_eq!(of(log_normal_cdf, -infinity), -infinity, "{platform}");
        assert_eq!(of(exp_minus_one, -infinity), -1.0, "{platform}");
        assert_eq!(of(tanh, infinity), 1.0, "{platform}");
        assert_eq!(of(tanh, -infinity), -1.0, "{platform}");
        assert_eq!(of(log_ratio, 0.0), 1.0, "{platform}");
        assert!(of(arc_sine, 1.5).is_nan(), "{platform}");
        assert!(of(log_gamma, -1.5).is_nan(), "{platform}");
        assert!(of(stirling_remainder, -1.0).is_nan(), "{platform}");
        for function in functions() {
            let value = of(function.apply, nan);
            assert!(
                value.is_nan(),
                "{platform}, {}(NaN) = {value}",
                function.name
            );
        }
        for function in functions() {
            let empty = (function.apply)(platform.tensor(&[], [0]));
            assert_eq!(empty.dims(), [0], "{platform}");
        }
    }
}
