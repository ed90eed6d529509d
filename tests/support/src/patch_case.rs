//! Images, inducing patches, and sums over patches by their definition.

use burn::tensor::Tensor;
use burn_gp_core::{
    ops::{Stationary, patch_covariance, patch_variance},
    patches::{ImageShape, PatchGrid},
};

use super::{
    Dense, Input, Platform, Random, assert_close,
    gradients::Loss,
    numbers, platforms,
    stationary::{KINDS, profile},
};

/// σ² of every case.
pub const VARIANCE: f64 = 1.7;

/// Images, inducing patches and all other arguments of the operations.
#[derive(Clone, Debug)]
pub struct Case {
    pub shape: ImageShape,
    pub size: usize,
    pub stride: usize,
    pub inducing: Dense,
    pub images: Dense,
    pub lengthscales: Vec<f64>,
    /// [M, P]
    pub weights: Dense,
    /// [P, P]
    pub pair_weights: Dense,
}

impl Case {
    pub fn new(
        [height, width, channels]: [usize; 3],
        [size, stride]: [usize; 2],
        [inducing, images]: [usize; 2],
        shared: bool,
    ) -> Self {
        let mut random = Random::new((height * width + inducing) as u64);
        let shape = ImageShape::new(height, width, channels);
        let grid = PatchGrid::new(shape, size, stride).expect("there are patches");
        let (dimensions, patches) = (size * size * channels, grid.count());
        // Lengthscales grow with the dimension, which keeps distances of order one.
        let unit = (dimensions as f64).sqrt();
        let scales = if shared { 1 } else { dimensions };
        Self {
            shape,
            size,
            stride,
            inducing: random.points(inducing, dimensions),
            images: random.points(images, shape.len()),
            lengthscales: random.uniforms(scales, 0.5 * unit, 1.5 * unit),
            weights: random.matrix(inducing, patches),
            pair_weights: random.matrix(patches, patches),
        }
    }

    pub fn grid(&self) -> PatchGrid {
        PatchGrid::new(self.shape, self.size, self.stride).expect("there are patches")
    }

    /// The patches of an image, pixel by pixel.
    pub fn patches(&self, image: usize) -> Vec<Vec<f64>> {
        let ImageShape {
            height,
            width,
            channels,
        } = self.shape;
        let mut patches = Vec::new();
        for row in (0..=height - self.size).step_by(self.stride) {
            for column in (0..=width - self.size).step_by(self.stride) {
                let mut patch = Vec::new();
                for y in row..row + self.size {
                    for x in column..column + self.size {
                        for channel in 0..channels {
                            patch.push(self.images[(image, (y * width + x) * channels + channel)]);
                        }
                    }
                }
                patches.push(patch);
            }
        }
        patches
    }

    pub fn expected_covariance(&self, kind: Stationary) -> Dense {
        let mut sums = Dense::new(
            self.inducing.rows,
            self.images.rows,
            vec![0.0; self.inducing.rows * self.images.rows],
        );
        for n in 0..self.images.rows {
            for (p, patch) in self.patches(n).iter().enumerate() {
                for m in 0..self.inducing.rows {
                    let value = profile(kind, self.inducing.row(m), patch, &self.lengthscales);
                    sums[(m, n)] += self.weights[(m, p)] * VARIANCE * value;
                }
            }
        }
        sums
    }

    pub fn expected_variance(&self, kind: Stationary) -> Vec<f64> {
        let variance = |n| {
            let patches = self.patches(n);
            let mut sum = 0.0;
            for (p, one) in patches.iter().enumerate() {
                for (q, other) in patches.iter().enumerate() {
                    let value = profile(kind, one, other, &self.lengthscales);
                    sum += self.pair_weights[(p, q)] * VARIANCE * value;
                }
            }
            sum
        };
        (0..self.images.rows).map(variance).collect()
    }

    pub fn covariance(&self, kind: Stationary, platform: &Platform) -> Vec<f64> {
        numbers(patch_covariance(
            kind,
            &self.grid(),
            platform.matrix(&self.inducing),
            platform.matrix(&self.images),
            platform.tensor(&self.lengthscales, [self.lengthscales.len()]),
            platform.tensor(&[VARIANCE], [1]),
            platform.matrix(&self.weights),
        ))
    }

    pub fn variance(&self, kind: Stationary, platform: &Platform) -> Vec<f64> {
        numbers(patch_variance(
            kind,
            &self.grid(),
            platform.matrix(&self.images),
            platform.tensor(&self.lengthscales, [self.lengthscales.len()]),
            platform.tensor(&[VARIANCE], [1]),
            platform.matrix(&self.pair_weights),
        ))
    }

    /// Asserts that both operations agree with the definition.
    #[track_caller]
    pub fn check_values(&self, what: &str) {
        for kind in KINDS {
            let covariance = self.expected_covariance(kind).values;
            let variance = self.expected_variance(kind);
            for platform in platforms() {
                let what = format!("{platform}, {kind:?}, {what}");
                // Sums of a few hundred terms, whose distances lose some digits to cancellation.
                let tolerance = platform.tolerance(1e-13, 2e-5);
                let actual = self.covariance(kind, &platform);
                assert_close(
                    &format!("{what}, covariance"),
                    &actual,
                    &covariance,
                    tolerance,
                );
                let actual = self.variance(kind, &platform);
                assert_close(&format!("{what}, variance"), &actual, &variance, tolerance);
            }
        }
    }

    /// A random linear function of both operations, with inputs in the order of [`Case::inputs`].
    pub fn loss(&self, kind: Stationary, platform: &Platform, inputs: &[Tensor<1>]) -> Tensor<1> {
        let grid = self.grid();
        let (rows, columns) = (self.inducing.rows, self.images.rows);
        let mut random = Random::new(73);
        let (first, second) = (random.matrix(rows, columns), random.normals(columns));
        let [inducing, scales, variance, weights, pair_weights] =
            [0, 1, 2, 3, 4].map(|index: usize| inputs[index].clone());
        let images = match inputs.get(5) {
            Some(images) => images.clone().reshape([columns, self.shape.len()]),
            None => platform.matrix(&self.images),
        };
        let covariance = patch_covariance(
            kind,
            &grid,
            inducing.reshape([rows, grid.dimensions()]),
            images.clone(),
            scales.clone(),
            variance.clone(),
            weights.reshape([rows, grid.count()]),
        );
        let pair_weights = pair_weights.reshape([grid.count(); 2]);
        let variance = patch_variance(kind, &grid, images, scales, variance, pair_weights);
        (covariance * platform.matrix(&first)).sum()
            + (variance * platform.tensor(&second, [columns])).sum()
    }

    /// The inputs of the loss. The images are inputs or constants.
    pub fn inputs(&self, images: bool) -> Vec<Input> {
        let mut inputs: Vec<Input> = vec![
            (&self.inducing).into(),
            self.lengthscales.clone().into(),
            vec![VARIANCE].into(),
            (&self.weights).into(),
            (&self.pair_weights).into(),
        ];
        if images {
            inputs.push((&self.images).into());
        }
        inputs
    }

    /// Checks the gradients of every input, with tracked and with constant images.
    #[track_caller]
    pub fn check_gradients(&self, what: &str, checker: impl Fn(&str, &[Input], f64, Loss<'_>)) {
        for kind in KINDS {
            for images in [true, false] {
                let what = format!("{what}, {kind:?}, images tracked: {images}");
                checker(&what, &self.inputs(images), 1e-4, &|platform, inputs| {
                    self.loss(kind, platform, inputs)
                });
            }
        }
    }
}
