//! Nodes and weights of Gauss–Legendre quadrature.

use core::f64::consts::PI;

/// Nodes and weights of `∫_{−1}^{1} g(z) dz ≈ Σ_i w_i·g(z_i)`, exact for polynomials of degree
/// below twice the number of nodes. The nodes are the roots of the Legendre polynomial, found by
/// Newton's method, which converges from their asymptotic positions. The crate gauss-quad is as
/// accurate, but needs nalgebra.
pub(crate) fn nodes_and_weights(count: usize) -> Vec<(f64, f64)> {
    let node = |index: usize| {
        let mut x = (PI * (index as f64 + 0.75) / (count as f64 + 0.5)).cos();
        for _ in 0..100 {
            let (value, slope) = legendre(count, x);
            let step = value / slope;
            x -= step;
            if step.abs() <= 1e-16 {
                break;
            }
        }
        let (_, slope) = legendre(count, x);
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..count).map(node).collect()
}

/// The Legendre polynomial of degree `count` and its derivative within (−1, 1).
fn legendre(count: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (0.0, 1.0);
    for k in 0..count {
        let k = k as f64;
        let next = ((2.0 * k + 1.0) * x * current - k * previous) / (k + 1.0);
        (previous, current) = (current, next);
    }
    let slope = count as f64 * (x * current - previous) / (x * x - 1.0);
    (current, slope)
}

#[cfg(test)]
mod tests {
    use super::nodes_and_weights;

    /// Moments of the interval are exact for powers below twice the number of nodes.
    #[test]
    fn integrates_polynomials_exactly() {
        for count in [1usize, 2, 5, 20, 100] {
            let rule = nodes_and_weights(count);
            for power in 0..(2 * count).min(24) {
                let sum: f64 = rule.iter().map(|(x, w)| w * x.powi(power as i32)).sum();
                let moment = if power.is_multiple_of(2) {
                    2.0 / (power as f64 + 1.0)
                } else {
                    0.0
                };
                assert!(
                    (sum - moment).abs() < 1e-13,
                    "{count} nodes, power {power}: {sum} against {moment}"
                );
            }
        }
    }
}
