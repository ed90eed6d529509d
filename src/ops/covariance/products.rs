//! The stationary covariance of points of many dimensions on the CPU, using matrix products.
//!
//! `r² = ‖a‖² + ‖b‖² − 2aᵀb` around the center of the points. Where that loses digits because the
//! distance is small relative to the norms, it is recomputed from differences. Coincident points
//! are therefore at distance exactly zero here too. With `w` twice the derivative of a loss with
//! respect to `r²`, the gradients are products with `w`: `ā_i = Σ_j w_ij·(a_i − b_j)`,
//! `b̄_j = Σ_i w_ij·(b_j − a_i)` and, for each dimension,
//! `Σ_ij w_ij·(a_i − b_j)² = Σ_i a_i·ā_i + Σ_j b_j·b̄_j`.

use core::marker::PhantomData;

use faer::{Accum, MatMut, MatRef};

use super::differences::{CovarianceGradients, parts};
use crate::ops::{
    cpu::{Kernel, Scalar, in_parts, product, vectorized},
    stationary::Profile,
};

/// A squared distance below this fraction of `‖a‖² + ‖b‖²` is computed from differences. Above it,
/// at most four binary digits are lost.
const CLOSE: f64 = 1.0 / 16.0;

/// The number of entries processed together.
const CHUNK: usize = 64;

/// Two sets of points in lengthscale units around their common center, with their squared norms.
struct CenteredPoints<T> {
    dimensions: usize,
    /// a, [N1, D]
    left: Vec<T>,
    /// b, [N2, D]
    right: Vec<T>,
    left_norms: Vec<T>,
    right_norms: Vec<T>,
}

impl<T: Scalar> CenteredPoints<T> {
    fn new(x1: &[T], x2: &[T], lengthscales: &[T]) -> Self {
        let dimensions = lengthscales.len();
        let count = ((x1.len() + x2.len()) / dimensions).max(1) as f64;
        let mut center = vec![0.0; dimensions];
        for point in x1
            .chunks_exact(dimensions)
            .chain(x2.chunks_exact(dimensions))
        {
            for (sum, &x) in center.iter_mut().zip(point) {
                *sum += x.to_f64() / count;
            }
        }
        let center: Vec<T> = center.into_iter().map(T::from_f64).collect();
        let scaled = |points: &[T]| -> Vec<T> {
            let mut scaled = points.to_vec();
            for point in scaled.chunks_exact_mut(dimensions) {
                for ((x, &center), &lengthscale) in point.iter_mut().zip(&center).zip(lengthscales)
                {
                    *x = (*x - center) / lengthscale;
                }
            }
            scaled
        };
        let norms = |points: &[T]| -> Vec<T> {
            let points = points.chunks_exact(dimensions);
            points
                .map(|point| squared_norm(point.iter().copied()))
                .collect()
        };
        let (left, right) = (scaled(x1), scaled(x2));
        Self {
            dimensions,
            left_norms: norms(&left),
            right_norms: norms(&right),
            left,
            right,
        }
    }

