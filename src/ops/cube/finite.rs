//! Tests for NaN and infinite values.

use burn_cubecl::cubecl::{self, prelude::*};

/// Whether a value is NaN.
#[cube]
pub fn is_nan<F: Float>(value: F) -> bool {
    let bits = F::size_bits().comptime();
    if comptime!(bits == 32) {
        // Checks the bits, because a shader compiler may assume that no value is NaN.
        (u32::reinterpret(f32::cast_from(value)) & 0x7fff_ffff) > 0x7f80_0000
    } else {
        intrinsic!(|scope| value.__expand_is_nan_method(scope).expand.into())
    }
}

/// Whether a value is neither NaN nor infinite.
#[cube]
pub fn is_finite<F: Float>(value: F) -> bool {
    !is_nan::<F>(value) && !is_infinite::<F>(value)
}

/// Whether a value is infinite.
#[cube]
fn is_infinite<F: Float>(value: F) -> bool {
    intrinsic!(|scope| value.__expand_is_inf_method(scope).expand.into())
}
