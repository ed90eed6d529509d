//! Preconditioned conjugate gradients for several right-hand sides at once, with the tridiagonal
//! Lanczos matrices.

use burn::tensor::{Tensor, TensorData};

use super::tridiagonal::Tridiagonal;
use crate::ops::numbers;

/// A symmetric positive definite matrix with an approximate inverse.
pub(super) trait Operator {
    /// `A·B`, [N, C].
    fn product(&self, columns: Tensor<2>) -> Tensor<2>;

    /// `A·B` by a faster product, if there is one, with rounding errors that iterations tolerate.
    fn rough_product(&self, columns: Tensor<2>) -> Option<Tensor<2>>;

    /// A lower bound of the eigenvalues. [`rough_product`](Self::rough_product) is used if its errors
    /// are small compared with this bound, and never if this is `None`.
    fn roughness_bound(&self) -> Option<f64>;

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

/// The state of one column.
struct Column {
    /// `rᵀP⁻¹r`
    energy: f64,
    /// The length of the residual at which the column is finished.
    limit: f64,
    active: bool,
    /// Step size and ratio of the previous iteration.
    before: Option<(f64, f64)>,
    matrix: Tridiagonal,
}

/// The largest error of a rough product that iterations tolerate, as a fraction of the product with the
/// smallest eigenvalue. The log-determinant changes by its square: at a fraction of 0.02, `cargo bench
/// --bench conjugate_gradients` shows 2e-6 per point, far below the error of the estimate.
const LARGEST_ERROR: f64 = 0.05;

/// Computes `A⁻¹B` by preconditioned conjugate gradients.
///
/// Iterations use rough products if their errors at `P⁻¹B` are small compared with the smallest eigenvalue.
/// The eigenvalues then change little, and those of the tridiagonal matrices with them. The residual that
/// such an iteration updates drifts away from the true one, so it finishes with exact products, starting
/// from the true residual.
pub(super) fn solve(operator: &impl Operator, columns: Tensor<2>, stop: Stop) -> Solved {
    let limits: Vec<f64> = lengths(&columns)
        .map(|length| stop.tolerance * length)
        .collect();
    let exact = |columns: Tensor<2>, iterations| {
        let product = |direction| operator.product(direction);
        iterate(operator, product, columns, &limits, iterations)
    };
    if !tolerates_rough_products(operator, &columns) {
        return exact(columns, stop.iterations).0;
    }
    let product = |direction: Tensor<2>| {
        let rough = operator.rough_product(direction.clone());
        rough.unwrap_or_else(|| operator.product(direction))
    };
    let (mut solved, made) = iterate(operator, product, columns.clone(), &limits, stop.iterations);
    if made < stop.iterations {
        let residual = columns - operator.product(solved.solution.clone());
        let (correction, _) = exact(residual, stop.iterations - made);
        solved.solution = solved.solution + correction.solution;
    }
    solved
}

/// Whether there are rough products whose errors are small enough.
fn tolerates_rough_products(operator: &impl Operator, columns: &Tensor<2>) -> bool {
    let Some(bound) = operator.roughness_bound() else {
        return false;
    };
    let directions = operator.precondition(columns.clone());
    let Some(rough) = operator.rough_product(directions.clone()) else {
        return false;
    };
    let errors = operator.product(directions.clone()) - rough;
    (lengths(&errors).zip(lengths(&directions)))
        .all(|(error, length)| error <= LARGEST_ERROR * bound * length)
}

/// Iterates with the given product and the preconditioner P of the operator (Y. Saad, *Iterative
/// Methods for Sparse Linear Systems*, 2003, algorithm 9.1) until the residual of every column is at its
/// limit. Returns the number of iterations as well.
fn iterate(
    operator: &impl Operator,
    product: impl Fn(Tensor<2>) -> Tensor<2>,
    columns: Tensor<2>,
    limits: &[f64],
    iterations: usize,
) -> (Solved, usize) {
    let mut residual = columns.clone();
    let mut solution = columns.zeros_like();
    let mut preconditioned = operator.precondition(residual.clone());
    let mut direction = preconditioned.clone();
    let energies = dots(&residual, &preconditioned);
    let mut states: Vec<Column> = (lengths(&columns).zip(limits))
        .zip(energies)
        .map(|((length, &limit), energy)| Column {
            energy,
            limit,
            active: energy > 0.0 && length > limit,
            before: None,
            matrix: Tridiagonal::new(energy),
        })
        .collect();
    let mut made = 0;
    while made < iterations && states.iter().any(|state| state.active) {
        made += 1;
        let image = product(direction.clone());
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
        let quotients: Vec<f64> = (states.iter_mut().zip(steps))
            .zip(energies.into_iter().zip(lengths(&residual)))
            .map(|((state, step), (energy, length))| state.advance(step, energy, length))
            .collect();
        direction = preconditioned.clone() + direction * row(&quotients, &columns);
    }
    let solved = Solved {
        solution,
        tridiagonals: states.into_iter().map(|state| state.matrix).collect(),
    };
    (solved, made)
}

impl Column {
    /// Records a step. Returns the ratio of the energies, or zero if the column is finished.
    fn advance(&mut self, step: f64, energy: f64, length: f64) -> f64 {
        if !self.active {
            return 0.0;
        }
        let quotient = energy / self.energy;
        self.matrix.push(step, quotient, self.before);
        self.before = Some((step, quotient));
        self.energy = energy;
        self.active = length > self.limit && energy > 0.0;
        if self.active { quotient } else { 0.0 }
    }
}

/// The inner products of corresponding columns of two matrices.
fn dots(left: &Tensor<2>, right: &Tensor<2>) -> Vec<f64> {
    let sums = (left.clone() * right.clone()).sum_dim(0);
    numbers(sums)
}

/// The lengths of the columns of a matrix.
fn lengths(columns: &Tensor<2>) -> impl Iterator<Item = f64> + use<> {
    dots(columns, columns).into_iter().map(f64::sqrt)
}

/// One number per column as a row, [1, C].
fn row(values: &[f64], like: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(values.to_vec(), [1, values.len()]).convert_dtype(like.dtype());
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use burn::tensor::Device;

    use super::*;

    /// A multiple of the identity, which counts its exact products.
    struct Twice {
        has_rough_products: bool,
        exact: Cell<usize>,
    }

    impl Operator for Twice {
        fn product(&self, columns: Tensor<2>) -> Tensor<2> {
            self.exact.set(self.exact.get() + 1);
            columns * 2.0
        }

        fn rough_product(&self, columns: Tensor<2>) -> Option<Tensor<2>> {
            self.has_rough_products.then(|| columns * 2.0)
        }

        fn roughness_bound(&self) -> Option<f64> {
            Some(2.0)
        }

        fn precondition(&self, columns: Tensor<2>) -> Tensor<2> {
            columns
        }
    }

    /// One iteration solves the system. Rough products take two additional exact products, one for
    /// the decision and one for the final residual. Without them there are no additional products.
    #[test]
    fn only_rough_products_are_decided_about() {
        let stop = Stop {
            iterations: 9,
            tolerance: 1e-3,
        };
        for (has_rough_products, expected) in [(false, 1), (true, 2)] {
            let operator = Twice {
                has_rough_products,
                exact: Cell::new(0),
            };
            let columns = Tensor::<2>::from_data([[2.0], [-6.0]], &Device::default());
            let solution = numbers(solve(&operator, columns, stop).solution);
            assert_eq!(solution, [1.0, -3.0]);
            assert_eq!(operator.exact.get(), expected, "{has_rough_products}");
        }
    }
}
