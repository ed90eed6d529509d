//! Sums over patches on GPUs.
//!
//! Both operations are sums of covariances of left points with the patches of an image. The left
//! points are the inducing patches, or the patches of the image themselves. The forward pass keeps
//! nothing: a cube visits the patches of an image tile by tile. The backward pass computes the
//! derivatives of a few images with respect to `r²` at a time, and from these the gradients of the
//! points; the memory for them is bounded.

mod folding;
mod gradients;
mod points;
mod pulls;
mod sums;
mod tile;

use core::ops::Range;

use burn::{
    backend::{TensorMetadata, ops::FloatTensorOps},
    tensor::Shape,
};
use burn_cubecl::cubecl::{
    ir::AddressType,
    zspace::{Strides, metadata::Metadata},
};

use super::{PatchGrid, PatchOps, tiles::blocks};
use crate::ops::{
    Stationary,
    cube::{
        CubeBackend, CubeTensor, contiguous, empty_like, matrices, transposed, with_shape,
        zeros_like,
    },
    stationary::cube::PROFILE,
};
use folding::folded;
use gradients::{PointGradients, point_gradients};
use points::{scaled_patches, write_images};
use pulls::pulls;
use sums::write_sums;
use tile::TILE;

/// Maximum number of values of a temporary tensor, which decides how many images are processed together.
const WORKSPACE: usize = 1 << 24;

/// Maximum number of images that are processed together, because each has its own cubes.
const MOST_IMAGES: usize = 1 << 15;

impl PatchOps for CubeBackend {
    fn patch_covariance(
        inducing: CubeTensor,
        images: CubeTensor,
        lengthscales: CubeTensor,
        variance: CubeTensor,
        weights: CubeTensor,
        kind: Stationary,
        grid: PatchGrid,
    ) -> CubeTensor {
        let arguments = [images, lengthscales, variance, weights];
        Sums::new(Some(inducing), arguments, kind, grid).values()
    }

    fn patch_variance(
        images: CubeTensor,
        lengthscales: CubeTensor,
        variance: CubeTensor,
        weights: CubeTensor,
        kind: Stationary,
        grid: PatchGrid,
    ) -> CubeTensor {
        let count = images.shape()[0];
        if count == 0 {
            return empty_like(&images, [count]);
        }
        let arguments = [images, lengthscales, variance, weights];
        let values = Sums::new(None, arguments, kind, grid).values();
        with_shape(total(values), [count])
    }

    fn patch_covariance_backward(
        arguments: [CubeTensor; 5],
        gradient: CubeTensor,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<CubeTensor>; 5] {
        let [inducing, arguments @ ..] = arguments;
        let sums = Sums::new(Some(inducing), arguments, kind, grid);
        let gradients = sums.backward(contiguous(gradient), images_wanted);
        let [images, lengthscales, variance, weights] = gradients.arguments;
        [gradients.inducing, images, lengthscales, variance, weights]
    }

    fn patch_variance_backward(
        arguments: [CubeTensor; 4],
        gradient: CubeTensor,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<CubeTensor>; 4] {
        let sums = Sums::new(None, arguments, kind, grid);
        sums.backward(contiguous(gradient), images_wanted).arguments
    }
}

/// The left points of the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    /// Inducing patches, the same for all images.
    Inducing,
    /// The patches of the image. Every pair is visited once: the weights above the diagonal are
    /// zero, and those below it count for both.
    OfImage,
}

/// The left points and the patches of some images, in lengthscale units.
pub struct Pairs {
    /// [1 or N, R, D]
    left: CubeTensor,
    /// [N, P, D]
    right: CubeTensor,
    /// σ²·A, [R, P]
    weights: CubeTensor,
    left_points: Left,
}

impl Pairs {
    /// The operations for the distances and profiles of all pairs, in whole tiles.
    fn operations(&self) -> usize {
        let ([_, rows, dimensions], [images, columns, _]) =
            (self.left.shape().dims(), self.right.shape().dims());
        let (down, across) = (rows.div_ceil(TILE), columns.div_ceil(TILE));
        let tiles = match self.left_points {
            Left::Inducing => down * across,
            Left::OfImage => down * (down + 1) / 2,
        };
        images * tiles * TILE * TILE * (3 * dimensions + PROFILE + 2)
    }

