//! Integrals along a line in plain Rust, by Gauss–Legendre panels that shrink towards the given
//! locations.

use std::{f64::consts::PI, sync::LazyLock};

/// Nodes per panel. There is one panel between two neighboring locations.
const NODES: usize = 16;

/// Nodes and weights on [−1, 1].
static RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(legendre);

fn legendre() -> Vec<(f64, f64)> {
    let count = NODES as f64;
    (0..NODES)
        .map(|index| {
            let mut x = (PI * (index as f64 + 0.75) / (count + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..100 {
                let (mut before, mut value) = (1.0, x);
                for k in 2..=NODES {
                    let k = k as f64;
                    (before, value) = (
                        value,
                        ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k,
                    );
                }
                slope = count * (x * value - before) / (x * x - 1.0);
                x -= value / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// A normal distribution, with the locations and widths of the features of an integrand.
pub struct Line {
    pub mean: f64,
    pub deviation: f64,
    pub foci: Vec<(f64, f64)>,
}

impl Line {
    /// The ends of the panels.
    fn ends(&self) -> Vec<f64> {
        let mut ends = Vec::new();
        for (place, width) in self
            .foci
            .iter()
            .copied()
            .chain([(self.mean, self.deviation)])
        {
            ends.push(place);
            for power in -3..7 {
                let distance = width * 2f64.powi(power);
                ends.extend([place - distance, place + distance]);
            }
            // Beyond both the mean and this location the integrand is negligible.
            for part in 1..100 {
                ends.push(self.mean + f64::from(part) / 100.0 * (place - self.mean));
            }
        }
        for step in -26..=26 {
            ends.push(self.mean + 0.5 * f64::from(step) * self.deviation);
        }
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        ends
    }

    /// Nodes f with the logarithms of their weights, which sum to one.
    pub fn nodes(&self) -> Vec<(f64, f64)> {
        let mut nodes = Vec::new();
        for pair in self.ends().windows(2) {
            let half = 0.5 * (pair[1] - pair[0]);
            let middle = pair[0] + half;
            nodes.extend(RULE.iter().map(|(x, weight)| {
                let f = middle + half * x;
                let z = (f - self.mean) / self.deviation;
                let log_normal = -0.5 * (z * z + (2.0 * PI).ln()) - self.deviation.ln();
                (f, log_normal + (weight * half).ln())
            }));
        }
        nodes
    }
}

/// `log Σ_i exp v_i`.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest
        + values
            .iter()
            .map(|value| (value - largest).exp())
            .sum::<f64>()
            .ln()
}
