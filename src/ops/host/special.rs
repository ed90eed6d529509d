//! Scalar functions that burn lacks, with their derivatives, in double precision.

use core::f64::consts::{PI, SQRT_2};

/// `log(1 + eˣ)` and its derivative, without overflow.
pub fn softplus(x: f64) -> (f64, f64) {
    let decay = (-x.abs()).exp();
    let slope = if x >= 0.0 {
        1.0 / (1.0 + decay)
    } else {
        decay / (1.0 + decay)
    };
    (x.max(0.0) + decay.ln_1p(), slope)
}

/// The inverse of [`softplus`]: `log(eˣ − 1)` for `x > 0`.
pub fn softplus_inverse(x: f64) -> f64 {
    x + (-(-x).exp_m1()).ln()
}

/// The standard normal distribution function Φ.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// `log Φ(x)` and its derivative `φ(x)/Φ(x)`, accurate in the lower tail.
pub fn log_normal_cdf(x: f64) -> (f64, f64) {
    if x > -10.0 {
        let cdf = normal_cdf(x);
        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        return (cdf.ln(), density / cdf);
    }
    // Φ(x) = φ(x)/(−x) · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …): at −10 ten terms reach double precision.
    let inverse_square = 1.0 / (x * x);
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 0..10 {
        term *= -f64::from(2 * k + 1) * inverse_square;
        sum += term;
    }
    let log_density = -0.5 * x * x - 0.5 * (2.0 * PI).ln();
    (log_density - (-x).ln() + sum.ln(), -x / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_and_its_inverse() {
        for x in [-700.0f64, -30.0, -1.0, 0.0, 0.3, 5.0, 40.0, 800.0] {
            let (value, slope) = softplus(x);
            assert!(
                value.is_finite() && (0.0..=1.0).contains(&slope),
                "softplus({x})"
            );
            if x > -30.0 {
                // The inverse amplifies rounding by 1/slope.
                let tolerance = 1e-14 * (1.0 + x.abs()) / slope;
                assert!(
                    (softplus_inverse(value) - x).abs() < tolerance,
                    "inverse at {x}"
                );
            }
        }
        assert!((softplus(0.0).0 - core::f64::consts::LN_2).abs() < 1e-16);
    }

    /// Reference values of log Φ to 15 digits (computed with 50-digit arithmetic).
    #[test]
    fn log_normal_cdf_in_both_branches() {
        let cases = [
            (0.0, -core::f64::consts::LN_2),
            (-5.0, -15.064_998_393_988_725),
            (-20.0, -203.917_155_371_097_26),
            (-40.0, -804.608_442_013_754),
        ];
        for (x, expected) in cases {
            let (value, _) = log_normal_cdf(x);
            assert!(
                (value - expected).abs() < 1e-12 * f64::abs(expected),
                "{x}: {value}"
            );
        }
        for x in [-35.0, -10.5, -9.5, -3.0, 0.5, 6.0] {
            let step = 1e-5;
            let difference =
                (log_normal_cdf(x + step).0 - log_normal_cdf(x - step).0) / (2.0 * step);
            let (_, slope) = log_normal_cdf(x);
            assert!(
                (difference - slope).abs() < 1e-7 * (1.0 + slope.abs()),
                "slope at {x}"
            );
        }
    }
}