    fn address_type(&self) -> AddressType {
        let tensors = [&self.left, &self.right, &self.weights];
        let types = tensors.map(CubeTensor::required_address_type);
        types[0].max(types[1]).max(types[2])
    }
}

/// Points `[M, D]` as `[1, M, D]`. All images share them: the stride between images is zero.
fn for_all_images(mut points: CubeTensor) -> CubeTensor {
    let (shape, strides) = (points.shape(), points.meta.strides());
    *points.meta = Metadata::new(
        Shape::new([1, shape[0], shape[1]]),
        Strides::new(&[0, strides[0], strides[1]]),
    );
    points
}

/// The arguments of both operations.
struct Sums {
    /// The inducing patches in lengthscale units, [1, M, D], if any.
    inducing: Option<CubeTensor>,
    /// [N, H·W·C]
    images: CubeTensor,
    lengthscales: CubeTensor,
    variance: CubeTensor,
    /// A, [M, P], or [P, P] with zeros above the diagonal
    weights: CubeTensor,
    /// σ²·A
    scaled_weights: CubeTensor,
    kind: Stationary,
    grid: PatchGrid,
}

/// The gradients of both operations.
struct Gradients {
    inducing: Option<CubeTensor>,
    /// Of the images, the lengthscales, the variance and the weights.
    arguments: [Option<CubeTensor>; 4],
}

impl Sums {
    fn new(
        inducing: Option<CubeTensor>,
        arguments: [CubeTensor; 4],
        kind: Stationary,
        grid: PatchGrid,
    ) -> Self {
        let [images, lengthscales, variance, weights] = arguments.map(contiguous);
        let weights = match inducing {
            Some(_) => weights,
            None => folded(weights),
        };
        let inducing = inducing.map(|inducing| {
            let (count, patch) = (inducing.shape()[0], grid.single());
            let shape = [count, grid.dimensions()];
            if count == 0 {
                return matrices(inducing);
            }
            let inducing = contiguous(inducing);
            let scaled = scaled_patches(&inducing, &lengthscales, patch, 0, count);
            for_all_images(with_shape(scaled, shape))
        });
        Self {
            inducing,
            images,
            lengthscales,
            scaled_weights: scaled(&weights, &variance),
            variance,
            weights,
            kind,
            grid,
        }
    }

    fn rows(&self) -> usize {
        self.weights.shape()[0]
    }

    fn count(&self) -> usize {
        self.images.shape()[0]
    }

    fn is_empty(&self) -> bool {
        self.rows() * self.count() == 0
    }

    /// Groups of images, each with at most `numbers` values of a temporary tensor.
    fn groups(&self, numbers: usize) -> impl Iterator<Item = Range<usize>> {
        blocks(0..self.count(), (WORKSPACE / numbers).clamp(1, MOST_IMAGES))
    }

    fn pairs(&self, images: &Range<usize>) -> Pairs {
        let right = scaled_patches(
            &self.images,
            &self.lengthscales,
            self.grid,
            images.start,
            images.len(),
        );
        let (left, left_points) = match &self.inducing {
            Some(inducing) => (inducing.clone(), Left::Inducing),
            None => (right.clone(), Left::OfImage),
        };
        Pairs {
            left,
            right,
            weights: self.scaled_weights.clone(),
            left_points,
        }
    }

    /// `Σ_p A_rp·σ²·φ`, [R, N].
    fn values(&self) -> CubeTensor {
        let out = empty_like(&self.images, [self.rows(), self.count()]);
        if self.is_empty() {
            return out;
        }
        for images in self.groups(self.grid.count() * self.grid.dimensions()) {
            write_sums(&self.pairs(&images), self.kind, images.start, &out);
        }
        out
    }

