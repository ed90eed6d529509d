//! Means and variances of targets.

use rayon::prelude::*;

use super::{PredictiveDistribution, integrals::sum};

/// The probability in each tail that is left out. Distribution functions are accurate to about 1e-12.
const TAIL: f64 = 1e-10;

impl PredictiveDistribution {
    /// The means and the variances of the targets, one of each per target: in closed form for normal targets, else with
    /// the median c and the distribution function G
    /// `E[y] = c + ∫_c^∞ (1 − G(t)) dt − ∫_{−∞}^c G(t) dt`,
    /// `E[(y − c)²] = 2∫_c^∞ (t − c)·(1 − G(t)) dt + 2∫_{−∞}^c (c − t)·G(t) dt`,
    /// which are sums for counts. Tails with a probability of 1e-10 are left out, so that an infinite variance is large.
    ///
    /// Logarithms of [transformed](Self::transformed) targets that are normal have a closed form, too:
    /// `E[y] = exp(m + v/2)`, `Var[y] = E[y]²·(e^v − 1)`. Other transformed targets z are integrated over their quantiles,
    /// `E[y] = ∫₀¹ g⁻¹(q(p)) dp`, without tails of a probability of 1e-13; a moment whose integrand grows there is infinite,
    /// as that of the exponential of a Student-t variable.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let map = self.recalibration.as_deref();
        let standard = map.map_or((0.0, 1.0), |map| map.moments_of_standard_normal());
        let of_target = |index: usize| {
            if self.transform_of(index).is_some() {
                return self.moments_of_transformed(index);
            }
            let (mean, variance) = match self.normal_of(index) {
                Some((mean, variance)) => {
                    let shift = variance.sqrt() * standard.0;
                    (mean + shift, variance * standard.1)
                }
                None => self.moments_within(index),
            };
            let scale = self.unit(index).map_or(1.0, |unit| unit.scale);
            (self.in_unit(index, mean), scale * scale * variance)
        };
        (0..self.len()).into_par_iter().map(of_target).unzip()
    }

    /// The mean and variance of one target of the likelihood, before rescaling.
    fn moments_within(&self, index: usize) -> (f64, f64) {
        let center = self.quantile_within(index, 0.5);
        if !center.is_finite() {
            return (f64::NAN, f64::NAN);
        }
        let support = self.target_of(index).support();
        // Sums are of whole numbers up to the target instead of integrals from 0.
        let step = f64::from(u8::from(support.is_discrete()));
        let terms = |at: f64| {
            let below = self.cdf_within(index, at);
            let (sign, tail) = match at < center {
                true => (-1.0, below),
                false => (1.0, 1.0 - below),
            };
            let tail = if tail < TAIL { 0.0 } else { tail };
            [
                sign * tail,
                (2.0 * (at - center).abs() + sign * step) * tail,
            ]
        };
        let [shift, square] = match support.is_discrete() {
            true => {
                let [low, high] = [TAIL, 1.0 - TAIL].map(|p| self.quantile_within(index, p));
                sum((low, high), low, terms)
            }
            false => self.range_of(index).integral(center, terms),
        };
        (center + shift, (square - shift * shift).max(0.0))
    }
}
