//! Products with the covariance of points with many duplicates: `K = E·K_u·Eᵀ`, where E repeats the
//! distinct points and only K_u is computed.
//!
//! In block-sparse combinations, duplicates are removed within each run, which keeps every run
//! contiguous.

use std::collections::HashMap;

use super::{
    blocked::{BlockProduct, BlockProductGradients},
    blocks::Runs,
    dense::{Product, ProductGradients},
};
use crate::ops::{Stationary, cpu::Scalar};

/// The number of points from which searching for duplicates costs next to nothing compared with the
/// covariances.
const POINTS_FROM: usize = 1 << 13;

/// The largest fraction of distinct points for which removing duplicates is worth the summing and
/// repeating of values.
const DISTINCT_UP_TO: f64 = 0.8;

/// The distinct points of each run.
struct Distinct<T> {
    /// [U, D]
    points: Vec<T>,
    runs: Runs,
    /// For each point, the index of the distinct point it equals, `[N]`.
    places: Vec<usize>,
}

impl<T: Scalar> Distinct<T> {
    /// Finds the distinct points of [N, D]; `None` unless enough points are duplicates.
    fn of(points: &[T], dimensions: usize, runs: &Runs) -> Option<Self> {
        if runs.points() < POINTS_FROM {
            return None;
        }
        let mut rows: Vec<usize> = Vec::new();
        let mut places = Vec::with_capacity(runs.points());
        let mut lengths = Vec::with_capacity(runs.count());
        let row = |point: usize| &points[point * dimensions..][..dimensions];
        for range in runs.ranges() {
            let first = rows.len();
            let mut seen: HashMap<&[u8], usize> = HashMap::with_capacity(range.len());
            for point in range {
                let place = *seen
                    .entry(bytemuck::cast_slice(row(point)))
                    .or_insert(rows.len());
                if place == rows.len() {
                    rows.push(point);
                }
                places.push(place);
            }
            lengths.push(rows.len() - first);
        }
        let few = rows.len() as f64 <= DISTINCT_UP_TO * runs.points() as f64;
        few.then(|| Self {
            points: rows.into_iter().flat_map(row).copied().collect(),
            runs: Runs::of_lengths(lengths.into_iter()),
            places,
        })
    }

    /// `Eᵀ·A`, [U, R], of a row-major matrix, [N, R].
    fn sums_of_rows(&self, values: &[T]) -> Vec<T> {
        let width = values.len() / self.places.len();
        let mut sums = vec![T::default(); self.runs.points() * width];
        for (&place, row) in self.places.iter().zip(values.chunks_exact(width)) {
            let sums = sums[place * width..].iter_mut();
            sums.zip(row).for_each(|(sum, &value)| *sum += value);
        }
        sums
    }

    /// `E·A`, [N, R], of a row-major matrix, [U, R].
    fn repeated_rows(&self, values: &[T]) -> Vec<T> {
        let width = values.len() / self.runs.points();
        let rows = self.places.iter().map(|place| &values[place * width..]);
        rows.flat_map(|row| &row[..width]).copied().collect()
    }

    /// `A·E`, [I, U], of a row-major matrix, [I, N].
    fn sums_of_columns(&self, values: &[T]) -> Vec<T> {
        let rows = values.chunks_exact(self.places.len());
        rows.flat_map(|row| self.sums_of_rows(row)).collect()
    }

    /// `A·Eᵀ`, [I, N], of a row-major matrix, [I, U].
    fn repeated_columns(&self, values: &[T]) -> Vec<T> {
        let rows = values.chunks_exact(self.runs.points());
        rows.flat_map(|row| self.repeated_rows(row)).collect()
    }
}

impl<T: Scalar> Product<'_, T> {
    fn distinct(&self) -> Option<Distinct<T>> {
        let runs = Runs::of_lengths(core::iter::once(self.rows()));
        let same = self.x2.is_none() && !self.vectors.is_empty();
        same.then(|| Distinct::of(self.x1, self.lengthscales.len(), &runs))?
    }

    /// `K_u·V` of the distinct points.
    fn of<'s>(&'s self, distinct: &'s Distinct<T>, vectors: &'s [T]) -> Product<'s, T> {
        Product {
            x1: &distinct.points,
            vectors,
            ..*self
        }
    }

    /// `K·V`, [N1, R].
    pub fn values(&self, kind: Stationary) -> Vec<T> {
        let Some(distinct) = self.distinct() else {
            return self.values_of_all(kind);
        };
        let sums = distinct.sums_of_rows(self.vectors);
        distinct.repeated_rows(&self.of(&distinct, &sums).values_of_all(kind))
    }

    /// The gradients; `gradient` is the gradient of the product, [N1, R]. Gradients of the points
    /// are empty if they are not needed and duplicates were removed.
    pub fn backward(
        &self,
        kind: Stationary,
        gradient: &[T],
        points_wanted: bool,
    ) -> ProductGradients<T> {
        let Some(distinct) = (!points_wanted).then(|| self.distinct()).flatten() else {
            return self.backward_of_all(kind, gradient, points_wanted);
        };
        let sums = distinct.sums_of_rows(self.vectors);
        let product = self.of(&distinct, &sums);
        let mut gradients = product.backward_of_all(kind, &distinct.sums_of_rows(gradient), false);
        gradients.covariance.x1 = Vec::new();
        gradients.vectors = distinct.repeated_rows(&gradients.vectors);
        gradients
    }
}

