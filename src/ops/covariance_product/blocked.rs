//! Covariances of block-sparse combinations of function values with function values:
//! `W_jn = Σ_{b∈B_j} s_b·σ²·φ(r²(x_b, x′_n))`.
//!
//! If both sets of points are the same, the covariance of two points in different runs is computed
//! once and used twice: tiles lie only on and above the diagonal of the covariance matrix.

use core::{marker::PhantomData, ops::Range};

use super::{
    blocks::Runs,
    layout::{Chunk, ROWS, Stretch, stretches, width},
    passes::{Backward, Forward, RowRun, Sums},
};
use crate::ops::{
    Stationary,
    covariance::{CovarianceGradients, parts},
    cpu::{Scalar, add_up, in_parts, share_out, vectorized},
    stationary::{Block, LANES, PairSums, Profile, inverses, scaled, with_profile},
};

/// The covariances of block-sparse combinations.
#[derive(Clone, Copy)]
pub struct BlockProduct<'a, T> {
    /// The runs of points.
    pub runs: &'a Runs,
    /// x, [N, D]
    pub points: &'a [T],
    /// x′, [N′, D], if these are different points.
    pub others: Option<&'a [T]>,
    /// `[D]`
    pub lengthscales: &'a [T],
    /// σ²
    pub variance: T,
    /// s, `[N]`
    pub values: &'a [T],
}

/// The gradients of `Σ_jn W̄_jn·W_jn`.
pub struct BlockProductGradients<T> {
    /// [N, D], if needed
    pub points: Option<Vec<T>>,
    /// [N′, D], if needed and if there are other points
    pub others: Option<Vec<T>>,
    /// `[D]`
    pub lengthscales: Vec<T>,
    /// With respect to σ².
    pub variance: T,
    /// `[N]`
    pub values: Vec<T>,
}

/// The rows and columns of a tile, by index.
struct Tile<'o, T> {
    group: usize,
    stretch: usize,
    /// W, [runs of the columns][rows]
    own: Vec<&'o mut [T]>,
    /// W, [runs of the rows][columns]
    mirrored: Vec<&'o mut [T]>,
}

/// The values that all tiles read.
struct Prepared<'a, T> {
    given: BlockProduct<'a, T>,
    /// x′/ℓ, [N′, D]
    rows: Vec<T>,
    stretches: Vec<Stretch<T>>,
    /// The rows of each tile.
    groups: Vec<Range<usize>>,
}

/// The sums of one thread over its tiles, in lengthscale units.
struct Part {
    squares: Vec<f64>,
    variance: f64,
    /// `[N]`
    values: Vec<f64>,
    /// [N, D] and [N′, D], if needed
    pulls: Option<[Vec<f64>; 2]>,
}

impl<T: Scalar> BlockProduct<'_, T> {
    fn columns(&self) -> usize {
        self.others.unwrap_or(self.points).len() / self.lengthscales.len()
    }

    fn parts(&self) -> usize {
        parts(self.runs.points(), self.columns())
    }

    /// W, [I, N′], computed from every point.
    pub(super) fn covariances_of_all(&self, kind: Stationary) -> Vec<T> {
        let mut out = vec![T::default(); self.runs.count() * self.columns()];
        if out.is_empty() {
            return out;
        }
        let prepared = Prepared::new(*self, self.parts());
        let mut tiles = prepared.tiles(Some(&mut out));
        // Threads take the tiles, which differ in size, as they come.
        let parts = if self.parts() > 1 { tiles.len() } else { 1 };
        in_parts(&mut tiles, 1, parts, &|tiles, _| {
            for tile in tiles {
                with_profile!(kind, P => prepared.fill::<P>(tile));
            }
        });
        out
    }

    /// The gradients, computed from every point; `gradient` is the gradient of W, [I, N′].
    /// Gradients of the points are computed only if needed.
    pub(super) fn backward_of_all(
        &self,
        kind: Stationary,
        gradient: &[T],
        points_wanted: bool,
    ) -> BlockProductGradients<T> {
        let dimensions = self.lengthscales.len();
        let prepared = Prepared::new(*self, self.parts());
        let tiles = prepared.tiles(None).into_iter().map(|tile| {
            let size =
                prepared.groups[tile.group].len() * prepared.stretches[tile.stretch].points.len();
            (tile, size)
        });
        let part = || Part::new(self.points.len(), self.columns(), dimensions, points_wanted);
        let shares = share_out(tiles, self.parts()).into_iter();
        let mut work: Vec<(Vec<Tile<'_, T>>, Part)> = shares.map(|tiles| (tiles, part())).collect();
        let threads = work.len();
        in_parts(&mut work, 1, threads, &|work, _| {
            for (tiles, part) in work {
                for tile in tiles {
                    with_profile!(kind, P => prepared.backward_tile::<P>(tile, gradient, part));
                }
            }
        });
        self.gradients(Part::sum(work.into_iter().map(|(_, part)| part), part()))
    }

    /// Converts lengthscale units to input units.
    fn gradients(&self, total: Part) -> BlockProductGradients<T> {
        let numbers = |sums: Vec<f64>| sums.into_iter().map(T::from_f64).collect::<Vec<T>>();
        let wanted = total.pulls.is_some();
        let [mut columns, mut rows] = total.pulls.unwrap_or_default();
        if self.others.is_none() {
            columns.iter_mut().zip(&rows).for_each(|(sum, x)| *sum += x);
            rows = Vec::new();
        }
        let CovarianceGradients {
            x1: others,
            x2: points,
            lengthscales,
            variance,
        } = CovarianceGradients::in_input_units(
            numbers(rows),
            numbers(columns),
            &total.squares,
            total.variance,
            self.lengthscales,
        );
        let scale = self.variance.to_f64();
        BlockProductGradients {
            points: wanted.then_some(points),
            others: (wanted && self.others.is_some()).then_some(others),
            lengthscales,
            variance,
            values: numbers(total.values.into_iter().map(|sum| sum * scale).collect()),
        }
    }
}

