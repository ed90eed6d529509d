//! Forward and backward passes over one covariance tile, compiled for the widest vector
//! instructions.

use core::{marker::PhantomData, ops::Range};

use super::layout::Chunk;
use crate::ops::{
    cpu::{Kernel, Lanes, Scalar, WIDTH, dot},
    stationary::{Block, GROUP, LANES, Profile, squared_distances},
};

/// The rows of a tile that belong to one run of points, or to none.
pub struct RowRun<'a, T> {
    pub rows: Range<usize>,
    /// The values s of the rows and the index of their run, if it is combined with the columns.
    pub mirror: Option<(&'a [T], usize)>,
}

/// Adds a tile to the products: the product of every run of columns with each row and, if the rows
/// are runs too, of every run of rows with each column.
pub struct Forward<'a, 'o, T, P> {
    /// x′/ℓ, [N′, D]
    pub rows: &'a [T],
    pub dimensions: usize,
    pub chunk: &'a Chunk<T>,
    pub variance: T,
    pub first_row: usize,
    pub runs: &'a [RowRun<'a, T>],
    /// One row per run of columns, [runs][rows].
    pub own: &'a mut [&'o mut [T]],
    /// One row per run of rows, [runs][columns of the stretch], and the position of the first
    /// column.
    pub mirrored: &'a mut [&'o mut [T]],
    pub offset: usize,
    pub profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Forward<'_, '_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let mut buffer = vec![T::default(); self.chunk.padded()];
        for run in self.runs {
            for row in run.rows.clone() {
                let point = &self.rows[row * self.dimensions..][..self.dimensions];
                let blocks = self.chunk.lanes.blocks();
                for (block, out) in blocks.zip(buffer.chunks_exact_mut(LANES)) {
                    let mut values = squared_distances::<T, FUSED>(point, block);
                    for value in &mut values.0 {
                        *value = self.variance * P::value::<FUSED>(*value);
                    }
                    out.copy_from_slice(&values.0);
                }
                for segment in &self.chunk.segments {
                    let columns = segment.columns.clone();
                    let values = &self.chunk.values[columns.clone()];
                    self.own[segment.run][row - self.first_row] +=
                        dot::<T, FUSED>(values, &buffer[columns]);
                }
                let Some((values, index)) = run.mirror else {
                    continue;
                };
                let weight = values[row];
                let out = &mut self.mirrored[index][self.offset..][..self.chunk.lanes.len()];
                for (out, &value) in out.iter_mut().zip(&buffer) {
                    *out = weight.multiply_add::<FUSED>(value, *out);
                }
            }
        }
    }
}

/// The sums that a part of the work adds to the gradients, in lengthscale units.
pub struct Sums<T> {
    /// `Σ w·(a_d − b_d)²`, `[D]`
    pub squares: Vec<f64>,
    /// `Σ G·φ`
    pub variance: f64,
    /// `Σ φ·W̄` of the rows, and of the columns of the tile.
    pub rows: Vec<T>,
    pub columns: Vec<T>,
    /// `Σ w·(a − b)` of the rows, [rows, D], and `Σ w·(b − a)` of the columns, in lanes; if needed.
    pub row_pulls: Vec<T>,
    pub column_pulls: Vec<T>,
}

/// Processes a tile of the gradient `G_nb = W̄_j(b)n·s_b + s_n·W̄_j(n)b`.
pub struct Backward<'a, T, P> {
    pub rows: &'a [T],
    pub dimensions: usize,
    pub chunk: &'a Chunk<T>,
    pub variance: T,
    pub first_row: usize,
    pub runs: &'a [RowRun<'a, T>],
    /// W̄ of the columns' runs, [runs][rows].
    pub own: &'a [&'a [T]],
    /// W̄ of the rows' runs, [runs][padded columns].
    pub mirrored: &'a [Vec<T>],
    pub sums: &'a mut Sums<T>,
    pub pulls_wanted: bool,
    pub profile: PhantomData<P>,
}

