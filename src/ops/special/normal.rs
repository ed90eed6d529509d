//! The logarithm of the standard normal distribution function, written so that loops over it
//! vectorize.

use core::f64::consts::{LN_2, PI, SQRT_2};

use super::elementwise::Function;
use crate::ops::cpu::Scalar;

/// `log Φ(x)` with its derivative `φ(x)/Φ(x)`, computed in double precision.
pub struct LogNormalCdf;

impl<T: Scalar> Function<T> for LogNormalCdf {
    #[inline(always)]
    fn at<const FUSED: bool>(x: T) -> (T, T) {
        let (value, slope) = log_normal_cdf::<FUSED>(x.to_f64());
        (T::from_f64(value), T::from_f64(slope))
    }
}

/// `log Φ(x)` and its derivative `φ(x)/Φ(x)`, to a few units in the last place in both tails.
///
/// With the scaled complement `E(t) = e^(t²)·erfc(t)` at `t = |x|/√2`, below zero
/// `log Φ = −x²/2 + log(E/2)` and `φ/Φ = √(2/π)/E`; above it `Φ = 1 − q`, `q = ½·e^(−x²/2)·E`.
#[inline(always)]
pub fn log_normal_cdf<const FUSED: bool>(x: f64) -> (f64, f64) {
    let is_lower = x <= 0.0;
    let size = x.abs();
    let scaled = scaled_complement::<FUSED>(size / SQRT_2);
    let decay = exponential_of_half_square::<FUSED>(size);
    let complement = 0.5 * decay * scaled; // q, at most ½

    // Both logarithms are e·log 2 + 2·artanh(s), |s| < 0.172.
    let (lower_exponent, mantissa) = split(0.5 * scaled);
    let lower_s = (mantissa - 1.0) / (mantissa + 1.0);
    let is_doubled = complement > 1.0 - core::f64::consts::FRAC_1_SQRT_2;
    let upper_exponent = if is_doubled { -1.0 } else { 0.0 };
    let numerator = if is_doubled {
        1.0 - 2.0 * complement
    } else {
        -complement
    };
    let denominator = if is_doubled {
        3.0 - 2.0 * complement
    } else {
        2.0 - complement
    };
    let upper_s = numerator / denominator;
    let s = if is_lower { lower_s } else { upper_s };
    let exponent = if is_lower {
        lower_exponent
    } else {
        upper_exponent
    };
    let exponential_part = if is_lower { -0.5 * x * x } else { 0.0 };
    let value = exponential_part + exponent.multiply_add::<FUSED>(LN_2, twice_artanh::<FUSED>(s));

    let lower_slope = (2.0 / PI).sqrt() / scaled;
    let upper_slope = decay / ((2.0 * PI).sqrt() * (1.0 - complement));
    (value, if is_lower { lower_slope } else { upper_slope })
}

/// `e^(t²)·erfc(t)` for `t ≥ 0`: `1/(1 + 2t)` times a polynomial in `(t − 4)/(t + 4)`, the Chebyshev
/// expansion of degree 24. Its relative error is 3·10⁻¹⁶. The form is from M. Shepherd and J. Laframboise,
/// *Chebyshev Approximation of (1 + 2x)exp(x²)erfc x in 0 ≤ x < ∞*, 1981.
#[inline(always)]
fn scaled_complement<const FUSED: bool>(t: f64) -> f64 {
    // Written so that NaN passes. Past the bound, the polynomial has reached its limit.
    let bounded = if t > 1e18 { 1e18 } else { t };
    let y = (bounded - 4.0) / (bounded + 4.0);
    let mut sum = 0.0;
    for coefficient in SCALED_COMPLEMENT {
        sum = sum.multiply_add::<FUSED>(y, coefficient);
    }
    sum / (1.0 + 2.0 * t)
}

/// Highest power first.
pub const SCALED_COMPLEMENT: [f64; 25] = [
    -2.659_599_690_242_689e-10,
    9.311_744_978_232_572e-10,
    3.169_588_191_564_817_3e-9,
    -1.234_686_604_382_353e-8,
    -2.056_064_927_569_92e-8,
    1.063_385_561_859_488_4e-7,
    7.746_992_727_017_941e-8,
    -8.210_939_042_560_568e-7,
    2.919_733_377_963_012e-7,
    5.706_604_414_895_734e-6,
    -1.122_128_701_235_348_6e-5,
    -2.439_774_642_243_641_6e-5,
    0.000_150_621_490_012_404_7,
    -0.000_199_257_146_610_911_88,
    -0.000_757_773_261_373_095_6,
    0.005_031_970_067_657_489,
    -0.016_197_734_059_799_265,
    0.037_167_515_526_555_67,
    -0.066_330_365_812_186_97,
    0.093_732_834_999_094_4,
    -0.101_039_066_036_300_56,
    0.068_097_054_254_669_08,
    0.015_379_652_102_619_604,
    -0.139_621_116_840_562_3,
    1.232_995_118_625_552_6,
];

/// `e^(−x²/2)` for `x ≥ 0`. The upper half of x has an exact square. The contribution of the lower
/// half is small, `b < 4·10⁻⁵` where the result is a normal number, and `e^(−b)` uses three terms
/// of its series.
#[inline(always)]
fn exponential_of_half_square<const FUSED: bool>(x: f64) -> f64 {
    let upper = f64::from_bits(x.to_bits() & !0x07ff_ffff);
    let b = 0.5 * (x - upper) * (x + upper);
    let small = b * (-1.0 + b * (0.5 - b * (1.0 / 6.0)));
    let decay = (-0.5 * upper * upper).exp_nonpositive::<FUSED>();
    // An infinite x has no lower half, so `small` is NaN.
    let small = if decay > 0.0 { small } else { 0.0 };
    small.multiply_add::<FUSED>(decay, decay)
}

