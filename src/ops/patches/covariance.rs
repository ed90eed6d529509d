//! Covariances of inducing patches with images: `Σ_p A_mp·σ²·φ(r²(z_m, x_n^[p]))`.

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
    tiles::{block_rows, blocks, pad, padded_width, trim},
};
use crate::ops::{
    Stationary,
    covariance::parts,
    cpu::{Lanes, Scalar, WIDTH, in_parts, product_on, vectorized},
    stationary::{Profile, with_profile},
};

/// The covariances of inducing patches with images.
#[derive(Clone, Copy)]
pub struct PatchCovariance<'a, T> {
    /// The patches of an image.
    pub grid: PatchGrid,
    /// z, [M, D]
    pub inducing: &'a [T],
    /// x, [N, H·W·C]
    pub images: &'a [T],
    /// `[D]`, or one for all dimensions
    pub lengthscales: &'a [T],
    /// σ²
    pub variance: T,
    /// A, [M, P]
    pub weights: &'a [T],
}

/// The gradients of `Σ_mn G_mn·K_mn`.
pub struct PatchCovarianceGradients<T> {
    /// [M, D]
    pub inducing: Vec<T>,
    /// [N, H·W·C], if needed
    pub images: Option<Vec<T>>,
    /// One per lengthscale.
    pub lengthscales: Vec<T>,
    /// With respect to σ².
    pub variance: T,
    /// [M, P]
    pub weights: Vec<T>,
}

/// The values that all parts of the work read.
struct Prepared<'a, T: Clone> {
    given: PatchCovariance<'a, T>,
    inducing: ScaledPatches<T>,
    center: Vec<T>,
    inverse: Vec<T>,
    /// A, [M, width]
    weights: Cow<'a, [T]>,
}

/// The gradients of some rows, and their contributions to the other gradients.
struct Part<'a, T> {
    first_row: usize,
    /// [rows, D]
    inducing: &'a mut [T],
    /// [rows, width]
    weights: &'a mut [T],
    /// The lanes of `Σ w`, [rows, WIDTH]
    row_sums: Vec<T>,
    /// The lanes of `Σ w·r²`, [rows, WIDTH]
    row_squares: Vec<T>,
    /// [N, H·W·C], if needed
    images: Option<Vec<T>>,
    squares: Squares,
    variance: f64,
}

impl<'a, T: Scalar> PatchCovariance<'a, T> {
    /// Prepares the arguments of [`patch_covariance`](super::patch_covariance).
    pub fn new(arguments: &'a [Cow<'_, [T]>; 5], grid: PatchGrid) -> Self {
        let [inducing, images, lengthscales, variance, weights] = arguments;
        Self {
            grid,
            inducing,
            images,
            lengthscales,
            variance: variance[0],
            weights,
        }
    }

    fn rows(&self) -> usize {
        self.inducing.len() / self.grid.dimensions()
    }

    fn columns(&self) -> usize {
        self.images.len() / self.grid.image().len()
    }

    /// The number of threads to use. Each has its own rows and never waits for another.
    fn parts(&self) -> usize {
        parts(self.rows(), self.columns() * self.grid.count())
    }

    /// K, [M, N].
    pub fn values(&self, kind: Stationary) -> Vec<T> {
        let columns = self.columns();
        let mut values = vec![T::default(); self.rows() * columns];
        if values.is_empty() {
            return values;
        }
        let prepared = Prepared::new(*self);
        in_parts(&mut values, columns, self.parts(), &|values, first_row| {
            with_profile!(kind, P => prepared.fill_rows::<P>(values, first_row));
        });
        values
    }

    /// The gradients; `gradient` is the gradient of K, [M, N].
    pub fn backward(
        &self,
        kind: Stationary,
        gradient: &[T],
        images_wanted: bool,
    ) -> PatchCovarianceGradients<T> {
        let (dimensions, patches) = (self.grid.dimensions(), self.grid.count());
        let width = padded_width(patches);
        let mut inducing = vec![T::default(); self.inducing.len()];
        let mut weights = vec![T::default(); self.rows() * width];
        let prepared = Prepared::new(*self);
        let parts = self.parts();
        let share = self.rows().div_ceil(parts.max(1)).max(1);
        let rows = inducing.chunks_mut(share * dimensions);
        let rows = rows.zip(weights.chunks_mut(share * width)).enumerate();
        let mut all: Vec<Part<'_, T>> = rows
            .map(|(index, (inducing, weights))| Part {
                first_row: index * share,
                row_sums: vec![T::default(); weights.len() / width * WIDTH],
                row_squares: vec![T::default(); weights.len() / width * WIDTH],
                inducing,
                weights,
                images: images_wanted.then(|| vec![T::default(); self.images.len()]),
                squares: Squares::new(self.lengthscales.len()),
                variance: 0.0,
            })
            .collect();
        in_parts(&mut all, 1, parts, &|parts, _| {
            for part in parts {
                with_profile!(kind, P => prepared.backward_rows::<P>(part, gradient));
            }
        });
        let mut images = images_wanted.then(|| vec![T::default(); self.images.len()]);
        let mut squares = Squares::new(self.lengthscales.len());
        let mut variance = 0.0;
        for part in all {
            squares.add(&part.squares);
            variance += part.variance;
            if let (Some(sums), Some(images)) = (&mut images, part.images) {
                sums.iter_mut().zip(images).for_each(|(sum, x)| *sum += x);
            }
        }
        PatchCovarianceGradients {
            inducing,
            images,
            lengthscales: squares.gradients(self.lengthscales),
            variance: T::from_f64(variance),
            weights: trim(weights, patches),
        }
    }
}