impl<'a, T: Scalar> Prepared<'a, T> {
    /// Lays out the points in tiles for this number of threads.
    fn new(given: BlockProduct<'a, T>, threads: usize) -> Self {
        let inverse = inverses(given.lengthscales);
        let width = width(given.runs.points(), threads);
        let stretches = stretches(given.runs, given.points, given.values, &inverse, width);
        let groups = match given.others {
            None => stretches.iter().map(|s| s.points.clone()).collect(),
            Some(_) => {
                let count = given.columns();
                let height = width.min(ROWS);
                let starts = (0..count).step_by(height);
                starts.map(|row| row..(row + height).min(count)).collect()
            }
        };
        Self {
            given,
            rows: scaled(given.others.unwrap_or(given.points), &inverse),
            stretches,
            groups,
        }
    }

    fn is_symmetric(&self) -> bool {
        self.given.others.is_none()
    }

    /// Whether the runs of a tile's rows are also combined with its columns.
    fn is_mirrored(&self, group: usize, stretch: usize) -> bool {
        self.is_symmetric() && group != stretch
    }

    /// All tiles, each with the parts of `out`, [I, N′], that it adds to.
    fn tiles<'o>(&self, out: Option<&'o mut [T]>) -> Vec<Tile<'o, T>> {
        let columns = self.given.columns();
        let mut places: Vec<Vec<Option<&'o mut [T]>>> = Vec::new(); // [I][groups]
        for mut row in out.into_iter().flat_map(|out| out.chunks_mut(columns)) {
            let parts = self.groups.iter().map(|group| {
                let (part, rest) = std::mem::take(&mut row).split_at_mut(group.len());
                row = rest;
                Some(part)
            });
            places.push(parts.collect());
        }
        let mut take = |runs: &Range<usize>, group: usize| -> Vec<&'o mut [T]> {
            let places = places.get_mut(runs.clone()).into_iter().flatten();
            places.filter_map(|row| row[group].take()).collect()
        };
        let mut tiles = Vec::new();
        for group in 0..self.groups.len() {
            let first = if self.is_symmetric() { group } else { 0 };
            for stretch in first..self.stretches.len() {
                let own = take(&self.stretches[stretch].runs, group);
                let mirrored = if self.is_mirrored(group, stretch) {
                    take(&self.stretches[group].runs, stretch)
                } else {
                    Vec::new()
                };
                tiles.push(Tile {
                    group,
                    stretch,
                    own,
                    mirrored,
                });
            }
        }
        tiles
    }

    /// The rows of a tile, split into runs where the runs are combined with the columns.
    fn runs(&self, tile: &Tile<'_, T>) -> Vec<RowRun<'_, T>> {
        if !self.is_mirrored(tile.group, tile.stretch) {
            return vec![RowRun {
                rows: self.groups[tile.group].clone(),
                mirror: None,
            }];
        }
        let runs = self.stretches[tile.group].runs.clone().enumerate();
        let runs = runs.map(|(index, run)| RowRun {
            rows: self.given.runs.range(run),
            mirror: Some((self.given.values, index)),
        });
        runs.collect()
    }

    /// Adds one tile to W.
    fn fill<P: Profile<T>>(&self, tile: &mut Tile<'_, T>) {
        let runs = self.runs(tile);
        let stretch = &self.stretches[tile.stretch];
        for chunk in &stretch.chunks {
            vectorized::run(Forward::<T, P> {
                rows: &self.rows,
                dimensions: self.given.lengthscales.len(),
                chunk,
                variance: self.given.variance,
                first_row: self.groups[tile.group].start,
                runs: &runs,
                own: &mut tile.own,
                mirrored: &mut tile.mirrored,
                offset: chunk.first - stretch.points.start,
                profile: PhantomData,
            });
        }
    }

    /// Adds one tile's contribution to the gradients.
    fn backward_tile<P: Profile<T>>(&self, tile: &Tile<'_, T>, gradient: &[T], part: &mut Part) {
        let (runs, stretch) = (self.runs(tile), &self.stretches[tile.stretch]);
        let (rows, dimensions) = (
            self.groups[tile.group].clone(),
            self.given.lengthscales.len(),
        );
        let columns = self.given.columns();
        let of_run = |run: usize, range: Range<usize>| &gradient[run * columns..][range];
        let own: Vec<_> = stretch
            .runs
            .clone()
            .map(|run| of_run(run, rows.clone()))
            .collect();
        let pulls_wanted = part.pulls.is_some();
        for chunk in &stretch.chunks {
            let mirrored: Vec<Vec<T>> = if self.is_mirrored(tile.group, tile.stretch) {
                let range = chunk.first..chunk.first + chunk.lanes.len();
                let runs = self.stretches[tile.group].runs.clone();
                let padded = runs.map(|run| {
                    let mut padded = of_run(run, range.clone()).to_vec();
                    padded.resize(chunk.padded(), T::default());
                    padded
                });
                padded.collect()
            } else {
                Vec::new()
            };
            let wanted = |count: usize| if pulls_wanted { count } else { 0 };
            let blocks = chunk.lanes.blocks().len();
            let mut sums = Sums {
                pairs: PairSums::new(dimensions),
                rows: vec![T::default(); rows.len()],
                columns: vec![T::default(); chunk.padded()],
                row_pulls: vec![T::default(); wanted(rows.len() * dimensions)],
                column_pulls: vec![Block::zeros(); wanted(blocks * dimensions)],
            };
            vectorized::run(Backward::<T, P> {
                rows: &self.rows,
                dimensions,
                chunk,
                variance: self.given.variance,
                first_row: rows.start,
                runs: &runs,
                own: &own,
                mirrored: &mirrored,
                sums: &mut sums,
                pulls_wanted,
                profile: PhantomData,
            });
            let mirrors = !mirrored.is_empty();
            part.take(&sums, rows.start, chunk, mirrors);
        }
    }
}

