//! `K(x1, x2)·V` with the covariance made tile by tile.

use core::ops::Range;

use faer::{Accum, MatMut, MatRef};

use super::super::{
    covariance::{CovarianceGradients, covariance_backward_on, covariance_on, parts},
    scalar::Scalar,
    threads::in_parts,
    triangular::product_on,
};
use crate::ops::Stationary;

/// Rows and columns of a tile: small enough that it stays in a core's own cache.
const ROWS: usize = 128;
const COLUMNS: usize = 1024;

/// A covariance times vectors.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// x1, [N1, D]
    pub x1: &'a [T],
    /// x2, [N2, D]
    pub x2: &'a [T],
    /// `[D]`
    pub lengthscales: &'a [T],
    /// σ²
    pub variance: T,
    /// V, [N2, R]
    pub vectors: &'a [T],
}

/// The gradients of `Σ_nr W̄_nr·(K·V)_nr`.
pub struct ProductGradients<T> {
    /// Of both sets of points, the lengthscales and the variance.
    pub covariance: CovarianceGradients<T>,
    /// Of V, [N2, R].
    pub vectors: Vec<T>,
}

/// A row-major matrix of `columns` columns.
fn matrix<T: Scalar>(values: &[T], columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns)
}

impl<T: Scalar> Product<'_, T> {
    fn rows(&self) -> usize {
        self.x1.len() / self.lengthscales.len()
    }

    fn columns(&self) -> usize {
        self.x2.len() / self.lengthscales.len()
    }

    fn width(&self) -> usize {
        self.vectors.len() / self.columns().max(1)
    }

    /// Some points of a set.
    fn some<'x>(&self, x: &'x [T], range: &Range<usize>) -> &'x [T] {
        let dimensions = self.lengthscales.len();
        &x[range.start * dimensions..range.end * dimensions]
    }

    fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let columns = self.columns();
        let starts = (0..columns).step_by(COLUMNS);
        starts.map(move |start| start..(start + COLUMNS).min(columns))
    }

    /// `K·V`, [N1, R].
    pub fn values(&self, kind: Stationary) -> Vec<T> {
        let width = self.width();
        let mut out = vec![T::default(); self.rows() * width];
        let parts = parts(self.rows(), self.columns());
        in_parts(&mut out, width, parts, &|out, first| {
            for (tile, out) in out.chunks_mut(ROWS * width).enumerate() {
                let start = first + tile * ROWS;
                let rows = self.some(self.x1, &(start..start + out.len() / width));
                for columns in self.chunks() {
                    let points = self.some(self.x2, &columns);
                    let (scales, variance) = (self.lengthscales, self.variance);
                    let tile = covariance_on(1, kind, rows, points, scales, variance);
                    product_on(
                        1,
                        MatMut::from_row_major_slice_mut(out, tile.len() / columns.len(), width),
                        Accum::Add,
                        matrix(&tile, columns.len()),
                        matrix(self.vectors, width).subrows(columns.start, columns.len()),
                        T::from_f64(1.0),
                    );
                }
            }
        });
        out
    }

    /// The gradients; `gradient` is that of the product, [N1, R].
    pub fn reverse(&self, kind: Stationary, gradient: &[T]) -> ProductGradients<T> {
        let parts = parts(self.rows(), self.columns());
        let share = self.rows().div_ceil(parts).max(1);
        let rows = (0..self.rows()).step_by(share);
        let mut work: Vec<(Range<usize>, ProductGradients<T>)> = rows
            .map(|start| {
                let rows = start..(start + share).min(self.rows());
                (rows, self.zeros())
            })
            .collect();
        in_parts(&mut work, 1, parts, &|work, _| {
            for (rows, sums) in work {
                for start in rows.clone().step_by(ROWS) {
                    let tile = start..(start + ROWS).min(rows.end);
                    self.reverse_rows(kind, tile, gradient, sums);
                }
            }
        });
        let mut total = self.zeros();
        for (_, sums) in &work {
            total.add(sums);
        }
        total
    }

    /// What some rows add to the gradients.
    fn reverse_rows(
        &self,
        kind: Stationary,
        rows: Range<usize>,
        gradient: &[T],
        sums: &mut ProductGradients<T>,
    ) {
        let (width, one) = (self.width(), T::from_f64(1.0));
        let gradient = matrix(gradient, width).subrows(rows.start, rows.len());
        let points = self.some(self.x1, &rows);
        for columns in self.chunks() {
            let others = self.some(self.x2, &columns);
            let (scales, variance) = (self.lengthscales, self.variance);
            let vectors = matrix(self.vectors, width).subrows(columns.start, columns.len());
            let mut weights = vec![T::default(); rows.len() * columns.len()];
            product_on(
                1,
                MatMut::from_row_major_slice_mut(&mut weights, rows.len(), columns.len()),
                Accum::Replace,
                gradient,
                vectors.transpose(),
                one,
            );
            let tile = covariance_backward_on(1, kind, points, others, scales, variance, &weights);
            sums.covariance.add_tile(&tile, rows.start, columns.start);
            let tile = covariance_on(1, kind, points, others, scales, variance);
            let vectors = &mut sums.vectors[columns.start * width..columns.end * width];
            product_on(
                1,
                MatMut::from_row_major_slice_mut(vectors, columns.len(), width),
                Accum::Add,
                matrix(&tile, columns.len()).transpose(),
                gradient,
                one,
            );
        }
    }

    fn zeros(&self) -> ProductGradients<T> {
        let zeros = |like: &[T]| vec![T::default(); like.len()];
        ProductGradients {
            covariance: CovarianceGradients {
                x1: zeros(self.x1),
                x2: zeros(self.x2),
                lengthscales: zeros(self.lengthscales),
                variance: T::default(),
            },
            vectors: zeros(self.vectors),
        }
    }
}

impl<T: Scalar> ProductGradients<T> {
    fn add(&mut self, other: &Self) {
        self.covariance.add_tile(&other.covariance, 0, 0);
        for (sum, &value) in self.vectors.iter_mut().zip(&other.vectors) {
            *sum += value;
        }
    }
}
