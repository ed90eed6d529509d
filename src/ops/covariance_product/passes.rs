//! Forward and backward passes over one covariance tile, compiled for the widest vector
//! instructions.

use core::{marker::PhantomData, ops::Range};

use super::layout::Chunk;
use crate::ops::{
    cpu::{Kernel, Lanes, Scalar, WIDTH, dot},
    stationary::{
        Block, GROUP, LANES, PairSums, Profile, ROWS, Weights, add_totals, gather, profiles,
        profiles_and_slopes,
    },
};

/// Groups of consecutive rows that are processed together; the last may have fewer.
#[inline(always)]
fn groups(rows: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    let starts = rows.clone().step_by(ROWS);
    starts.map(move |start| start..(start + ROWS).min(end))
}

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
    fn call<const FUSED: bool>(mut self) {
        let mut covariances: [_; ROWS] =
            std::array::from_fn(|_| vec![T::default(); self.chunk.padded()]);
        let mut group = vec![[T::default(); ROWS]; self.dimensions];
        for run in self.runs {
            for rows in groups(&run.rows) {
                gather(self.rows, rows.clone(), &mut group);
                for (index, block) in self.chunk.lanes.blocks().enumerate() {
                    let values = profiles::<T, P, FUSED>(&group, block);
                    for (row, values) in covariances.iter_mut().zip(&values) {
                        let row = row[index * LANES..].iter_mut();
                        for (covariance, &value) in row.zip(&values.0) {
                            *covariance = self.variance * value;
                        }
                    }
                }
                for (row, covariances) in rows.zip(&covariances) {
                    self.add_row::<FUSED>(row, run, covariances);
                }
            }
        }
    }
}

impl<T: Scalar, P> Forward<'_, '_, T, P> {
    /// Adds the covariances of a row with the columns to the products.
    #[inline(always)]
    fn add_row<const FUSED: bool>(&mut self, row: usize, run: &RowRun<'_, T>, covariances: &[T]) {
        for segment in &self.chunk.segments {
            let columns = segment.columns.clone();
            let values = &self.chunk.values[columns.clone()];
            self.own[segment.run][row - self.first_row] +=
                dot::<T, FUSED>(values, &covariances[columns]);
        }
        let Some((values, index)) = run.mirror else {
            return;
        };
        let weight = values[row];
        let out = &mut self.mirrored[index][self.offset..][..self.chunk.lanes.len()];
        for (out, &value) in out.iter_mut().zip(covariances) {
            *out = weight.multiply_add::<FUSED>(value, *out);
        }
    }
}

/// The sums that a part of the work adds to the gradients, in lengthscale units.
pub struct Sums<T> {
    /// `Σ w·(a_d − b_d)²`, `[D]`, and `Σ G·φ`
    pub pairs: PairSums<T>,
    /// `Σ φ·W̄` of the rows, and of the columns of the tile.
    pub rows: Vec<T>,
    pub columns: Vec<T>,
    /// `Σ w·(a − b)` of the rows, [rows, D], and `Σ w·(b − a)` of the columns, [blocks, D]; if needed.
    pub row_pulls: Vec<T>,
    pub column_pulls: Vec<Block<T>>,
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

/// The values of a group of rows.
struct Group<T> {
    /// x′/ℓ, `[D]`
    points: Vec<[T; ROWS]>,
    /// W̄ of the columns' runs, [rows][padded columns]
    own: [Vec<T>; ROWS],
    /// s
    values: [Lanes<T>; ROWS],
    /// `Σ φ·W̄` and `Σ w·(a − b)`, `[D]`
    value_sums: [Lanes<T>; ROWS],
    pulls: Vec<[Lanes<T>; ROWS]>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Backward<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        let zero = Lanes::splat(T::default());
        let nothing = vec![T::default(); self.chunk.padded()];
        let mut group = Group {
            points: vec![[T::default(); ROWS]; self.dimensions],
            own: std::array::from_fn(|_| nothing.clone()),
            values: [zero; ROWS],
            value_sums: [zero; ROWS],
            pulls: vec![[zero; ROWS]; self.dimensions],
        };
        for run in self.runs {
            let (mirrored, values) = match run.mirror {
                Some((values, index)) => (&self.mirrored[index], Some(values)),
                None => (&nothing, None),
            };
            for rows in groups(&run.rows) {
                self.fill(rows.clone(), values, &mut group);
                self.process::<FUSED>(&mut group, mirrored);
                let sums = &mut *self.sums;
                sums.pairs.settle();
                let first = rows.start - self.first_row;
                for (sum, value) in sums.rows[first..][..rows.len()]
                    .iter_mut()
                    .zip(group.value_sums)
                {
                    *sum += value.total();
                }
                if self.pulls_wanted {
                    let numbers = rows.len() * self.dimensions;
                    let pulls = &mut sums.row_pulls[first * self.dimensions..][..numbers];
                    add_totals(pulls, &group.pulls, self.dimensions);
                }
            }
        }
    }
}

