//! Patches in lengthscale units.

use faer::MatRef;

use super::{PatchGrid, tiles::padded_width};
use crate::ops::cpu::Scalar;

/// Patches in lengthscale units around a center, dimension by dimension.
///
/// Each dimension is a row padded to whole registers, with zeros beyond the last patch.
pub struct ScaledPatches<T> {
    /// [D, width]
    values: Vec<T>,
    /// `‖x‖²`, `[width]`
    pub norms: Vec<T>,
    /// The number of patches.
    pub count: usize,
}

/// Locates the values of an image's patches. For every dimension and every row of patches, yields the first
/// patch of the row and the position of its value in the image. The values of the next patches in the row
/// follow in steps of [`step`].
fn lines(grid: &PatchGrid) -> impl Iterator<Item = (usize, usize, usize)> {
    let run = grid.size() * grid.image().channels;
    let within = grid.runs().flat_map(move |start| start..start + run);
    within.enumerate().flat_map(move |(dimension, within)| {
        (0..grid.rows()).map(move |row| {
            let patch = row * grid.columns();
            (dimension, patch, grid.offset(patch) + within)
        })
    })
}

/// The distance in an image between corresponding values of neighboring patches.
fn step(grid: &PatchGrid) -> usize {
    grid.stride() * grid.image().channels
}

impl<T: Scalar> ScaledPatches<T> {
    /// Allocates memory for `count` patches.
    pub fn new(dimensions: usize, count: usize) -> Self {
        let width = padded_width(count);
        Self {
            values: vec![T::default(); dimensions * width],
            norms: vec![T::default(); width],
            count,
        }
    }

    /// The length of a row, including padding.
    pub fn width(&self) -> usize {
        self.norms.len()
    }

    /// [D, width]
    pub fn values(&self) -> MatRef<'_, T> {
        let width = self.width();
        MatRef::from_row_major_slice(&self.values, self.values.len() / width, width)
    }

    /// The dimensions, one after the other, each with the values of all patches, `[width]`.
    pub fn dimensions(&self) -> core::slice::ChunksExact<'_, T> {
        self.values.chunks_exact(self.width())
    }

    /// Loads patches that lie one after the other, [count, D], unscaled.
    pub fn take_patches(&mut self, patches: &[T]) {
        let width = self.width();
        let dimensions = self.values.len() / width;
        for (index, patch) in patches.chunks_exact(dimensions).enumerate() {
            for (d, &x) in patch.iter().enumerate() {
                self.values[d * width + index] = x;
            }
        }
    }

    /// Loads the patches of an image, unscaled.
    pub fn take_image(&mut self, grid: &PatchGrid, image: &[T]) {
        let (width, columns, step) = (self.width(), grid.columns(), step(grid));
        for (dimension, patch, start) in lines(grid) {
            let target = &mut self.values[dimension * width + patch..][..columns];
            if step == 1 {
                target.copy_from_slice(&image[start..][..columns]);
            } else {
                let source = image[start..].iter().step_by(step);
                target.iter_mut().zip(source).for_each(|(x, &y)| *x = y);
            }
        }
    }

    /// The mean of the patches.
    pub fn mean(&self) -> Vec<T> {
        let mean = |values: &[T]| {
            let sum: f64 = values[..self.count].iter().map(|x| x.to_f64()).sum();
            T::from_f64(sum / self.count.max(1) as f64)
        };
        self.dimensions().map(mean).collect()
    }

    /// Moves `center` to the origin, divides by the lengthscales and computes the norms.
    pub fn scale(&mut self, center: &[T], inverse: &[T]) {
        let (width, count) = (self.width(), self.count);
        self.norms.fill(T::default());
        let dimensions = self.values.chunks_exact_mut(width);
        for ((values, &center), &inverse) in dimensions.zip(center).zip(inverse) {
            for (x, norm) in values[..count].iter_mut().zip(&mut self.norms) {
                *x = (*x - center) * inverse;
                *norm += *x * *x;
            }
        }
    }
}

/// A patch filled with the mean pixel of an image: near the center of its patches, and cheap to
/// compute.
pub fn mean_pixel<T: Scalar>(grid: &PatchGrid, image: &[T]) -> Vec<T> {
    let channels = grid.image().channels;
    let mean = |channel: usize| {
        let values = image[channel..].iter().step_by(channels);
        let sum: f64 = values.map(|x| x.to_f64()).sum();
        T::from_f64(sum * channels as f64 / image.len() as f64)
    };
    let means: Vec<T> = (0..channels).map(mean).collect();
    means.repeat(grid.dimensions() / channels)
}

/// Adds gradients of an image's patches in lengthscale units, [D, width], to the gradient of the
/// image.
pub fn add_to_image<T: Scalar>(grid: &PatchGrid, pulls: &[T], inverse: &[T], image: &mut [T]) {
    let (width, columns, step) = (padded_width(grid.count()), grid.columns(), step(grid));
    for (dimension, patch, start) in lines(grid) {
        let pulls = &pulls[dimension * width + patch..][..columns];
        let target = image[start..].iter_mut().step_by(step);
        for (x, &pull) in target.zip(pulls) {
            *x += pull * inverse[dimension];
        }
    }
}
