//! Means and variances of functions of targets, by quadrature over quantiles.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::PredictiveDistribution;
use crate::{likelihoods::legendre_nodes_and_weights, ops::special::functions::normal_cdf};

/// The range of the logits of probabilities in the quadrature, and the distance of its nodes. The trapezoidal rule
/// converges exponentially, because the integrand decays exponentially on both sides and is smooth.
const LOGITS: i32 = 30;
const LOGIT_STEP: f64 = 0.5;

/// The range of normal scores of the quadrature of recalibrated distributions, the largest length of its panels, and the
/// Gauss–Legendre nodes of a panel. Panels end at the knots, where the slope jumps.
const LARGEST_SCORE: f64 = 8.2;
const PANEL: f64 = 1.0;
const PANEL_NODES: usize = 8;

static RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| legendre_nodes_and_weights(PANEL_NODES));

impl PredictiveDistribution {
    /// The means and the variances of the targets, one of each per target.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        self.moments_of(|target| target)
    }

    /// The means and the variances of an increasing function h of the targets, one of each per target:
    /// `E[h(y)] = ∫₀¹ h(q(p)) dp` with the quantiles q(p).
    pub fn moments_of(&self, function: impl Fn(f64) -> f64 + Sync) -> (Vec<f64>, Vec<f64>) {
        let nodes = match &self.recalibration {
            None => logit_nodes(),
            Some(map) => panel_nodes(map.knots().iter().map(|&(_, value)| value)),
        };
        let total: f64 = nodes.iter().map(|(_, weight)| weight).sum();
        let of_target = |index: usize| {
            let center = function(self.quantile_of(index, 0.5));
            let (mut sum, mut square) = (0.0, 0.0);
            for &(p, weight) in &nodes {
                // Relative to the median, so that the variance does not cancel.
                let deviation = function(self.quantile_of(index, p)) - center;
                sum += weight * deviation;
                square += weight * deviation * deviation;
            }
            let shift = sum / total;
            (center + shift, (square / total - shift * shift).max(0.0))
        };
        (0..self.len()).into_par_iter().map(of_target).unzip()
    }
}

/// Probabilities with weights, at evenly spaced logits.
fn logit_nodes() -> Vec<(f64, f64)> {
    let most = (f64::from(LOGITS) / LOGIT_STEP) as i32;
    let node = |index: i32| {
        let logit = f64::from(index) * LOGIT_STEP;
        let p = 1.0 / (1.0 + (-logit).exp());
        // dp = p(1 − p) d logit, without cancellation
        (p, p / (1.0 + logit.exp()))
    };
    (-most..=most).map(node).collect()
}

/// Probabilities with weights, in panels of normal scores that end at the given ones.
fn panel_nodes(ends: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let inner = ends.filter(|end| end.abs() < LARGEST_SCORE);
    let ends: Vec<f64> = ([-LARGEST_SCORE].into_iter())
        .chain(inner)
        .chain([LARGEST_SCORE])
        .collect();
    let mut nodes = Vec::new();
    for pair in ends.windows(2) {
        let panels = ((pair[1] - pair[0]) / PANEL).ceil().max(1.0);
        let radius = 0.5 * (pair[1] - pair[0]) / panels;
        for panel in 0..panels as usize {
            let middle = pair[0] + radius * (2 * panel + 1) as f64;
            nodes.extend(RULE.iter().map(|(place, weight)| {
                let score = middle + radius * place;
                let density = (-0.5 * score * score).exp();
                (normal_cdf(score), radius * weight * density)
            }));
        }
    }
    nodes
}
