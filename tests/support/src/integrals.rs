//! Expectations under independent Gaussians in plain Rust: on a dense grid and by Monte Carlo.

use super::Random;

/// The extent of the grid on either side of the mean, in standard deviations. The rest is below
/// 10⁻¹³.
const REACH: f64 = 7.5;

/// The number of grid points per dimension, fewer in several dimensions to limit the cost. The
/// trapezoidal rule converges geometrically for smooth integrands: a spacing of a quarter of a
/// standard deviation is exact up to rounding for a Gaussian.
fn grid_points(dimensions: usize) -> usize {
    match dimensions {
        1 => 2001,
        2 => 301,
        _ => 61,
    }
}

/// `E[g(f)]` for several `g` at once on a grid.
pub fn on_grid(
    means: &[f64],
    variances: &[f64],
    functions: &dyn Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let (dimensions, count) = (means.len(), grid_points(means.len()));
    let spacing = 2.0 * REACH / (count - 1) as f64;
    let standard: Vec<f64> = (0..count).map(|i| i as f64 * spacing - REACH).collect();
    let weight: Vec<f64> = standard.iter().map(|z| (-0.5 * z * z).exp()).collect();
    let total: f64 = weight.iter().sum();
    let mut sums = Vec::new();
    let mut f = vec![0.0; dimensions];
    for number in 0..count.pow(dimensions as u32) {
        let (mut digits, mut product) = (number, 1.0);
        for (dimension, f) in f.iter_mut().enumerate() {
            let digit = digits % count;
            digits /= count;
            *f = means[dimension] + variances[dimension].sqrt() * standard[digit];
            product *= weight[digit] / total;
        }
        let values = functions(&f);
        sums.resize(values.len(), 0.0);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += product * value;
        }
    }
    sums
}

/// `E[g(f)]` for several `g` at once with standard errors, by Monte Carlo.
pub fn by_monte_carlo(
    random: &mut Random,
    draws: usize,
    means: &[f64],
    variances: &[f64],
    functions: &dyn Fn(&[f64]) -> Vec<f64>,
) -> Vec<(f64, f64)> {
    let (mut sums, mut squares) = (Vec::new(), Vec::new());
    let mut f = vec![0.0; means.len()];
    for _ in 0..draws {
        for (dimension, f) in f.iter_mut().enumerate() {
            *f = means[dimension] + variances[dimension].sqrt() * random.normal();
        }
        let values = functions(&f);
        sums.resize(values.len(), 0.0);
        squares.resize(values.len(), 0.0);
        for (index, value) in values.into_iter().enumerate() {
            sums[index] += value;
            squares[index] += value * value;
        }
    }
    let count = draws as f64;
    (sums.iter().zip(&squares))
        .map(|(sum, square)| {
            let mean = sum / count;
            let spread = (square / count - mean * mean).max(0.0);
            (mean, (spread / count).sqrt())
        })
        .collect()
}
