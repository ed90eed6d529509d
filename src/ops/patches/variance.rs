//! Variances of sums over an image's patches: `Σ_pp′ B_pp′·σ²·φ(r²(x^[p], x^[p′]))`.
//!
//! `B + Bᵀ` below the diagonal represents both triangles, and φ is one on the diagonal.

use core::{marker::PhantomData, ops::Range};
use std::borrow::Cow;

use faer::{Accum, MatMut, MatRef};

use super::{
    PatchGrid,
    block::{Block, Pulls, Sums},
    distances::fill_block,
    image::{ImageSums, Tile},
    lengthscales::{Squares, inverse},
    scaled::{ScaledPatches, add_to_image},
    tiles::{MOST_ROWS, block_rows, blocks, padded_width, trim},
};
use crate::ops::{
    Stationary,
    covariance::parts,
    cpu::{Lanes, Scalar, WIDTH, in_parts, mirror_lower, product_on, vectorized},
    stationary::{Profile, with_profile},
};

/// The variances of images.
#[derive(Clone, Copy)]
pub struct PatchVariance<'a, T> {
    /// The patches of an image.
    pub grid: PatchGrid,
    /// x, [N, H·W·C]
    pub images: &'a [T],
    /// `[D]`, or one for all dimensions
    pub lengthscales: &'a [T],
    /// σ²
    pub variance: T,
    /// B, [P, P]
    pub weights: &'a [T],
}

/// The gradients of `Σ_n g_n·k_n`.
pub struct PatchVarianceGradients<T> {
    /// [N, H·W·C], if needed
    pub images: Option<Vec<T>>,
    /// One per lengthscale.
    pub lengthscales: Vec<T>,
    /// With respect to σ².
    pub variance: T,
    /// [P, P]
    pub weights: Vec<T>,
}

/// The values that all parts of the work read.
struct Prepared<'a, T> {
    given: PatchVariance<'a, T>,
    inverse: Vec<T>,
    /// `B + Bᵀ` below the diagonal, zeros elsewhere, [P, width]
    weights: Vec<T>,
    trace: f64,
}

/// The gradients of some images, and their contributions to the other gradients.
struct Part<'a, T> {
    first_image: usize,
    images: &'a [T],
    /// Shaped like the images, if needed.
    gradient: Option<&'a mut [T]>,
    /// `Σ_n g_n·φ` below the diagonal, [P, width]
    weights: Vec<T>,
    squares: Squares,
}

impl<'a, T: Scalar> PatchVariance<'a, T> {
    /// Prepares the arguments of [`patch_variance`](super::patch_variance).
    pub fn new(arguments: &'a [Cow<'_, [T]>; 4], grid: PatchGrid) -> Self {
        let [images, lengthscales, variance, weights] = arguments;
        Self {
            grid,
            images,
            lengthscales,
            variance: variance[0],
            weights,
        }
    }

    fn count(&self) -> usize {
        self.images.len() / self.grid.image().len()
    }

    /// The number of threads to use.
    fn parts(&self) -> usize {
        parts(self.count(), self.grid.count() * self.grid.count() / 2)
    }

    /// k, `[N]`.
    pub fn values(&self, kind: Stationary) -> Vec<T> {
        let mut values = vec![T::default(); self.count()];
        if values.is_empty() {
            return values;
        }
        let prepared = Prepared::new(*self);
        in_parts(&mut values, 1, self.parts(), &|values, first_image| {
            with_profile!(kind, P => prepared.fill::<P>(values, first_image));
        });
        values
    }

    /// The gradients; `gradient` is the gradient of k, `[N]`.
    pub fn backward(
        &self,
        kind: Stationary,
        gradient: &[T],
        images_wanted: bool,
    ) -> PatchVarianceGradients<T> {
        let (patches, length) = (self.grid.count(), self.grid.image().len());
        let width = padded_width(patches);
        let parts = self.parts();
        let share = self.count().div_ceil(parts.max(1)).max(1);
        let mut images = images_wanted.then(|| vec![T::default(); self.images.len()]);
        let mut gradients = (images.as_mut()).map(|images| images.chunks_mut(share * length));
        let mut all: Vec<Part<'_, T>> = (self.images.chunks(share * length).enumerate())
            .map(|(index, images)| Part {
                first_image: index * share,
                images,
                gradient: gradients.as_mut().and_then(Iterator::next),
                weights: vec![T::default(); patches * width],
                squares: Squares::new(self.lengthscales.len()),
            })
            .collect();
        let prepared = Prepared::new(*self);
        in_parts(&mut all, 1, parts, &|parts, _| {
            for part in parts {
                with_profile!(kind, P => prepared.backward_images::<P>(part, gradient));
            }
        });
        let mut squares = Squares::new(self.lengthscales.len());
        let mut weights = vec![T::default(); patches * width];
        for part in all {
            squares.add(&part.squares);
            weights
                .iter_mut()
                .zip(part.weights)
                .for_each(|(sum, x)| *sum += x);
        }
        let total: f64 = gradient.iter().map(|g| g.to_f64()).sum();
        let (variance, weights) = prepared.complete_weights(weights, total);
        PatchVarianceGradients {
            images,
            lengthscales: squares.gradients(self.lengthscales),
            variance,
            weights,
        }
    }
}

