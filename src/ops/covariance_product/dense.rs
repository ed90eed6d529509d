//! `K(x1, x2)·V` with the covariance computed tile by tile.
//!
//! If both sets of points are the same, the covariance of two points is computed once and used
//! twice: tiles lie only on and above the diagonal of the covariance matrix. For few vectors there
//! are no tiles.

use core::ops::Range;

use faer::{Accum, MatMut, MatRef};

use super::{
    few_gradients::{FewGradients, FewSums},
    few_vectors::{self, FewVectors},
};
use crate::ops::{
    Stationary,
    covariance::{
        CovarianceGradients, MANY_DIMENSIONS, covariance_on, exchange_for_covariance, parts,
    },
    cpu::{Scalar, add_up, in_parts, product_on, share_out},
};

/// Rows and columns of a tile: small enough for a core's own cache.
const ROWS: usize = 128;
const COLUMNS: usize = 1024;

/// Minimum number of blocks of rows per thread. Tiles have fewer rows if necessary.
const BLOCKS_PER_THREAD: usize = 4;

/// Minimum number of rows of a tile, to be worth its setup.
const LEAST_ROWS: usize = 32;

/// The number of vectors up to which computing covariances takes longer than multiplying by them.
/// Up to this number, computing only half of the covariances is worth an additional sum of all
/// results per thread.
const FEW_VECTORS: usize = 64;

/// A covariance times vectors.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// x1, [N1, D]
    pub x1: &'a [T],
    /// x2, [N2, D], if these are different points.
    pub x2: Option<&'a [T]>,
    /// `[D]`
    pub lengthscales: &'a [T],
    /// σ²
    pub variance: T,
    /// V, [N2, R]
    pub vectors: &'a [T],
}

/// The gradients of `Σ_nr W̄_nr·(K·V)_nr`.
pub struct ProductGradients<T> {
    /// With respect to both sets of points, the lengthscales and the variance. If the points are
    /// the same, the first set holds the whole gradient and the second is empty.
    pub covariance: CovarianceGradients<T>,
    /// With respect to V, [N2, R].
    pub vectors: Vec<T>,
}

/// Some columns of the covariance, and whether they are also used mirrored.
struct TileColumns {
    range: Range<usize>,
    mirrored: bool,
}

/// The sums of every thread over its rows. Each thread zeroes its own, which takes as long as adding them up.
#[track_caller]
fn computed<S: Send>(
    shares: Vec<Vec<Range<usize>>>,
    zeros: impl Fn() -> S + Sync,
    add_rows: impl Fn(Range<usize>, &mut S) + Sync,
) -> impl Iterator<Item = S> {
    let count = shares.len();
    let mut shares: Vec<_> = shares.into_iter().map(|rows| (rows, None)).collect();
    in_parts(&mut shares, 1, count, &|shares, _| {
        for (rows, sums) in shares {
            let sums = sums.get_or_insert_with(&zeros);
            for rows in rows {
                add_rows(rows.clone(), sums);
            }
        }
    });
    shares.into_iter().filter_map(|(_, sums)| sums)
}

/// A row-major matrix of `columns` columns.
fn matrix<T: Scalar>(values: &[T], columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns)
}

/// `out + left·right` of a row-major matrix.
fn add_product<T: Scalar>(out: &mut [T], left: MatRef<'_, T>, right: MatRef<'_, T>) {
    let out = MatMut::from_row_major_slice_mut(out, left.nrows(), right.ncols());
    product_on(1, out, Accum::Add, left, right, T::from_f64(1.0));
}

/// `first += second`, elementwise.
fn add<T: Scalar>(first: &mut [T], second: &[T]) {
    for (sum, &value) in first.iter_mut().zip(second) {
        *sum += value;
    }
}

