//! Nodes and weights of Gauss–Hermite quadrature.

use core::f64::consts::{PI, SQRT_2};

/// Nodes and weights of `E_{z ~ N(0, 1)}[g(z)] ≈ Σ_i w_i·g(z_i)`, exact for polynomials of degree
/// below twice the number of nodes.
///
/// The nodes are `√2` times the roots of the Hermite polynomial `H_count`. Newton's method on the
/// orthonormal recurrence finds them; dividing out the roots found so far keeps it from finding one
/// twice. The crate gauss-quad takes the weights from eigenvectors, which loses digits of the small ones.
pub(super) fn nodes_and_weights(count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut roots: Vec<f64> = Vec::with_capacity(count);
    let mut weights = Vec::with_capacity(count);
    // Every root lies within ±√(2n + 1).
    let mut start = (2.0 * count as f64 + 1.0).sqrt();
    for _ in 0..count {
        let mut x = start;
        for _ in 0..200 {
            let (value, slope) = hermite(count, x);
            let deflation: f64 = roots.iter().map(|root| 1.0 / (x - root)).sum();
            let step = value / (slope - value * deflation);
            x -= step;
            if step.abs() <= 1e-16 * (1.0 + x.abs()) {
                break;
            }
        }
        let (_, slope) = hermite(count, x);
        roots.push(x);
        weights.push(2.0 / (slope * slope) / PI.sqrt());
        start = x - 1e-3;
    }
    (roots.iter().map(|root| SQRT_2 * root).collect(), weights)
}

/// The orthonormal Hermite function of degree `count` and its derivative at `x`, without the
/// factor `e^{−x²/2}`.
fn hermite(count: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (0.0, PI.powf(-0.25));
    for k in 0..count {
        let k = k as f64;
        let next = x * (2.0 / (k + 1.0)).sqrt() * current - (k / (k + 1.0)).sqrt() * previous;
        (previous, current) = (current, next);
    }
    (current, (2.0 * count as f64).sqrt() * previous)
}

#[cfg(test)]
mod tests {
    use super::nodes_and_weights;

    /// Moments of the standard normal are exact for even powers below twice the number of nodes.
    #[test]
    fn integrates_polynomials_exactly() {
        for count in [1usize, 2, 5, 20, 100] {
            let (nodes, weights) = nodes_and_weights(count);
            let mut moment = 1.0;
            for power in 0..count.min(12) {
                let terms = nodes.iter().zip(&weights);
                let sum: f64 = terms.map(|(x, w)| w * x.powi(2 * power as i32)).sum();
                assert!(
                    (sum - moment).abs() < 1e-12 * moment,
                    "{count} nodes, power {}: {sum} against {moment}",
                    2 * power
                );
                moment *= 2.0 * power as f64 + 1.0;
            }
        }
    }

    /// The nodes of the 3-point rule are 0 and ±√3.
    #[test]
    fn three_nodes() {
        let (nodes, _) = nodes_and_weights(3);
        assert!((nodes[0] - 3f64.sqrt()).abs() < 1e-15);
        assert!(nodes[1].abs() < 1e-15);
        assert!((nodes[2] + 3f64.sqrt()).abs() < 1e-15);
    }
}
