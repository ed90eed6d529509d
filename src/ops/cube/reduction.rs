//! Sums and extremes over the threads of a cube.

use burn_cubecl::cubecl::{self, prelude::*};

use super::is_nan;

/// Threads of a cube that reduces.
pub const REDUCING: usize = 1 << LEVELS;
/// Levels of the tree of a reduction.
const LEVELS: usize = 8;

/// How to combine two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    Sum,
    /// The smaller value, or NaN if either is NaN.
    Smallest,
    /// The larger value, or NaN if either is NaN.
    Largest,
}

/// Reduces two values.
#[cube]
pub fn combine<F: Float>(first: F, second: F, #[comptime] reduction: Reduction) -> F {
    let mut result = first;
    if comptime!(reduction == Reduction::Sum) {
        result = first + second;
    } else {
        let mut replaces = is_nan::<F>(second);
        if comptime!(reduction == Reduction::Smallest) {
            replaces = replaces || second < first;
        } else {
            replaces = replaces || second > first;
        }
        if replaces && !is_nan::<F>(first) {
            result = second;
        }
    }
    result
}

/// Reduces one value per thread of a cube of [`REDUCING`] threads, as a tree. All threads get the result, and
/// all must call this.
#[cube]
pub fn reduce<F: Float>(value: F, #[comptime] reduction: Reduction) -> F {
    let mut values = Shared::<[F]>::new_slice(REDUCING);
    let unit = UNIT_POS as usize;
    values[unit] = value;
    sync_cube();
    #[unroll]
    for level in 0..LEVELS {
        let half = comptime!(REDUCING >> (level + 1));
        if unit < half {
            values[unit] = combine::<F>(values[unit], values[unit + half], reduction);
        }
        sync_cube();
    }
    let result = values[0];
    // A later reduction may use the same memory.
    sync_cube();
    result
}