/// `e` and `m` with `x = m·2^e`, `√½ ≤ m < √2`, for positive normal x.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let bits = x.to_bits();
    let exponent = (bits.wrapping_sub(core::f64::consts::FRAC_1_SQRT_2.to_bits()) as i64) >> 52;
    let mantissa = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    (exponent as f64, mantissa)
}

/// `2·artanh(s) = log((1 + s)/(1 − s))` for `|s| < 0.172`, by its series.
#[inline(always)]
fn twice_artanh<const FUSED: bool>(s: f64) -> f64 {
    let square = s * s;
    let mut sum = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum.multiply_add::<FUSED>(square, 1.0 / odd);
    }
    2.0 * s * sum.multiply_add::<FUSED>(square, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::elementwise::{Part, evaluate};
    use super::*;

    /// `(x, log Φ(x), φ(x)/Φ(x))`, computed with sixty digits.
    #[rustfmt::skip]
    const REFERENCE: [(f64, f64, f64); 18] = [
        (-40.0, -804.608_442_013_753_8, 40.024_968_847_207_26),
        (-20.5, -214.066_728_963_263_8, 20.548_551_052_435_847),
        (-10.0, -53.231_285_150_512_47, 10.098_093_233_962_512),
        (-9.5, -48.306_019_298_965_23, 9.603_050_090_384_283),
        (-5.0, -15.064_998_393_988_725, 5.186_503_967_125_842),
        (-2.25, -4.404_315_381_153_271, 2.596_402_538_686_962),
        (-0.75, -1.484_448_229_919_656_2, 1.328_777_965_221_207),
        (-0.001, -0.693_945_383_466_965_2, 0.798_521_289_562_911_4),
        (0.0, -LN_2, 0.797_884_560_802_865_4),
        (0.001, -0.692_349_614_272_688_3, 0.797_248_050_056_433_1),
        (0.3, -0.481_410_161_588_481_2, 0.617_220_853_612_734_5),
        (0.55, -0.344_125_006_009_995_9, 0.483_809_750_415_512_55),
        (1.0, -0.172_753_779_023_449_88, 0.287_599_970_939_178_4),
        (2.7, -0.003_472_997_683_837_466, 0.010_457_189_616_877_733),
        (6.1, -5.303_423_264_355_157e-10, 3.317_884_245_306_915_8e-9),
        (8.3, -5.205_569_744_890_254e-17, 4.381_639_435_509_333e-16),
        (20.0, -2.753_624_118_606_233_7e-89, 5.520_948_362_159_764e-88),
        (37.0, -5.725_571_222_524_577e-300, 2.120_006_551_524_605_6e-298),
    ];

    fn agrees(found: f64, expected: f64, epsilon: f64) -> bool {
        (found - expected).abs() <= 8.0 * epsilon * expected.abs()
    }

    #[test]
    fn both_parts_agree_with_many_digits_in_both_tails() {
        for (x, value, slope) in REFERENCE {
            for (found, found_slope) in [log_normal_cdf::<false>(x), log_normal_cdf::<true>(x)] {
                assert!(agrees(found, value, f64::EPSILON), "log Φ({x}) = {found:e}");
                assert!(
                    agrees(found_slope, slope, f64::EPSILON),
                    "slope at {x}: {found_slope:e}"
                );
            }
        }
    }

    #[test]
    fn slices_of_any_length_are_those_of_the_single_numbers() {
        for length in [0, 1, 15, 16, 34] {
            let arguments: Vec<f64> = (REFERENCE.iter().cycle().take(length))
                .map(|row| row.0)
                .collect();
            let single: Vec<f32> = arguments.iter().map(|&x| x as f32).collect();
            for part in [Part::Value, Part::Slope] {
                let (mut results, mut rounded) = (vec![0.0; length], vec![0f32; length]);
                evaluate::<_, LogNormalCdf>(&arguments, part, &mut results);
                evaluate::<_, LogNormalCdf>(&single, part, &mut rounded);
                for (index, &x) in arguments.iter().enumerate() {
                    let expected = part.of(log_normal_cdf::<false>(x));
                    assert!(agrees(results[index], expected, f64::EPSILON), "{x}");
                    let expected = part.of(log_normal_cdf::<false>(f64::from(single[index])));
                    assert_eq!(rounded[index], expected as f32, "{x} in single precision");
                }
            }
        }
    }

    #[test]
    fn the_ends_of_the_line() {
        let (value, slope) = log_normal_cdf::<true>(f64::INFINITY);
        assert_eq!((value, slope), (0.0, 0.0));
        let (value, slope) = log_normal_cdf::<true>(f64::NEG_INFINITY);
        assert_eq!((value, slope), (f64::NEG_INFINITY, f64::INFINITY));
        // For very negative x, φ/Φ is −x and the value is −x²/2.
        let (value, slope) = log_normal_cdf::<true>(-1e10);
        assert!(agrees(value, -0.5e20, f64::EPSILON) && agrees(slope, 1e10, f64::EPSILON));
        let (value, slope) = log_normal_cdf::<true>(f64::NAN);
        assert!(value.is_nan() && slope.is_nan());
    }
}
