//! The gradients of `K(X, X)·V` for few vectors in one pass: each covariance and its slope are computed in
//! registers and used at once for all gradients.

use core::{marker::PhantomData, ops::Range};

use super::few_vectors::{
    FewVectors, add_dots, add_multiples, add_rows_of, blocks_of, of_group, rows_of,
};
use crate::ops::{
    Stationary,
    cpu::{Kernel, Lanes, Scalar, vectorized},
    stationary::{
        Block, GROUP, LANES, PairSums, Profile, ROWS, Weights, profiles_and_slopes, rows_at_once,
        with_profile,
    },
};

/// A product with few vectors and the gradient of its result.
pub(super) struct FewGradients<'a, T> {
    product: &'a FewVectors<T>,
    /// W̄, [⌈N/LANES⌉, R]
    gradient: Vec<Block<T>>,
    variance: T,
    points_wanted: bool,
}

/// The sums of one thread over its rows, in lengthscale units and units of the variance.
pub(super) struct FewSums<T> {
    /// [⌈N/LANES⌉, D], if wanted.
    pub points: Vec<Block<T>>,
    /// [⌈N/LANES⌉, R]
    pub vectors: Vec<Block<T>>,
    pub pairs: PairSums<T>,
}

impl<'a, T: Scalar> FewGradients<'a, T> {
    /// Lays out the gradient of the result, [N, R].
    pub fn new(
        product: &'a FewVectors<T>,
        gradient: &[T],
        variance: T,
        points_wanted: bool,
    ) -> Self {
        Self {
            product,
            gradient: blocks_of(gradient, product.width),
            variance,
            points_wanted,
        }
    }

    /// Empty sums.
    pub fn zeros(&self) -> FewSums<T> {
        let points = self.points_wanted.then(|| self.product.columns.zeros());
        FewSums {
            points: points.unwrap_or_default(),
            vectors: self.product.zeros(),
            pairs: PairSums::new(self.product.dimensions),
        }
    }

    /// The number of rows to add at once.
    pub fn height(&self) -> usize {
        let FewVectors {
            dimensions, width, ..
        } = *self.product;
        rows_at_once::<T>(dimensions + width)
    }

    /// Adds the contributions of some rows to the sums: at most [`height`](Self::height) rows, starting at a
    /// multiple of it. The covariances with earlier points are left out.
    pub fn add_rows(&self, kind: Stationary, rows: Range<usize>, sums: &mut FewSums<T>) {
        with_profile!(kind, P => vectorized::run(Pass::<T, P> {
            given: self,
            rows,
            sums,
            profile: PhantomData,
        }));
    }

    /// The sums of the points, [N, D], in lengthscale units; empty if they are not wanted.
    pub fn points(&self, sums: &[Block<T>]) -> Vec<T> {
        let count = if sums.is_empty() {
            0
        } else {
            self.product.len()
        };
        rows_of(sums, self.product.dimensions, count).collect()
    }
}

/// The covariances of some rows with the points of their block and of all blocks that follow.
struct Pass<'a, T, P> {
    given: &'a FewGradients<'a, T>,
    rows: Range<usize>,
    sums: &'a mut FewSums<T>,
    profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Pass<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(mut self) {
        let &FewVectors {
            dimensions, width, ..
        } = self.given.product;
        let zero = [Lanes::splat(T::default()); ROWS];
        let groups = self.rows.len().div_ceil(ROWS);
        let mut pulls = vec![zero; groups * dimensions];
        let mut vectors = vec![zero; groups * width];
        let first = self.rows.start / LANES;
        let blocks = self.given.product.columns.blocks().enumerate().skip(first);
        for (index, block) in blocks {
            let groups = self.given.product.groups(&self.rows);
            let groups = groups.zip(self.rows.clone().step_by(ROWS));
            let own = (pulls.chunks_exact_mut(dimensions)).zip(vectors.chunks_exact_mut(width));
            for ((group, row), (pulls, vectors)) in groups.zip(own) {
                let [values, slopes] = profiles_and_slopes::<T, P, FUSED>(group, block);
                let mut weights = self.gradients::<FUSED>(row, index, &values, vectors);
                self.scale::<FUSED>(&mut weights, &values, &slopes);
                let FewSums { points, pairs, .. } = &mut *self.sums;
                if self.given.points_wanted {
                    let others = &mut points[index * dimensions..][..dimensions];
                    pairs.pull::<FUSED>(group, block, &weights, pulls, others);
                } else {
                    pairs.stretch::<FUSED>(group, block, &weights);
                }
            }
            self.sums.pairs.settle();
        }
        add_rows_of(&mut self.sums.vectors, self.rows.clone(), &vectors, width);
        if self.given.points_wanted {
            add_rows_of(&mut self.sums.points, self.rows, &pulls, dimensions);
        }
    }
}

impl<T: Scalar, P: Profile<T>> Pass<'_, T, P> {
    /// The gradients of the covariances of a group of rows with block `index`. Also adds the gradients of
    /// their vectors to the sums.
    ///
    /// Both orders of two points in the same block are visited. In other blocks, one visit counts for both.
    #[inline(always)]
    fn gradients<const FUSED: bool>(
        &mut self,
        row: usize,
        index: usize,
        values: &[Block<T>; ROWS],
        own: &mut [[Lanes<T>; ROWS]],
    ) -> Weights<T> {
        let (vectors, gradient) = (&self.given.product.vectors, &self.given.gradient);
        let width = self.given.product.width;
        let mut gradients = [[Lanes::splat(T::default()); ROWS]; GROUP];
        for (vector, own) in own.iter_mut().enumerate() {
            let here = index * width + vector;
            let (others, of_others) = (&vectors[here], &gradient[here]);
            let of_rows = of_group(gradient, row, vector, width);
            add_dots::<T, FUSED>(values, of_others, own);
            add_outer::<T, FUSED>(&mut gradients, of_rows, others);
            if index > row / LANES {
                let rows = of_group(vectors, row, vector, width);
                add_outer::<T, FUSED>(&mut gradients, rows, of_others);
                add_multiples::<T, FUSED>(values, of_rows, &mut self.sums.vectors[here]);
            }
        }
        gradients
    }

    /// Adds to the gradient of the variance, and turns gradients of covariances into weights.
    #[inline(always)]
    fn scale<const FUSED: bool>(
        &mut self,
        gradients: &mut Weights<T>,
        values: &[Block<T>; ROWS],
        slopes: &[Block<T>; ROWS],
    ) {
        let twice_variance = Lanes::splat(T::from_f64(2.0) * self.given.variance);
        for (group, gradients) in gradients.iter_mut().enumerate() {
            for (gradient, (values, slopes)) in gradients.iter_mut().zip(values.iter().zip(slopes))
            {
                let (value, slope) = (values.load(group), slopes.load(group));
                let pairs = &mut self.sums.pairs;
                *gradient = pairs.weights::<FUSED>(*gradient, value, slope, twice_variance);
            }
        }
    }
}

/// `sums + rows·othersᵀ`
#[inline(always)]
fn add_outer<T: Scalar, const FUSED: bool>(
    sums: &mut Weights<T>,
    rows: [Lanes<T>; ROWS],
    others: &Block<T>,
) {
    for (group, sums) in sums.iter_mut().enumerate() {
        let other = others.load(group);
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum = row.multiply_add::<FUSED>(other, *sum);
        }
    }
}
