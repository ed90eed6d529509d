//! Scalar functions that burn does not provide, with their derivatives, in double precision.

use core::f64::consts::SQRT_2;

use cdflib::special::psi;
use statrs::function::erf::erfc_inv;

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

/// `arcsin x` and its derivative `1/√(1 − x²)`, for `|x| ≤ 1`; NaN elsewhere.
pub fn arc_sine(x: f64) -> (f64, f64) {
    (x.asin(), ((1.0 - x) * (1.0 + x)).sqrt().recip())
}

/// The standard normal distribution function Φ.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// `Φ⁻¹(p)` for `0 < p < 1`.
pub fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * p)
}

/// `log Γ(x)` and the digamma function, for positive `x`; NaN elsewhere.
pub fn log_gamma(x: f64) -> (f64, f64) {
    if x > 0.0 {
        (libm::lgamma(x), psi(x))
    } else {
        (f64::NAN, f64::NAN)
    }
}

/// `B_{2k}/(2k)`, k from 1.
pub const DIGAMMA_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
];

/// `B_{2k}/(2k·(2k − 1))`, k from 1.
pub const STIRLING_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
];

/// `Σ_k B_{2k}/(2k·x^{2k})` for `x ≥ 10`.
fn asymptotic(x: f64) -> f64 {
    let inverse_square = 1.0 / (x * x);
    (DIGAMMA_SERIES.iter().rev()).fold(0.0, |tail, term| (tail + term) * inverse_square)
}

/// `log Γ(x) − (x − ½)·log x + x − ½·log 2π` and its derivative `ψ(x) − log x + 1/(2x)`, for positive `x`;
/// NaN elsewhere. For `x ≥ 10` it uses the asymptotic series `Σ_k B_{2k}/(2k·(2k − 1)·x^{2k−1})`.
pub fn stirling_remainder(x: f64) -> (f64, f64) {
    if x >= 10.0 {
        let inverse_square = 1.0 / (x * x);
        let tail =
            (STIRLING_SERIES.iter().rev()).fold(0.0, |tail, term| tail * inverse_square + term);
        return (tail / x, -asymptotic(x));
    }
    let (value, slope) = log_gamma(x);
    let stirling = (x - 0.5) * x.ln() - x + 0.5 * (2.0 * core::f64::consts::PI).ln();
    (value - stirling, slope - x.ln() + 0.5 / x)
}

/// `eˣ − 1` and its derivative.
pub fn exp_minus_one(x: f64) -> (f64, f64) {
    (x.exp_m1(), x.exp())
}

/// `log(1 + x)/x` and its derivative, for `x > −1`; near zero it uses the series
/// `Σ_k (−x)^k/(k + 1)`, whose first neglected term is below 10⁻¹⁷.
pub fn log_ratio(x: f64) -> (f64, f64) {
    if x.abs() < 0.01 {
        let terms = (0..9).rev().map(f64::from);
        return terms.fold((0.0, 0.0), |(value, slope), k| {
            (1.0 / (k + 1.0) - x * value, -value - x * slope)
        });
    }
    let value = x.ln_1p() / x;
    (value, (1.0 / (1.0 + x) - value) / x)
}

