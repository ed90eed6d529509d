//! The fused stationary covariance on the CPU: distance and profile in one pass, every gradient in
//! one backward pass, and nothing of size N1·N2 besides the result.
//!
//! Distances are computed from coordinate differences, not from `‖a‖² + ‖b‖² − 2aᵀb`: coincident
//! points are at distance exactly zero and nearby points lose no digits, which a product of the
//! coordinates cannot achieve in single precision. Points of many dimensions use products instead,
//! with differences where the product would lose digits.

use core::marker::PhantomData;

use super::products;
use crate::ops::{
    Stationary,
    cpu::{Kernel, Lanes, Scalar, WIDTH, in_parts, threads, vectorized},
    stationary::{
        Block, GROUP, LANES, LaneBlocks, Profile, inverses, scaled, squared_distances, with_profile,
    },
};

/// Number of dimensions from which matrix products are faster than differences.
pub const MANY_DIMENSIONS: usize = 32;

/// Below this number of covariances one thread is faster than two.
const PARALLEL_FROM: usize = 1 << 16;

/// Below this number of numbers one thread is faster than two at adding the sums of all threads.
const GATHER_FROM: usize = 1 << 15;

/// Two sets of points in lengthscale units.
struct ScaledPoints<T> {
    dimensions: usize,
    /// `x1/ℓ`, [N1, D].
    left: Vec<T>,
    /// `x2/ℓ`
    right: LaneBlocks<T>,
}

impl<T: Scalar> ScaledPoints<T> {
    fn new(x1: &[T], x2: &[T], lengthscales: &[T]) -> Self {
        let inverse = inverses(lengthscales);
        Self {
            dimensions: lengthscales.len(),
            left: scaled(x1, &inverse),
            right: LaneBlocks::new(x2, &inverse),
        }
    }

    fn left_point(&self, row: usize) -> &[T] {
        &self.left[row * self.dimensions..][..self.dimensions]
    }
}

/// Fills rows from `first_row` on of the covariance.
struct Forward<'a, T, P> {
    points: &'a ScaledPoints<T>,
    variance: T,
    first_row: usize,
    rows: &'a mut [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Forward<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let width = self.points.right.len();
        for (i, row) in self.rows.chunks_exact_mut(width).enumerate() {
            let point = self.points.left_point(self.first_row + i);
            for (block, out) in self.points.right.blocks().zip(row.chunks_mut(LANES)) {
                let mut values = squared_distances::<T, FUSED>(point, block);
                for value in &mut values.0 {
                    *value = self.variance * P::value::<FUSED>(*value);
                }
                if out.len() == LANES {
                    out.copy_from_slice(&values.0);
                } else {
                    out.copy_from_slice(&values.0[..out.len()]);
                }
            }
        }
    }
}

/// The gradients of `Σ_ij G_ij·k(x1_i, x2_j)`.
pub struct CovarianceGradients<T> {
    /// With respect to the first inputs, [N1, D].
    pub x1: Vec<T>,
    /// With respect to the second inputs, [N2, D].
    pub x2: Vec<T>,
    /// With respect to the lengthscales, `[D]`.
    pub lengthscales: Vec<T>,
    /// With respect to the variance.
    pub variance: T,
}

/// The sums of one thread over its rows, in lengthscale units.
struct PartialGradients<T> {
    /// [rows, D]
    left: Vec<T>,
    /// [⌈N2/LANES⌉, D, LANES]
    right: Vec<T>,
    /// `Σ h·t²`, `[D]`
    lengthscales: Vec<f64>,
    variance: f64,
}

