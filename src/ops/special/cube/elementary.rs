//! Functions made of exponentials and logarithms, each with its derivative, in the element type.

use burn_cubecl::cubecl::{self, prelude::*};

use super::super::tanh::{DENOMINATOR, NUMERATOR, SMALL};
use crate::ops::cube::{
    exponential::{constant, exponential, polynomial},
    logarithm::{logarithm, logarithm_of_one_plus},
};

/// `log(1 + eˣ)` without overflow.
#[cube]
pub fn softplus<F: Float>(x: F) -> (F, F) {
    let (zero, one) = (F::new(0.0), F::new(1.0));
    let decay = exponential::<F>(-x.abs());
    let positive = select(x > zero, x, zero);
    let numerator = select(x >= zero, one, decay);
    (
        positive + logarithm_of_one_plus::<F>(decay),
        numerator / (one + decay),
    )
}

/// `1/(k + 1)!`, highest order first: the coefficients of `(eˣ − 1)/x`.
const fn exponential_series<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    let (mut k, mut factorial) = (0, 1.0);
    while k < N {
        factorial *= (k + 1) as f64;
        series[N - 1 - k] = 1.0 / factorial;
        k += 1;
    }
    series
}

fn series_of_exponential(bits: usize) -> &'static [f64] {
    // Enough terms for |x| < 0.7.
    const SINGLE: [f64; 10] = exponential_series();
    const DOUBLE: [f64; 18] = exponential_series();
    if bits == 64 { &DOUBLE } else { &SINGLE }
}

/// `eˣ − 1`, accurate near zero.
#[cube]
pub fn exp_minus_one<F: Float>(x: F) -> (F, F) {
    let bits = F::size_bits().comptime();
    let whole = exponential::<F>(x);
    let small = x * polynomial::<F>(x, comptime!(series_of_exponential(bits)));
    let is_small = x.abs() < constant::<F>(0.7);
    (select(is_small, small, whole - F::new(1.0)), whole)
}

/// `log(1 − eˣ)` and its derivative `−1/(e^{−x} − 1)`, for negative `x`, accurate at both ends.
#[cube]
pub fn log_one_minus_exp<F: Float>(x: F) -> (F, F) {
    let (near, far) = exp_minus_one::<F>(x);
    let (growth, _slope) = exp_minus_one::<F>(-x);
    let value = select(
        x > constant::<F>(-std::f64::consts::LN_2),
        logarithm::<F>(-near),
        logarithm_of_one_plus::<F>(-far),
    );
    (value, F::new(-1.0) / growth)
}

/// `(−1)ᵏ/(k + 1)`, highest order first: the coefficients of `log(1 + x)/x`.
const fn logarithm_series<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    let mut k = 0;
    while k < N {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        series[N - 1 - k] = sign / (k + 1) as f64;
        k += 1;
    }
    series
}

/// The coefficients of the derivative of a polynomial with N + 1 coefficients.
const fn derivative<const N: usize, const M: usize>(series: [f64; M]) -> [f64; N] {
    let mut result = [0.0; N];
    let mut k = 0;
    while k < N {
        result[k] = series[k] * (N - k) as f64;
        k += 1;
    }
    result
}

/// The coefficients of `log(1 + x)/x` and of its derivative, enough for |x| < 1/4.
fn series_of_ratio(bits: usize) -> [&'static [f64]; 2] {
    const SINGLE: [f64; 14] = logarithm_series();
    const SINGLE_SLOPE: [f64; 13] = derivative(SINGLE);
    const DOUBLE: [f64; 28] = logarithm_series();
    const DOUBLE_SLOPE: [f64; 27] = derivative(DOUBLE);
    if bits == 64 {
        [&DOUBLE, &DOUBLE_SLOPE]
    } else {
        [&SINGLE, &SINGLE_SLOPE]
    }
}

/// `log(1 + x)/x`, for `x > −1`, accurate near zero.
#[cube]
pub fn log_ratio<F: Float>(x: F) -> (F, F) {
    let bits = F::size_bits().comptime();
    let is_small = x.abs() < F::new(0.25);
    let ratio = logarithm_of_one_plus::<F>(x) / x;
    let slope = (F::new(1.0) / (F::new(1.0) + x) - ratio) / x;
    (
        select(
            is_small,
            polynomial::<F>(x, comptime!(series_of_ratio(bits)[0])),
            ratio,
        ),
        select(
            is_small,
            polynomial::<F>(x, comptime!(series_of_ratio(bits)[1])),
            slope,
        ),
    )
}

/// The CPU's P and Q, with the leading one of Q.
const TANH_NUMERATOR: &[f64] = &NUMERATOR;
const TANH_DENOMINATOR: &[f64] = &[1.0, DENOMINATOR[0], DENOMINATOR[1], DENOMINATOR[2]];

/// `tanh x` and `1 − tanh² x`, as on the CPU.
#[cube]
pub fn tanh<F: Float>(x: F) -> (F, F) {
    let (one, two) = (F::new(1.0), F::new(2.0));
    let magnitude = x.abs();
    let decay = exponential::<F>(-two * magnitude);
    let sum = one + decay;
    let ratio = two * decay / sum; // 1 − tanh
    let square = magnitude * magnitude;
    let numerator = polynomial::<F>(square, TANH_NUMERATOR);
    let denominator = polynomial::<F>(square, TANH_DENOMINATOR);
    let small = magnitude + magnitude * square * (numerator / denominator);
    let is_small = magnitude < constant::<F>(SMALL);
    let value = select(is_small, small, one - ratio);
    let slope = select(is_small, one - small * small, two * ratio / sum);
    (select(x < F::new(0.0), -value, value), slope)
}

/// `(2k)!/(4ᵏ·k!²·(2k + 1))`, highest order first: the coefficients of `arcsin(√z)/√z`.
const fn arc_sine_series<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    let (mut k, mut central) = (0, 1.0);
    while k < N {
        series[N - 1 - k] = central / (2 * k + 1) as f64;
        k += 1;
        central *= (2 * k - 1) as f64 / (2 * k) as f64;
    }
    series
}

fn series_of_arc_sine(bits: usize) -> &'static [f64] {
    // Enough terms for z ≤ 1/4.
    const SINGLE: [f64; 12] = arc_sine_series();
    const DOUBLE: [f64; 26] = arc_sine_series();
    if bits == 64 { &DOUBLE } else { &SINGLE }
}

/// `arcsin x` for `|x| ≤ 1`; above 1/2 as `π/2 − 2·arcsin √((1 − x)/2)`.
#[cube]
pub fn arc_sine<F: Float>(x: F) -> (F, F) {
    let bits = F::size_bits().comptime();
    let (one, half) = (F::new(1.0), F::new(0.5));
    let magnitude = x.abs();
    let is_large = magnitude > half;
    let square = select(is_large, (one - magnitude) * half, magnitude * magnitude);
    let root = select(is_large, square.sqrt(), magnitude);
    let part = root * polynomial::<F>(square, comptime!(series_of_arc_sine(bits)));
    let right_angle = constant::<F>(std::f64::consts::FRAC_PI_2);
    let value = select(is_large, right_angle - F::new(2.0) * part, part);
    (
        select(x < F::new(0.0), -value, value),
        one / ((one - x) * (one + x)).sqrt(),
    )
}