    fn left(&self) -> MatRef<'_, T> {
        MatRef::from_row_major_slice(&self.left, self.left_norms.len(), self.dimensions)
    }

    fn right(&self) -> MatRef<'_, T> {
        MatRef::from_row_major_slice(&self.right, self.right_norms.len(), self.dimensions)
    }

    /// `r²`, [N1, N2].
    fn squared_distances(&self) -> Vec<T> {
        let (rows, columns) = (self.left_norms.len(), self.right_norms.len());
        let mut distances = vec![T::default(); rows * columns];
        product(
            MatMut::from_row_major_slice_mut(&mut distances, rows, columns),
            Accum::Replace,
            self.left(),
            self.right().transpose(),
            T::from_f64(-2.0),
        );
        in_parts(
            &mut distances,
            columns,
            parts(rows, columns),
            &|rows, first_row| {
                vectorized::run(Distances {
                    points: self,
                    first_row,
                    rows,
                });
            },
        );
        distances
    }

    /// The columns close to `row`, given their squared distances.
    fn close_columns(&self, row: usize, distances: &[T]) -> Vec<usize> {
        let (close, norm) = (T::from_f64(CLOSE), self.left_norms[row]);
        let far = |column: usize| distances[column] >= close * (norm + self.right_norms[column]);
        (0..distances.len())
            .filter(|&column| !far(column))
            .collect()
    }

    /// Adds `w_ij·(a_i − b_j)` of the close pairs to the gradients. The products must leave these
    /// pairs out, since they would lose the digits that the differences keep.
    fn add_close_pulls(&self, rows: &[RowSums<T>], left: &mut [T], right: &mut [T]) {
        let dimensions = self.dimensions;
        for (row, sums) in rows.iter().enumerate() {
            for &(column, weight) in &sums.close {
                for d in 0..dimensions {
                    let (i, j) = (row * dimensions + d, column * dimensions + d);
                    let pull = weight * (self.left[i] - self.right[j]);
                    left[i] += pull;
                    right[j] -= pull;
                }
            }
        }
    }

    fn distance_by_differences(&self, row: usize, column: usize) -> T {
        let left = &self.left[row * self.dimensions..][..self.dimensions];
        let right = &self.right[column * self.dimensions..][..self.dimensions];
        squared_norm(left.iter().zip(right).map(|(&a, &b)| a - b))
    }
}

/// `Σ_d v_d²`
fn squared_norm<T: Scalar>(values: impl Iterator<Item = T>) -> T {
    let mut sum = T::default();
    for value in values {
        sum += value * value;
    }
    sum
}

/// Turns `−2aᵀb` in rows from `first_row` on into squared distances.
struct Distances<'a, T> {
    points: &'a CenteredPoints<T>,
    first_row: usize,
    rows: &'a mut [T],
}

impl<T: Scalar> Kernel for Distances<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let (close, right) = (T::from_f64(CLOSE), &self.points.right_norms);
        for (i, row) in self.rows.chunks_exact_mut(right.len()).enumerate() {
            let i = self.first_row + i;
            let norm = self.points.left_norms[i];
            let chunks = row.chunks_mut(CHUNK).zip(right.chunks(CHUNK));
            for (chunk, (distances, others)) in chunks.enumerate() {
                // Checks whether any distance is close, in a loop without branches.
                let mut far = true;
                for (distance, &other) in distances.iter_mut().zip(others) {
                    let norms = norm + other;
                    *distance += norms;
                    far &= *distance >= close * norms;
                }
                if far {
                    continue;
                }
                for (j, (distance, &other)) in distances.iter_mut().zip(others).enumerate() {
                    // Written so that NaN counts as close.
                    let is_far = *distance >= close * (norm + other);
                    if !is_far {
                        *distance = self.points.distance_by_differences(i, chunk * CHUNK + j);
                    }
                }
            }
        }
    }
}

/// Turns squared distances into covariances.
struct Covariances<'a, T, P> {
    variance: T,
    distances: &'a mut [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Covariances<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        for chunk in self.distances.chunks_mut(CHUNK) {
            for value in chunk {
                *value = self.variance * P::value::<FUSED>(*value);
            }
        }
    }
}

/// Turns squared distances into the weights `w = 2σ²·G·φ′(r²)` and returns `Σ G·φ`.
struct Weights<'a, T, P> {
    variance: T,
    gradient: &'a [T],
    distances: &'a mut [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Weights<'_, T, P> {
    type Output = f64;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> f64 {
        let twice_variance = T::from_f64(2.0) * self.variance;
        let mut total = 0.0;
        let gradients = self.gradient.chunks(CHUNK);
        for (distances, gradients) in self.distances.chunks_mut(CHUNK).zip(gradients) {
            let mut products = [T::default(); CHUNK];
            for ((distance, &gradient), product) in
                distances.iter_mut().zip(gradients).zip(&mut products)
            {
                let (value, slope) = P::value_and_slope::<FUSED>(*distance);
                *product = gradient * value;
                *distance = gradient * slope * twice_variance;
            }
            total += products.iter().map(|product| product.to_f64()).sum::<f64>();
        }
        total
    }
}