/// The sums of one row.
struct RowSums<T> {
    variance: Lanes<T>,
    value: Lanes<T>,
    squares: Vec<Lanes<T>>,
    pulls: Vec<Lanes<T>>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Backward<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        let zero = Lanes::splat(T::default());
        let nothing = vec![T::default(); self.chunk.padded()];
        let mut own = vec![T::default(); self.chunk.padded()];
        let mut row_sums = RowSums {
            variance: zero,
            value: zero,
            squares: vec![zero; self.dimensions],
            pulls: vec![zero; self.dimensions],
        };
        for run in self.runs {
            let (mirrored, values) = match run.mirror {
                Some((values, index)) => (&self.mirrored[index], Some(values)),
                None => (&nothing, None),
            };
            for row in run.rows.clone() {
                for segment in &self.chunk.segments {
                    own[segment.columns.clone()].fill(self.own[segment.run][row - self.first_row]);
                }
                let value = values.map_or(T::default(), |values| values[row]);
                (row_sums.variance, row_sums.value) = (zero, zero);
                row_sums.squares.fill(zero);
                row_sums.pulls.fill(zero);
                self.row::<FUSED>(row, &own, mirrored, value, &mut row_sums);
                let sums = &mut *self.sums;
                sums.variance += row_sums.variance.sum();
                sums.rows[row - self.first_row] += row_sums.value.total();
                for (sum, square) in sums.squares.iter_mut().zip(&row_sums.squares) {
                    *sum += square.sum();
                }
                if self.pulls_wanted {
                    let first = (row - self.first_row) * self.dimensions;
                    let pulls = &mut sums.row_pulls[first..][..self.dimensions];
                    for (sum, &pull) in pulls.iter_mut().zip(&row_sums.pulls) {
                        *sum += pull.total();
                    }
                }
            }
        }
    }
}

impl<T: Scalar, P: Profile<T>> Backward<'_, T, P> {
    /// Processes one row of the tile; `value` is its s.
    #[inline(always)]
    fn row<const FUSED: bool>(
        &mut self,
        row: usize,
        own: &[T],
        mirrored: &[T],
        value: T,
        row_sums: &mut RowSums<T>,
    ) {
        let point = &self.rows[row * self.dimensions..][..self.dimensions];
        let row_value = Lanes::splat(value);
        let twice_variance = Lanes::splat(T::from_f64(2.0) * self.variance);
        for (index, block) in self.chunk.lanes.blocks().enumerate() {
            let mut values = squared_distances::<T, FUSED>(point, block);
            let mut slopes = Block::zeros();
            for lane in 0..LANES {
                (values.0[lane], slopes.0[lane]) = P::value_and_slope::<FUSED>(values.0[lane]);
            }
            let mut weights = [Lanes::splat(T::default()); GROUP];
            for (group, weight) in weights.iter_mut().enumerate() {
                let place = index * LANES + group * WIDTH;
                let own = Lanes::load(&own[place..]);
                let mirrored = Lanes::load(&mirrored[place..]);
                let value = Lanes::load(&values.0[group * WIDTH..]);
                let slope = Lanes::load(&slopes.0[group * WIDTH..]);
                let given = own.times(Lanes::load(&self.chunk.values[place..]));
                let gradient = row_value.multiply_add::<FUSED>(mirrored, given);
                row_sums.variance = gradient.multiply_add::<FUSED>(value, row_sums.variance);
                row_sums.value = mirrored.multiply_add::<FUSED>(value, row_sums.value);
                let columns = &mut self.sums.columns[place..];
                let sum = own.multiply_add::<FUSED>(value, Lanes::load(columns));
                sum.store(columns);
                *weight = gradient.times(slope).times(twice_variance);
            }
            for (d, &a) in point.iter().enumerate() {
                let a = Lanes::splat(a);
                let (mut sum, mut square) = (row_sums.pulls[d], row_sums.squares[d]);
                for (group, weight) in weights.iter().enumerate() {
                    let range = d * LANES + group * WIDTH;
                    let difference = a.minus(Lanes::load(&block[range..]));
                    let pull = weight.times(difference);
                    square = pull.multiply_add::<FUSED>(difference, square);
                    if self.pulls_wanted {
                        let place = index * self.dimensions * LANES + range;
                        let pulls = &mut self.sums.column_pulls[place..];
                        Lanes::load(pulls).minus(pull).store(pulls);
                        sum = sum.plus(pull);
                    }
                }
                (row_sums.pulls[d], row_sums.squares[d]) = (sum, square);
            }
        }
    }
}