/// Processes rows from `first_row` on of the gradient `G`.
struct Backward<'a, T, P> {
    points: &'a ScaledPoints<T>,
    variance: T,
    first_row: usize,
    gradient: &'a [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Backward<'_, T, P> {
    type Output = PartialGradients<T>;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> PartialGradients<T> {
        let dimensions = self.points.dimensions;
        let right_len = self.points.right.len();
        let mut total = PartialGradients {
            left: Vec::with_capacity(self.gradient.len() / right_len * dimensions),
            right: self.points.right.zeros(),
            lengthscales: vec![0.0; dimensions],
            variance: 0.0,
        };
        let zero = Lanes::splat(T::default());
        let mut left = vec![zero; dimensions];
        let mut scales = vec![zero; dimensions];
        let twice_variance = Lanes::splat(T::from_f64(2.0) * self.variance);
        for (i, gradient) in self.gradient.chunks_exact(right_len).enumerate() {
            let point = self.points.left_point(self.first_row + i);
            left.fill(zero);
            scales.fill(zero);
            let mut variance = zero;
            for ((block, gradient), right) in self
                .points
                .right
                .blocks()
                .zip(gradient.chunks(LANES))
                .zip(total.right.chunks_exact_mut(dimensions * LANES))
            {
                let mut values = squared_distances::<T, FUSED>(point, block);
                let mut slopes = Block::zeros();
                for lane in 0..LANES {
                    (values.0[lane], slopes.0[lane]) = P::value_and_slope::<FUSED>(values.0[lane]);
                }
                let mut weights = [zero; GROUP];
                for (group, gradient) in gradient.chunks(WIDTH).enumerate() {
                    let gradient = Lanes::load_partial(gradient);
                    let value = Lanes::load(&values.0[group * WIDTH..]);
                    let slope = Lanes::load(&slopes.0[group * WIDTH..]);
                    variance = gradient.multiply_add::<FUSED>(value, variance);
                    weights[group] = gradient.times(slope).times(twice_variance);
                }
                for d in 0..dimensions {
                    let a = Lanes::splat(point[d]);
                    let (mut sum, mut square) = (left[d], scales[d]);
                    for (group, weight) in weights.iter().enumerate() {
                        let range = d * LANES + group * WIDTH;
                        let difference = a.minus(Lanes::load(&block[range..]));
                        let pull = weight.times(difference);
                        let right = &mut right[range..];
                        Lanes::load(right).minus(pull).store(right);
                        sum = sum.plus(pull);
                        square = pull.multiply_add::<FUSED>(difference, square);
                    }
                    (left[d], scales[d]) = (sum, square);
                }
            }
            for d in 0..dimensions {
                total.left.push(T::from_f64(left[d].sum()));
                total.lengthscales[d] += scales[d].sum();
            }
            total.variance += variance.sum();
        }
        total
    }
}

/// The number of parts to split the rows of a covariance into.
pub fn parts(rows: usize, columns: usize) -> usize {
    threads::count_for(rows * columns, PARALLEL_FROM).min(rows.max(1))
}

/// `k(x1, x2)`, [N1, N2]. `lengthscales` has one entry per input dimension.
pub fn covariance<T: Scalar>(
    kind: Stationary,
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
) -> Vec<T> {
    let (rows, columns) = (x1.len() / lengthscales.len(), x2.len() / lengthscales.len());
    let parts = parts(rows, columns);
    covariance_on(parts, kind, x1, x2, lengthscales, variance)
}

/// [`covariance`] in a given number of parts.
pub fn covariance_on<T: Scalar>(
    parts: usize,
    kind: Stationary,
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
) -> Vec<T> {
    let (rows, columns) = (x1.len() / lengthscales.len(), x2.len() / lengthscales.len());
    let mut values = threads::zeros(rows * columns);
    if values.is_empty() {
        return values;
    }
    if lengthscales.len() >= MANY_DIMENSIONS {
        return with_profile!(kind, P => {
            products::covariance::<T, P>(x1, x2, lengthscales, variance)
        });
    }
    let points = ScaledPoints::new(x1, x2, lengthscales);
    in_parts(&mut values, columns, parts, &|rows, first_row| {
        with_profile!(kind, P => vectorized::run(Forward::<T, P> {
            points: &points,
            variance,
            first_row,
            rows,
            profile: PhantomData,
        }))
    });
    values
}

/// The gradients of `k(x1, x2)`; `gradient` is the gradient of the result, [N1, N2].
pub fn covariance_backward<T: Scalar>(
    kind: Stationary,
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
    gradient: &[T],
) -> CovarianceGradients<T> {
    let (rows, columns) = (x1.len() / lengthscales.len(), x2.len() / lengthscales.len());
    let parts = parts(rows, columns);
    covariance_backward_on(parts, kind, x1, x2, lengthscales, variance, gradient)
}

