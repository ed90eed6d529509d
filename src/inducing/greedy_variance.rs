//! Inducing points by greedy reduction of the conditional prior variance.

use core::{cmp::Ordering, ops::Range};

use burn::tensor::{DType, Element, Tensor};
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;

use super::initializer::{Candidates, SelectionError};
use crate::{
    kernels::KernelModule,
    ops::{
        cpu::{Scalar, product_on},
        values,
    },
};

/// The number of inputs whose columns a thread processes at a time.
const ROWS: usize = 1024;

/// The number of inputs with large variances whose covariances are conditioned together, so that
/// the factor is read from memory once for all of them.
const CONTENDERS: usize = 16;

/// Conditional variances below this multiple of the machine epsilon, relative to the largest prior
/// variance, are rounding noise.
const NOISE_FLOOR: f64 = 64.0;

/// Selects `count` inputs, each time the one with the largest prior variance conditional on the
/// previous ones. This is the pivoted Cholesky factorization of `K_ff` (D. Burt, C. Rasmussen and
/// M. van der Wilk, *Convergence of Sparse Variational Inference in Gaussian Processes Regression*,
/// arXiv:2008.00323, algorithm 1).
///
/// The first points do not depend on `count`. Ties are broken at random with `seed`. Once the
/// variances are rounding noise, the remaining points are random distinct inputs. Time N·M², memory
/// N·M, where N is the number of distinct inputs.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
/// - result: `[M, D]`
///
/// # Errors
///
/// [`SelectionError`] when there are fewer than `count` distinct inputs.
pub fn greedy_variance<K: KernelModule>(
    kernel: &K,
    inputs: Tensor<2>,
    count: usize,
    seed: u64,
) -> Result<Tensor<2>, SelectionError> {
    let candidates = Candidates::new(&inputs, count, seed)?;
    let distinct = candidates.points(&candidates.distinct, &inputs).inner();
    let kernel = kernel.valid();
    let mut chosen = if inputs.dtype() == DType::F64 {
        largest_variances::<f64, K>(&kernel, distinct, count)
    } else {
        largest_variances::<f32, K>(&kernel, distinct, count)
    };
    let mut missing = vec![true; candidates.distinct.len()];
    chosen.iter().for_each(|&index| missing[index] = false);
    let rest = (0..missing.len()).filter(|&index| missing[index]);
    chosen.extend(rest.take(count - chosen.len()));
    let rows: Vec<usize> = (chosen.iter())
        .map(|&index| candidates.distinct[index])
        .collect();
    Ok(candidates.points(&rows, &inputs))
}

/// Columns of the pivoted Cholesky factor for [`ROWS`] inputs, with the conditional variances of
/// the inputs and their conditional covariances with the contenders.
struct Panel<T> {
    first_row: usize,
    /// Columns one after another, [t, rows].
    columns: Vec<T>,
    /// `[rows]`
    variances: Vec<T>,
    /// [contenders, rows]
    covariances: Vec<T>,
}

impl<T: Scalar> Panel<T> {
    fn range(&self) -> Range<usize> {
        self.first_row..self.first_row + self.variances.len()
    }

    /// The row with the largest variance, and that variance.
    fn largest(&self) -> (usize, T) {
        let mut best = (self.first_row, self.variances[0]);
        for (i, &variance) in self.variances.iter().enumerate() {
            if variance > best.1 {
                best = (self.first_row + i, variance);
            }
        }
        best
    }

    /// One row of the factor, `[t]`.
    fn row(&self, row: usize) -> impl Iterator<Item = T> {
        let columns = self.columns.chunks_exact(self.variances.len());
        columns.map(move |column| column[row - self.first_row])
    }

    /// Takes the prior covariances of the contenders with all inputs, [contenders, N], and
    /// conditions them on the pivots. `rows` are the contenders' rows of the factor, [contenders,
    /// t].
    fn condition(&mut self, covariances: &[T], inputs: usize, rows: &[T]) {
        self.covariances.clear();
        for covariances in covariances.chunks_exact(inputs) {
            self.covariances
                .extend_from_slice(&covariances[self.range()]);
        }
        let (contenders, width) = (covariances.len() / inputs, self.variances.len());
        let pivots = self.columns.len() / width;
        if pivots > 0 {
            let out = MatMut::from_row_major_slice_mut(&mut self.covariances, contenders, width);
            let rows = MatRef::from_row_major_slice(rows, contenders, pivots);
            let columns = MatRef::from_row_major_slice(&self.columns, pivots, width);
            product_on(1, out, Accum::Add, rows, columns, T::from_f64(-1.0));
        }
    }

    /// Adds the column of a contender with the given conditional standard deviation; `entries` are
    /// the entries of that column at all contenders.
    fn add_pivot(&mut self, contender: usize, deviation: T, entries: &[T]) {
        let width = self.variances.len();
        let first = self.columns.len();
        let covariances = &self.covariances[contender * width..][..width];
        self.columns
            .extend(covariances.iter().map(|&covariance| covariance / deviation));
        let column = &self.columns[first..];
        for (variance, &value) in self.variances.iter_mut().zip(column) {
            *variance -= value * value;
        }
        for (covariances, &entry) in self.covariances.chunks_exact_mut(width).zip(entries) {
            for (covariance, &value) in covariances.iter_mut().zip(column) {
                *covariance -= entry * value;
            }
        }
    }
}

