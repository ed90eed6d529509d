//! Points in lengthscale units, laid out so that one point is processed against many at a time.

use std::{
    borrow::Cow,
    iter::repeat,
    ops::{AddAssign, Range},
    slice::{Chunks, ChunksExact},
};

use crate::ops::cpu::{Lanes, Scalar, WIDTH};

/// Registers processed together.
pub const GROUP: usize = 4;

/// Points processed together.
pub const LANES: usize = GROUP * WIDTH;

/// Rows processed together: each value of a block of points is loaded once for all of them, and the latency
/// of one exponential is hidden by the others.
pub const ROWS: usize = 2;

const _: () = assert!(
    LANES.is_multiple_of(MOST_ROWS) && MOST_ROWS.is_multiple_of(ROWS) && ROWS.is_power_of_two(),
    "rows at once are whole groups and lie within one block"
);

/// Maximum number of rows processed with one block of points before the next.
const MOST_ROWS: usize = 32;

/// Maximum bytes of the sums of the rows that are processed with one block, so that they fit into the
/// first-level cache together with it.
const SUMS: usize = 24 << 10;

/// The number of rows to process with one block of points before the next, if each has this many sums: a
/// power of two.
pub fn rows_at_once<T>(sums: usize) -> usize {
    let fit = SUMS / (sums * size_of::<Lanes<T>>());
    1 << fit.clamp(ROWS, MOST_ROWS).ilog2()
}

/// Expands to one lengthscale per input dimension.
pub fn expand<T: Scalar>(lengthscales: &[T], dimensions: usize) -> Cow<'_, [T]> {
    if lengthscales.len() == dimensions {
        Cow::Borrowed(lengthscales)
    } else {
        Cow::Owned(vec![lengthscales[0]; dimensions])
    }
}

/// `1/ℓ`, `[D]`.
pub fn inverses<T: Scalar>(lengthscales: &[T]) -> Vec<T> {
    let one = T::from_f64(1.0);
    lengthscales.iter().map(|&l| one / l).collect()
}

/// `x/ℓ`, [N, D].
pub fn scaled<T: Scalar>(points: &[T], inverse: &[T]) -> Vec<T> {
    let mut scaled = points.to_vec();
    for point in scaled.chunks_exact_mut(inverse.len()) {
        for (x, &i) in point.iter_mut().zip(inverse) {
            *x *= i;
        }
    }
    scaled
}

/// Values of a block of points, aligned like registers.
///
/// The stack and the allocator only align to 16 bytes. Loops over such values took up to twice as long where
/// registers crossed cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Block<T>(pub [T; LANES]);

impl<T: Scalar> Block<T> {
    #[inline(always)]
    pub fn zeros() -> Self {
        Self([T::default(); LANES])
    }

    /// The values of one register.
    #[inline(always)]
    pub fn load(&self, group: usize) -> Lanes<T> {
        Lanes::load(&self.0[group * WIDTH..])
    }

    /// Replaces the values of one register.
    #[inline(always)]
    pub fn store(&mut self, group: usize, lanes: Lanes<T>) {
        lanes.store(&mut self.0[group * WIDTH..]);
    }
}

impl<T: Scalar> AddAssign for Block<T> {
    fn add_assign(&mut self, other: Self) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum += value;
        }
    }
}

/// `x/ℓ` in blocks of [`LANES`] points, coordinate by coordinate.
pub struct LaneBlocks<T> {
    dimensions: usize,
    /// [⌈N/LANES⌉, D], with the last block padded with the last point.
    values: Vec<Block<T>>,
    len: usize,
}

impl<T: Scalar> LaneBlocks<T> {
    /// Lays out points, [N, D].
    pub fn new(points: &[T], inverse: &[T]) -> Self {
        let dimensions = inverse.len();
        let len = points.len() / dimensions;
        let mut values = vec![Block::zeros(); len.div_ceil(LANES) * dimensions];
        let parts = points.chunks(LANES * dimensions);
        for (block, part) in values.chunks_exact_mut(dimensions).zip(parts) {
            let last = &part[part.len() - dimensions..];
            let padded = part.chunks_exact(dimensions).chain(repeat(last));
            for (lane, point) in padded.take(LANES).enumerate() {
                for (block, (&x, &i)) in block.iter_mut().zip(point.iter().zip(inverse)) {
                    block.0[lane] = x * i;
                }
            }
        }
        Self {
            dimensions,
            values,
            len,
        }
    }

