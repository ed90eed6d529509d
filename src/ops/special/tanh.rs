//! The hyperbolic tangent with its slope, written so that loops over it vectorize.

use super::elementwise::Function;
use crate::ops::cpu::Scalar;

/// `tanh x`.
pub struct Tanh;

impl<T: Scalar> Function<T> for Tanh {
    #[inline(always)]
    fn at<const FUSED: bool>(x: T) -> (T, T) {
        tanh::<T, FUSED>(x)
    }
}

/// Below this magnitude `1 − 2e^(−2x)/(1 + e^(−2x))` suffers from cancellation.
pub const SMALL: f64 = 0.625;

/// `tanh x = x + x³·P(x²)/Q(x²)` for small x, highest power first, without Q's leading one (S.
/// Moshier, *Methods and Programs for Mathematical Functions*, 1989).
pub const NUMERATOR: [f64; 3] = [
    -9.643_991_794_250_523e-1,
    -9.928_772_310_019_185e1,
    -1.614_687_684_417_084_5e3,
];
pub const DENOMINATOR: [f64; 3] = [
    1.128_116_784_916_329_3e2,
    2.235_488_390_601_004_5e3,
    4.844_063_053_251_255e3,
];

/// `tanh x` and `1 − tanh² x`, to a few units in the last place; NaN for NaN.
#[inline(always)]
fn tanh<T: Scalar, const FUSED: bool>(x: T) -> (T, T) {
    let number = T::from_f64;
    let (zero, one, two) = (number(0.0), number(1.0), number(2.0));
    let is_negative = x < zero;
    let magnitude = if is_negative { -x } else { x };
    let decay = (-(magnitude + magnitude)).exp_nonpositive::<FUSED>();
    let sum = one + decay;
    let ratio = two * decay / sum; // 1 − tanh
    let square = magnitude * magnitude;
    let mut numerator = zero;
    let mut denominator = one;
    for (p, q) in NUMERATOR.into_iter().zip(DENOMINATOR) {
        numerator = numerator.multiply_add::<FUSED>(square, number(p));
        denominator = denominator.multiply_add::<FUSED>(square, number(q));
    }
    let small = magnitude + magnitude * square * (numerator / denominator);
    let (value, slope) = if magnitude < number(SMALL) {
        (small, one - small * small)
    } else {
        (one - ratio, two * ratio / sum)
    };
    (if is_negative { -value } else { value }, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Agrees with the standard library to a few units in the last place over the whole range.
    #[test]
    fn agrees_with_the_standard_library() {
        for i in -20_000..=20_000i32 {
            let x = 400.0 * (f64::from(i) / 20_000.0).powi(5);
            let (value, slope) = tanh::<f64, false>(x);
            let cosh = x.abs().min(350.0).cosh();
            let tolerance = 4.0 * f64::EPSILON;
            assert!(
                (value - x.tanh()).abs() <= tolerance * x.tanh().abs(),
                "{x}"
            );
            let expected = cosh.powi(-2);
            assert!(
                (slope - expected).abs() <= 3.0 * tolerance * expected + 1e-300,
                "{x}"
            );
            let x = x as f32;
            let (value, slope) = tanh::<f32, false>(x);
            let expected = f64::from(x).tanh();
            let tolerance = 4.0 * f64::from(f32::EPSILON);
            assert!(
                (f64::from(value) - expected).abs() <= tolerance * expected.abs(),
                "{x}"
            );
            let expected = f64::from(x).abs().min(350.0).cosh().powi(-2);
            assert!(
                (f64::from(slope) - expected).abs() <= 3.0 * tolerance * expected + 1e-37,
                "{x}"
            );
        }
    }

    #[test]
    fn ends_are_as_they_should_be() {
        assert_eq!(tanh::<f64, false>(f64::INFINITY), (1.0, 0.0));
        assert_eq!(tanh::<f32, false>(f32::NEG_INFINITY), (-1.0, 0.0));
        assert_eq!(tanh::<f32, false>(0.0), (0.0, 1.0));
        assert!(tanh::<f64, false>(f64::NAN).0.is_nan());
    }
}
