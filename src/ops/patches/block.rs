//! Passes over a block of distances between some left patches and the patches of an image.

use core::marker::PhantomData;

use super::distances::squared_distances;
use crate::ops::{
    cpu::{Kernel, Lanes, Scalar, WIDTH},
    stationary::Profile,
};

/// A block, as the forward and the backward pass read it.
#[derive(Clone, Copy)]
pub struct Block<'a, T> {
    /// The number of columns, padded to whole registers.
    pub columns: usize,
    /// The patch of the first row, if both sides are the patches of one image. In that case, only the columns
    /// before a row's own patch count; the other weights are zero.
    pub diagonal: Option<usize>,
    /// `‖a‖²`, one per row
    pub left_norms: &'a [T],
    /// `‖b‖²`, one per column
    pub right_norms: &'a [T],
    /// One weight per covariance, in rows of `stride`.
    pub weights: &'a [T],
    /// The distance between rows of weights.
    pub stride: usize,
}

impl<T> Block<'_, T> {
    /// The number of columns of a row that count, in whole registers.
    #[inline(always)]
    fn width(&self, row: usize) -> usize {
        match self.diagonal {
            Some(first) => (first + row).next_multiple_of(WIDTH),
            None => self.columns,
        }
    }
}

/// `Σ_j A_ij·φ(r²_ij)`, one per row.
pub struct Sums<'a, T, P> {
    pub block: Block<'a, T>,
    pub distances: &'a [T],
    pub sums: &'a mut [f64],
    pub profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Sums<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let block = self.block;
        let rows = self.distances.chunks_exact(block.columns);
        for (i, (distances, sum)) in rows.zip(self.sums).enumerate() {
            let norm = Lanes::splat(block.left_norms[i]);
            let mut total = Lanes::splat(T::default());
            let chunks = distances[..block.width(i)].chunks_exact(WIDTH);
            let norms = block.right_norms.chunks_exact(WIDTH);
            let weights = block.weights[i * block.stride..].chunks_exact(WIDTH);
            for ((distances, norms), weights) in chunks.zip(norms).zip(weights) {
                let mut values = squared_distances::<T, P>(distances, norm, norms);
                for value in &mut values.0 {
                    *value = P::value::<FUSED>(*value);
                }
                total = values.multiply_add::<FUSED>(Lanes::load(weights), total);
            }
            *sum = total.sum();
        }
    }
}

/// Turns a block into `w_ij = 2σ²·g_i·A_ij·φ′(r²_ij)` and adds `g_i·φ` to the gradient of A.
///
/// Sums over columns stay in their lanes: if they were added up here, the compiler would split the
/// registers of the inner loop.
pub struct Pulls<'a, T, P> {
    pub block: Block<'a, T>,
    pub distances: &'a mut [T],
    pub variance: T,
    /// g, one per row
    pub gradient: &'a [T],
    /// Rows of length `stride`.
    pub weights_gradient: &'a mut [T],
    /// Receives the lanes of `Σ_j w_ij`, [rows, WIDTH].
    pub row_sums: &'a mut [T],
    /// Receives the lanes of `Σ_j w_ij·r²_ij`, [rows, WIDTH].
    pub row_squares: &'a mut [T],
    /// Receives `Σ_i w_ij`, one per column.
    pub column_sums: &'a mut [T],
    pub profile: PhantomData<P>,
}

impl<T: Scalar, P: Profile<T>> Kernel for Pulls<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let block = self.block;
        let lanes = self.row_sums.chunks_exact_mut(WIDTH);
        let lanes = lanes.zip(self.row_squares.chunks_exact_mut(WIDTH));
        let rows = self.distances.chunks_exact_mut(block.columns);
        for (i, (row, (row_sum, row_square))) in rows.zip(lanes).enumerate() {
            let norm = Lanes::splat(block.left_norms[i]);
            let gradient = Lanes::splat(self.gradient[i]);
            let scale = Lanes::splat(T::from_f64(2.0) * self.variance * self.gradient[i]);
            let mut total = Lanes::splat(T::default());
            let mut square = total;
            let (inside, outside) = row.split_at_mut(block.width(i));
            outside.fill(T::default());
            let norms = block.right_norms.chunks_exact(WIDTH);
            let weights = block.weights[i * block.stride..].chunks_exact(WIDTH);
            let sums = self.weights_gradient[i * block.stride..].chunks_exact_mut(WIDTH);
            let columns = self.column_sums.chunks_exact_mut(WIDTH);
            let right = norms.zip(weights).zip(sums).zip(columns);
            for (distances, (((norms, weights), sums), column)) in
                inside.chunks_exact_mut(WIDTH).zip(right)
            {
                let mut values = squared_distances::<T, P>(distances, norm, norms);
                let (distance, mut slopes) = (values, values);
                for lane in 0..WIDTH {
                    (values.0[lane], slopes.0[lane]) =
                        P::value_and_slope::<FUSED>(distance.0[lane]);
                }
                let sum = values.multiply_add::<FUSED>(gradient, Lanes::load(sums));
                sum.store(sums);
                let pull = slopes.times(scale).times(Lanes::load(weights));
                pull.store(distances);
                Lanes::load(column).plus(pull).store(column);
                total = total.plus(pull);
                square = pull.multiply_add::<FUSED>(distance, square);
            }
            Lanes::load(row_sum).plus(total).store(row_sum);
            Lanes::load(row_square).plus(square).store(row_square);
        }
    }
}