    /// The number of points, N.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of lanes, including those beyond the last point.
    pub fn padded(&self) -> usize {
        self.len.next_multiple_of(LANES)
    }

    /// The blocks, `[D]` each.
    pub fn blocks(&self) -> ChunksExact<'_, Block<T>> {
        self.values.chunks_exact(self.dimensions)
    }

    /// Zeros in the layout of the blocks.
    pub fn zeros(&self) -> Vec<Block<T>> {
        vec![Block::zeros(); self.values.len()]
    }
}

/// `x/ℓ` in groups of [`ROWS`] points, coordinate by coordinate.
pub struct RowGroups<T> {
    dimensions: usize,
    /// [⌈N/ROWS⌉, D], with the last group padded with the last point.
    values: Vec<[T; ROWS]>,
}

impl<T: Scalar> RowGroups<T> {
    /// Lays out points in lengthscale units, [N, D].
    pub fn new(points: &[T], dimensions: usize) -> Self {
        let len = points.len() / dimensions;
        let mut values = vec![[T::default(); ROWS]; len.div_ceil(ROWS) * dimensions];
        let groups = values.chunks_exact_mut(dimensions);
        for (group, first) in groups.zip((0..len).step_by(ROWS)) {
            gather(points, first..(first + ROWS).min(len), group);
        }
        Self { dimensions, values }
    }

    /// The groups, `[D]` each.
    pub fn groups(&self) -> ChunksExact<'_, [T; ROWS]> {
        self.values.chunks_exact(self.dimensions)
    }

    /// The groups in parts of this many; the last part may have fewer.
    pub fn parts(&self, groups: usize) -> Chunks<'_, [T; ROWS]> {
        self.values.chunks(groups * self.dimensions)
    }
}

/// Lays out a group of rows of some points in lengthscale units, [N, D]. A group with fewer rows is padded
/// with the last row.
#[inline(always)]
pub fn gather<T: Scalar>(points: &[T], rows: Range<usize>, group: &mut [[T; ROWS]]) {
    let dimensions = group.len();
    for (d, numbers) in group.iter_mut().enumerate() {
        for (offset, number) in numbers.iter_mut().enumerate() {
            let row = (rows.start + offset).min(rows.end - 1);
            *number = points[row * dimensions + d];
        }
    }
}

/// Adds the sums of groups of rows, `width` values per row, to the rows, [N, width].
#[inline(always)]
pub fn add_totals<T: Scalar>(rows: &mut [T], sums: &[[Lanes<T>; ROWS]], width: usize) {
    let groups = rows.chunks_mut(ROWS * width);
    for (rows, sums) in groups.zip(sums.chunks_exact(width)) {
        for (index, row) in rows.chunks_exact_mut(width).enumerate() {
            for (total, sums) in row.iter_mut().zip(sums) {
                *total += sums[index].total();
            }
        }
    }
}

/// `r²` from a group of points to a block of points.
#[inline(always)]
pub fn squared_distances<T: Scalar, const FUSED: bool>(
    rows: &[[T; ROWS]],
    block: &[Block<T>],
) -> [Block<T>; ROWS] {
    let mut squares = [Block::zeros(); ROWS];
    let [first, second] = &mut squares;
    for (&[a, b], coordinates) in rows.iter().zip(block) {
        for lane in 0..LANES {
            let coordinate = coordinates.0[lane];
            let difference = a - coordinate;
            first.0[lane] = difference.multiply_add::<FUSED>(difference, first.0[lane]);
            let difference = b - coordinate;
            second.0[lane] = difference.multiply_add::<FUSED>(difference, second.0[lane]);
        }
    }
    squares
}