/// The sums of a row that the backward pass keeps.
#[derive(Default)]
struct RowSums<T> {
    variance: f64,
    /// The close columns with their weights.
    close: Vec<(usize, T)>,
}

/// `k(x1, x2)`, [N1, N2]. `lengthscales` has one entry per input dimension.
pub fn covariance<T: Scalar, P: Profile<T>>(
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
) -> Vec<T> {
    let points = CenteredPoints::new(x1, x2, lengthscales);
    let (rows, columns) = (points.left_norms.len(), points.right_norms.len());
    let mut values = points.squared_distances();
    in_parts(
        &mut values,
        columns,
        parts(rows, columns),
        &|distances, _| {
            vectorized::run(Covariances::<T, P> {
                variance,
                distances,
                profile: PhantomData,
            });
        },
    );
    values
}

/// The gradients of `k(x1, x2)`; `gradient` is the gradient of the result, [N1, N2].
pub fn covariance_backward<T: Scalar, P: Profile<T>>(
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
    gradient: &[T],
) -> CovarianceGradients<T> {
    let points = CenteredPoints::new(x1, x2, lengthscales);
    let (rows, columns) = (points.left_norms.len(), points.right_norms.len());
    let mut weights = points.squared_distances();
    let mut sums: Vec<RowSums<T>> = (0..rows).map(|_| RowSums::default()).collect();
    let mut slots: Vec<(&mut [T], &mut RowSums<T>)> =
        weights.chunks_exact_mut(columns).zip(&mut sums).collect();
    in_parts(&mut slots, 1, parts(rows, columns), &|slots, first| {
        for (i, (distances, sums)) in slots.iter_mut().enumerate() {
            let close = points.close_columns(first + i, distances);
            sums.variance = vectorized::run(Weights::<T, P> {
                variance,
                gradient: &gradient[(first + i) * columns..][..columns],
                distances,
                profile: PhantomData,
            });
            let taken = |column| (column, core::mem::take(&mut distances[column]));
            sums.close = close.into_iter().map(taken).collect();
        }
    });
    let weights = MatRef::from_row_major_slice(&weights, rows, columns);
    let mut left = pulls(weights, points.left(), points.right());
    let mut right = pulls(weights.transpose(), points.right(), points.left());
    points.add_close_pulls(&sums, &mut left, &mut right);
    let mut squares = vec![0.0; points.dimensions];
    for (values, pulls) in [(&points.left, &left), (&points.right, &right)] {
        let values = values.chunks_exact(points.dimensions);
        for (values, pulls) in values.zip(pulls.chunks_exact(points.dimensions)) {
            for ((sum, value), pull) in squares.iter_mut().zip(values).zip(pulls) {
                *sum += value.to_f64() * pull.to_f64();
            }
        }
    }
    CovarianceGradients::in_input_units(
        left,
        right,
        &squares,
        sums.iter().map(|sums| sums.variance).sum(),
        lengthscales,
    )
}

/// `Σ_j w_ij·(a_i − b_j)` for every i, row-major.
fn pulls<T: Scalar>(weights: MatRef<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Vec<T> {
    let (rows, columns, dimensions) = (a.nrows(), b.nrows(), a.ncols());
    let mut pulls = vec![T::default(); rows * dimensions];
    let mut sums = vec![T::default(); rows];
    let (one, ones) = (T::from_f64(1.0), vec![T::from_f64(1.0); columns]);
    product(
        MatMut::from_column_major_slice_mut(&mut sums, rows, 1),
        Accum::Replace,
        weights,
        MatRef::from_column_major_slice(&ones, columns, 1),
        one,
    );
    for (i, pulls) in pulls.chunks_exact_mut(dimensions).enumerate() {
        for (d, pull) in pulls.iter_mut().enumerate() {
            *pull = sums[i] * a[(i, d)];
        }
    }
    product(
        MatMut::from_row_major_slice_mut(&mut pulls, rows, dimensions),
        Accum::Add,
        weights,
        b,
        T::from_f64(-1.0),
    );
    pulls
}