impl<T: Scalar> BlockProduct<'_, T> {
    fn distinct(&self) -> Option<Distinct<T>> {
        Distinct::of(self.points, self.lengthscales.len(), self.runs)
    }

    /// The product for the distinct points.
    fn of<'s>(&'s self, distinct: &'s Distinct<T>, values: &'s [T]) -> BlockProduct<'s, T> {
        BlockProduct {
            runs: &distinct.runs,
            points: &distinct.points,
            values,
            ..*self
        }
    }

    /// W, [I, N′].
    pub fn covariances(&self, kind: Stationary) -> Vec<T> {
        let Some(distinct) = self.distinct() else {
            return self.covariances_of_all(kind);
        };
        let sums = distinct.sums_of_rows(self.values);
        let covariances = self.of(&distinct, &sums).covariances_of_all(kind);
        match self.others {
            Some(_) => covariances,
            None => distinct.repeated_columns(&covariances),
        }
    }

    /// The gradients; `gradient` is the gradient of W, [I, N′]. Gradients of the points are
    /// computed only if needed.
    pub fn backward(
        &self,
        kind: Stationary,
        gradient: &[T],
        points_wanted: bool,
    ) -> BlockProductGradients<T> {
        let Some(distinct) = (!points_wanted).then(|| self.distinct()).flatten() else {
            return self.backward_of_all(kind, gradient, points_wanted);
        };
        let sums = distinct.sums_of_rows(self.values);
        let product = self.of(&distinct, &sums);
        let mut gradients = match self.others {
            Some(_) => product.backward_of_all(kind, gradient, false),
            None => {
                let sums = distinct.sums_of_columns(gradient);
                product.backward_of_all(kind, &sums, false)
            }
        };
        gradients.values = distinct.repeated_rows(&gradients.values);
        gradients
    }
}

#[cfg(test)]
mod tests {
    use super::{Distinct, POINTS_FROM, Runs};

    /// Points on a line, `point / 100` in order.
    fn line() -> Vec<f64> {
        (0..POINTS_FROM).map(|point| (point / 100) as f64).collect()
    }

    #[test]
    fn copies_are_left_out_run_by_run() {
        let points = line();
        let runs = Runs::of_lengths([150, 250, POINTS_FROM - 400].into_iter());
        let distinct = Distinct::of(&points, 1, &runs).unwrap();
        assert_eq!(distinct.points[..6], [0.0, 1.0, 1.0, 2.0, 3.0, 4.0]);
        let lengths: Vec<usize> = distinct.runs.ranges().map(|range| range.len()).collect();
        assert_eq!(lengths, [2, 3, (POINTS_FROM - 400).div_ceil(100)]);
        let repeated = distinct.repeated_rows(&distinct.points);
        assert_eq!(repeated, points, "every point equals its distinct point");
    }

    #[test]
    fn sums_are_those_of_the_copies() {
        let points = line();
        let runs = Runs::of_lengths([150, POINTS_FROM - 150].into_iter());
        let distinct = Distinct::of(&points, 1, &runs).unwrap();
        let ones = vec![1.0; 2 * POINTS_FROM];
        assert_eq!(
            distinct.sums_of_rows(&ones)[..8],
            [100.0, 100.0, 50.0, 50.0, 50.0, 50.0, 100.0, 100.0]
        );
        assert_eq!(
            distinct.sums_of_columns(&ones)[..4],
            [100.0, 50.0, 50.0, 100.0]
        );
    }

    #[test]
    fn points_that_differ_stay_as_they_are() {
        let points: Vec<f64> = (0..POINTS_FROM).map(|point| point as f64).collect();
        let runs = Runs::of_lengths(core::iter::once(POINTS_FROM));
        assert!(Distinct::of(&points, 1, &runs).is_none());
    }
}
