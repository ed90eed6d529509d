//! The floating-point types of the CPU kernels.

use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use bytemuck::Pod;
use faer::traits::RealField;

/// `f32` or `f64`, with the scalar functions that the kernels need in a form that vectorizes.
pub trait Scalar:
    RealField
    + Pod
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Send
    + Sync
    + 'static
{
    /// Twice the unit roundoff: the distance from 1 to the next number.
    const EPSILON: f64;

    /// Rounds to the nearest number of this type.
    fn from_f64(value: f64) -> Self;

    /// Converts to double precision.
    fn to_f64(self) -> f64;

    /// Square root.
    fn square_root(self) -> Self;

    /// `self · factor + addend`, with a single rounding if the processor has the instruction.
    ///
    /// `FUSED` is true if the processor has the instruction. Without it, the fused form is a slow
    /// library call.
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;

    /// `eˣ` for `x ≤ 0`, within 2 units in the last place and zero where `eˣ` is subnormal; NaN for
    /// NaN.
    ///
    /// Cody–Waite reduction `x = n·ln 2 + r`, a Taylor polynomial on `|r| ≤ ½ ln 2` and a power of
    /// two assembled from the bits of `n`. There are no tables or branches, so loops over it
    /// vectorize.
    fn exp_nonpositive<const FUSED: bool>(self) -> Self;
}

/// Implements [`Scalar`]. `$magic` is 1.5 · 2^(mantissa bits): adding it rounds to an integer.
/// `$lowest` is the logarithm of the smallest normal number, rounded towards zero.
macro_rules! impl_scalar {
    ($float:ident, $bits:ident, mantissa: $mantissa:expr, bias: $bias:expr, magic: $magic:expr,
     lowest: $lowest:expr, ln2: ($high:expr, $low:expr), taylor: [$($coefficient:expr),* $(,)?]) => {
        impl Scalar for $float {
            const EPSILON: f64 = $float::EPSILON as f64;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn square_root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self {
                if FUSED {
                    self.mul_add(factor, addend)
                } else {
                    self * factor + addend
                }
            }

            #[inline(always)]
            fn exp_nonpositive<const FUSED: bool>(self) -> Self {
                // Written so that NaN passes both comparisons.
                let underflows = self <= $lowest;
                let x = if underflows { $lowest } else { self };
                let shifted =
                    x.multiply_add::<FUSED>(core::$float::consts::LOG2_E, $magic);
                let n = shifted - $magic;
                let r = n.multiply_add::<FUSED>(-$high, x);
                let r = n.multiply_add::<FUSED>(-$low, r);
                let mut sum: $float = 0.0;
                $(sum = sum.multiply_add::<FUSED>(r, $coefficient);)*
                let power = $float::from_bits(
                    (shifted.to_bits() << $mantissa).wrapping_add(($bias as $bits) << $mantissa),
                );
                if underflows { 0.0 } else { sum * power }
            }
        }
    };
}

impl_scalar!(
    f32, u32, mantissa: 23, bias: 127u32, magic: 12_582_912.0f32, lowest: -87.33f32,
    ln2: (0.693_359_4f32, -2.121_944_4e-4f32),
    taylor: [
        1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0,
    ]
);
impl_scalar!(
    f64, u64, mantissa: 52, bias: 1023u64, magic: 6_755_399_441_055_744.0f64, lowest: -708.39f64,
    ln2: (6.931_471_803_691_238e-1f64, 1.908_214_929_270_587_7e-10f64),
    taylor: [
        1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0,
        1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0,
        1.0 / 6.0, 0.5, 1.0, 1.0,
    ]
);

#[cfg(test)]
mod tests {
    use super::Scalar;

    /// Agrees with the standard library to two units in the last place over the whole range.
    #[test]
    fn exponential_agrees_with_the_standard_library() {
        for i in 0..200_000 {
            let x = -708.0 * (i as f64 / 200_000.0).powi(3);
            let (ours, theirs) = (x.exp_nonpositive::<false>(), x.exp());
            assert!(
                (ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs,
                "exp({x}) = {theirs}, not {ours}"
            );
            let x = (x / 8.2) as f32;
            let (ours, theirs) = (x.exp_nonpositive::<false>(), x.exp());
            assert!(
                (ours - theirs).abs() <= 2.0 * f32::EPSILON * theirs,
                "exp({x}) = {theirs}, not {ours}"
            );
        }
    }

    #[test]
    fn exponential_at_the_ends_of_its_range() {
        assert_eq!(0.0f64.exp_nonpositive::<true>(), 1.0);
        assert_eq!(0.0f32.exp_nonpositive::<true>(), 1.0);
        assert_eq!((-1e30f64).exp_nonpositive::<true>(), 0.0);
        assert_eq!(f32::NEG_INFINITY.exp_nonpositive::<true>(), 0.0);
        assert!(f64::NAN.exp_nonpositive::<true>().is_nan());
        assert!(f32::NAN.exp_nonpositive::<false>().is_nan());
    }
}
