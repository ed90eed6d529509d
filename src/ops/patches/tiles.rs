//! Tiling of the sums over patches on the CPU.
//!
//! There is one covariance per pair of a left patch and a patch of any image, and none is stored. An image's
//! patches are laid out dimension by dimension in lengthscale units. A block of `−2aᵀb` between some left
//! patches and an image's patches is a matrix product that stays in the core's cache; one pass over it
//! computes distances, profiles and their weighted sums. The backward pass recomputes the blocks and replaces
//! them by `w`, twice the derivative of a loss with respect to `r²`, as in the covariance of two sets of
//! points. Where the products leave `r²` too inaccurate for a profile that is rough at zero, coordinate
//! differences are used instead.

use core::ops::Range;
use std::borrow::Cow;

use crate::ops::cpu::{Scalar, WIDTH};

/// Bytes of a block of distances. The weights of its rows and their gradient take as much each, and the
/// patches of some images take [`TILE_BYTES`]. Together that is less than a megabyte, the size of a core's
/// own cache.
const BLOCK_BYTES: usize = 192 << 10;

/// Bytes of the patches of images that are processed together. The weights of a block's rows are
/// then read from memory once for all of them.
const TILE_BYTES: usize = 256 << 10;

/// The maximum number of rows of a block.
pub const MOST_ROWS: usize = 128;

/// The number of rows of a block, whose distances to the patches of one image are computed
/// together.
pub fn block_rows<T>(width: usize) -> usize {
    let rows = BLOCK_BYTES / (size_of::<T>() * width);
    rows.clamp(16, MOST_ROWS) / 4 * 4
}

/// Splits rows into blocks of `size`.
pub fn blocks(rows: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(size)
        .map(move |start| start..(start + size).min(end))
}

/// The number of images that are processed together.
pub fn tile_images<T>(dimensions: usize, width: usize) -> usize {
    (TILE_BYTES / (size_of::<T>() * dimensions * width)).max(1)
}

/// The length of a row with one value per patch, padded to whole registers: at least one register.
pub fn padded_width(patches: usize) -> usize {
    patches.max(1).next_multiple_of(WIDTH)
}

/// Rows of one value per patch, each padded with zeros to whole registers.
pub fn pad<T: Scalar>(rows: &[T], patches: usize) -> Cow<'_, [T]> {
    let width = padded_width(patches);
    if width == patches {
        return Cow::Borrowed(rows);
    }
    let mut padded = vec![T::default(); rows.len() / patches * width];
    for (padded, row) in padded
        .chunks_exact_mut(width)
        .zip(rows.chunks_exact(patches))
    {
        padded[..patches].copy_from_slice(row);
    }
    Cow::Owned(padded)
}

/// The inverse of [`pad`].
pub fn trim<T: Scalar>(mut rows: Vec<T>, patches: usize) -> Vec<T> {
    let width = padded_width(patches);
    if width != patches {
        let count = rows.len() / width;
        for row in 0..count {
            rows.copy_within(row * width..row * width + patches, row * patches);
        }
        rows.truncate(count * patches);
    }
    rows
}
