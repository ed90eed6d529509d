//! The logarithm of the standard normal distribution function on GPUs, as on the CPU.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use burn_cubecl::cubecl::{self, prelude::*};

use super::super::normal::SCALED_COMPLEMENT;
use crate::ops::cube::{
    exponential::{constant, exponential, polynomial},
    logarithm::{logarithm, logarithm_of_one_plus},
};

/// `log Φ(x)` and its derivative `φ(x)/Φ(x)`.
#[cube]
pub fn log_normal_cdf<F: Float>(x: F) -> (F, F) {
    let (half, one) = (F::new(0.5), F::new(1.0));
    let is_lower = x <= F::new(0.0);
    let size = x.abs();
    let scaled = scaled_complement::<F>(size * constant::<F>(FRAC_1_SQRT_2));
    let decay = exponential_of_half_square::<F>(size);
    let complement = half * decay * scaled;
    let value = select(
        is_lower,
        logarithm::<F>(half * scaled) - half * x * x,
        logarithm_of_one_plus::<F>(-complement),
    );
    let slope = select(
        is_lower,
        constant::<F>((2.0 / PI).sqrt()) / scaled,
        decay / (constant::<F>((2.0 * PI).sqrt()) * (one - complement)),
    );
    (value, slope)
}

/// The CPU's coefficients.
const COMPLEMENT: &[f64] = &SCALED_COMPLEMENT;

/// `e^(t²)·erfc(t)` for `t ≥ 0`.
#[cube]
fn scaled_complement<F: Float>(t: F) -> F {
    let (bound, four) = (F::new(1e18), F::new(4.0));
    let bounded = select(t > bound, bound, t);
    let y = (bounded - four) / (bounded + four);
    polynomial::<F>(y, COMPLEMENT) / (F::new(1.0) + F::new(2.0) * t)
}

/// `e^(−x²/2)` for `x ≥ 0`. x is rounded down to a multiple of a power of two, whose square is exact; the
/// rest contributes little.
#[cube]
fn exponential_of_half_square<F: Float>(x: F) -> F {
    let bits = F::size_bits().comptime();
    let steps = constant::<F>(comptime!(if bits == 64 { 1_048_576.0 } else { 64.0 }));
    // From here on the result is zero.
    let bound = F::new(40.0);
    let bounded = select(x > bound, bound, x);
    let upper = (bounded * steps).floor() / steps;
    let rest = (bounded - upper) * (bounded + upper);
    exponential::<F>(F::new(-0.5) * upper * upper) * exponential::<F>(F::new(-0.5) * rest)
}