/// A pivoted Cholesky factorization in progress.
struct Factorization<'a, T, K> {
    kernel: &'a K,
    /// [N, D]
    inputs: Tensor<2>,
    panels: Vec<Panel<T>>,
    /// The inputs whose conditional covariances are available.
    contenders: Vec<usize>,
}

impl<'a, T: Scalar + Element, K: KernelModule> Factorization<'a, T, K> {
    /// Creates a factorization with capacity for `count` pivots.
    fn new(kernel: &'a K, inputs: Tensor<2>, count: usize) -> Self {
        let variances: Vec<T> = values(kernel.diagonal_at(inputs.clone()));
        let panels = (variances.chunks(ROWS).enumerate()).map(|(panel, variances)| Panel {
            first_row: panel * ROWS,
            columns: Vec::with_capacity(count * variances.len()),
            variances: variances.to_vec(),
            covariances: Vec::new(),
        });
        Self {
            kernel,
            inputs,
            panels: panels.collect(),
            contenders: Vec::new(),
        }
    }

    /// The input with the largest variance, and that variance.
    fn largest(&self) -> Option<(usize, T)> {
        let largest = self.panels.par_iter().map(Panel::largest);
        largest.reduce_with(|first, second| if second.1 > first.1 { second } else { first })
    }

    /// Makes an input with the given variance the next pivot.
    fn add_pivot(&mut self, pivot: usize, variance: T) {
        let place = self.contenders.iter().position(|&row| row == pivot);
        let contender = place.unwrap_or_else(|| {
            self.find_contenders(pivot);
            0
        });
        let deviation = variance.square_root();
        let entry = |&row: &usize| {
            let panel = &self.panels[row / ROWS];
            panel.covariances[contender * panel.variances.len() + row % ROWS] / deviation
        };
        let entries: Vec<T> = self.contenders.iter().map(entry).collect();
        let panels = self.panels.par_iter_mut();
        panels.for_each(|panel| panel.add_pivot(contender, deviation, &entries));
        // A kernel with white noise would leave some variance at the pivot itself.
        self.panels[pivot / ROWS].variances[pivot % ROWS] = T::default();
    }

    /// Computes the conditional covariances of the next pivot, which is the first contender, and of
    /// likely later pivots.
    fn find_contenders(&mut self, pivot: usize) {
        let contenders = core::iter::once(pivot).chain(self.next_largest(pivot));
        self.contenders = contenders.collect();
        let contenders = self.contenders.iter().copied();
        let points = contenders
            .clone()
            .map(|row| self.inputs.clone().narrow(0, row, 1));
        let points = Tensor::cat(points.collect(), 0);
        let covariance = self.kernel.covariance_at(points, self.inputs.clone());
        let covariances: Vec<T> = values(covariance);
        let factor = contenders.flat_map(|row| self.panels[row / ROWS].row(row));
        let factor: Vec<T> = factor.collect();
        let [inputs, _] = self.inputs.dims();
        let panels = self.panels.par_iter_mut();
        panels.for_each(|panel| panel.condition(&covariances, inputs, &factor));
    }

    /// The inputs with the largest variances, except for the pivot.
    fn next_largest(&self, pivot: usize) -> Vec<usize> {
        let mut others: Vec<(T, usize)> = (self.panels.iter())
            .flat_map(|panel| panel.variances.iter().copied().zip(panel.range()))
            .filter(|&(_, row)| row != pivot)
            .collect();
        if others.len() >= CONTENDERS {
            others.select_nth_unstable_by(CONTENDERS - 1, |a, b| {
                let falling = b.0.to_f64().total_cmp(&a.0.to_f64());
                falling.then(a.1.cmp(&b.1))
            });
        }
        let rows = others.into_iter().map(|(_, row)| row);
        rows.take(CONTENDERS - 1).collect()
    }
}

/// The inputs with the largest conditional variances, in order of selection: `count` of them, or as
/// many as exceed rounding noise.
fn largest_variances<T: Scalar + Element, K: KernelModule>(
    kernel: &K,
    inputs: Tensor<2>,
    count: usize,
) -> Vec<usize> {
    let mut factorization = Factorization::<T, K>::new(kernel, inputs, count);
    let mut chosen = Vec::with_capacity(count);
    let mut floor = None;
    while chosen.len() < count {
        let Some((pivot, variance)) = factorization.largest() else {
            break;
        };
        let floor = *floor.get_or_insert(NOISE_FLOOR * T::EPSILON * variance.to_f64());
        // Also stops if the hyperparameters produce NaN.
        if variance.to_f64().partial_cmp(&floor) != Some(Ordering::Greater) {
            break;
        }
        chosen.push(pivot);
        factorization.add_pivot(pivot, variance);
    }
    chosen
}
