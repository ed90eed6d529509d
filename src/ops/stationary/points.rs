//! Points in lengthscale units, laid out so that one point is processed against many at a time.

use std::borrow::Cow;

use crate::ops::cpu::{Scalar, WIDTH};

/// Registers processed together, enough to hide the latency of the exponential.
pub const GROUP: usize = 4;

/// Points processed together.
pub const LANES: usize = GROUP * WIDTH;

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
    points
        .chunks_exact(inverse.len())
        .flat_map(|point| point.iter().zip(inverse).map(|(&x, &i)| x * i))
        .collect()
}

/// `x/ℓ` in blocks of [`LANES`] points, coordinate by coordinate.
pub struct LaneBlocks<T> {
    dimensions: usize,
    /// [⌈N/LANES⌉, D, LANES], with the last block padded with the last point.
    values: Vec<T>,
    len: usize,
}

impl<T: Scalar> LaneBlocks<T> {
    /// Lays out points, [N, D].
    pub fn new(points: &[T], inverse: &[T]) -> Self {
        let dimensions = inverse.len();
        let len = points.len() / dimensions;
        let mut values = vec![T::default(); len.div_ceil(LANES) * dimensions * LANES];
        for (b, block) in values.chunks_exact_mut(dimensions * LANES).enumerate() {
            for lane in 0..LANES {
                let point = (b * LANES + lane).min(len - 1);
                for (d, &i) in inverse.iter().enumerate() {
                    block[d * LANES + lane] = points[point * dimensions + d] * i;
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

    /// The blocks, [D, LANES] each.
    pub fn blocks(&self) -> core::slice::ChunksExact<'_, T> {
        self.values.chunks_exact(self.dimensions * LANES)
    }

    /// Zeros, as many as the blocks have numbers.
    pub fn zeros(&self) -> Vec<T> {
        vec![T::default(); self.values.len()]
    }
}

/// Numbers of a block of points, aligned like registers.
///
/// The stack itself is only aligned to 16 bytes. Loops with numbers there took up to twice as long
/// where the registers lay across cache lines, which depended on the functions that called them.
#[repr(align(64))]
pub struct Block<T>(pub [T; LANES]);

impl<T: Scalar> Block<T> {
    #[inline(always)]
    pub fn zeros() -> Self {
        Self([T::default(); LANES])
    }
}

/// `r²` from one point to a block of points.
#[inline(always)]
pub fn squared_distances<T: Scalar, const FUSED: bool>(point: &[T], block: &[T]) -> Block<T> {
    let mut squares = Block::zeros();
    let sums = &mut squares.0;
    for (&a, coordinates) in point.iter().zip(block.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let difference = a - coordinates[lane];
            sums[lane] = difference.multiply_add::<FUSED>(difference, sums[lane]);
        }
    }
    squares
}
