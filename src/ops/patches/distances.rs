//! Squared distances between left patches and the patches of an image.

use core::ops::Range;

use faer::{Accum, MatMut};

use super::scaled::ScaledPatches;
use crate::ops::{
    cpu::{Kernel, Lanes, Scalar, WIDTH, product_on, vectorized},
    stationary::Profile,
};

/// Fills a block, [rows, columns], with the values from which [`squared_distances`] computes squared
/// distances.
pub fn fill_block<T: Scalar, P: Profile<T>>(
    block: &mut [T],
    left: &ScaledPatches<T>,
    rows: Range<usize>,
    right: &ScaledPatches<T>,
    columns: usize,
) {
    if P::ROUGH {
        return vectorized::run(Differences {
            block,
            left,
            first_row: rows.start,
            right,
            columns,
        });
    }
    product_on(
        1,
        MatMut::from_row_major_slice_mut(block, rows.len(), columns),
        Accum::Replace,
        left.values().subcols(rows.start, rows.len()).transpose(),
        right.values().subcols(0, columns),
        T::from_f64(-2.0),
    );
}

/// `r²` of a register of patches, from the values of a block and the norms of both sides.
#[inline(always)]
pub fn squared_distances<T: Scalar, P: Profile<T>>(
    block: &[T],
    left_norm: Lanes<T>,
    right_norms: &[T],
) -> Lanes<T> {
    let mut values = Lanes::load(block);
    if P::ROUGH {
        return values;
    }
    values = values.plus(left_norm.plus(Lanes::load(right_norms)));
    let zero = T::default();
    for value in &mut values.0 {
        // Rounding may leave a negative value. NaN stays NaN.
        *value = if *value < zero { zero } else { *value };
    }
    values
}

/// Fills a block with squared distances computed from differences: exact to the last digits, and
/// exactly zero between equal patches.
struct Differences<'a, T> {
    block: &'a mut [T],
    left: &'a ScaledPatches<T>,
    first_row: usize,
    right: &'a ScaledPatches<T>,
    columns: usize,
}

impl<T: Scalar> Kernel for Differences<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        for (i, row) in self.block.chunks_exact_mut(self.columns).enumerate() {
            for (chunk, distances) in row.chunks_exact_mut(WIDTH).enumerate() {
                let mut sum = Lanes::splat(T::default());
                for (left, right) in self.left.dimensions().zip(self.right.dimensions()) {
                    let left = Lanes::splat(left[self.first_row + i]);
                    let difference = left.minus(Lanes::load(&right[chunk * WIDTH..]));
                    sum = difference.multiply_add::<FUSED>(difference, sum);
                }
                sum.store(distances);
            }
        }
    }
}