impl<T: Scalar, P: Profile<T>> Backward<'_, T, P> {
    /// Prepares a group of rows with the values s, if they are combined with the columns. The gradients of
    /// missing rows are zero.
    #[inline(always)]
    fn fill(&self, rows: Range<usize>, values: Option<&[T]>, group: &mut Group<T>) {
        let zero = Lanes::splat(T::default());
        gather(self.rows, rows.clone(), &mut group.points);
        for (index, (own, value)) in group.own.iter_mut().zip(&mut group.values).enumerate() {
            let row = Some(rows.start + index).filter(|row| rows.contains(row));
            for segment in &self.chunk.segments {
                let gradient = row.map(|row| self.own[segment.run][row - self.first_row]);
                own[segment.columns.clone()].fill(gradient.unwrap_or_default());
            }
            *value = match (row, values) {
                (Some(row), Some(values)) => Lanes::splat(values[row]),
                _ => zero,
            };
        }
        group.value_sums = [zero; ROWS];
        group.pulls.fill([zero; ROWS]);
    }

    /// Processes a group of rows of the tile.
    #[inline(always)]
    fn process<const FUSED: bool>(&mut self, rows: &mut Group<T>, mirrored: &[T]) {
        for (index, block) in self.chunk.lanes.blocks().enumerate() {
            let profiles = profiles_and_slopes::<T, P, FUSED>(&rows.points, block);
            let weights = self.weights::<FUSED>(index, rows, mirrored, &profiles);
            let Sums {
                pairs,
                column_pulls,
                ..
            } = &mut *self.sums;
            if self.pulls_wanted {
                let others = &mut column_pulls[index * self.dimensions..][..self.dimensions];
                pairs.pull::<FUSED>(&rows.points, block, &weights, &mut rows.pulls, others);
            } else {
                pairs.stretch::<FUSED>(&rows.points, block, &weights);
            }
        }
    }

    /// `w = 2σ²·G·φ′(r²)` of a group of rows and block `index`. Adds `Σ G·φ` and `Σ φ·W̄`.
    #[inline(always)]
    fn weights<const FUSED: bool>(
        &mut self,
        index: usize,
        rows: &mut Group<T>,
        mirrored: &[T],
        [values, slopes]: &[[Block<T>; ROWS]; 2],
    ) -> Weights<T> {
        let twice_variance = Lanes::splat(T::from_f64(2.0) * self.variance);
        let mut weights = [[Lanes::splat(T::default()); ROWS]; GROUP];
        for (group, weights) in weights.iter_mut().enumerate() {
            let place = index * LANES + group * WIDTH;
            let mirrored = Lanes::load(&mirrored[place..]);
            let given = Lanes::load(&self.chunk.values[place..]);
            let columns = &mut self.sums.columns[place..];
            let mut sum = Lanes::load(columns);
            for row in 0..ROWS {
                let own = Lanes::load(&rows.own[row][place..]);
                let value = values[row].load(group);
                let gradient = rows.values[row].multiply_add::<FUSED>(mirrored, own.times(given));
                rows.value_sums[row] = mirrored.multiply_add::<FUSED>(value, rows.value_sums[row]);
                sum = own.multiply_add::<FUSED>(value, sum);
                let (slope, pairs) = (slopes[row].load(group), &mut self.sums.pairs);
                weights[row] = pairs.weights::<FUSED>(gradient, value, slope, twice_variance);
            }
            sum.store(columns);
        }
        weights
    }
}
