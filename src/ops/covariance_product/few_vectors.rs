//! `K(X, X)·V` for few vectors in one pass: each covariance is computed in registers and used at
//! once for the results of both of its points.

use core::{marker::PhantomData, ops::Range};

use crate::ops::{
    Stationary,
    cpu::{Kernel, Lanes, Scalar, vectorized},
    stationary::{
        Block, GROUP, LANES, LaneBlocks, Profile, ROWS, RowGroups, inverses, profiles,
        rows_at_once, scaled, with_profile,
    },
};

/// The number of vectors up to which this pass is faster than matrix products with tiles.
pub(super) const FEW: usize = 16;

/// Points in lengthscale units with their vectors.
pub(super) struct FewVectors<T> {
    pub dimensions: usize,
    /// R
    pub width: usize,
    /// `x/ℓ`
    rows: RowGroups<T>,
    /// `x/ℓ`
    pub columns: LaneBlocks<T>,
    /// V, [⌈N/LANES⌉, R]
    pub vectors: Vec<Block<T>>,
}

impl<T: Scalar> FewVectors<T> {
    /// Lays out points, [N, D], and their vectors, [N, R].
    pub fn new(points: &[T], lengthscales: &[T], vectors: &[T]) -> Self {
        let (dimensions, inverse) = (lengthscales.len(), inverses(lengthscales));
        let width = vectors.len() * dimensions / points.len();
        Self {
            dimensions,
            width,
            rows: RowGroups::new(&scaled(points, &inverse), dimensions),
            columns: LaneBlocks::new(points, &inverse),
            vectors: blocks_of(vectors, width),
        }
    }

    /// The number of points, N.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// An empty result, in the layout of the vectors.
    pub fn zeros(&self) -> Vec<Block<T>> {
        vec![Block::zeros(); self.vectors.len()]
    }

    /// The groups of some rows, `[D]` each. The first row must be the first of a group.
    pub fn groups(&self, rows: &Range<usize>) -> impl Iterator<Item = &[[T; ROWS]]> + use<'_, T> {
        let groups = self.rows.groups().skip(rows.start / ROWS);
        groups.take(rows.len().div_ceil(ROWS))
    }

    /// The number of rows to add at once.
    pub fn height(&self) -> usize {
        rows_at_once::<T>(self.width)
    }

    /// Adds the contributions of some rows to the result: at most [`height`](Self::height) rows, starting at
    /// a multiple of it. The covariances with earlier points are left out; the others contribute to
    /// the rows themselves and to the points that follow.
    pub fn add_rows(&self, kind: Stationary, rows: Range<usize>, sums: &mut [Block<T>]) {
        with_profile!(kind, P => vectorized::run(Pass::<T, P> {
            points: self,
            rows,
            sums,
            profile: PhantomData,
        }));
    }

    /// σ² times the sums, as [N, R].
    pub fn result(&self, sums: &[Block<T>], variance: T) -> Vec<T> {
        let sums = rows_of(sums, self.width, self.len());
        sums.map(|sum| variance * sum).collect()
    }
}

/// A row-major matrix, [N, width], as [⌈N/LANES⌉, width], with the last blocks padded with zeros.
pub(super) fn blocks_of<T: Scalar>(values: &[T], width: usize) -> Vec<Block<T>> {
    let points = values.len() / width;
    let mut blocks = vec![Block::zeros(); points.div_ceil(LANES) * width];
    for (point, values) in values.chunks_exact(width).enumerate() {
        for (block, &value) in blocks[point / LANES * width..].iter_mut().zip(values) {
            block.0[point % LANES] = value;
        }
    }
    blocks
}

/// The values of a row-major matrix, [N, width], from [⌈N/LANES⌉, width].
pub(super) fn rows_of<T: Scalar>(
    blocks: &[Block<T>],
    width: usize,
    points: usize,
) -> impl Iterator<Item = T> {
    (0..points).flat_map(move |point| {
        let blocks = &blocks[point / LANES * width..][..width];
        blocks.iter().map(move |block| block.0[point % LANES])
    })
}

/// The values of a group of rows in one column of a matrix, [⌈N/LANES⌉, width], each in all lanes.
#[inline(always)]
pub(super) fn of_group<T: Scalar>(
    blocks: &[Block<T>],
    row: usize,
    column: usize,
    width: usize,
) -> [Lanes<T>; ROWS] {
    let numbers = &blocks[row / LANES * width + column].0[row % LANES..];
    [Lanes::splat(numbers[0]), Lanes::splat(numbers[1])]
}

/// Adds the sums of the groups of some rows, `width` values each, to a matrix, [⌈N/LANES⌉, width].
#[inline(always)]
pub(super) fn add_rows_of<T: Scalar>(
    blocks: &mut [Block<T>],
    rows: Range<usize>,
    sums: &[[Lanes<T>; ROWS]],
    width: usize,
) {
    for (index, row) in rows.enumerate() {
        let sums = &sums[index / ROWS * width..][..width];
        for (block, sums) in blocks[row / LANES * width..].iter_mut().zip(sums) {
            block.0[row % LANES] += sums[index % ROWS].total();
        }
    }
}

/// The covariances of some rows with the points of their block and of all blocks that follow.
struct Pass<'a, T, P> {
    points: &'a FewVectors<T>,
    rows: Range<usize>,
    sums: &'a mut [Block<T>],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Pass<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let FewVectors {
            width, ref vectors, ..
        } = *self.points;
        let first = self.rows.start / LANES;
        let zero = [Lanes::splat(T::default()); ROWS];
        let mut own = vec![zero; self.rows.len().div_ceil(ROWS) * width];
        let blocks = self.points.columns.blocks().enumerate().skip(first);
        for (index, block) in blocks {
            let groups = self.points.groups(&self.rows);
            let starts = self.rows.clone().step_by(ROWS);
            for ((group, row), own) in groups.zip(starts).zip(own.chunks_exact_mut(width)) {
                let values = profiles::<T, P, FUSED>(group, block);
                for (vector, own) in own.iter_mut().enumerate() {
                    let here = index * width + vector;
                    add_dots::<T, FUSED>(&values, &vectors[here], own);
                    if index > first {
                        let factors = of_group(vectors, row, vector, width);
                        add_multiples::<T, FUSED>(&values, factors, &mut self.sums[here]);
                    }
                }
            }
        }
        add_rows_of(self.sums, self.rows, &own, width);
    }
}

/// `sums + Σ a_i·b_i` of two rows, before the lanes are added up.
#[inline(always)]
pub(super) fn add_dots<T: Scalar, const FUSED: bool>(
    rows: &[Block<T>; ROWS],
    right: &Block<T>,
    sums: &mut [Lanes<T>; ROWS],
) {
    let [mut first, mut second] = *sums;
    for group in 0..GROUP {
        let right = right.load(group);
        first = rows[0].load(group).multiply_add::<FUSED>(right, first);
        second = rows[1].load(group).multiply_add::<FUSED>(right, second);
    }
    *sums = [first, second];
}

/// `sums + factor·values` of two rows.
#[inline(always)]
pub(super) fn add_multiples<T: Scalar, const FUSED: bool>(
    rows: &[Block<T>; ROWS],
    [first, second]: [Lanes<T>; ROWS],
    sums: &mut Block<T>,
) {
    for group in 0..GROUP {
        let sum = rows[0]
            .load(group)
            .multiply_add::<FUSED>(first, sums.load(group));
        sums.store(
            group,
            rows[1].load(group).multiply_add::<FUSED>(second, sum),
        );
    }
}
