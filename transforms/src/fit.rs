//! Transformations fitted to values.

use crate::{Transform, TransformName, power::MOST_POWER, quantiles::shares_of};

/// The steps of the search for the power before it narrows.
const POWER_STEPS: usize = 20;

/// The number of times that the search for the power narrows its interval, by the golden ratio.
const NARROWINGS: usize = 40;

impl TransformName {
    /// The transformation for these values. A power has the highest likelihood
    /// `−½N log Var[g_λ(y)] + Σ_n log g_λ′(y_n)` among 0 to 2, which is that of a normal distribution of the transformed
    /// values.
    ///
    /// # Panics
    ///
    /// If there are no values, or one that the transformation does not take.
    pub fn fit(self, values: &[f64]) -> Transform {
        assert!(
            !values.is_empty() && values.iter().all(|&value| self.takes(value)),
            "{self} of {} values, not all of which it takes",
            values.len()
        );
        match self {
            // A power of one changes nothing.
            Self::None => Transform::YeoJohnson { power: 1.0 },
            Self::Log => Transform::Log,
            Self::BoxCox => most_likely(values, |power| Transform::BoxCox { power }),
            Self::YeoJohnson => most_likely(values, |power| Transform::YeoJohnson { power }),
            Self::Quantile => {
                let (values, shares) = shares_of(values);
                Transform::Quantile { values, shares }
            }
        }
    }
}

/// The power transformation of the highest likelihood.
fn most_likely(values: &[f64], of_power: impl Fn(f64) -> Transform) -> Transform {
    let likelihood = |power: f64| log_likelihood(values, &of_power(power));
    let step = MOST_POWER / POWER_STEPS as f64;
    let powers = (0..=POWER_STEPS).map(|index| index as f64 * step);
    let best = powers.max_by(|&a, &b| likelihood(a).total_cmp(&likelihood(b)));
    let best = best.unwrap_or(1.0);
    let (mut low, mut high) = ((best - step).max(0.0), (best + step).min(MOST_POWER));
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..NARROWINGS {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        match likelihood(left) < likelihood(right) {
            true => low = left,
            false => high = right,
        }
    }
    let found = 0.5 * (low + high);
    // The maximum may be at an end of the range, which the search never reaches.
    let ends = [0.0, MOST_POWER, best];
    let power = ends.into_iter().fold(found, |power, end| {
        match likelihood(end) > likelihood(power) {
            true => end,
            false => power,
        }
    });
    of_power(power)
}

/// `−½N log Var[g(y)] + Σ log g′(y)`, the log likelihood of a normal distribution of the transformed values with their
/// moments, without a constant. −∞ if they do not vary, so that a power stays at the first one tried.
fn log_likelihood(values: &[f64], transform: &Transform) -> f64 {
    let count = values.len() as f64;
    let transformed: Vec<f64> = values.iter().map(|&value| transform.apply(value)).collect();
    let mean = transformed.iter().sum::<f64>() / count;
    let squares: f64 = transformed.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / count;
    if !(variance > 0.0 && variance.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let slopes: f64 = values.iter().map(|&value| transform.log_slope(value)).sum();
    slopes - 0.5 * count * variance.ln()
}

#[cfg(test)]
mod tests;
