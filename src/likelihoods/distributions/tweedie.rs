//! Targets with a Tweedie distribution.

use cdflib::special::try_gamma_inc;

use super::{Support, TargetDistribution, monotone::expectation_of_decreasing};
use crate::ops::special::functions::stirling_remainder;

/// The Poisson numbers reach this many standard deviations on either side of a large rate.
const REACH: f64 = 8.0;

/// With a smaller rate, all numbers are summed.
const SMALL_RATE: f64 = 45.0;

/// The spacing of the numbers in the sum over the others, as a fraction of the distance over which terms change. The
/// error is of order `exp(−2π²/0.8²)`, that is 4·10⁻¹⁴.
const SPACING: f64 = 0.8;

/// The largest number of terms; it is reached only for p close to 1.
const MOST_TERMS: f64 = 4000.0;

/// Rates are at most this. The number is then certain to fifteen digits.
const LARGEST_RATE: f64 = 1e30;

/// Smaller terms are left out.
const NEGLIGIBLE: f64 = 1e-16;

/// Non-negative numbers with mean `m = exp(f)` and variance `φ·m^p`.
#[derive(Clone, Debug)]
pub struct TweedieTarget {
    /// The dispersion φ.
    pub dispersion: f64,
    /// p − 1.
    pub power_above_one: f64,
}

impl TweedieTarget {
    /// `e^{−λ} + Σ_{n≥1} e^{−λ}·λⁿ/n!·P(n·a, t/θ)`, where P is the lower regularized incomplete gamma function.
    fn cdf_given(&self, target: f64, function: f64) -> f64 {
        let (above, below) = (self.power_above_one, 1.0 - self.power_above_one);
        let shape = below / above;
        let rate = (below * function).exp() / (self.dispersion * below);
        let log_scale = (self.dispersion * above).ln() + above * function;
        let scaled = (target.ln() - log_scale).exp(); // t/θ
        match rate < SMALL_RATE {
            true => of_small_rate(rate, shape, scaled),
            false => of_large_rate(rate.min(LARGEST_RATE), shape, scaled),
        }
    }
}

/// The sum over all numbers.
fn of_small_rate(rate: f64, shape: f64, scaled: f64) -> f64 {
    let mut weight = (-rate).exp();
    let mut sum = weight;
    for number in 1.. {
        let number = f64::from(number);
        weight *= rate / number;
        let term = weight * lower_gamma(number * shape, scaled);
        sum += term;
        // Terms beyond the rate fall, and P falls with its shape.
        if term.is_nan() || (number > rate && term < NEGLIGIBLE) {
            break;
        }
    }
    sum
}

/// The integral over n. As in the density, the trapezoidal rule gives it with a step of some numbers.
fn of_large_rate(rate: f64, shape: f64, scaled: f64) -> f64 {
    let deviation = rate.sqrt();
    let step = (SPACING * deviation / (1.0 + shape).sqrt())
        .max(1.0)
        .max(2.0 * REACH * deviation / MOST_TERMS);
    let side = (REACH * deviation / step).ceil() as i32;
    let center = if step > 1.0 { rate } else { rate.round() };
    let numbers = (-side..=side).map(|place| center + step * f64::from(place));
    let terms = (numbers.filter(|number| *number >= 1.0))
        .map(|number| poisson(number, rate) * lower_gamma(number * shape, scaled));
    (-rate).exp() + step * terms.sum::<f64>()
}

/// `P(s, x)`; one far above its shape.
fn lower_gamma(shape: f64, x: f64) -> f64 {
    if x > shape + 9.0 * shape.sqrt() + 50.0 {
        return 1.0;
    }
    try_gamma_inc(shape, x).map_or(f64::NAN, |(below, _)| below)
}

/// `e^{−λ}·λⁿ/Γ(n + 1)` for real positive n, near a large rate λ.
fn poisson(number: f64, rate: f64) -> f64 {
    let divergence = number * ((number - rate) / rate).ln_1p() + rate - number;
    let root = (2.0 * core::f64::consts::PI * number).sqrt();
    (-divergence - stirling_remainder(number).0).exp() / root
}

impl TargetDistribution for TweedieTarget {
    fn support(&self) -> Support {
        Support::NonNegative
    }

    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if target < 0.0 {
            return 0.0;
        }
        expectation_of_decreasing(mean[0], variance[0], |f| match target > 0.0 {
            true => self.cdf_given(target, f),
            false => {
                let below = 1.0 - self.power_above_one;
                (-(below * f).exp() / (self.dispersion * below)).exp()
            }
        })
    }

    /// The relative variance of y is `φ·m^{p−2}`.
    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let relative = self.dispersion * ((self.power_above_one - 1.0) * mean[0]).exp();
        (mean[0], (variance[0].max(0.0) + relative.min(4.0)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all numbers, with Poisson probabilities by recursion.
    fn naive(target: &TweedieTarget, t: f64, f: f64) -> f64 {
        let (above, below) = (target.power_above_one, 1.0 - target.power_above_one);
        let rate = (below * f).exp() / (target.dispersion * below);
        let scale = target.dispersion * above * (above * f).exp();
        let (mut log, mut sum) = (-rate, (-rate).exp());
        for number in 1..6000 {
            log += (rate / f64::from(number)).ln();
            let shape = f64::from(number) * below / above;
            sum += log.exp() * try_gamma_inc(shape, t / scale).unwrap().0;
        }
        sum
    }

    /// With small and large rates, in the middle and in the tails, for powers near both ends.
    #[test]
    fn a_certain_function_leaves_the_sum_over_numbers() {
        for power_above_one in [0.05, 0.3, 0.5, 0.9] {
            for (dispersion, f) in [
                (1.0, 0.3),
                (0.03, -1.0),
                (0.02, 0.2),
                (0.001, 0.5),
                (4.0, -3.0),
            ] {
                let target = TweedieTarget {
                    dispersion,
                    power_above_one,
                };
                let rate =
                    ((1.0 - power_above_one) * f).exp() / (dispersion * (1.0 - power_above_one));
                if rate > 3000.0 {
                    continue;
                }
                for share in [1e-3, 0.3, 0.9, 1.0, 1.1, 1.6, 5.0] {
                    let t = share * f64::exp(f);
                    let (found, expected) = (target.cdf(t, &[f], &[0.0]), naive(&target, t, f));
                    // The recursion of logarithms rounds 3000 times.
                    assert!(
                        (found - expected).abs() < 1e-11,
                        "p - 1 = {power_above_one}, {dispersion}, f = {f}, t = {t}: {found}, {expected}"
                    );
                }
                let zero = target.cdf(0.0, &[f], &[0.0]);
                assert!((zero - (-rate).exp()).abs() < 1e-15, "{zero}");
            }
        }
    }
}
