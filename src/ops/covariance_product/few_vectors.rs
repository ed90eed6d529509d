//! `K(X, X)·V` for few vectors in one pass: each covariance is computed in registers and used at
//! once for the results of both of its points.

use core::{marker::PhantomData, ops::Range};

use crate::ops::{
    Stationary,
    cpu::{Kernel, Lanes, Scalar, WIDTH, vectorized},
    stationary::{
        GROUP, LANES, LaneBlocks, Profile, inverses, scaled, squared_distances, with_profile,
    },
};

/// The number of rows processed with one block of points before the next: few enough that their
/// sums stay in the first-level cache.
pub(super) const ROWS: usize = 32;

const _: () = assert!(LANES.is_multiple_of(ROWS), "rows lie within one block");

/// The number of vectors up to which this pass is faster than matrix products with tiles.
pub(super) const FEW: usize = 16;

/// Points in lengthscale units with their vectors, both in blocks of [`LANES`].
pub(super) struct FewVectors<T> {
    dimensions: usize,
    /// R
    width: usize,
    /// `x/ℓ`, [N, D]
    rows: Vec<T>,
    /// `x/ℓ`
    columns: LaneBlocks<T>,
    /// V, [⌈N/LANES⌉, R, LANES], with the last block padded with zeros.
    vectors: Vec<T>,
}

impl<T: Scalar> FewVectors<T> {
    /// Lays out points, [N, D], and their vectors, [N, R].
    pub fn new(points: &[T], lengthscales: &[T], vectors: &[T]) -> Self {
        let (dimensions, inverse) = (lengthscales.len(), inverses(lengthscales));
        let width = vectors.len() * dimensions / points.len();
        let columns = LaneBlocks::new(points, &inverse);
        let mut lanes = vec![T::default(); columns.padded() * width];
        for (point, vectors) in vectors.chunks_exact(width).enumerate() {
            for (vector, &value) in vectors.iter().enumerate() {
                lanes[place(point, vector, width)] = value;
            }
        }
        Self {
            dimensions,
            width,
            rows: scaled(points, &inverse),
            columns,
            vectors: lanes,
        }
    }

    /// An empty result, in the layout of the vectors.
    pub fn zeros(&self) -> Vec<T> {
        vec![T::default(); self.vectors.len()]
    }

    /// Adds the contributions of some rows to the result: at most [`ROWS`] rows, starting at a
    /// multiple of it. The covariances with earlier points are left out; the others contribute to
    /// the rows themselves and to the points that follow.
    pub fn add_rows(&self, kind: Stationary, rows: Range<usize>, sums: &mut [T]) {
        with_profile!(kind, P => vectorized::run(Pass::<T, P> {
            points: self,
            rows,
            sums,
            profile: PhantomData,
        }));
    }

    /// σ² times the sums, as [N, R].
    pub fn result(&self, sums: &[T], variance: T) -> Vec<T> {
        let points = 0..self.columns.len();
        points
            .flat_map(|point| (0..self.width).map(move |vector| place(point, vector, self.width)))
            .map(|place| variance * sums[place])
            .collect()
    }
}

/// The index of the entry of a point and a vector.
fn place(point: usize, vector: usize, width: usize) -> usize {
    (point / LANES * width + vector) * LANES + point % LANES
}

/// The covariances of some rows with the points of their block and of all blocks that follow.
struct Pass<'a, T, P> {
    points: &'a FewVectors<T>,
    rows: Range<usize>,
    sums: &'a mut [T],
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Pass<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let FewVectors {
            dimensions,
            width,
            ref rows,
            ref columns,
            ref vectors,
        } = *self.points;
        let first = self.rows.start / LANES;
        let mut own = vec![Lanes::splat(T::default()); self.rows.len() * width];
        let blocks = columns.blocks().enumerate().skip(first);
        for (index, block) in blocks {
            for (row, own) in self.rows.clone().zip(own.chunks_exact_mut(width)) {
                let point = &rows[row * dimensions..][..dimensions];
                let mut values = squared_distances::<T, FUSED>(point, block);
                for value in &mut values.0 {
                    *value = P::value::<FUSED>(*value);
                }
                // Indexing keeps the bounds checks that slices would remove. Without them the
                // compiler processes several vectors at once, one number of each, and spreads every
                // covariance over a register.
                for vector in 0..width {
                    let here = (index * width + vector) * LANES;
                    own[vector] = add_dot::<T, FUSED>(&values.0, &vectors[here..], own[vector]);
                    if index > first {
                        let factor = Lanes::splat(vectors[place(row, vector, width)]);
                        add_multiple::<T, FUSED>(&values.0, factor, &mut self.sums[here..]);
                    }
                }
            }
        }
        for (row, own) in self.rows.zip(own.chunks_exact(width)) {
            for (vector, own) in own.iter().enumerate() {
                self.sums[place(row, vector, width)] += own.total();
            }
        }
    }
}

/// `sum + Σ a_i·b_i`, before the lanes are added up.
#[inline(always)]
fn add_dot<T: Scalar, const FUSED: bool>(
    left: &[T; LANES],
    right: &[T],
    mut sum: Lanes<T>,
) -> Lanes<T> {
    for group in 0..GROUP {
        let right = Lanes::load(&right[group * WIDTH..]);
        sum = Lanes::load(&left[group * WIDTH..]).multiply_add::<FUSED>(right, sum);
    }
    sum
}

/// `sums + factor·values`
#[inline(always)]
fn add_multiple<T: Scalar, const FUSED: bool>(
    values: &[T; LANES],
    factor: Lanes<T>,
    sums: &mut [T],
) {
    for group in 0..GROUP {
        let values = Lanes::load(&values[group * WIDTH..]);
        let sums = &mut sums[group * WIDTH..];
        let sum = values.multiply_add::<FUSED>(factor, Lanes::load(sums));
        sum.store(sums);
    }
}