/// `log(1 − eˣ)` and its derivative `−1/(e^{−x} − 1)`, for negative `x`.
pub fn log_one_minus_exp(x: f64) -> (f64, f64) {
    let value = if x > -core::f64::consts::LN_2 {
        (-x.exp_m1()).ln()
    } else {
        (-x.exp()).ln_1p()
    };
    (value, -1.0 / (-x).exp_m1())
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

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for p in [1e-300, 1e-12, 0.003, 0.2, 0.5, 0.7, 0.999, 1.0 - 1e-12] {
            let x = normal_quantile(p);
            // The complement of p loses digits before the quantile is taken.
            let expected = if p > 0.5 { 1.0 - p } else { p };
            let found = normal_cdf(-x.abs());
            assert!((found / expected - 1.0).abs() < 1e-12, "Φ({x}) = {found}");
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!(normal_quantile(0.5).abs() < 1e-15);
    }

    /// `ψ(1) = −γ`, `ψ(½) = −γ − 2·log 2`, and the slope of `log Γ` elsewhere.
    #[test]
    fn log_gamma_and_digamma() {
        let euler = 0.577_215_664_901_532_9;
        assert!((log_gamma(1.0).1 + euler).abs() < 1e-15);
        assert!((log_gamma(0.5).1 + euler + 2.0 * core::f64::consts::LN_2).abs() < 1e-14);
        for x in [0.02, 0.3, 1.5, 4.0, 9.99, 10.01, 123.0, 1e4] {
            let step = 1e-4 * f64::min(x, 1.0);
            let at = |steps: f64| log_gamma(x + steps * step).0;
            let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            let (value, digamma) = log_gamma(x);
            // The rounding error of the value, divided by the step.
            let tolerance = 1e-9 + 10.0 * f64::EPSILON * value.abs() / step;
            assert!(
                (slope - digamma).abs() < tolerance * (1.0 + digamma.abs()),
                "ψ({x})"
            );
            let next = log_gamma(x + 1.0);
            assert!(
                (next.0 - value - x.ln()).abs() < 1e-14 * (1.0 + next.0.abs()),
                "log Γ({x})"
            );
            assert!(
                (next.1 - digamma - 1.0 / x).abs() < 1e-14 * (1.0 + 1.0 / x),
                "ψ({x} + 1)"
            );
        }
        for x in [0.0, -1.5, f64::NAN] {
            assert!(log_gamma(x).0.is_nan() && log_gamma(x).1.is_nan());
        }
    }

    /// `R(1) = 1 − ½·log 2π`; and `R(x + 1) − R(x) = 1 − (x + ½)·log(1 + 1/x)` on both sides of
    /// ten.
    #[test]
    fn what_stirlings_formula_leaves() {
        let at_one = 1.0 - 0.5 * (2.0 * core::f64::consts::PI).ln();
        assert!((stirling_remainder(1.0).0 - at_one).abs() < 1e-15);
        for x in [0.02, 0.5, 3.0, 9.2, 9.999, 10.0, 11.0, 40.0, 1e3] {
            let (value, slope) = stirling_remainder(x);
            let next = stirling_remainder(x + 1.0);
            let expected = 1.0 - (x + 0.5) * (1.0 / x).ln_1p();
            // Below ten, `R` is a difference of large terms.
            let tolerance = 2e-14 * (1.0 + value.abs());
            assert!((next.0 - value - expected).abs() < tolerance, "R({x})");
            let expected = 0.5 / x + 0.5 / (x + 1.0) - (1.0 / x).ln_1p();
            assert!(
                (next.1 - slope - expected).abs() < 2e-14 * (1.0 + 1.0 / x),
                "R'({x}): {} against {expected}",
                next.1 - slope
            );
        }
        // For large arguments only the first term of the series matters.
        assert!((stirling_remainder(1e9).0 * 12e9 - 1.0).abs() < 1e-15);
        assert!(stirling_remainder(-1.0).0.is_nan());
    }

    #[test]
    fn functions_that_are_accurate_around_zero() {
        for x in [1e-12, 1e-3, 0.0099, 0.0101, 0.7, 5.0, 1e6] {
            let (value, slope) = log_ratio(x);
            assert!((value * x - x.ln_1p()).abs() <= 4e-16 * x.ln_1p(), "{x}");
            // d/dx [x·value] = 1/(1 + x)
            let total = value + x * slope;
            assert!(
                (total - 1.0 / (1.0 + x)).abs() < 1e-15 * value,
                "slope at {x}"
            );
        }
        assert_eq!(log_ratio(0.0), (1.0, -0.5));
        assert_eq!(exp_minus_one(1e-20), (1e-20, 1.0));
        assert_eq!(exp_minus_one(-1e9), (-1.0, 0.0));
    }

    #[test]
    fn log_one_minus_exp_at_both_ends() {
        // 1 − e^{−ε} = ε − ε²/2, and log(1 − δ) = −δ.
        assert!((log_one_minus_exp(-1e-9).0 - (1e-9f64.ln() - 5e-10)).abs() < 1e-14);
        assert!((log_one_minus_exp(-40.0).0 / -(-40f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!(log_one_minus_exp(-1e9), (0.0, 0.0));
        for x in [-1e-3, -0.5, -0.69, -0.7, -3.0, -30.0] {
            let step = 1e-4 * x;
            let at = |steps: f64| log_one_minus_exp(x + steps * step).0;
            let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            let (_, exact) = log_one_minus_exp(x);
            assert!(
                (slope / exact - 1.0).abs() < 1e-9,
                "slope at {x}: {slope}, {exact}"
            );
        }
    }
}
