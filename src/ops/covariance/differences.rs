//! The fused stationary covariance on the CPU: distance and profile in one pass, every gradient in
//! one backward pass, and nothing of size N1·N2 besides the result.
//!
//! Distances are computed from coordinate differences, not from `‖a‖² + ‖b‖² − 2aᵀb`: coincident
//! points are at distance exactly zero and nearby points lose no digits, which a product of the
//! coordinates cannot achieve in single precision. Points of many dimensions use products instead,
//! with differences where the product would lose digits.

use core::{marker::PhantomData, mem::MaybeUninit, ops::Range};

use super::products;
use crate::ops::{
    Stationary,
    cpu::{Kernel, Lanes, Scalar, WIDTH, in_parts, threads, vectorized},
    stationary::{
        Block, GROUP, LANES, LaneBlocks, PairSums, Profile, ROWS, RowGroups, Weights, add_totals,
        inverses, profiles, profiles_and_slopes, rows_at_once, scaled, with_profile,
    },
};

/// Number of dimensions from which matrix products are faster than differences.
pub const MANY_DIMENSIONS: usize = 32;

/// Below this number of covariances one thread is faster than two.
const PARALLEL_FROM: usize = 1 << 16;

/// Below this number of values, one thread adds the sums of all threads faster than two.
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

    /// The sums over the rows of the gradient, which begins with row `first_row`.
    fn backward(
        &self,
        kind: Stationary,
        variance: T,
        first_row: usize,
        gradient: Gradient<'_, T>,
    ) -> PartialGradients<T> {
        with_profile!(kind, P => vectorized::run(Backward::<T, P> {
            points: self,
            variance,
            first_row,
            gradient,
            profile: PhantomData,
        }))
    }

    /// Some rows of the first set, in groups.
    fn rows(&self, first: usize, count: usize) -> RowGroups<T> {
        let (first, len) = (first * self.dimensions, count * self.dimensions);
        RowGroups::new(&self.left[first..][..len], self.dimensions)
    }
}

/// Writes all entries of the rows of the covariance from `first_row` on.
struct Forward<'a, T, P> {
    points: &'a ScaledPoints<T>,
    variance: T,
    first_row: usize,
    rows: &'a mut [MaybeUninit<T>],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Forward<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let width = self.points.right.len();
        let groups = (self.points).rows(self.first_row, self.rows.len() / width);
        for (group, rows) in (groups.groups()).zip(self.rows.chunks_mut(ROWS * width)) {
            for (index, block) in self.points.right.blocks().enumerate() {
                let values = profiles::<T, P, FUSED>(group, block);
                for (row, values) in rows.chunks_exact_mut(width).zip(&values) {
                    let row = row[index * LANES..].iter_mut();
                    for (covariance, &value) in row.zip(&values.0) {
                        covariance.write(self.variance * value);
                    }
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
    /// [⌈N2/LANES⌉, D]
    right: Vec<Block<T>>,
    /// `Σ h·t²`, `[D]`
    lengthscales: Vec<f64>,
    variance: f64,
}

/// Processes the rows of the gradient `G` from `first_row` on.
struct Backward<'a, T, P> {
    points: &'a ScaledPoints<T>,
    variance: T,
    first_row: usize,
    gradient: Gradient<'a, T>,
    profile: PhantomData<P>,
}

/// The gradient of some rows of a covariance.
enum Gradient<'a, T> {
    Kept(&'a [T]),
    /// To be replaced by the covariances.
    Exchanged(&'a mut [T]),
}

impl<T> Gradient<'_, T> {
    #[inline(always)]
    fn numbers(&self) -> &[T] {
        match self {
            Self::Kept(numbers) => numbers,
            Self::Exchanged(numbers) => numbers,
        }
    }
}

impl<T: Scalar, P: Profile<T>> Kernel for Backward<'_, T, P> {
    type Output = PartialGradients<T>;

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) -> PartialGradients<T> {
        let points = self.points;
        let (dimensions, width) = (points.dimensions, points.right.len());
        let count = self.gradient.numbers().len() / width;
        let rows = points.rows(self.first_row, count);
        let mut right = points.right.zeros();
        let mut sums = PairSums::new(dimensions);
        let zero = [Lanes::splat(T::default()); ROWS];
        let height = rows_at_once::<T>(dimensions);
        let mut left = vec![zero; height / ROWS * dimensions];
        let mut totals = vec![T::default(); count * dimensions];
        let parts = rows
            .parts(height / ROWS)
            .zip(totals.chunks_mut(height * dimensions));
        for ((rows, totals), start) in parts.zip((0..count).step_by(height)) {
            left.fill(zero);
            let blocks = points.right.blocks();
            let blocks = blocks.zip(right.chunks_exact_mut(dimensions)).enumerate();
            for (index, (block, right)) in blocks {
                let groups = (start..).step_by(ROWS).zip(rows.chunks_exact(dimensions));
                for ((row, group), left) in groups.zip(left.chunks_exact_mut(dimensions)) {
                    let profiles = profiles_and_slopes::<T, P, FUSED>(group, block);
                    let range = row..(row + ROWS).min(count);
                    let weights = self.weights::<FUSED>(range, index, &profiles, &mut sums);
                    sums.pull::<FUSED>(group, block, &weights, left, right);
                }
                sums.settle();
            }
            add_totals(totals, &left, dimensions);
        }
        let (lengthscales, variance) = sums.totals();
        PartialGradients {
            left: totals,
            right,
            lengthscales,
            variance,
        }
    }
}

