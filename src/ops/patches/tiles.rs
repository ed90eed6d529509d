//! How the CPU cuts the sums over patches into tiles.
//!
//! The covariances are as many as there are patches of all images beside each patch on the left, and
//! none is kept. An image's patches are laid out dimension by dimension in lengthscale units; a block
//! of `−2aᵀb` between some patches on the left and these is a matrix product that stays in the core's
//! cache, and one pass over it makes distances, profiles and their weighted sums. The backward pass makes
//! the blocks anew and, in their place, `w`: the doubled derivative of a loss with respect to `r²`,
//! as in the covariance of two sets of points. Where the products leave `r²` with too few digits for
//! a profile that is rough at zero, differences of coordinates take their place.

use core::ops::Range;
use std::borrow::Cow;

use crate::ops::cpu::{Scalar, WIDTH};

/// Bytes of a block of distances. The weights of its rows and their gradient take as much each, the
/// patches of some images [`TILE_BYTES`]: together less than the megabyte next to a core.
const BLOCK_BYTES: usize = 192 << 10;

/// Bytes of the patches of images that are worked on together, so that the weights of a block's rows
/// come from memory once for all of them.
const TILE_BYTES: usize = 256 << 10;

/// The most rows of a block.
pub const MOST_ROWS: usize = 128;

/// Rows of a block, whose distances to one image's patches are made together.
pub fn block_rows<T>(width: usize) -> usize {
    let rows = BLOCK_BYTES / (size_of::<T>() * width);
    rows.clamp(16, MOST_ROWS) / 4 * 4
}

/// Rows in blocks of `size`.
pub fn blocks(rows: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(size)
        .map(move |start| start..(start + size).min(end))
}

/// Images that are worked on together.
pub fn tile_images<T>(dimensions: usize, width: usize) -> usize {
    (TILE_BYTES / (size_of::<T>() * dimensions * width)).max(1)
}

/// Numbers of a row with one a patch: whole registers, one at least.
pub fn padded_width(patches: usize) -> usize {
    patches.max(1).next_multiple_of(WIDTH)
}

/// Rows of one number a patch, each with zeros up to whole registers.
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