impl<'a, T: Scalar> Prepared<'a, T> {
    fn new(given: PatchVariance<'a, T>) -> Self {
        let patches = given.grid.count();
        let width = padded_width(patches);
        let mut weights = vec![T::default(); patches * width];
        for (p, row) in weights.chunks_exact_mut(width).enumerate() {
            for (other, weight) in row[..p].iter_mut().enumerate() {
                *weight = given.weights[p * patches + other] + given.weights[other * patches + p];
            }
        }
        let diagonal = given.weights.iter().step_by(patches + 1);
        Self {
            given,
            inverse: inverse(given.lengthscales, given.grid.dimensions()),
            weights,
            trace: diagonal.map(|weight| weight.to_f64()).sum(),
        }
    }

    fn width(&self) -> usize {
        padded_width(self.given.grid.count())
    }

    /// The number of rows of a block: few compared with all patches, because the matrix product
    /// computes the whole block, not only its triangle.
    fn block_rows(&self) -> usize {
        block_rows::<T>(self.width()).min((self.given.grid.count() / 8).max(16))
    }

    fn block<'b>(&'b self, rows: Range<usize>, patches: &'b ScaledPatches<T>) -> Block<'b, T> {
        Block {
            columns: padded_width(rows.end),
            diagonal: Some(rows.start),
            weights: &self.weights[rows.start * self.width()..],
            left_norms: &patches.norms[rows],
            right_norms: &patches.norms,
            stride: self.width(),
        }
    }

    /// Fills the variances k of the images from `first_image` on.
    fn fill<P: Profile<T>>(&self, values: &mut [T], first_image: usize) {
        let PatchVariance { grid, images, .. } = self.given;
        let (length, variance) = (grid.image().len(), self.given.variance.to_f64());
        let size = self.block_rows();
        let mut tile = Tile::new(grid, values.len());
        let mut distances = vec![T::default(); size * self.width()];
        let mut sums = vec![0.0; size];
        let mut totals = vec![0.0; tile.room()];
        let room = tile.room();
        let images = images[first_image * length..].chunks(room * length);
        for (values, images) in values.chunks_mut(room).zip(images) {
            let images = tile.load(&images[..values.len() * length], None, &self.inverse);
            totals.fill(self.trace);
            for rows in blocks(0..grid.count(), size) {
                for (patches, total) in images.iter().zip(&mut totals) {
                    let block = self.block(rows.clone(), patches);
                    let distances = &mut distances[..rows.len() * block.columns];
                    fill_block::<T, P>(distances, patches, rows.clone(), patches, block.columns);
                    let sums = &mut sums[..rows.len()];
                    vectorized::run(Sums::<T, P> {
                        block,
                        distances,
                        sums,
                        profile: PhantomData,
                    });
                    *total += sums.iter().sum::<f64>();
                }
            }
            for (value, total) in values.iter_mut().zip(&totals) {
                *value = T::from_f64(variance * total);
            }
        }
    }