/// [`covariance_backward`] in a given number of parts.
pub fn covariance_backward_on<T: Scalar>(
    parts: usize,
    kind: Stationary,
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
    gradient: &[T],
) -> CovarianceGradients<T> {
    let dimensions = lengthscales.len();
    let (rows, columns) = (x1.len() / dimensions, x2.len() / dimensions);
    if rows * columns == 0 {
        return CovarianceGradients {
            x1: vec![T::default(); x1.len()],
            x2: vec![T::default(); x2.len()],
            lengthscales: vec![T::default(); dimensions],
            variance: T::default(),
        };
    }
    if dimensions >= MANY_DIMENSIONS {
        return with_profile!(kind, P => products::covariance_backward::<T, P>(
            x1, x2, lengthscales, variance, gradient,
        ));
    }
    let points = ScaledPoints::new(x1, x2, lengthscales);
    let parts = parts.min(rows);
    let mut partial: Vec<Option<PartialGradients<T>>> = (0..parts).map(|_| None).collect();
    in_parts(&mut partial, 1, parts, &|slots, first| {
        for (part, slot) in (first..).zip(slots) {
            let (first_row, end) = (rows * part / parts, rows * (part + 1) / parts);
            *slot = Some(with_profile!(kind, P => vectorized::run(Backward::<T, P> {
                points: &points,
                variance,
                first_row,
                gradient: &gradient[first_row * columns..end * columns],
                profile: PhantomData,
            })));
        }
    });
    gather(
        partial.into_iter().flatten().collect(),
        lengthscales,
        columns,
    )
}

/// Adds up the threads' sums and converts lengthscale units back to input units.
fn gather<T: Scalar>(
    partial: Vec<PartialGradients<T>>,
    lengthscales: &[T],
    columns: usize,
) -> CovarianceGradients<T> {
    let dimensions = lengthscales.len();
    let mut x2 = vec![T::default(); columns * dimensions];
    let mut squares = vec![0.0; dimensions];
    let mut x1 = Vec::with_capacity(partial.iter().map(|part| part.left.len()).sum());
    let mut variance = 0.0;
    let parts = threads::count_for(x2.len() * partial.len(), GATHER_FROM).min(partial.len());
    in_parts(&mut x2, dimensions, parts, &|x2, first| {
        for part in &partial {
            for (j, x2) in (first..).zip(x2.chunks_exact_mut(dimensions)) {
                let block = &part.right[j / LANES * dimensions * LANES + j % LANES..];
                for (d, x2) in x2.iter_mut().enumerate() {
                    *x2 += block[d * LANES];
                }
            }
        }
    });
    for part in &partial {
        for (sum, &square) in squares.iter_mut().zip(&part.lengthscales) {
            *sum += square;
        }
        variance += part.variance;
        x1.extend_from_slice(&part.left);
    }
    CovarianceGradients::in_input_units(x1, x2, &squares, variance, lengthscales)
}

impl<T: Scalar> CovarianceGradients<T> {
    /// Adds the gradients of a tile whose first points are `row` and `column`.
    pub fn add_tile(&mut self, tile: &Self, row: usize, column: usize) {
        let dimensions = self.lengthscales.len();
        let add = |sums: &mut [T], values: &[T]| {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        };
        add(&mut self.x1[row * dimensions..], &tile.x1);
        add(&mut self.x2[column * dimensions..], &tile.x2);
        add(&mut self.lengthscales, &tile.lengthscales);
        self.variance += tile.variance;
    }

    /// Converts gradients with respect to inputs in lengthscale units, and
    /// `Σ_ij w_ij·(a_i − b_j)²`.
    pub fn in_input_units(
        mut x1: Vec<T>,
        mut x2: Vec<T>,
        squares: &[f64],
        variance: f64,
        lengthscales: &[T],
    ) -> Self {
        for values in [&mut x1, &mut x2] {
            for point in values.chunks_exact_mut(lengthscales.len()) {
                for (value, &lengthscale) in point.iter_mut().zip(lengthscales) {
                    *value /= lengthscale;
                }
            }
        }
        let lengthscales = squares
            .iter()
            .zip(lengthscales)
            .map(|(&square, &lengthscale)| T::from_f64(-square / lengthscale.to_f64()))
            .collect();
        Self {
            x1,
            x2,
            lengthscales,
            variance: T::from_f64(variance),
        }
    }
}
