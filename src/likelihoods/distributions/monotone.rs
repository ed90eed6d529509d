//! The expectation of a decreasing function under a normal distribution.

use std::sync::LazyLock;

use crate::{likelihoods::legendre_nodes_and_weights, ops::special::functions::normal_cdf};

/// The probability of the standard normal beyond this is less than 1e-16.
const REACH: f64 = 8.5;

/// Nested grids of the trapezoidal rule: steps of 1, 1/2 and 1/4.
const GRIDS: usize = 3;

/// A grid is trusted if halving its step changes the result by less than this fraction of the
/// result or its complement, whichever is smaller. With every halving the error is at least
/// squared, as long as the function changes over more than a step.
const TRUSTED: f64 = 1e-7;

/// The tolerated error of a panel.
const TOLERANCE: f64 = 1e-13;

/// Gauss–Legendre nodes per panel.
const PANEL_NODES: usize = 16;

/// If halving the step changes the result by more than this, finer grids are not tried.
const HOPELESS: f64 = 0.02;

/// A panel is trusted if the sum of its halves agrees with it to this accuracy.
const TRUSTED_PANEL: f64 = 3e-13;

/// The maximum number of times a panel is halved.
const MOST_HALVINGS: u32 = 50;

/// The nodes that each grid adds, with normal weights for a step of one.
static ADDED: LazyLock<Vec<Vec<(f64, f64)>>> = LazyLock::new(|| {
    let node = |place: f64| (place, density(place));
    let grid = |level: usize| {
        let parts = 1i32 << level;
        let reach = (REACH * f64::from(parts)) as i32;
        (-reach..=reach)
            .filter(|index| level == 0 || index % 2 != 0)
            .map(|index| node(f64::from(index) / f64::from(parts)))
            .collect()
    };
    (0..GRIDS).map(grid).collect()
});

static PANEL: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| legendre_nodes_and_weights(PANEL_NODES));

/// The standard normal density.
fn density(place: f64) -> f64 {
    const SCALE: f64 = 0.398_942_280_401_432_7; // 1/√(2π)
    SCALE * (-0.5 * place * place).exp()
}

/// `E[g(f)]` for `f ~ N(μ, σ²)` and a function `g` that decreases from 1 to 0, accurate to about
/// 1e-12.
///
/// Uses the trapezoidal rule if `g` is smooth on the scale of σ. Otherwise it uses Gauss–Legendre
/// panels and halves them around the step of `g` until the remaining error is negligible.
pub fn expectation_of_decreasing(mean: f64, variance: f64, g: impl Fn(f64) -> f64) -> f64 {
    let deviation = variance.max(0.0).sqrt();
    if deviation == 0.0 {
        return g(mean);
    }
    let g = |place: f64| g(mean + deviation * place);
    let (mut sum, mut previous) = (0.0, f64::INFINITY);
    for (level, nodes) in ADDED.iter().enumerate() {
        sum += nodes
            .iter()
            .map(|&(place, weight)| weight * g(place))
            .sum::<f64>();
        let value = sum / (1u32 << level) as f64;
        let smaller = value.min(1.0 - value).max(0.0);
        if (value - previous).abs() <= TRUSTED * smaller + TOLERANCE || value.is_nan() {
            return value.clamp(0.0, 1.0);
        }
        if level > 0 && (value - previous).abs() > HOPELESS {
            break;
        }
        previous = value;
    }
    let whole = Panel {
        ends: (-REACH, REACH),
        values: (g(-REACH), g(REACH)),
        halvings: 0,
    };
    whole.integral(&g, None).clamp(0.0, 1.0)
}

/// An interval of the line.
#[derive(Clone, Copy)]
struct Panel {
    ends: (f64, f64),
    /// The function values at the ends.
    values: (f64, f64),
    halvings: u32,
}

impl Panel {
    /// `∫ φ(z)·g(z) dz`, given an estimate from the rule on the whole panel.
    fn integral(self, g: &impl Fn(f64) -> f64, estimate: Option<f64>) -> f64 {
        let (low, high) = self.ends;
        let mass = normal_cdf(high) - normal_cdf(low);
        let change = self.values.0 - self.values.1;
        // A monotone function lies between its values at the ends.
        if change.abs() * mass <= TOLERANCE || self.halvings == MOST_HALVINGS {
            return 0.5 * (self.values.0 + self.values.1) * mass;
        }
        let middle = 0.5 * (low + high);
        let value = g(middle);
        let half = |ends, values| Self {
            ends,
            values,
            halvings: self.halvings + 1,
        };
        let halves = [
            half((low, middle), (self.values.0, value)),
            half((middle, high), (value, self.values.1)),
        ];
        let estimates = halves.map(|half| half.rule(g));
        let sum: f64 = estimates.iter().sum();
        if estimate.is_some_and(|estimate| (sum - estimate).abs() <= TRUSTED_PANEL) {
            return sum;
        }
        let parts = halves.into_iter().zip(estimates);
        parts
            .map(|(half, estimate)| half.integral(g, Some(estimate)))
            .sum()
    }

    /// The Gauss–Legendre rule.
    fn rule(&self, g: &impl Fn(f64) -> f64) -> f64 {
        let (low, high) = self.ends;
        let (middle, radius) = (0.5 * (low + high), 0.5 * (high - low));
        let terms = PANEL.iter().map(|&(node, weight)| {
            let place = middle + radius * node;
            weight * density(place) * g(place)
        });
        radius * terms.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::expectation_of_decreasing;
    use crate::ops::special::functions::normal_cdf;

    /// `E[Φ((c − f)/w)] = Φ((c − μ)/√(σ² + w²))`, from a gentle slope to a step.
    #[test]
    fn slopes_of_every_width() {
        for width in [1e-12, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 1.0, 3.0, 100.0] {
            for deviation in [1e-3f64, 0.2, 1.0, 5.0, 300.0] {
                for standard in [-6.0, -2.3, -0.4, 0.0, 0.25, 1.0, 1.7, 4.0] {
                    let (mean, cut) = (0.7, 0.7 + standard * deviation.hypot(width));
                    let found = expectation_of_decreasing(mean, deviation * deviation, |f| {
                        normal_cdf((cut - f) / width)
                    });
                    let expected = normal_cdf(standard);
                    // The argument (c − f)/w is rounded, which matters for a narrow step.
                    let rounding = 1e-15 / width.min(1.0);
                    assert!(
                        (found - expected).abs() < 2e-12 + rounding,
                        "width {width}, deviation {deviation}, {standard}: {found}, not {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_certain_argument() {
        assert_eq!(expectation_of_decreasing(2.0, 0.0, |f| 1.0 / f), 0.5);
        assert!(expectation_of_decreasing(2.0, 1.0, |_| f64::NAN).is_nan());
    }
}