impl Part {
    fn new(points: usize, columns: usize, dimensions: usize, pulls_wanted: bool) -> Self {
        let pulls = || [vec![0.0; points], vec![0.0; columns * dimensions]];
        Self {
            squares: vec![0.0; dimensions],
            variance: 0.0,
            values: vec![0.0; points / dimensions],
            pulls: pulls_wanted.then(pulls),
        }
    }

    /// Adds the sums of a tile whose rows begin at `first_row`. `mirrors` is true if the rows' runs
    /// are combined with its columns.
    fn take<T: Scalar>(
        &mut self,
        sums: &Sums<T>,
        first_row: usize,
        chunk: &Chunk<T>,
        mirrors: bool,
    ) {
        let dimensions = self.squares.len();
        let add = |sums: &mut [f64], values: &[T]| {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value.to_f64();
            }
        };
        let (squares, variance) = sums.pairs.totals();
        for (sum, square) in self.squares.iter_mut().zip(squares) {
            *sum += square;
        }
        self.variance += variance;
        let columns = chunk.first..chunk.first + chunk.lanes.len();
        add(&mut self.values[columns.clone()], &sums.columns);
        if mirrors {
            add(&mut self.values[first_row..], &sums.rows);
        }
        let Some([points, others]) = &mut self.pulls else {
            return;
        };
        add(&mut others[first_row * dimensions..], &sums.row_pulls);
        for (offset, point) in points[columns.start * dimensions..columns.end * dimensions]
            .chunks_exact_mut(dimensions)
            .enumerate()
        {
            let blocks = &sums.column_pulls[offset / LANES * dimensions..];
            for (sum, block) in point.iter_mut().zip(blocks) {
                *sum += block.0[offset % LANES].to_f64();
            }
        }
    }

    /// The sums of several parts; `empty` if there are none.
    fn sum(parts: impl Iterator<Item = Self>, empty: Self) -> Self {
        let mut total = empty;
        let [mut values, mut points, mut others] = [const { Vec::new() }; 3];
        for part in parts {
            for (sum, square) in total.squares.iter_mut().zip(&part.squares) {
                *sum += square;
            }
            total.variance += part.variance;
            values.push(part.values);
            if let Some([of_points, of_others]) = part.pulls {
                points.push(of_points);
                others.push(of_others);
            }
        }
        total.values = add_up(values).unwrap_or(total.values);
        total.pulls = add_up(points)
            .zip(add_up(others))
            .map(<[_; 2]>::from)
            .or(total.pulls);
        total
    }
}
