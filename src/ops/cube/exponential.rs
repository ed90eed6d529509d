//! The exponential function on GPUs, to the full accuracy of the element type.
//!
//! The built-in exponential of a shading language may be wrong in many digits (WGSL allows an error of
//! `3 + 2|x|` units in the last place), which is too inaccurate for covariances and likelihoods.

use burn_cubecl::cubecl::{self, prelude::*};

use super::is_nan;

/// A constant with all digits of the element type.
#[cube]
pub fn constant<F: Float>(#[comptime] value: f64) -> F {
    intrinsic!(|scope| F::elem_type(scope).constant(value.into()).into())
}

/// `ab + c`
#[cube]
fn multiply_add<F: Float>(a: F, b: F, c: F) -> F {
    a * b + c
}

/// `Σ_i c_i·x^(n − i)` for the coefficients `c_0 … c_n`, highest power first, by Horner's rule.
#[cube]
pub fn polynomial<F: Float>(x: F, #[comptime] coefficients: &'static [f64]) -> F {
    intrinsic!(|scope| {
        let mut sum = constant::expand::<F>(scope, coefficients[0]);
        for &coefficient in &coefficients[1..] {
            let coefficient = constant::expand::<F>(scope, coefficient);
            sum = multiply_add::expand::<F>(scope, sum, x, coefficient);
        }
        sum
    })
}

/// The range of the exponential, and the constants of its reduction to `|r| ≤ ln(2)/2`.
struct Reduction {
    /// The logarithm of the smallest normal number, rounded towards zero.
    lowest: f64,
    /// A number whose exponential overflows, but not by more than a factor of four.
    highest: f64,
    /// `ln 2` as a sum: the first term has so few digits that its multiples are exact, and so many
    /// that the squares of multiples of the second do not matter.
    ln2: (f64, f64),
    /// `1/n!`, highest order first.
    taylor: &'static [f64],
}

const SINGLE: Reduction = Reduction {
    lowest: -87.33,
    highest: 89.0,
    ln2: (0.693_145_751_953_125, 1.428_606_820_309_417_3e-6),
    taylor: &[
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ],
};

const DOUBLE: Reduction = Reduction {
    lowest: -708.39,
    highest: 710.0,
    ln2: (0.693_147_180_559_890_3, 5.497_923_018_708_371e-14),
    taylor: &[
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ],
};

/// Whether the elements have double precision.
pub(super) fn is_double(bits: usize) -> bool {
    bits == 64
}

fn reduction(bits: usize) -> Reduction {
    if is_double(bits) { DOUBLE } else { SINGLE }
}

/// `eˣ` to two units in the last place; zero where the result is below the smallest normal number,
/// infinite where it overflows, NaN for NaN.
#[cube]
pub fn exponential<F: Float>(x: F) -> F {
    let bits = F::size_bits().comptime();
    let lowest = constant::<F>(comptime!(reduction(bits).lowest));
    let highest = constant::<F>(comptime!(reduction(bits).highest));
    let underflows = x < lowest;
    let bounded = select(underflows, lowest, select(x > highest, highest, x));
    let n = (bounded * constant::<F>(std::f64::consts::LOG2_E)).round();
    let r = bounded - n * constant::<F>(comptime!(reduction(bits).ln2.0));
    let sum = polynomial::<F>(r, comptime!(reduction(bits).taylor));
    // Not `r − n·b`: Mesa's compiler turns `n·a + n·b` into `n·(a + b)`, which is not exact.
    let sum = sum - sum * (n * constant::<F>(comptime!(reduction(bits).ln2.1)));
    // 2ⁿ alone may overflow where the result does not.
    let exponent = i32::cast_from(n);
    let half = exponent / 2;
    let value = sum * power_of_two::<F>(half) * power_of_two::<F>(exponent - half);
    let value = select(underflows, F::new(0.0), value);
    // Some compilers replace the two bounds by a minimum and a maximum, which lose NaN.
    select(is_nan::<F>(x), x, value)
}

/// `2ⁿ` for `|n| ≤ 126`, or `|n| ≤ 1022` in double precision.
#[cube]
pub fn power_of_two<F: Float>(n: i32) -> F {
    // Not inside `comptime!`, where F is a stand-in of 32 bits.
    let bits = F::size_bits().comptime();
    if comptime!(is_double(bits)) {
        // Not all devices have 64-bit integers, from whose bits the result could be assembled.
        let part = n / 16;
        let base = F::cast_from(single_power_of_two(part));
        let square = base * base;
        let fourth = square * square;
        let eighth = fourth * fourth;
        eighth * eighth * F::cast_from(single_power_of_two(n - 16 * part))
    } else {
        F::cast_from(single_power_of_two(n))
    }
}

/// `2ⁿ` from its bits.
#[cube]
fn single_power_of_two(n: i32) -> f32 {
    f32::reinterpret(u32::cast_from(n + 127) << 23)
}
