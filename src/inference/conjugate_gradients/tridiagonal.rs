//! The tridiagonal matrices of Lanczos iterations, and Gaussian quadrature with them.

/// The matrix T that the Lanczos iteration of `P^{-½}AP^{-½}` produces from `P^{-½}b`, and the
/// squared length of that vector.
#[derive(Clone, Debug)]
pub(in crate::inference) struct Tridiagonal {
    /// `bᵀP⁻¹b`
    squared_length: f64,
    diagonal: Vec<f64>,
    /// The off-diagonal entries; each belongs to the diagonal entry before it.
    beside: Vec<f64>,
}

/// An eigenvalue, and the square of the first entry of its unit eigenvector.
#[derive(Clone, Copy, Debug)]
struct Node {
    value: f64,
    weight: f64,
}

/// An upper limit of the iterations for one eigenvalue, which is never reached; most take two.
const MOST_ITERATIONS: usize = 60;

impl Tridiagonal {
    /// Creates a matrix without rows for a vector with the given `bᵀP⁻¹b`.
    pub fn new(squared_length: f64) -> Self {
        Self {
            squared_length,
            diagonal: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Adds a row, from the step size and the ratio of energies after it.
    pub fn push(&mut self, step: f64, quotient: f64, before: Option<(f64, f64)>) {
        let carried = before.map_or(0.0, |(step, quotient)| quotient / step);
        self.diagonal.push(1.0 / step + carried);
        self.beside.push(quotient.max(0.0).sqrt() / step);
    }

    /// `bᵀP^{-½}·log(P^{-½}AP^{-½})·P^{-½}b` by Gaussian quadrature: `bᵀP⁻¹b·e₁ᵀlog(T)e₁`. NaN if an entry
    /// of the matrix is NaN.
    pub fn logarithm(&self) -> f64 {
        let Some(nodes) = self.nodes() else {
            return f64::NAN;
        };
        // Rounding may produce an eigenvalue of zero, but its weight is then negligible.
        let term = |node: &Node| node.weight * node.value.max(f64::MIN_POSITIVE).ln();
        self.squared_length * nodes.iter().map(term).sum::<f64>()
    }

    /// The nodes and weights of the quadrature, in O(m²) (G. Golub and J. Welsch, *Calculation of Gauss
    /// Quadrature Rules*, 1969): the QL algorithm with implicit shifts, whose rotations are applied only to
    /// the first row of the eigenvectors.
    fn nodes(&self) -> Option<Vec<Node>> {
        let size = self.diagonal.len();
        let mut values = self.diagonal.clone();
        let mut beside = self.beside.clone();
        let mut first = vec![0.0; size];
        if let (Some(last), Some(entry)) = (beside.last_mut(), first.first_mut()) {
            (*last, *entry) = (0.0, 1.0);
        }
        for start in 0..size {
            let mut iterations = 0;
            loop {
                let end = (start..size - 1)
                    .find(|&row| is_negligible(beside[row], values[row], values[row + 1]))
                    .unwrap_or(size - 1);
                if end == start {
                    break;
                }
                if iterations == MOST_ITERATIONS {
                    return None;
                }
                iterations += 1;
                sweep(&mut values, &mut beside, &mut first, start..end);
            }
        }
        let nodes = values.iter().zip(&first).map(|(&value, &entry)| Node {
            value,
            weight: entry * entry,
        });
        Some(nodes.collect())
    }
}

/// Whether an off-diagonal entry is a rounding error of the diagonal entries on either side.
fn is_negligible(beside: f64, before: f64, after: f64) -> bool {
    beside.abs() <= f64::EPSILON * (before.abs() + after.abs())
}

/// One iteration on the rows from the start of a range to its end, both included: rotations from the last
/// row to the first, with a shift near the eigenvalue that converges at the start.
fn sweep(values: &mut [f64], beside: &mut [f64], first: &mut [f64], rows: std::ops::Range<usize>) {
    let (start, end) = (rows.start, rows.end);
    let ratio = (values[start + 1] - values[start]) / (2.0 * beside[start]);
    let shift = beside[start] / (ratio + ratio.hypot(1.0).copysign(ratio));
    let mut moved = values[end] - values[start] + shift;
    let (mut sine, mut cosine, mut taken) = (1.0, 1.0, 0.0);
    for row in rows.rev() {
        let (bulge, kept) = (sine * beside[row], cosine * beside[row]);
        let length = (bulge * bulge + moved * moved).sqrt();
        beside[row + 1] = length;
        if length == 0.0 {
            // The matrix splits into two blocks here.
            values[row + 1] -= taken;
            beside[end] = 0.0;
            return;
        }
        (sine, cosine) = (bulge / length, moved / length);
        let value = values[row + 1] - taken;
        let turned = (values[row] - value) * sine + 2.0 * cosine * kept;
        taken = sine * turned;
        values[row + 1] = value + taken;
        moved = cosine * turned - kept;
        let (one, other) = (first[row], first[row + 1]);
        first[row + 1] = sine * one + cosine * other;
        first[row] = cosine * one - sine * other;
    }
    values[start] -= taken;
    beside[start] = moved;
    beside[end] = 0.0;
}

#[cfg(test)]
mod tests {
    use faer::{Mat, Side};
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;

    fn matrix(diagonal: &[f64], beside: &[f64]) -> Tridiagonal {
        Tridiagonal {
            squared_length: 3.0,
            diagonal: diagonal.to_vec(),
            beside: [beside, &[0.7]].concat(),
        }
    }

    /// `e₁ᵀlog(T)e₁` by the eigenvectors of the dense matrix.
    fn dense(matrix: &Tridiagonal) -> f64 {
        let size = matrix.diagonal.len();
        let full = Mat::from_fn(size, size, |row, column| match row.abs_diff(column) {
            0 => matrix.diagonal[row],
            1 => matrix.beside[row.min(column)],
            _ => 0.0,
        });
        let decomposition = full.self_adjoint_eigen(Side::Lower).expect("eigenvalues");
        let (vectors, values) = (decomposition.U(), decomposition.S().column_vector());
        (0..size)
            .map(|index| vectors[(0, index)].powi(2) * values[index].max(f64::MIN_POSITIVE).ln())
            .sum()
    }

    /// Random positive definite matrices `LLᵀ` with entries from 1e-3 to 1e3, and some that split into
    /// blocks.
    #[test]
    fn logarithms_are_those_of_dense_algebra() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for size in [1, 2, 3, 7, 40, 200] {
            for apart in [false, true] {
                let mut draw = || 10f64.powf(random.random_range(-1.5..1.5));
                let (lower, below): (Vec<f64>, Vec<f64>) =
                    (0..size).map(|_| (draw(), draw())).unzip();
                let below = |row: usize| {
                    if apart && row % 3 == 1 {
                        0.0
                    } else {
                        below[row]
                    }
                };
                let diagonal: Vec<f64> = (0..size)
                    .map(|row| match row {
                        0 => lower[0].powi(2),
                        _ => lower[row].powi(2) + below(row - 1).powi(2),
                    })
                    .collect();
                let beside: Vec<f64> = (0..size - 1).map(|row| lower[row] * below(row)).collect();
                let matrix = matrix(&diagonal, &beside);
                let (ours, expected) = (matrix.logarithm(), 3.0 * dense(&matrix));
                // The eigenvalues of both have rounding errors relative to the largest one, 1e3.
                assert!(
                    (ours - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{size}, {apart}: {ours}, {expected}"
                );
                let sum: f64 = (matrix.nodes().expect("eigenvalues").iter())
                    .map(|node| node.weight)
                    .sum();
                assert!((sum - 1.0).abs() < 1e-12, "{size}, {apart}: {sum}");
            }
        }
    }

    /// A matrix with a closed form: `2I` beside entries of `−1`, whose eigenvalues are
    /// `2 − 2cos(kπ/(m + 1))` with weights `2/(m + 1)·sin²(kπ/(m + 1))`.
    #[test]
    fn logarithms_of_second_differences() {
        let size = 2000;
        let second_differences = matrix(&vec![2.0; size], &vec![-1.0; size - 1]);
        let angle = std::f64::consts::PI / (size + 1) as f64;
        let term = |k: usize| {
            let angle = angle * k as f64;
            2.0 / (size + 1) as f64 * angle.sin().powi(2) * (2.0 - 2.0 * angle.cos()).ln()
        };
        let expected = 3.0 * (1..=size).map(term).sum::<f64>();
        let ours = second_differences.logarithm();
        assert!((ours - expected).abs() < 1e-10, "{ours}, {expected}");
    }

    #[test]
    fn numbers_that_are_none_give_none() {
        assert!(
            matrix(&[1.0, f64::NAN, 1.0], &[0.1, 0.1])
                .logarithm()
                .is_nan()
        );
        assert_eq!(matrix(&[], &[]).logarithm(), 0.0);
    }
}