impl<T: Scalar> Product<'_, T> {
    fn others(&self) -> &[T] {
        self.x2.unwrap_or(self.x1)
    }

    pub(super) fn rows(&self) -> usize {
        self.x1.len() / self.lengthscales.len()
    }

    fn columns(&self) -> usize {
        self.others().len() / self.lengthscales.len()
    }

    fn width(&self) -> usize {
        self.vectors.len() / self.columns().max(1)
    }

    /// Whether one pass without tiles is the fastest way.
    fn has_few_vectors(&self) -> bool {
        self.x2.is_none()
            && (1..=few_vectors::FEW).contains(&self.width())
            && self.lengthscales.len() < MANY_DIMENSIONS
    }

    /// Some points of a set.
    fn some<'x>(&self, x: &'x [T], range: &Range<usize>) -> &'x [T] {
        let dimensions = self.lengthscales.len();
        &x[range.start * dimensions..range.end * dimensions]
    }

    /// Some rows of a matrix with as many columns as V.
    fn part<'x>(&self, values: &'x [T], rows: &Range<usize>) -> MatRef<'x, T> {
        matrix(values, self.width()).subrows(rows.start, rows.len())
    }

    /// The tiles of some rows: only those on and right of the diagonal if both sets of points are
    /// the same.
    fn tiles(&self, rows: &Range<usize>) -> impl Iterator<Item = TileColumns> + use<T> {
        let mirrored = self.x2.is_none();
        let square = mirrored.then(|| TileColumns {
            range: rows.clone(),
            mirrored: false,
        });
        let (first, end) = (if mirrored { rows.end } else { 0 }, self.columns());
        let rest = (first..end).step_by(COLUMNS).map(move |start| TileColumns {
            range: start..(start + COLUMNS).min(end),
            mirrored,
        });
        square.into_iter().chain(rest)
    }

    /// Divides the rows into blocks of `height` rows and gives all threads almost equally many covariances.
    fn shares(&self, height: usize) -> Vec<Vec<Range<usize>>> {
        let (rows, columns) = (self.rows(), self.columns());
        let blocks = (0..rows).step_by(height).map(|start| {
            let block = start..(start + height).min(rows);
            let first = if self.x2.is_none() { start } else { 0 };
            (block.clone(), block.len() * (columns - first))
        });
        let count = parts(rows, columns).min(rows.div_ceil(height));
        share_out(blocks, count)
    }

    /// The rows of a tile: as many as fit, but fewer if every thread would have few tiles.
    fn height(&self) -> usize {
        let share = self.rows() / (BLOCKS_PER_THREAD * parts(self.rows(), self.columns()));
        share.next_multiple_of(LEAST_ROWS).clamp(LEAST_ROWS, ROWS)
    }

    /// `k(x1, x2)` of one tile.
    fn tile(&self, kind: Stationary, rows: &Range<usize>, columns: &Range<usize>) -> Vec<T> {
        let (x1, x2) = (self.some(self.x1, rows), self.some(self.others(), columns));
        covariance_on(1, kind, x1, x2, self.lengthscales, self.variance)
    }

    /// `K·V`, [N1, R], computed from every point.
    pub(super) fn values_of_all(&self, kind: Stationary) -> Vec<T> {
        let width = self.width();
        if self.x2.is_none() && width <= FEW_VECTORS {
            return self.values_from_half(kind);
        }
        let all = Product {
            x2: Some(self.others()),
            ..*self
        };
        let mut out = vec![T::default(); self.rows() * width];
        let parts = parts(self.rows(), self.columns());
        in_parts(&mut out, width, parts, &|out, first| {
            for (tile, out) in out.chunks_mut(ROWS * width).enumerate() {
                let start = first + tile * ROWS;
                all.add_rows(kind, start..start + out.len() / width, out, start);
            }
        });
        out
    }

    /// [`values_of_all`](Self::values_of_all) from the covariances on and above the diagonal.
    fn values_from_half(&self, kind: Stationary) -> Vec<T> {
        if self.has_few_vectors() {
            let points = FewVectors::new(self.x1, self.lengthscales, self.vectors);
            let shares = self.shares(points.height());
            let add_rows = |rows, sums: &mut Vec<_>| points.add_rows(kind, rows, sums);
            let sums = add_up(computed(shares, || points.zeros(), add_rows).collect());
            return points.result(&sums.unwrap_or_default(), self.variance);
        }
        let zeros = || vec![T::default(); self.rows() * self.width()];
        let shares = self.shares(self.height());
        let add_rows = |rows, sums: &mut Vec<T>| self.add_rows(kind, rows, sums, 0);
        add_up(computed(shares, zeros, add_rows).collect()).unwrap_or_default()
    }

    /// Adds the contribution of the tiles of some rows to `out`, which begins with row `first`.
    fn add_rows(&self, kind: Stationary, rows: Range<usize>, out: &mut [T], first: usize) {
        let place = |rows: &Range<usize>| {
            let width = self.width();
            (rows.start - first) * width..(rows.end - first) * width
        };
        for TileColumns { range, mirrored } in self.tiles(&rows) {
            let tile = self.tile(kind, &rows, &range);
            let tile = matrix(&tile, range.len());
            add_product(
                &mut out[place(&rows)],
                tile,
                self.part(self.vectors, &range),
            );
            if mirrored {
                let vectors = self.part(self.vectors, &rows);
                add_product(&mut out[place(&range)], tile.transpose(), vectors);
            }
        }
    }

    /// The gradients, computed from every point; `gradient` is the gradient of the product, [N1,
    /// R]. Gradients of the points may be empty if they are not wanted.
    pub(super) fn backward_of_all(
        &self,
        kind: Stationary,
        gradient: &[T],
        points_wanted: bool,
    ) -> ProductGradients<T> {
        if self.has_few_vectors() {
            return self.backward_in_one_pass(kind, gradient, points_wanted);
        }
        let shares = self.shares(self.height());
        let add_rows = |rows, sums: &mut _| self.backward_rows(kind, &rows, gradient, sums);
        let mut total = self.zeros();
        let [mut x1, mut x2, mut vectors] = [const { Vec::new() }; 3];
        for sums in computed(shares, || self.zeros(), add_rows) {
            let covariance = sums.covariance;
            add(&mut total.covariance.lengthscales, &covariance.lengthscales);
            total.covariance.variance += covariance.variance;
            x1.push(covariance.x1);
            x2.push(covariance.x2);
            vectors.push(sums.vectors);
        }
        if self.x2.is_none() {
            x1.append(&mut x2);
        }
        total.covariance.x1 = add_up(x1).unwrap_or(total.covariance.x1);
        total.covariance.x2 = add_up(x2).unwrap_or_default();
        total.vectors = add_up(vectors).unwrap_or(total.vectors);
        total
    }

    /// [`backward_of_all`](Self::backward_of_all) without tiles.
    fn backward_in_one_pass(
        &self,
        kind: Stationary,
        gradient: &[T],
        points_wanted: bool,
    ) -> ProductGradients<T> {
        let product = FewVectors::new(self.x1, self.lengthscales, self.vectors);
        let given = FewGradients::new(&product, gradient, self.variance, points_wanted);
        let shares = self.shares(given.height());
        let add_rows = |rows, sums: &mut FewSums<T>| given.add_rows(kind, rows, sums);
        let [mut points, mut vectors] = [const { Vec::new() }; 2];
        let (mut squares, mut variance) = (vec![0.0; self.lengthscales.len()], 0.0);
        for sums in computed(shares, || given.zeros(), add_rows) {
            let (of_rows, of_variance) = sums.pairs.totals();
            (squares.iter_mut().zip(of_rows)).for_each(|(sum, square)| *sum += square);
            variance += of_variance;
            points.push(sums.points);
            vectors.push(sums.vectors);
        }
        let points = given.points(&add_up(points).unwrap_or_default());
        ProductGradients {
            covariance: CovarianceGradients::in_input_units(
                points,
                Vec::new(),
                &squares,
                variance,
                self.lengthscales,
            ),
            vectors: product.result(&add_up(vectors).unwrap_or_default(), self.variance),
        }
    }

    /// Adds the contribution of the tiles of some rows to the gradients.
    fn backward_rows(
        &self,
        kind: Stationary,
        rows: &Range<usize>,
        gradient: &[T],
        sums: &mut ProductGradients<T>,
    ) {
        let width = self.width();
        let place = |rows: &Range<usize>| rows.start * width..rows.end * width;
        let (own, points) = (self.part(gradient, rows), self.some(self.x1, rows));
        let mut tile = vec![T::default(); rows.len() * rows.len().max(COLUMNS)];
        for TileColumns { range, mirrored } in self.tiles(rows) {
            let others = self.some(self.others(), &range);
            let tile = &mut tile[..rows.len() * range.len()];
            let vectors = self.part(self.vectors, &range);
            let out = MatMut::from_row_major_slice_mut(&mut *tile, rows.len(), range.len());
            let one = T::from_f64(1.0);
            product_on(1, out, Accum::Replace, own, vectors.transpose(), one);
            if mirrored {
                let vectors = self.part(self.vectors, rows);
                let gradient = self.part(gradient, &range);
                add_product(tile, vectors, gradient.transpose());
            }
            let (scales, variance) = (self.lengthscales, self.variance);
            let gradients = exchange_for_covariance(kind, points, others, scales, variance, tile);
            let covariance = &mut sums.covariance;
            covariance.add_tile(&gradients, rows.start, range.start);
            let tile = matrix(tile, range.len());
            add_product(&mut sums.vectors[place(&range)], tile.transpose(), own);
            if mirrored {
                let gradient = self.part(gradient, &range);
                add_product(&mut sums.vectors[place(rows)], tile, gradient);
            }
        }
    }

    fn zeros(&self) -> ProductGradients<T> {
        let zeros = |like: &[T]| vec![T::default(); like.len()];
        ProductGradients {
            covariance: CovarianceGradients {
                x1: zeros(self.x1),
                x2: zeros(self.others()),
                lengthscales: zeros(self.lengthscales),
                variance: T::default(),
            },
            vectors: zeros(self.vectors),
        }
    }
}
