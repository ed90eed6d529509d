//! Preconditioned conjugate gradients for several right-hand sides at once, with the tridiagonal
//! Lanczos matrices.

use burn::tensor::{Tensor, TensorData};
use faer::{Mat, Side};

use crate::ops::numbers;

/// A symmetric positive definite matrix with an approximate inverse.
pub(super) trait Operator {
    /// `A·B`, [N, C].
    fn product(&self, columns: Tensor<2>) -> Tensor<2>;

    /// `P⁻¹B`, [N, C].
    fn precondition(&self, columns: Tensor<2>) -> Tensor<2>;
}

/// The stopping criterion of the iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// The maximum number of iterations.
    pub iterations: usize,
    /// A column is finished when its residual falls to this fraction of its norm.
    pub tolerance: f64,
}

/// Solutions of `AX = B`.
pub(super) struct Solved {
    /// X, [N, C]
    pub solution: Tensor<2>,
    /// The tridiagonal matrix of each column.
    pub tridiagonals: Vec<Tridiagonal>,
}

/// The matrix T that the Lanczos iteration of `P^{-½}AP^{-½}` produces from `P^{-½}b`, and the
/// squared length of that vector.
#[derive(Clone, Debug, Default)]
pub(super) struct Tridiagonal {
    /// `bᵀP⁻¹b`
    pub squared_length: f64,
    diagonal: Vec<f64>,
    /// The off-diagonal entries; each belongs to the diagonal entry before it.
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// Adds a row, from the step size and the ratio of energies after it.
    fn push(&mut self, step: f64, quotient: f64, before: Option<(f64, f64)>) {
        let carried = before.map_or(0.0, |(step, quotient)| quotient / step);
        self.diagonal.push(1.0 / step + carried);
        self.beside.push(quotient.max(0.0).sqrt() / step);
    }

    /// `bᵀP^{-½}·log(P^{-½}AP^{-½})·P^{-½}b` by Gaussian quadrature: `bᵀP⁻¹b·e₁ᵀlog(T)e₁`.
    pub fn logarithm(&self) -> f64 {
        let size = self.diagonal.len();
        let matrix = Mat::from_fn(size, size, |row, column| match row.abs_diff(column) {
            0 => self.diagonal[row],
            1 => self.beside[row.min(column)],
            _ => 0.0,
        });
        let Ok(decomposition) = matrix.self_adjoint_eigen(Side::Lower) else {
            return f64::NAN;
        };
        let (vectors, values) = (decomposition.U(), decomposition.S());
        let term = |index: usize| {
            // Rounding may produce an eigenvalue of zero, but its weight is then negligible.
            let value = values.column_vector()[index].max(f64::MIN_POSITIVE);
            vectors[(0, index)].powi(2) * value.ln()
        };
        self.squared_length * (0..size).map(term).sum::<f64>()
    }
}

/// The state of one column.
struct Column {
    /// `rᵀP⁻¹r`
    energy: f64,
    length: f64,
    active: bool,
    /// Step size and ratio of the previous iteration.
    before: Option<(f64, f64)>,
    matrix: Tridiagonal,
}

/// Computes `A⁻¹B` with the preconditioner P (Y. Saad, *Iterative Methods for Sparse Linear
/// Systems*, 2003, algorithm 9.1).
pub(super) fn solve(operator: &impl Operator, columns: Tensor<2>, stop: Stop) -> Solved {
    let mut residual = columns.clone();
    let mut solution = columns.zeros_like();
    let mut preconditioned = operator.precondition(residual.clone());
    let mut direction = preconditioned.clone();
    let lengths = dots(&columns, &columns);
    let energies = dots(&residual, &preconditioned);
    let mut states: Vec<Column> = (lengths.into_iter().zip(energies))
        .map(|(square, energy)| Column {
            energy,
            length: square.sqrt(),
            active: energy > 0.0,
            before: None,
            matrix: Tridiagonal {
                squared_length: energy,
                ..Tridiagonal::default()
            },
        })
        .collect();
    for _ in 0..stop.iterations {
        if states.iter().all(|state| !state.active) {
            break;
        }
        let image = operator.product(direction.clone());
        let curvatures = dots(&direction, &image);
        let steps: Vec<f64> = (states.iter_mut().zip(curvatures))
            .map(|(state, curvature)| {
                state.active &= curvature > 0.0;
                if state.active {
                    state.energy / curvature
                } else {
                    0.0
                }
            })
            .collect();
        solution = solution + direction.clone() * row(&steps, &columns);
        residual = residual - image * row(&steps, &columns);
        preconditioned = operator.precondition(residual.clone());
        let energies = dots(&residual, &preconditioned);
        let squares = dots(&residual, &residual);
        let quotients: Vec<f64> = (states.iter_mut().zip(steps))
            .zip(energies.into_iter().zip(squares))
            .map(|((state, step), (energy, square))| {
                state.advance(step, energy, square, stop.tolerance)
            })
            .collect();
        direction = preconditioned.clone() + direction * row(&quotients, &columns);
    }
    Solved {
        solution,
        tridiagonals: states.into_iter().map(|state| state.matrix).collect(),
    }
}

impl Column {
    /// Records a step. Returns the ratio of the energies, or zero if the column is finished.
    fn advance(&mut self, step: f64, energy: f64, square: f64, tolerance: f64) -> f64 {
        if !self.active {
            return 0.0;
        }
        let quotient = energy / self.energy;
        self.matrix.push(step, quotient, self.before);
        self.before = Some((step, quotient));
        self.energy = energy;
        self.active = square.sqrt() > tolerance * self.length && energy > 0.0;
        if self.active { quotient } else { 0.0 }
    }
}

/// The inner products of corresponding columns of two matrices.
fn dots(left: &Tensor<2>, right: &Tensor<2>) -> Vec<f64> {
    let sums = (left.clone() * right.clone()).sum_dim(0);
    numbers(sums)
}

/// One number per column as a row, [1, C].
fn row(values: &[f64], like: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(values.to_vec(), [1, values.len()]).convert_dtype(like.dtype());
    Tensor::from_data(data, (&like.device(), like.dtype()))
}
