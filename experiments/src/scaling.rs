//! Exponents of the growth of costs.

/// The least-squares slope; `None` unless there are two different x. For points `(ln n, ln t)` it
/// is p in `t ∝ nᵖ`.
pub(super) fn fitted_slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let both: f64 = (points.iter())
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    (spread > 0.0).then(|| both / spread)
}

#[cfg(test)]
mod tests {
    use super::fitted_slope;

    #[test]
    fn the_slope_is_that_of_a_line() {
        let line: Vec<(f64, f64)> = [1.0, 2.0, 4.0].map(|x| (x, 3.0 - 0.5 * x)).to_vec();
        assert!((fitted_slope(&line).unwrap() + 0.5).abs() < 1e-14);
        assert_eq!(fitted_slope(&line[..1]), None);
    }
}
