//! Inducing points by greedy reduction of the conditional prior variance.

use core::cmp::Ordering;

use burn::tensor::{DType, Element, Tensor};
use rayon::prelude::*;

use super::initialiser::{Candidates, SelectionError, points};
use crate::{kernels::Kernel, ops::host::scalar::Scalar};

/// Inputs whose columns one thread works on at a time.
const ROWS: usize = 1024;

/// Columns added up at once.
const UNROLLED: usize = 4;

/// Conditional variances below this many units of rounding, relative to the largest prior
/// variance, are noise.
const NOISE_FLOOR: f64 = 64.0;

/// `count` inputs, each the one whose prior variance given all earlier ones is largest: the
/// pivoted Cholesky factorisation of `K_ff` (D. Burt, C. Rasmussen and M. van der Wilk,
/// *Convergence of Sparse Variational Inference in Gaussian Processes Regression*,
/// arXiv:2008.00323, algorithm 1).
///
/// The first points do not depend on how many follow. Ties are broken at random by `seed`. When
/// rounding is all that is left of the variances, distinct inputs follow at random. Time N·M²,
/// memory N·M.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
/// - result: `[M, D]`
///
/// # Errors
///
/// [`SelectionError`] when there are no `count` distinct inputs.
pub fn greedy_variance<K: Kernel>(
    kernel: &K,
    inputs: Tensor<2>,
    count: usize,
    seed: u64,
) -> Result<Tensor<2>, SelectionError> {
    let candidates = Candidates::new(&inputs, count, seed)?;
    let shuffled = points(candidates.values.clone(), candidates.dimensions, &inputs).inner();
    let kernel = kernel.valid();
    let mut chosen = if inputs.dtype() == DType::F64 {
        largest_variances::<f64, K>(&kernel, shuffled, count)
    } else {
        largest_variances::<f32, K>(&kernel, shuffled, count)
    };
    if chosen.len() < count {
        // An input equal to a chosen one adds nothing, hence only the first of equal inputs.
        let taken: Vec<Vec<f64>> = (chosen.iter())
            .map(|&row| candidates.row(row).to_vec())
            .collect();
        let rest = (candidates.distinct.iter().copied())
            .filter(|&row| !taken.iter().any(|taken| taken == candidates.row(row)));
        let missing = count - chosen.len();
        chosen.extend(rest.take(missing));
    }
    Ok(candidates.points(&chosen, &inputs))
}

/// Columns of the pivoted Cholesky factor for [`ROWS`] inputs, and what is left of their
/// variances.
struct Panel<T> {
    first_row: usize,
    /// One column after the other, [t, rows].
    columns: Vec<T>,
    /// `[rows]`
    variances: Vec<T>,
}

impl<T: Scalar> Panel<T> {
    /// The row of the largest variance, and that variance.
    fn largest(&self) -> (usize, T) {
        let mut best = (self.first_row, self.variances[0]);
        for (i, &variance) in self.variances.iter().enumerate() {
            if variance > best.1 {
                best = (self.first_row + i, variance);
            }
        }
        best
    }

    /// One row of the factor.
    fn row(&self, row: usize) -> Vec<T> {
        let columns = self.columns.chunks_exact(self.variances.len());
        columns.map(|column| column[row - self.first_row]).collect()
    }

    /// Adds the column of a pivot with the given row of the factor, deviation and covariances.
    fn add_pivot(&mut self, pivot: &[T], deviation: T, covariances: &[T]) {
        let rows = self.variances.len();
        let mut explained = [T::default(); ROWS];
        let explained = &mut explained[..rows];
        let mut columns = self.columns.chunks_exact(rows * UNROLLED);
        let mut weights = pivot.chunks_exact(UNROLLED);
        for (columns, weights) in columns.by_ref().zip(weights.by_ref()) {
            let (first, rest) = columns.split_at(rows);
            let (second, rest) = rest.split_at(rows);
            let (third, fourth) = rest.split_at(rows);
            let fourth = &fourth[..rows];
            for i in 0..rows {
                explained[i] += (first[i] * weights[0] + second[i] * weights[1])
                    + (third[i] * weights[2] + fourth[i] * weights[3]);
            }
        }
        let last = columns.remainder().chunks_exact(rows);
        for (column, &weight) in last.zip(weights.remainder()) {
            for (explained, &value) in explained.iter_mut().zip(column) {
                *explained += value * weight;
            }
        }
        for i in 0..rows {
            let value = (covariances[i] - explained[i]) / deviation;
            self.columns.push(value);
            self.variances[i] -= value * value;
        }
    }
}

/// The rows of the largest conditional variances in turn: `count` of them, or as many as stand
/// out from rounding.
fn largest_variances<T: Scalar + Element, K: Kernel>(
    kernel: &K,
    inputs: Tensor<2>,
    count: usize,
) -> Vec<usize> {
    let variances: Vec<T> = host_values(kernel.diagonal(inputs.clone()));
    let mut panels: Vec<Panel<T>> = (variances.chunks(ROWS).enumerate())
        .map(|(panel, variances)| Panel {
            first_row: panel * ROWS,
            columns: Vec::with_capacity(count * variances.len()),
            variances: variances.to_vec(),
        })
        .collect();
    let mut chosen = Vec::with_capacity(count);
    let mut floor = None;
    while chosen.len() < count {
        let Some((pivot, variance)) = (panels.par_iter().map(Panel::largest))
            .reduce_with(|first, second| if second.1 > first.1 { second } else { first })
        else {
            break;
        };
        let floor = *floor.get_or_insert(NOISE_FLOOR * T::EPSILON * variance.to_f64());
        // Hyperparameters that give NaN end here, too.
        if variance.to_f64().partial_cmp(&floor) != Some(Ordering::Greater) {
            break;
        }
        chosen.push(pivot);
        let point = inputs.clone().narrow(0, pivot, 1);
        let covariances: Vec<T> = host_values(kernel.covariance(point, inputs.clone()));
        let row = panels[pivot / ROWS].row(pivot);
        let deviation = variance.square_root();
        panels
            .par_iter_mut()
            .zip(covariances.par_chunks(ROWS))
            .for_each(|(panel, covariances)| panel.add_pivot(&row, deviation, covariances));
        // A kernel with white noise leaves some variance to the pivot itself.
        panels[pivot / ROWS].variances[pivot % ROWS] = T::default();
    }
    chosen
}

/// A tensor's values.
fn host_values<T: Element, const D: usize>(tensor: Tensor<D>) -> Vec<T> {
    tensor.into_data().iter::<T>().collect()
}