impl<'a, T: Scalar> Prepared<'a, T> {
    fn new(given: PatchCovariance<'a, T>) -> Self {
        let dimensions = given.grid.dimensions();
        let inverse = inverse(given.lengthscales, dimensions);
        let mut inducing = ScaledPatches::new(dimensions, given.rows());
        inducing.take_patches(given.inducing);
        let center = inducing.mean();
        inducing.scale(&center, &inverse);
        Self {
            given,
            inducing,
            center,
            inverse,
            weights: pad(given.weights, given.grid.count()),
        }
    }

    fn width(&self) -> usize {
        padded_width(self.given.grid.count())
    }

    fn block<'b>(&'b self, rows: Range<usize>, patches: &'b ScaledPatches<T>) -> Block<'b, T> {
        Block {
            columns: self.width(),
            diagonal: None,
            weights: &self.weights[rows.start * self.width()..],
            left_norms: &self.inducing.norms[rows],
            right_norms: &patches.norms,
            stride: self.width(),
        }
    }

    /// Fills the rows of K from `first_row` on.
    fn fill_rows<P: Profile<T>>(&self, values: &mut [T], first_row: usize) {
        let PatchCovariance {
            grid,
            images,
            variance,
            ..
        } = self.given;
        let (width, columns) = (self.width(), self.given.columns());
        let size = block_rows::<T>(width);
        let mut tile = Tile::new(grid, columns);
        let mut distances = vec![T::default(); size * width];
        let mut sums = vec![0.0; size];
        let (room, rows) = (tile.room(), first_row..first_row + values.len() / columns);
        for (index, images) in images.chunks(room * grid.image().len()).enumerate() {
            let images = tile.load(images, Some(&self.center), &self.inverse);
            for rows in blocks(rows.clone(), size) {
                for (offset, patches) in images.iter().enumerate() {
                    let distances = &mut distances[..rows.len() * width];
                    fill_block::<T, P>(distances, &self.inducing, rows.clone(), patches, width);
                    vectorized::run(Sums::<T, P> {
                        block: self.block(rows.clone(), patches),
                        distances,
                        sums: &mut sums[..rows.len()],
                        profile: PhantomData,
                    });
                    for (row, sum) in rows.clone().zip(&sums) {
                        let column = index * room + offset;
                        values[(row - first_row) * columns + column] =
                            T::from_f64(variance.to_f64() * sum);
                    }
                }
            }
        }
    }

