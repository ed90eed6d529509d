//! The profiles of the stationary covariances on GPUs.

use burn_cubecl::cubecl::{self, prelude::*};

use super::Stationary;
use crate::ops::cube::{
    exponential::{constant, exponential},
    is_nan,
};

/// Approximate number of floating-point operations of a profile, most of them in the exponential.
pub const PROFILE: usize = 30;

/// `r²`, capped at a value beyond which every profile is zero. NaN stays NaN.
#[cube]
fn bounded<F: Float>(squared_distance: F) -> F {
    let bound = F::new(1e6);
    let value = select(squared_distance > bound, bound, squared_distance);
    // A compiler may turn this into a minimum, which loses NaN.
    select(is_nan::<F>(squared_distance), squared_distance, value)
}

/// `φ(r²)`
#[cube]
pub fn profile<F: Float>(squared_distance: F, #[comptime] kind: Stationary) -> F {
    let (value, _) = profile_and_slope::<F>(squared_distance, kind);
    value
}

/// `(φ, dφ/dr²)`, finite everywhere; the formulas are the same as on the CPU.
#[cube]
pub fn profile_and_slope<F: Float>(squared_distance: F, #[comptime] kind: Stationary) -> (F, F) {
    if comptime!(kind == Stationary::SquaredExponential) {
        let value = exponential::<F>(F::new(-0.5) * squared_distance);
        (value, F::new(-0.5) * value)
    } else if comptime!(kind == Stationary::Matern12) {
        let distance = squared_distance.sqrt();
        let value = exponential::<F>(-distance);
        let zero = F::new(0.0);
        // The kink at zero has no derivative. The one-sided slopes cancel.
        let slope = select(distance > zero, F::new(-0.5) * value / distance, zero);
        (value, slope)
    } else if comptime!(kind == Stationary::Matern32) {
        let s = (F::new(3.0) * bounded::<F>(squared_distance)).sqrt();
        let decay = exponential::<F>(-s);
        (s * decay + decay, F::new(-1.5) * decay)
    } else {
        let square = F::new(5.0) * bounded::<F>(squared_distance);
        let s = square.sqrt();
        let decay = exponential::<F>(-s);
        let linear = s * decay + decay;
        let third = square * constant::<F>(comptime!(1.0 / 3.0));
        (
            third * decay + linear,
            constant::<F>(comptime!(-5.0 / 6.0)) * linear,
        )
    }
}
