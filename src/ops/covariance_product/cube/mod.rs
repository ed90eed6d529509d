//! Covariance products on GPUs.
//!
//! Parts of the covariance are computed one after another, small enough for the device's memory,
//! and used at once. Duplicates are not searched for: that would read the points back.

mod blocks;
mod dense;
mod sparse;

use core::ops::Range;

use burn::{
    backend::{TensorMetadata, ops::FloatTensorOps},
    tensor::Slice,
};

use super::{BlockPairs, CovarianceProductOps};
use crate::ops::{
    Stationary,
    cube::{CubeBackend, CubeTensor},
};

/// Bytes of a part of a covariance.
const PART: usize = 32 << 20;
/// The number of points in every part but the last is a multiple of this, the size of the kernels' tiles.
const TILE: usize = 64;

/// Splits `points` into parts of [`TILE`] points, or of more if their covariances with `others` take at most
/// [`PART`] bytes.
fn parts(points: usize, others: &CubeTensor) -> impl Iterator<Item = Range<usize>> {
    let row = others.shape()[0].max(1) * others.dtype.size();
    let size = (PART / row / TILE).max(1) * TILE;
    let starts = (0..points).step_by(size);
    starts.map(move |start| start..(start + size).min(points))
}

/// Some rows of a matrix.
fn rows(matrix: &CubeTensor, range: &Range<usize>) -> CubeTensor {
    let slices = [Slice::from(range.clone()), Slice::full()];
    CubeBackend::float_slice(matrix.clone(), &slices)
}

/// `total + part`
fn add(total: Option<CubeTensor>, part: CubeTensor) -> CubeTensor {
    match total {
        Some(total) => CubeBackend::float_add(total, part),
        None => part,
    }
}

/// The gradients of a covariance between the points of all parts and other points, summed over the parts.
#[derive(Debug, Default)]
struct Totals {
    /// With respect to the points of each part.
    points: Vec<CubeTensor>,
    others: Option<CubeTensor>,
    lengthscales: Option<CubeTensor>,
    variance: Option<CubeTensor>,
}

impl Totals {
    /// Adds the gradients of a part, with respect to its points, the other points, the lengthscales and the
    /// variance.
    fn add(&mut self, [points, others, lengthscales, variance]: [Option<CubeTensor>; 4]) {
        self.points.extend(points);
        for (total, part) in [
            (&mut self.others, others),
            (&mut self.lengthscales, lengthscales),
            (&mut self.variance, variance),
        ] {
            if let Some(part) = part {
                *total = Some(add(total.take(), part));
            }
        }
    }
}

impl CovarianceProductOps for CubeBackend {
    fn covariance_product(
        x1: CubeTensor,
        x2: CubeTensor,
        lengthscales: CubeTensor,
        variance: CubeTensor,
        vectors: CubeTensor,
        kind: Stationary,
        _same: bool,
    ) -> CubeTensor {
        dense::covariance_product([x1, x2, lengthscales, variance, vectors], kind)
    }

    fn block_covariance(
        points: CubeTensor,
        others: CubeTensor,
        lengthscales: CubeTensor,
        variance: CubeTensor,
        values: CubeTensor,
        kind: Stationary,
        pairs: BlockPairs,
    ) -> CubeTensor {
        let arguments = [points, others, lengthscales, variance, values];
        blocks::block_covariance(arguments, kind, pairs)
    }

    fn covariance_product_backward(
        arguments: [CubeTensor; 5],
        gradient: CubeTensor,
        kind: Stationary,
        same: bool,
        points_wanted: bool,
    ) -> [Option<CubeTensor>; 5] {
        dense::covariance_product_backward(arguments, gradient, kind, same, points_wanted)
    }

    fn block_covariance_backward(
        arguments: [CubeTensor; 5],
        gradient: CubeTensor,
        kind: Stationary,
        pairs: BlockPairs,
        points_wanted: bool,
    ) -> [Option<CubeTensor>; 5] {
        blocks::block_covariance_backward(arguments, gradient, kind, pairs, points_wanted)
    }
}
