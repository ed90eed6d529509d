//! Groups of images that are processed together, and the sums that the backward pass keeps for each
//! image.

use faer::MatMut;

use super::{
    PatchGrid,
    lengthscales::Squares,
    scaled::{ScaledPatches, mean_pixel},
    tiles::{padded_width, tile_images},
};
use crate::ops::cpu::{Kernel, Lanes, Scalar, WIDTH, vectorized};

/// Memory for the patches of some images.
pub struct Tile<T> {
    grid: PatchGrid,
    images: Vec<ScaledPatches<T>>,
}

impl<T: Scalar> Tile<T> {
    /// Allocates memory for as many images as are processed together, or for all images if there are fewer.
    pub fn new(grid: PatchGrid, images: usize) -> Self {
        let (dimensions, count) = (grid.dimensions(), grid.count());
        let room = tile_images::<T>(dimensions, padded_width(count)).min(images.max(1));
        let patches = (0..room).map(|_| ScaledPatches::new(dimensions, count));
        Self {
            grid,
            images: patches.collect(),
        }
    }

    /// The number of images that fit.
    pub fn room(&self) -> usize {
        self.images.len()
    }

    /// Loads the patches of some images in lengthscale units, around a given center or around the center of
    /// each image.
    pub fn load(
        &mut self,
        images: &[T],
        center: Option<&[T]>,
        inverse: &[T],
    ) -> &[ScaledPatches<T>] {
        let images = images.chunks_exact(self.grid.image().len());
        let count = images.len();
        for (patches, image) in self.images.iter_mut().zip(images) {
            patches.take_image(&self.grid, image);
            match center {
                Some(center) => patches.scale(center, inverse),
                None => patches.scale(&mean_pixel(&self.grid, image), inverse),
            }
        }
        &self.images[..count]
    }
}

/// The sums of an image over the blocks of its distances.
pub struct ImageSums<T> {
    /// The sum of all w that involve a patch, `[width]`.
    pub weights: Vec<T>,
    /// First `−Σ w·a` over the partners of a patch, then its gradient, [D, width]. Empty if it is
    /// not needed.
    pub pulls: Vec<T>,
}

impl<T: Scalar> ImageSums<T> {
    /// Zeros, with pulls of `dimensions` dimensions or without pulls.
    pub fn new(dimensions: Option<usize>, width: usize) -> Self {
        Self {
            weights: vec![T::default(); width],
            pulls: vec![T::default(); dimensions.unwrap_or(0) * width],
        }
    }

    /// Resets everything to zero.
    pub fn clear(&mut self) {
        self.weights.fill(T::default());
        self.pulls.fill(T::default());
    }

    /// Whether the pulls are needed.
    pub fn has_pulls(&self) -> bool {
        !self.pulls.is_empty()
    }

    /// [D, width]
    pub fn pulls_mut(&mut self) -> MatMut<'_, T> {
        let width = self.weights.len();
        let dimensions = self.pulls.len() / width;
        MatMut::from_row_major_slice_mut(&mut self.pulls, dimensions, width)
    }

    /// Completes the pulls with `x·Σ w`, and adds `Σ x_d·pull_d` to the square of each dimension.
    pub fn complete(&mut self, patches: &ScaledPatches<T>, squares: &mut Squares) {
        let Self { weights, pulls } = self;
        let pulls = pulls.chunks_exact_mut(weights.len());
        for (dimension, (values, pulls)) in patches.dimensions().zip(pulls).enumerate() {
            let square = vectorized::run(Completion {
                values,
                weights,
                pulls,
            });
            squares.add_separate(dimension, square);
        }
    }
}

/// Adds `x·w` to the pulls of one dimension and returns `Σ x·pull`.
struct Completion<'a, T> {
    values: &'a [T],
    weights: &'a [T],
    pulls: &'a mut [T],
}

impl<T: Scalar> Kernel for Completion<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn call<const FUSED: bool>(self) -> f64 {
        let mut total = Lanes::splat(T::default());
        let values = self.values.chunks_exact(WIDTH);
        let lanes = values.zip(self.weights.chunks_exact(WIDTH));
        for ((values, weights), pulls) in lanes.zip(self.pulls.chunks_exact_mut(WIDTH)) {
            let values = Lanes::load(values);
            let pull = values.multiply_add::<FUSED>(Lanes::load(weights), Lanes::load(pulls));
            pull.store(pulls);
            total = pull.multiply_add::<FUSED>(values, total);
        }
        total.sum()
    }
}
