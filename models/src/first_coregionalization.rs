//! The first covariance of several outputs, from the correlations of their targets.

/// The share of the correlations of the targets in the first covariance; the rest is independent.
const SHARE: f64 = 0.7;
/// The least variance of an output that is its own.
const LEAST_OWN: f64 = 0.1;
/// Jacobi's method is quadratic at the end: a few sweeps suffice for any table that exact regression can take.
const SWEEPS: usize = 50;

/// The first W, `[P, R]`, row-major, and κ, `[P]`, of the covariance of outputs `WWᵀ + diag κ`.
///
/// With R̂ the correlations of pairs of columns over the rows that have both, W has the R leading eigenvectors of
/// `0.7·R̂ + 0.3·I` times the square roots of their eigenvalues, and κ is the rest of the diagonal. Columns of W are
/// then different and not zero, which the gradient would keep.
///
/// # Shapes
///
/// - `targets`: `[N, P]`, row-major, NaN where missing
pub(crate) fn first_coregionalization(
    targets: &[f64],
    outputs: usize,
    rank: usize,
) -> (Vec<f64>, Vec<f64>) {
    let entry = |a: usize, b: usize| match a == b {
        true => 1.0,
        false => SHARE * correlation(targets, outputs, a, b),
    };
    let matrix = (0..outputs * outputs).map(|index| entry(index / outputs, index % outputs));
    let (values, vectors) = eigenvectors(matrix.collect(), outputs);
    let mut order: Vec<usize> = (0..outputs).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut weights = vec![0.0; outputs * rank];
    for (column, &vector) in order.iter().take(rank).enumerate() {
        let scale = values[vector].max(0.0).sqrt();
        for output in 0..outputs {
            weights[output * rank + column] = scale * vectors[output * outputs + vector];
        }
    }
    let own = (0..outputs).map(|output| {
        let row = &weights[output * rank..][..rank];
        (1.0 - row.iter().map(|weight| weight * weight).sum::<f64>()).max(LEAST_OWN)
    });
    let own = own.collect();
    (weights, own)
}

/// The correlation of two columns over the rows that have both; zero if there is none.
fn correlation(targets: &[f64], outputs: usize, a: usize, b: usize) -> f64 {
    let rows = targets.chunks_exact(outputs).map(|row| (row[a], row[b]));
    let pairs: Vec<(f64, f64)> = rows.filter(|(a, b)| !(a + b).is_nan()).collect();
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|(a, b)| of(a - first, b - second)).sum()
    };
    let scale = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    match scale > 0.0 {
        true => sum(&|a, b| a * b) / scale,
        false => 0.0,
    }
}

/// The eigenvalues of a symmetric matrix, row-major, and its eigenvectors as columns, by Jacobi rotations (G. Golub
/// and C. Van Loan, *Matrix Computations*, section 8.5).
fn eigenvectors(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<f64>) {
    let at = |row: usize, column: usize| row * size + column;
    let mut vectors: Vec<f64> = (0..size * size)
        .map(|index| f64::from(u8::from(index / size == index % size)))
        .collect();
    for _ in 0..SWEEPS {
        let mut largest = 0.0_f64;
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[at(p, q)];
                largest = largest.max(off.abs());
                if off == 0.0 {
                    continue;
                }
                // The rotation that makes the entry zero.
                let ratio = (matrix[at(q, q)] - matrix[at(p, p)]) / (2.0 * off);
                let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
                let cosine = (1.0 + tangent * tangent).sqrt().recip();
                let sine = tangent * cosine;
                let rotate = |values: &mut Vec<f64>, one: usize, other: usize| {
                    let (a, b) = (values[one], values[other]);
                    values[one] = cosine * a - sine * b;
                    values[other] = sine * a + cosine * b;
                };
                for k in 0..size {
                    rotate(&mut matrix, at(p, k), at(q, k));
                }
                for k in 0..size {
                    rotate(&mut matrix, at(k, p), at(k, q));
                    rotate(&mut vectors, at(k, p), at(k, q));
                }
            }
        }
        if largest < f64::EPSILON {
            break;
        }
    }
    let values = (0..size).map(|index| matrix[at(index, index)]).collect();
    (values, vectors)
}

#[cfg(test)]
mod tests {
    use super::{eigenvectors, first_coregionalization};

    #[test]
    fn eigenvectors_diagonalize() {
        let matrix = vec![2.0, 0.7, -0.3, 0.7, 1.0, 0.4, -0.3, 0.4, 0.5];
        let (values, vectors) = eigenvectors(matrix.clone(), 3);
        for row in 0..3 {
            for column in 0..3 {
                let sum: f64 = (0..3)
                    .map(|k| values[k] * vectors[row * 3 + k] * vectors[column * 3 + k])
                    .sum();
                assert!((sum - matrix[row * 3 + column]).abs() < 1e-12);
            }
        }
    }

    /// With as many columns as outputs, the off-diagonal entries are 0.7 times the correlations.
    #[test]
    fn the_first_covariance_follows_the_correlations() {
        // Columns 0 and 1 are proportional where both are known; column 2 shares one row with them.
        let none = f64::NAN;
        let targets = [
            [1.0, -2.0, none],
            [2.0, -4.0, none],
            [none, 1e9, 3.0],
            [4.0, -8.0, 1.0],
        ];
        let (weights, own) = first_coregionalization(targets.as_flattened(), 3, 3);
        let product = |a: usize, b: usize| -> f64 {
            (0..3)
                .map(|q| weights[a * 3 + q] * weights[b * 3 + q])
                .sum()
        };
        assert!((product(0, 1) + 0.7).abs() < 1e-12, "{}", product(0, 1));
        assert!(product(0, 2).abs() < 1e-12);
        assert!(own.iter().all(|own| (own - 0.1).abs() < 1e-12), "{own:?}");
        // Rank one: the variances stay one.
        let (weights, own) = first_coregionalization(targets.as_flattened(), 3, 1);
        assert!((weights[0] * weights[0] + own[0] - 1.0).abs() < 1e-12);
        assert!(weights[0] * weights[1] < 0.0);
    }

    #[test]
    fn columns_of_the_weights_differ_and_are_not_zero() {
        let targets = [[1.0, 2.0], [2.0, 3.5], [3.0, 6.5]];
        let (weights, _) = first_coregionalization(targets.as_flattened(), 2, 2);
        assert!(
            weights.iter().all(|weight| weight.abs() > 1e-3),
            "{weights:?}"
        );
        assert!((weights[0] - weights[1]).abs() > 1e-3);
    }
}