    /// The gradients. `gradient` is the gradient of the values, [R, N], or of their sums over rows, `[N]`.
    fn backward(&self, gradient: CubeTensor, images_wanted: bool) -> Gradients {
        if self.is_empty() {
            return self.no_gradients(images_wanted);
        }
        let (rows, patches) = (self.rows(), self.grid.count());
        let dimensions = self.grid.dimensions();
        let images = images_wanted.then(|| empty_like(&self.images, self.images.shape()));
        let (mut inducing, mut weights, mut squares) = (None, None, None);
        let numbers = (rows * patches).max(rows.max(patches) * dimensions);
        for group in self.groups(numbers) {
            let pairs = self.pairs(&group);
            let (pulls, sums) = pulls(&pairs, self.kind, &gradient, group.start);
            add(&mut weights, sums);
            let PointGradients {
                points,
                squares: some,
            } = point_gradients(pairs.left.clone(), pairs.right.clone(), pulls.clone(), true);
            if let Some(some) = some {
                add(&mut squares, total(some));
            }
            let of_images = match (&self.inducing, &images) {
                (None, _) => Some(points),
                (Some(_), images) => {
                    add(&mut inducing, total(points));
                    let pulls = transposed(pulls);
                    (images.is_some())
                        .then(|| point_gradients(pairs.right, pairs.left, pulls, false).points)
                }
            };
            if let (Some(images), Some(pulls)) = (&images, of_images) {
                write_images(pulls, &self.lengthscales, self.grid, group.start, images);
            }
        }
        let scales = row(&self.lengthscales);
        let (variance, weights) = self.of_weights(weights);
        Gradients {
            inducing: inducing
                .map(|sum| CubeBackend::float_div(with_shape(sum, [rows, dimensions]), scales)),
            arguments: [images, self.of_lengthscales(squares), variance, weights],
        }
    }

    /// The gradients of the variance and of the weights from `Σ_n g·φ`, [R, P].
    fn of_weights(&self, sums: Option<CubeTensor>) -> (Option<CubeTensor>, Option<CubeTensor>) {
        let Some(sums) = sums else {
            return (None, None);
        };
        let products = CubeBackend::float_mul(self.weights.clone(), sums.clone());
        let sum = total(CubeBackend::float_sum_dim(products, 1));
        let weights = scaled(&sums, &self.variance);
        (Some(with_shape(sum, [1])), Some(weights))
    }

    /// The gradients of the lengthscales from `Σ w·(a − b)²` in lengthscale units, [1, D].
    fn of_lengthscales(&self, squares: Option<CubeTensor>) -> Option<CubeTensor> {
        let scales = self.lengthscales.shape();
        let mut squares = squares?;
        if scales[0] == 1 {
            squares = CubeBackend::float_sum_dim(squares, 1);
        }
        // Pairs of patches of the same image are counted twice.
        let factor = if self.inducing.is_some() { -1.0 } else { -0.5 };
        let squares = CubeBackend::float_mul_scalar(with_shape(squares, scales), factor.into());
        Some(CubeBackend::float_div(squares, self.lengthscales.clone()))
    }

    /// The gradients if there are no pairs.
    fn no_gradients(&self, images_wanted: bool) -> Gradients {
        let zeros = |tensor: &CubeTensor| match tensor.shape().num_elements() {
            0 => tensor.clone(),
            _ => zeros_like(tensor, tensor.shape()),
        };
        let inducing = self.inducing.as_ref();
        Gradients {
            inducing: inducing
                .map(|inducing| with_shape(zeros(inducing), [self.rows(), self.grid.dimensions()])),
            arguments: [
                images_wanted.then(|| zeros(&self.images)),
                Some(zeros(&self.lengthscales)),
                Some(zeros(&self.variance)),
                Some(zeros(&self.weights)),
            ],
        }
    }
}

/// The product of a matrix and a scalar on the device.
fn scaled(matrix: &CubeTensor, number: &CubeTensor) -> CubeTensor {
    if matrix.shape().num_elements() == 0 {
        return matrix.clone();
    }
    CubeBackend::float_mul(matrix.clone(), row(number))
}

/// Values as one row of a matrix.
fn row(numbers: &CubeTensor) -> CubeTensor {
    with_shape(numbers.clone(), [1, numbers.shape()[0]])
}

/// The sum over the first dimension.
fn total(tensor: CubeTensor) -> CubeTensor {
    CubeBackend::float_sum_dim(tensor, 0)
}

/// Adds a term to a sum, which is `None` before its first term.
fn add(sum: &mut Option<CubeTensor>, term: CubeTensor) {
    *sum = Some(match sum.take() {
        Some(sum) => CubeBackend::float_add(sum, term),
        None => term,
    });
}
