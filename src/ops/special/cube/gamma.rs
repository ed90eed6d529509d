//! The logarithm of the gamma function and related functions on GPUs, each with its derivative, for positive
//! arguments; NaN elsewhere. All terms have the element type, so no large terms may cancel: near its zeros at
//! one and two, `log Γ` is a series.

use std::f64::consts::PI;

use burn_cubecl::cubecl::{self, prelude::*};

use super::super::functions::{DIGAMMA_SERIES, STIRLING_SERIES};
use crate::ops::cube::{
    exponential::{constant, polynomial},
    logarithm::{logarithm, logarithm_of_one_plus},
};

/// `1 − γ = ψ(2)`
const SLOPE_AT_TWO: f64 = 0.422_784_335_098_467_13;

/// `ζ(k) − 1`, k from 2.
const ZETA: [f64; 27] = [
    0.644_934_066_848_226_4,
    0.202_056_903_159_594_3,
    0.082_323_233_711_138_19,
    0.036_927_755_143_369_93,
    0.017_343_061_984_449_14,
    0.008_349_277_381_922_827,
    0.004_077_356_197_944_34,
    0.002_008_392_826_082_214_3,
    0.000_994_575_127_818_085_3,
    0.000_494_188_604_119_464_5,
    0.000_246_086_553_308_048_3,
    0.000_122_713_347_578_489_15,
    6.124_813_505_870_483e-5,
    3.058_823_630_702_049e-5,
    1.528_225_940_865_187e-5,
    7.637_197_637_899_763e-6,
    3.817_293_264_999_84e-6,
    1.908_212_716_553_939e-6,
    9.539_620_338_727_962e-7,
    4.769_329_867_878_064e-7,
    2.384_505_027_277_33e-7,
    1.192_199_259_653_110_7e-7,
    5.960_818_905_125_948e-8,
    2.980_350_351_465_228e-8,
    1.490_155_482_836_504_3e-8,
    7.450_711_789_835_43e-9,
    3.725_334_024_788_457e-9,
];

/// The coefficients of `log Γ(2 + z)/z = (1 − γ) + Σ_k (−1)ᵏ·(ζ(k) − 1)/k·z^(k−1)`, or of its
/// derivative `ψ(2 + z) = (1 − γ) + Σ_k (−1)ᵏ·(ζ(k) − 1)·z^(k−1)`, k from 2, highest order first.
const fn series_at_two<const N: usize>(is_slope: bool) -> [f64; N] {
    let mut series = [0.0; N];
    series[N - 1] = SLOPE_AT_TWO;
    let mut k = 2;
    while k <= N {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let divisor = if is_slope { 1.0 } else { k as f64 };
        series[N - k] = sign * ZETA[k - 2] / divisor;
        k += 1;
    }
    series
}

/// Both series, with enough terms for |z| ≤ ½.
fn series(bits: usize) -> [&'static [f64]; 2] {
    const SINGLE: [f64; 14] = series_at_two(false);
    const SINGLE_SLOPE: [f64; 14] = series_at_two(true);
    const DOUBLE: [f64; 28] = series_at_two(false);
    const DOUBLE_SLOPE: [f64; 28] = series_at_two(true);
    if bits == 64 {
        [&DOUBLE, &DOUBLE_SLOPE]
    } else {
        [&SINGLE, &SINGLE_SLOPE]
    }
}

/// The values in reverse order.
const fn reversed(series: [f64; 7]) -> [f64; 7] {
    let mut result = series;
    let mut k = 0;
    while k < 7 {
        result[k] = series[6 - k];
        k += 1;
    }
    result
}

const DIGAMMA_TAIL: &[f64] = &reversed(DIGAMMA_SERIES);
const STIRLING_TAIL: &[f64] = &reversed(STIRLING_SERIES);

/// `log Γ(2 + z)` and `ψ(2 + z)` for `|z| ≤ ½`.
#[cube]
fn around_two<F: Float>(z: F) -> (F, F) {
    let bits = F::size_bits().comptime();
    (
        z * polynomial::<F>(z, comptime!(series(bits)[0])),
        polynomial::<F>(z, comptime!(series(bits)[1])),
    )
}

/// `Σ_k B_{2k}/(2k·(2k − 1)·x^{2k−1})` and its derivative for `x ≥ 10`: the error of Stirling's
/// formula.
#[cube]
fn stirling_tail<F: Float>(x: F) -> (F, F) {
    let reciprocal = F::new(1.0) / x;
    let square = reciprocal * reciprocal;
    (
        reciprocal * polynomial::<F>(square, STIRLING_TAIL),
        -(square * polynomial::<F>(square, DIGAMMA_TAIL)),
    )
}