    /// The gradients of a part's rows.
    fn backward_rows<P: Profile<T>>(&self, part: &mut Part<'_, T>, gradient: &[T]) {
        let PatchCovariance { grid, images, .. } = self.given;
        let (width, columns) = (self.width(), self.given.columns());
        let size = block_rows::<T>(width);
        let mut tile = Tile::new(grid, columns);
        let pulls =
            (part.images.is_some() || part.squares.are_separate()).then_some(grid.dimensions());
        let mut sums: Vec<ImageSums<T>> = (0..tile.room())
            .map(|_| ImageSums::new(pulls, width))
            .collect();
        let mut distances = vec![T::default(); size * width];
        let mut column = vec![T::default(); size];
        let rows = part.first_row..part.first_row + part.row_sums.len() / WIDTH;
        let (room, length) = (tile.room(), grid.image().len());
        for (index, images) in images.chunks(room * length).enumerate() {
            let images = tile.load(images, Some(&self.center), &self.inverse);
            let first_image = index * room;
            for rows in blocks(rows.clone(), size) {
                for (offset, (patches, sums)) in images.iter().zip(&mut sums).enumerate() {
                    for (value, row) in column.iter_mut().zip(rows.clone()) {
                        *value = gradient[row * columns + first_image + offset];
                    }
                    let distances = &mut distances[..rows.len() * width];
                    self.backward_block::<P>(part, rows.clone(), patches, distances, &column, sums);
                }
            }
            for (offset, (patches, sums)) in images.iter().zip(&mut sums).enumerate() {
                sums.complete(patches, &mut part.squares);
                if let Some(images) = &mut part.images {
                    let image = &mut images[(first_image + offset) * length..][..length];
                    add_to_image(&grid, &sums.pulls, &self.inverse, image);
                }
                sums.clear();
            }
        }
        self.complete_rows(part);
    }

    /// Adds the contribution of one image to the gradients of some rows, and of these rows to the
    /// gradient of the image.
    fn backward_block<P: Profile<T>>(
        &self,
        part: &mut Part<'_, T>,
        rows: Range<usize>,
        patches: &ScaledPatches<T>,
        distances: &mut [T],
        gradient: &[T],
        sums: &mut ImageSums<T>,
    ) {
        let (width, dimensions) = (self.width(), self.given.grid.dimensions());
        let first = rows.start - part.first_row;
        fill_block::<T, P>(distances, &self.inducing, rows.clone(), patches, width);
        vectorized::run(Pulls::<T, P> {
            block: self.block(rows.clone(), patches),
            distances,
            variance: self.given.variance,
            gradient,
            weights_gradient: &mut part.weights[first * width..],
            row_sums: &mut part.row_sums[first * WIDTH..],
            row_squares: &mut part.row_squares[first * WIDTH..],
            column_sums: &mut sums.weights,
            profile: PhantomData,
        });
        let pulls = MatRef::from_row_major_slice(distances, rows.len(), width);
        let minus = T::from_f64(-1.0);
        let inducing = &mut part.inducing[first * dimensions..][..rows.len() * dimensions];
        product_on(
            1,
            MatMut::from_row_major_slice_mut(inducing, rows.len(), dimensions),
            Accum::Add,
            pulls,
            patches.values().transpose(),
            minus,
        );
        if part.images.is_some() {
            let inducing = self.inducing.values().subcols(rows.start, rows.len());
            product_on(1, sums.pulls_mut(), Accum::Add, inducing, pulls, minus);
        }
    }

    /// Turns `−Σ w·x` into the gradients of the inducing patches, and `Σ φ·G` into those of the
    /// weights and the variance.
    fn complete_rows(&self, part: &mut Part<'_, T>) {
        let PatchCovariance { grid, variance, .. } = self.given;
        // With the images' pulls, `Σ w·(z − x)² = Σ z·z̄ + Σ x·x̄`. Without them, the sum so far holds the
        // images' `Σ w·x²` and lacks `−2·Σ w·z·x`.
        let share = if part.images.is_some() { 0.0 } else { 1.0 };
        let pulls = part.inducing.chunks_exact_mut(grid.dimensions());
        for (i, (pulls, sum)) in pulls.zip(part.row_sums.chunks_exact(WIDTH)).enumerate() {
            let sum = T::from_f64(Lanes::load(sum).sum());
            let dimensions = self.inducing.dimensions().zip(pulls).zip(&self.inverse);
            for (d, ((values, pull), &inverse)) in dimensions.enumerate() {
                let (value, product) = (values[part.first_row + i], *pull);
                let whole = sum * value + product;
                let square = value.to_f64() * (whole.to_f64() + share * product.to_f64());
                part.squares.add_separate(d, square);
                *pull = whole * inverse;
            }
        }
        let squares = part.row_squares.iter().map(|square| square.to_f64());
        part.squares.add_shared(squares.sum());
        let weights = &self.weights[part.first_row * self.width()..];
        for (gradient, weight) in part.weights.iter_mut().zip(weights) {
            part.variance += gradient.to_f64() * weight.to_f64();
            *gradient *= variance;
        }
    }
}