    /// The gradients of a part's images.
    fn backward_images<P: Profile<T>>(&self, part: &mut Part<'_, T>, gradient: &[T]) {
        let grid = self.given.grid;
        let (length, width) = (grid.image().len(), self.width());
        let size = self.block_rows();
        let mut tile = Tile::new(grid, part.images.len() / length);
        let pulls =
            (part.gradient.is_some() || part.squares.are_separate()).then_some(grid.dimensions());
        let mut sums: Vec<ImageSums<T>> = (0..tile.room())
            .map(|_| ImageSums::new(pulls, width))
            .collect();
        let mut distances = vec![T::default(); size * width];
        let room = tile.room();
        for (index, images) in part.images.chunks(room * length).enumerate() {
            let images = tile.load(images, None, &self.inverse);
            let first_image = index * room;
            for rows in blocks(0..grid.count(), size) {
                for (offset, (patches, sums)) in images.iter().zip(&mut sums).enumerate() {
                    let gradient = gradient[part.first_image + first_image + offset];
                    self.backward_block::<P>(
                        part,
                        rows.clone(),
                        patches,
                        &mut distances,
                        gradient,
                        sums,
                    );
                }
            }
            for (offset, (patches, sums)) in images.iter().zip(&mut sums).enumerate() {
                sums.complete(patches, &mut part.squares);
                if let Some(images) = &mut part.gradient {
                    let image = &mut images[(first_image + offset) * length..][..length];
                    add_to_image(&grid, &sums.pulls, &self.inverse, image);
                }
                sums.clear();
            }
        }
    }

    /// Adds the contribution of some rows of an image's distances to the gradients.
    fn backward_block<P: Profile<T>>(
        &self,
        part: &mut Part<'_, T>,
        rows: Range<usize>,
        patches: &ScaledPatches<T>,
        distances: &mut [T],
        gradient: T,
        sums: &mut ImageSums<T>,
    ) {
        let block = self.block(rows.clone(), patches);
        let columns = block.columns;
        let distances = &mut distances[..rows.len() * columns];
        fill_block::<T, P>(distances, patches, rows.clone(), patches, columns);
        let mut row_sums = [T::default(); MOST_ROWS * WIDTH];
        let mut row_squares = row_sums;
        vectorized::run(Pulls::<T, P> {
            block,
            distances,
            variance: self.given.variance,
            gradient: &[gradient; MOST_ROWS],
            weights_gradient: &mut part.weights[rows.start * self.width()..],
            row_sums: &mut row_sums[..rows.len() * WIDTH],
            row_squares: &mut row_squares,
            column_sums: &mut sums.weights,
            profile: PhantomData,
        });
        let squares = row_squares.iter().map(|square| square.to_f64());
        part.squares.add_shared(squares.sum());
        let rows_of_sums = row_sums.chunks_exact(WIDTH);
        for (sum, row) in sums.weights[rows.clone()].iter_mut().zip(rows_of_sums) {
            *sum += T::from_f64(Lanes::load(row).sum());
        }
        if !sums.has_pulls() {
            return;
        }
        let values = patches.values();
        let (left, right) = (
            values.subcols(rows.start, rows.len()),
            values.subcols(0, columns),
        );
        let pulls = MatRef::from_row_major_slice(distances, rows.len(), columns);
        // If only `Σ x·pull` is needed, counting one side twice replaces both sides.
        let (one, factor) = match part.gradient {
            Some(_) => (true, -1.0),
            None => (false, -2.0),
        };
        let target = sums.pulls_mut();
        let target = target.subcols_mut(rows.start, rows.len());
        product_on(
            1,
            target,
            Accum::Add,
            right,
            pulls.transpose(),
            T::from_f64(factor),
        );
        if one {
            let target = sums.pulls_mut().subcols_mut(0, columns);
            product_on(1, target, Accum::Add, left, pulls, T::from_f64(-1.0));
        }
    }

    /// Turns `Σ_n g_n·φ` below the diagonal into the gradients of the variance and of B.
    fn complete_weights(&self, sums: Vec<T>, total: f64) -> (T, Vec<T>) {
        let PatchVariance { grid, variance, .. } = self.given;
        let products = sums.iter().zip(&self.weights);
        let below: f64 = products
            .map(|(sum, weight)| sum.to_f64() * weight.to_f64())
            .sum();
        let patches = grid.count();
        let mut gradient = trim(sums, patches);
        gradient.iter_mut().for_each(|sum| *sum *= variance);
        let diagonal = T::from_f64(variance.to_f64() * total);
        gradient
            .iter_mut()
            .step_by(patches + 1)
            .for_each(|value| *value = diagonal);
        mirror_lower(MatMut::from_row_major_slice_mut(
            &mut gradient,
            patches,
            patches,
        ));
        (T::from_f64(total * self.trace + below), gradient)
    }
}