/// `log Γ(x)` and the digamma function `ψ(x)`: Stirling's formula for `x ≥ 10`. Below, the recurrence
/// `Γ(x + 1) = xΓ(x)` leads to the series around two.
#[cube]
pub fn log_gamma<F: Float>(x: F) -> (F, F) {
    let one = F::new(1.0);
    let half = F::new(0.5);
    let mut value = F::new(0.0);
    let mut slope = F::new(0.0);
    if x < half {
        let (near, near_slope) = around_two::<F>(x);
        value += near - logarithm_of_one_plus::<F>(x) - logarithm::<F>(x);
        slope += near_slope - one / (one + x) - one / x;
    } else if x < F::new(1.5) {
        let z = x - one;
        let (near, near_slope) = around_two::<F>(z);
        value += near - logarithm_of_one_plus::<F>(z);
        slope += near_slope - one / x;
    } else if x < F::new(10.0) {
        let mut y = x;
        let mut product = F::new(1.0);
        let mut sum = F::new(0.0);
        while y > F::new(2.5) {
            y -= one;
            product *= y;
            sum += one / y;
        }
        let (near, near_slope) = around_two::<F>(y - F::new(2.0));
        value += near + logarithm::<F>(product);
        slope += near_slope + sum;
    } else {
        let (tail, tail_slope) = stirling_tail::<F>(x);
        let logarithm = logarithm::<F>(x);
        let rest = constant::<F>(0.5 * (2.0 * PI).ln() - 0.5);
        value += (x - half) * (logarithm - one) + (rest + tail);
        slope += logarithm - (half / x - tail_slope);
    }
    positive::<F>(x, value, slope)
}

/// The value and the slope, or NaN unless x is positive.
#[cube]
fn positive<F: Float>(x: F, value: F, slope: F) -> (F, F) {
    // WGSL forbids a constant NaN.
    let nothing = (x - F::new(1.0)).sqrt();
    let outside = x <= F::new(0.0);
    (
        select(outside, nothing, value),
        select(outside, nothing, slope),
    )
}

/// `1/(2k + 3)`, k from 0, and `−(2k + 2)/(2k + 3)`; highest order first.
const fn step_series<const N: usize>(is_slope: bool) -> [f64; N] {
    let mut series = [0.0; N];
    let mut k = 0;
    while k < N {
        let factor = if is_slope { -((2 * k + 2) as f64) } else { 1.0 };
        series[N - 1 - k] = factor / (2 * k + 3) as f64;
        k += 1;
    }
    series
}

/// Both series, with enough terms for s ≤ ½.
fn series_of_step(bits: usize) -> [&'static [f64]; 2] {
    const SINGLE: [f64; 12] = step_series(false);
    const SINGLE_SLOPE: [f64; 12] = step_series(true);
    const DOUBLE: [f64; 27] = step_series(false);
    const DOUBLE_SLOPE: [f64; 27] = step_series(true);
    if bits == 64 {
        [&DOUBLE, &DOUBLE_SLOPE]
    } else {
        [&SINGLE, &SINGLE_SLOPE]
    }
}

/// `R(x) − R(x + 1) = (x + ½)·log(1 + 1/x) − 1` and its derivative, where R is the error of Stirling's
/// formula. With `s = 1/(2x + 1)` that is `artanh(s)/s − 1`, computed as a series for `x ≥ ½`.
#[cube]
fn stirling_step<F: Float>(x: F) -> (F, F) {
    let bits = F::size_bits().comptime();
    let (one, half) = (F::new(1.0), F::new(0.5));
    let middle = x + half;
    let s = half / middle;
    let square = s * s;
    let growth = logarithm_of_one_plus::<F>(one / x);
    let is_small = x < half;
    let value = select(
        is_small,
        middle * growth - one,
        square * polynomial::<F>(square, comptime!(series_of_step(bits)[0])),
    );
    let slope = select(
        is_small,
        growth - middle / (x * (x + one)),
        F::new(2.0) * s * square * polynomial::<F>(square, comptime!(series_of_step(bits)[1])),
    );
    (value, slope)
}

/// `log Γ(x) − (x − ½)·log x + x − ½·log 2π` and its derivative. For `x < 10` it is a sum of steps to
/// arguments of at least ten, all of the same sign.
#[cube]
pub fn stirling_remainder<F: Float>(x: F) -> (F, F) {
    let mut y = x;
    let mut value = F::new(0.0);
    let mut slope = F::new(0.0);
    while y < F::new(10.0) && y > F::new(0.0) {
        let (step, step_slope) = stirling_step::<F>(y);
        value += step;
        slope += step_slope;
        y += F::new(1.0);
    }
    let (tail, tail_slope) = stirling_tail::<F>(y);
    positive::<F>(x, value + tail, slope + tail_slope)
}