impl<T: Scalar, P> Backward<'_, T, P> {
    /// `w = 2σ²·G·φ′(r²)` of a group of rows and block `index`. Adds `Σ G·φ`.
    #[inline(always)]
    fn weights<const FUSED: bool>(
        &mut self,
        rows: Range<usize>,
        index: usize,
        [values, slopes]: &[[Block<T>; ROWS]; 2],
        sums: &mut PairSums<T>,
    ) -> Weights<T> {
        let width = self.points.right.len();
        let twice_variance = Lanes::splat(T::from_f64(2.0) * self.variance);
        let mut weights = [[Lanes::splat(T::default()); ROWS]; GROUP];
        let start = rows.start;
        for (row, (values, slopes)) in rows.zip(values.iter().zip(slopes)) {
            let columns = index * LANES..width.min((index + 1) * LANES);
            let place = row * width + columns.start..row * width + columns.end;
            let gradient = self.gradient.numbers()[place.clone()].chunks(WIDTH);
            for (group, (gradient, weights)) in gradient.zip(&mut weights).enumerate() {
                let gradient = Lanes::load_partial(gradient);
                let (value, slope) = (values.load(group), slopes.load(group));
                weights[row - start] =
                    sums.weights::<FUSED>(gradient, value, slope, twice_variance);
            }
            if let Gradient::Exchanged(numbers) = &mut self.gradient {
                for (covariance, &value) in numbers[place].iter_mut().zip(&values.0) {
                    *covariance = self.variance * value;
                }
            }
        }
        weights
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
    if rows * columns == 0 {
        return Vec::new();
    }
    if lengthscales.len() >= MANY_DIMENSIONS {
        return with_profile!(kind, P => {
            products::covariance::<T, P>(x1, x2, lengthscales, variance)
        });
    }
    let points = ScaledPoints::new(x1, x2, lengthscales);
    let fill = |rows: &mut [MaybeUninit<T>], first_row| {
        with_profile!(kind, P => vectorized::run(Forward::<T, P> {
            points: &points,
            variance,
            first_row,
            rows,
            profile: PhantomData,
        }))
    };
    // SAFETY: the kernel writes every entry.
    unsafe { threads::fill_parts(rows * columns, columns, parts, &fill) }
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
    let parts = parts(rows, columns).min(rows);
    let mut partial: Vec<Option<PartialGradients<T>>> = (0..parts).map(|_| None).collect();
    in_parts(&mut partial, 1, parts, &|slots, first| {
        for (part, slot) in (first..).zip(slots) {
            let (first_row, end) = (rows * part / parts, rows * (part + 1) / parts);
            let gradient = Gradient::Kept(&gradient[first_row * columns..end * columns]);
            *slot = Some(points.backward(kind, variance, first_row, gradient));
        }
    });
    let partial = partial.into_iter().flatten();
    gather(partial.collect(), lengthscales, columns)
}

/// The gradients of a tile of `k(x1, x2)` on this thread. The gradient of the tile, [N1, N2], is replaced by
/// the tile.
pub fn exchange_for_covariance<T: Scalar>(
    kind: Stationary,
    x1: &[T],
    x2: &[T],
    lengthscales: &[T],
    variance: T,
    gradient: &mut [T],
) -> CovarianceGradients<T> {
    if lengthscales.len() >= MANY_DIMENSIONS {
        let gradients = covariance_backward(kind, x1, x2, lengthscales, variance, gradient);
        gradient.copy_from_slice(&covariance_on(1, kind, x1, x2, lengthscales, variance));
        return gradients;
    }
    let points = ScaledPoints::new(x1, x2, lengthscales);
    let partial = points.backward(kind, variance, 0, Gradient::Exchanged(gradient));
    gather(vec![partial], lengthscales, x2.len() / lengthscales.len())
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
                let block = &part.right[j / LANES * dimensions..][..dimensions];
                for (x2, sums) in x2.iter_mut().zip(block) {
                    *x2 += sums.0[j % LANES];
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
