//! Gauss–Hermite quadrature: expectations under one-dimensional Gaussians.

use burn::tensor::{Tensor, TensorData};

use super::Marginals;

/// A variance at or below this has the gradient zero: the square root has none at zero, where a
/// posterior's clamp puts variances that rounding made negative.
const SMALLEST_VARIANCE: f64 = 1e-20;

/// The nodes `x_i` and weights `w_i` of `∫ e^{−x²} g(x) dx ≈ Σ_i w_i·g(x_i)`, exact for
/// polynomials of degree below twice the number of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussHermite {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl Default for GaussHermite {
    /// Twenty nodes, the field's habit.
    fn default() -> Self {
        Self::new(20)
    }
}

impl GaussHermite {
    /// The rule with `count` nodes.
    ///
    /// The nodes are the roots of the Hermite polynomial `H_count`, found by Newton's method on
    /// the orthonormal recurrence with the roots already found divided out, which keeps it from
    /// finding one twice.
    ///
    /// # Panics
    ///
    /// If `count` is zero or above 200, where the weights underflow.
    #[track_caller]
    pub fn new(count: usize) -> Self {
        assert!(
            (1..=200).contains(&count),
            "Gauss-Hermite quadrature takes 1 to 200 nodes, got {count}"
        );
        let mut nodes: Vec<f64> = Vec::with_capacity(count);
        let mut weights = Vec::with_capacity(count);
        // Every root lies within ±√(2n + 1).
        let mut start = (2.0 * count as f64 + 1.0).sqrt();
        for _ in 0..count {
            let mut x = start;
            for _ in 0..200 {
                let (value, slope) = hermite(count, x);
                let deflation: f64 = nodes.iter().map(|node| 1.0 / (x - node)).sum();
                let step = value / (slope - value * deflation);
                x -= step;
                if step.abs() <= 1e-16 * (1.0 + x.abs()) {
                    break;
                }
            }
            let (_, slope) = hermite(count, x);
            nodes.push(x);
            weights.push(2.0 / (slope * slope));
            start = x - 1e-3;
        }
        Self { nodes, weights }
    }

    /// `E_{f ~ N(μ, σ²)}[g(f)]` for every entry of the marginals.
    ///
    /// # Shapes
    ///
    /// - `integrand`: from `[N, P, Q]` values of `f` to `[N, P, Q]`
    /// - result: `[N, P]`
    pub fn expectation(
        &self,
        marginals: Marginals,
        integrand: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let [rows, outputs] = marginals.mean.dims();
        let (points, weights) = self.points(marginals);
        (integrand(points) * weights)
            .sum_dim(2)
            .reshape([rows, outputs])
    }

    /// `log E_{f ~ N(μ, σ²)}[exp g(f)]`, without overflow; shapes as
    /// [`expectation`](Self::expectation).
    pub fn log_expectation(
        &self,
        marginals: Marginals,
        exponent: impl FnOnce(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<2> {
        let [rows, outputs] = marginals.mean.dims();
        let (points, weights) = self.points(marginals);
        let exponent = exponent(points);
        let largest = exponent.clone().max_dim(2);
        let scaled = (exponent - largest.clone()).exp();
        ((scaled * weights).sum_dim(2).log() + largest).reshape([rows, outputs])
    }

    /// `μ + √2·σ·x_i`, [N, P, Q], and `w_i/√π`, [1, 1, Q].
    fn points(&self, marginals: Marginals) -> (Tensor<3>, Tensor<3>) {
        let Marginals { mean, variance } = marginals;
        let options = (&mean.device(), mean.dtype());
        let row = |values: Vec<f64>| {
            Tensor::<3>::from_data(TensorData::new(values, [1, 1, self.nodes.len()]), options)
        };
        let scale = core::f64::consts::SQRT_2;
        let nodes = row(self.nodes.iter().map(|node| scale * node).collect());
        let norm = core::f64::consts::PI.sqrt();
        let weights = row(self.weights.iter().map(|weight| weight / norm).collect());
        let deviation: Tensor<3> = variance
            .clamp_min(SMALLEST_VARIANCE)
            .sqrt()
            .unsqueeze_dim(2);
        (deviation * nodes + mean.unsqueeze_dim(2), weights)
    }
}

/// The orthonormal Hermite function of degree `count` and its derivative at `x`, without the
/// factor `e^{−x²/2}`.
fn hermite(count: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (0.0, core::f64::consts::PI.powf(-0.25));
    for k in 0..count {
        let k = k as f64;
        let next = x * (2.0 / (k + 1.0)).sqrt() * current - (k / (k + 1.0)).sqrt() * previous;
        (previous, current) = (current, next);
    }
    (current, (2.0 * count as f64).sqrt() * previous)
}

#[cfg(test)]
mod tests {
    use super::GaussHermite;

    /// Moments of N(0, ½): exact for even powers below twice the number of nodes.
    #[test]
    fn integrates_polynomials_exactly() {
        for count in [1usize, 2, 5, 20, 100] {
            let rule = GaussHermite::new(count);
            let mut moment = core::f64::consts::PI.sqrt();
            for power in 0..count.min(12) {
                let terms = rule.nodes.iter().zip(&rule.weights);
                let sum: f64 = terms.map(|(x, w)| w * x.powi(2 * power as i32)).sum();
                assert!(
                    (sum - moment).abs() < 1e-12 * moment.max(1.0),
                    "{count} nodes, power {}: {sum} against {moment}",
                    2 * power
                );
                moment *= power as f64 + 0.5;
            }
        }
    }

    /// The nodes of the 3-point rule are 0 and ±√(3/2).
    #[test]
    fn three_nodes() {
        let rule = GaussHermite::new(3);
        assert!((rule.nodes[0] - 1.5f64.sqrt()).abs() < 1e-15);
        assert!(rule.nodes[1].abs() < 1e-15);
        assert!((rule.nodes[2] + 1.5f64.sqrt()).abs() < 1e-15);
    }
}
