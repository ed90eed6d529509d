//! Logarithms on GPUs, to the full accuracy of the element type.

use burn_cubecl::cubecl::{self, prelude::*};

use super::exponential::{constant, exponential, is_double, polynomial};

/// `ln 2` as a sum whose first term has so few digits that its multiples are exact.
const LN_2: (f64, f64) = (0.693_359_375, -2.121_944_400_546_905_8e-4);

/// Up to this magnitude of s, the series of `artanh s` is accurate to the last digit.
const SMALL: f64 = 0.172;

/// `2/(2k + 1)`, highest order first: the coefficients of `2·artanh(s)/s` in `s²`.
const fn twice_artanh_series<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    let mut k = 0;
    while k < N {
        series[N - 1 - k] = 2.0 / (2 * k + 1) as f64;
        k += 1;
    }
    series
}

fn artanh_series(bits: usize) -> &'static [f64] {
    const SINGLE: [f64; 5] = twice_artanh_series();
    const DOUBLE: [f64; 11] = twice_artanh_series();
    if is_double(bits) { &DOUBLE } else { &SINGLE }
}

/// `2·artanh(s) = log((1 + s)/(1 − s))` for `|s| < 0.172`.
#[cube]
fn twice_artanh<F: Float>(s: F) -> F {
    let bits = F::size_bits().comptime();
    s * polynomial::<F>(s * s, comptime!(artanh_series(bits)))
}

/// `log x` to a few units in the last place, also near one. Minus infinity for zero and positive values below
/// the smallest normal number, NaN for negative values and NaN.
#[cube]
pub fn logarithm<F: Float>(x: F) -> F {
    let bits = F::size_bits().comptime();
    let double = comptime!(is_double(bits));
    let value = if comptime!(double) {
        double_logarithm::<F>(x)
    } else {
        F::cast_from(single_logarithm(f32::cast_from(x)))
    };
    // Infinity and NaN are their own logarithms.
    let value = select(x <= F::max_value(), value, x);
    let smallest = constant::<F>(comptime!(if double {
        f64::MIN_POSITIVE
    } else {
        f64::from(f32::MIN_POSITIVE)
    }));
    // WGSL forbids an infinite constant, but not an overflow.
    let below = (F::min_value() + x) * F::new(2.0);
    let value = select(x < smallest, below, value);
    select(x < F::new(0.0), x.sqrt(), value)
}

/// With `x = 2ⁿ·m`, `√½ ≤ m < √2`: `n·log 2 + 2·artanh((m − 1)/(m + 1))`.
#[cube]
fn single_logarithm(x: f32) -> f32 {
    let bits = i32::reinterpret(x);
    let root_of_half = 0x3f35_04f3i32;
    let exponent = (bits - root_of_half) >> 23i32;
    let mantissa = f32::reinterpret(bits - (exponent << 23i32));
    let n = f32::cast_from(exponent);
    let small = twice_artanh::<f32>((mantissa - 1.0f32) / (mantissa + 1.0f32));
    n * constant::<f32>(LN_2.0) + (small + n * constant::<f32>(LN_2.1))
}

/// Near one as in single precision. Elsewhere, y is computed in single precision, and then
/// `log x = y + log(1 + δ)` with `δ = x·e^(−y) − 1`. The single-precision logarithm is that of the 16th root
/// of x, which is sure to be in range.
#[cube]
fn double_logarithm<F: Float>(x: F) -> F {
    let one = F::new(1.0);
    let s = (x - one) / (x + one);
    let root = x.sqrt().sqrt().sqrt().sqrt();
    let y = F::new(16.0) * F::cast_from(single_logarithm(f32::cast_from(root)));
    // e^y may overflow where its square root does not.
    let half = exponential::<F>(F::new(-0.5) * y);
    let d = x * half * half - one;
    let rest = d * (one - d * (F::new(0.5) - d * (constant::<F>(1.0 / 3.0) - d * F::new(0.25))));
    select(
        s.abs() < constant::<F>(SMALL),
        twice_artanh::<F>(s),
        y + rest,
    )
}

/// `log(1 + x)`, accurate near zero.
#[cube]
pub fn logarithm_of_one_plus<F: Float>(x: F) -> F {
    let s = x / (F::new(2.0) + x);
    select(
        s.abs() < constant::<F>(SMALL),
        twice_artanh::<F>(s),
        logarithm::<F>(F::new(1.0) + x),
    )
}
