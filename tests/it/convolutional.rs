//! Convolutional kernels and inducing patches.

use crate::support::{
    Platform, Random, assert_close, check_module_gradients, double_precision_platforms, numbers,
    platforms,
};
use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::{Inducing, InducingPatches, InducingPoints},
    kernels::{
        AnyKernel, Convolutional, Kernel, KernelConfig, KernelModule, Kernels, ProductConfig,
        RationalQuadraticConfig, Scaled, ScaledConfig, StationaryConfig, StationaryKernel,
        Structure, Sum, SumConfig, WhiteConfig,
    },
    ops::Stationary,
    patches::{ImageShape, PatchGrid},
};

fn rbf(lengthscale: f64, variance: f64) -> StationaryConfig {
    StationaryConfig::new(Stationary::SquaredExponential)
        .isotropic()
        .with_lengthscale(lengthscale)
        .with_variance(variance)
}

fn matern32(lengthscale: f64) -> StationaryConfig {
    StationaryConfig::new(Stationary::Matern32)
        .isotropic()
        .with_lengthscale(lengthscale)
}

/// The image, weights and patch of the published example.
fn example(platform: &Platform) -> (Convolutional, InducingPatches, Tensor<2>) {
    let grid = PatchGrid::new(ImageShape::new(3, 3, 1), 2, 1).expect("patches");
    let weights = platform.tensor(&[0.5, 1.0, -0.25, 2.0], [4]);
    let kernel = rbf(0.7, 1.0).init(4, platform.options());
    let kernel = Convolutional::new(kernel, grid, platform.options()).with_weights(weights);
    let patch = platform.tensor(&[0.1, 0.2, 0.3, 0.4], [1, 4]);
    let pixels: Vec<f64> = (1..=9).map(|pixel| f64::from(pixel) / 10.0).collect();
    let image = platform.tensor(&pixels, [1, 9]);
    (kernel, InducingPatches::new(patch), image)
}

/// Golden values, computed with loops in double precision.
#[test]
fn a_small_image_by_hand() {
    for platform in platforms() {
        let (kernel, patches, image) = example(&platform);
        let tolerance = platform.tolerance(1e-10, 1e-5);
        let kuf = numbers(patches.kuf(&Kernels::from(kernel.clone()), image.clone()));
        assert_close("k_vf", &kuf, &[2.109_043_759_60], tolerance);
        let variance = numbers(kernel.diagonal_at(image.clone()));
        assert_close("k_f", &variance, &[8.525_852_299_53], tolerance);

        let location = matern32(3.0).init(2, platform.options());
        let kernel = kernel.with_location(location);
        let patches = patches.with_places(platform.tensor(&[0.5, 1.2], [1, 2]));
        let kuf = numbers(patches.kuf(&Kernels::from(kernel.clone()), image.clone()));
        assert_close("located k_vf", &kuf, &[1.980_374_445_86], tolerance);
        let variance = numbers(kernel.diagonal_at(image));
        assert_close("located k_f", &variance, &[8.106_990_920_06], tolerance);
    }
}

/// With a single patch of the size of the image and weight one, it is the base kernel.
#[test]
fn one_patch_is_the_image() {
    let shape = ImageShape::new(3, 3, 2);
    let grid = PatchGrid::new(shape, 3, 1).expect("patches");
    for platform in platforms() {
        let mut random = Random::new(11);
        let (x, z) = (random.points(5, shape.len()), random.points(4, shape.len()));
        let (x, z) = (platform.matrix(&x), platform.matrix(&z));
        let base = rbf(3.0, 1.3).init(shape.len(), platform.options());
        let kernel = Convolutional::new(base.clone(), grid, platform.options());
        let tolerance = platform.tolerance(1e-10, 1e-5);
        let (points, patches) = (InducingPoints::new(z.clone()), InducingPatches::new(z));
        let pairs = [
            (
                points.kuu(&Kernels::from(base.clone())),
                patches.kuu(&Kernels::from(kernel.clone())),
            ),
            (
                points.kuf(&Kernels::from(base.clone()), x.clone()),
                patches.kuf(&Kernels::from(kernel.clone()), x.clone()),
            ),
            (
                base.matrix_at(x.clone()).unsqueeze(),
                kernel.matrix_at(x.clone()).unsqueeze(),
            ),
            (
                base.diagonal_at(x.clone()).unsqueeze::<3>(),
                kernel.diagonal_at(x.clone()).unsqueeze(),
            ),
        ];
        for (index, (expected, actual)) in pairs.into_iter().enumerate() {
            let what = format!("{platform}, matrix {index}");
            assert_close(&what, &numbers(actual), &numbers(expected), tolerance);
        }
    }
}

/// The kernel of images is that of weighted sums of responses for any response kernel: with and
/// without a fused operation, including white noise.
#[test]
fn covariances_of_images_are_sums_over_pairs_of_patches() {
    let shape = ImageShape::new(4, 5, 2);
    let grid = PatchGrid::new(shape, 2, 2).expect("patches");
    let kernels: [KernelConfig; 5] = [
        rbf(1.5, 0.7).into(),
        KernelConfig::from(RationalQuadraticConfig::default()),
        KernelConfig::from(ScaledConfig {
            base: rbf(1.5, 0.7).into(),
            outputscale: 1.9,
        }),
        KernelConfig::from(ProductConfig {
            first: rbf(1.5, 0.7).into(),
            second: rbf(2.5, 1.1).into(),
        }),
        KernelConfig::from(SumConfig {
            first: rbf(1.5, 0.7).into(),
            second: KernelConfig::from(WhiteConfig { variance: 0.3 }),
        }),
    ];
    for platform in platforms() {
        for config in &kernels {
            let mut random = Random::new(12);
            let count = grid.count();
            let weights = platform.tensor(&random.normals(count), [count]);
            let (images, others) = (random.points(3, shape.len()), random.points(2, shape.len()));
            let (images, others) = (platform.matrix(&images), platform.matrix(&others));
            let base: AnyKernel = config.init(grid.dimensions(), platform.options());
            let kernel = Convolutional::new(base.clone(), grid, platform.options())
                .with_weights(weights.clone());
            let what = format!("{platform}, {config:?}");
            let tolerance = platform.tolerance(1e-10, 2e-5);
            let weights = numbers(weights);
            let sum = |covariance: Tensor<2>, rows: usize, columns: usize| -> Vec<f64> {
                let each = numbers(covariance);
                let at = |row: usize, column: usize| each[row * columns * count + column];
                (0..rows * columns)
                    .map(|pair| {
                        let (row, column) = (pair / columns, pair % columns);
                        let pairs = (0..count).flat_map(|p| (0..count).map(move |q| (p, q)));
                        pairs
                            .map(|(p, q)| {
                                weights[p] * weights[q] * at(row * count + p, column * count + q)
                            })
                            .sum()
                    })
                    .collect()
            };
            let (first, second) = (grid.extract(images.clone()), grid.extract(others.clone()));
            let expected = sum(base.covariance_at(first.clone(), second), 3, 2);
            let actual = numbers(kernel.covariance_at(images.clone(), others));
            assert_close(
                &format!("{what}: covariance"),
                &actual,
                &expected,
                tolerance,
            );
            let expected = sum(base.matrix_at(first), 3, 3);
            let actual = numbers(kernel.matrix_at(images.clone()));
            assert_close(&format!("{what}: matrix"), &actual, &expected, tolerance);
            let diagonal: Vec<f64> = (0..3).map(|image| expected[4 * image]).collect();
            let actual = numbers(kernel.diagonal_at(images));
            assert_close(&format!("{what}: diagonal"), &actual, &diagonal, tolerance);
        }
    }
}

/// A stationary kernel whose covariances cannot be computed, only sums over patches.
#[derive(Module, Debug)]
struct SumsAlone {
    stationary: StationaryKernel,
}

impl Kernel for SumsAlone {
    fn covariance(&self, _: Tensor<3>, _: Tensor<3>) -> Tensor<3> {
        panic!("a matrix of all patches")
    }

    fn diagonal(&self, _: Tensor<3>) -> Tensor<2> {
        panic!("a diagonal of all patches")
    }

    fn structure(&self) -> Structure<'_> {
        self.stationary.structure()
    }
}

/// Scaled kernels and sums forward sums over patches to their base kernels, which have fused
/// operations for them.
#[test]
fn scaled_kernels_and_sums_pass_sums_over_patches_on() {
    let grid = PatchGrid::new(ImageShape::new(3, 3, 1), 2, 1).expect("patches");
    for platform in platforms() {
        let options = platform.options();
        // All patches are within a billionth of a lengthscale.
        let stationary = rbf(1e9, 3.0).init(4, options);
        let alone = SumsAlone { stationary };
        let kernel = Sum::new(alone.clone(), Scaled::new(alone, 0.5, options));
        let kernel = Convolutional::new(kernel, grid, options);
        let mut random = Random::new(17);
        let images = platform.matrix(&random.points(2, 9));
        let patches = InducingPatches::new(platform.matrix(&random.points(3, 4)));
        let tolerance = platform.tolerance(1e-14, 1e-6);
        let kuf = numbers(patches.kuf(&Kernels::from(kernel.clone()), images.clone()));
        assert_close("covariances", &kuf, &[4.5; 6], tolerance);
        let variances = numbers(kernel.diagonal_at(images));
        assert_close("variances", &variances, &[4.5; 2], tolerance);
    }
}

#[test]
fn weights_scale_and_a_wide_location_kernel_does_not_matter() {
    for platform in platforms() {
        let (kernel, patches, image) = example(&platform);
        let tolerance = platform.tolerance(1e-10, 1e-5);
        let factor = 1.7;
        let scaled = (kernel.clone()).with_weights(kernel.weights() * factor);
        let (kuf, variance) = (
            numbers(patches.kuf(&Kernels::from(kernel.clone()), image.clone()))[0],
            numbers(kernel.diagonal_at(image.clone()))[0],
        );
        let actual = [
            numbers(patches.kuf(&Kernels::from(scaled.clone()), image.clone()))[0],
            numbers(scaled.diagonal_at(image.clone()))[0],
        ];
        let expected = [factor * kuf, factor * factor * variance];
        assert_close("scaled weights", &actual, &expected, tolerance);

        // 1 − k_loc is about the squared distance over the squared lengthscale.
        let located = kernel.with_location(matern32(1e5).init(2, platform.options()));
        let patches = patches.with_places(platform.tensor(&[0.5, 1.2], [1, 2]));
        let actual = [
            numbers(patches.kuf(&Kernels::from(located.clone()), image.clone()))[0],
            numbers(located.diagonal_at(image))[0],
        ];
        let tolerance = platform.tolerance(1e-8, 1e-5);
        assert_close("wide location kernel", &actual, &[kuf, variance], tolerance);
    }
}

/// Mirroring images, inducing patches and weights changes nothing.
#[test]
fn patches_have_no_order() {
    let (side, size) = (5, 2);
    let grid = PatchGrid::new(ImageShape::new(side, side, 1), size, 1).expect("patches");
    let mirrored = |values: &[f64], side: usize| -> Vec<f64> {
        let rows = values.chunks(side);
        rows.flat_map(|row| row.iter().rev().copied()).collect()
    };
    for platform in platforms() {
        let mut random = Random::new(13);
        let image = random.normals(side * side);
        let patch = random.normals(size * size);
        let weights = random.normals(grid.count());
        let value = |image: &[f64], patch: &[f64], weights: &[f64]| -> [f64; 2] {
            let base = rbf(1.1, 0.9).init(size * size, platform.options());
            let kernel = Convolutional::new(base, grid, platform.options())
                .with_weights(platform.tensor(weights, [grid.count()]));
            let patches = InducingPatches::new(platform.tensor(patch, [1, size * size]));
            let image = platform.tensor(image, [1, side * side]);
            [
                numbers(patches.kuf(&Kernels::from(kernel.clone()), image.clone()))[0],
                numbers(kernel.diagonal_at(image))[0],
            ]
        };
        let expected = value(&image, &patch, &weights);
        let actual = value(
            &mirrored(&image, side),
            &mirrored(&patch, size),
            &mirrored(&weights, grid.columns()),
        );
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close("mirrored", &actual, &expected, tolerance);
    }
}

#[test]
fn sets_of_patches_and_their_columns() {
    for platform in double_precision_platforms() {
        let grid = PatchGrid::new(ImageShape::new(4, 4, 1), 2, 1).expect("patches");
        let mut random = Random::new(14);
        let mut set = |count: usize| {
            let (patches, places) = (random.points(count, 4), random.points(count, 2));
            InducingPatches::new(platform.matrix(&patches)).with_places(platform.matrix(&places))
        };
        let sets = [set(3), set(2)];
        let options = platform.options();
        let kernel = Convolutional::new(rbf(1.0, 1.2).init(4, options), grid, options)
            .with_location(matern32(2.0).init(2, options));
        let union = sets[0].union(&[&sets[1].clone().into()]);
        let all = union.kuu(&Kernels::from(kernel.clone()));
        assert_close(
            "between the sets",
            &numbers(sets[0].kuv(&Kernels::from(kernel.clone()), &sets[1].clone().into())),
            &numbers(all.clone().narrow(1, 0, 3).narrow(2, 3, 2)),
            1e-14,
        );
        let columns = Tensor::<1, burn::tensor::Int>::from_data([4, 1], &platform.device);
        assert_close(
            "columns",
            &numbers(union.kuu_columns(&Kernels::from(kernel.clone()), columns.clone())),
            &numbers(all.select(2, columns)),
            1e-14,
        );
    }
}

#[test]
fn gradients_reach_every_parameter() {
    let grid = PatchGrid::new(ImageShape::new(4, 4, 1), 3, 1).expect("patches");
    #[derive(burn::module::Module, Debug)]
    struct Pieces {
        kernel: Convolutional,
        patches: InducingPatches,
    }
    let build = |platform: &Platform| {
        let mut random = Random::new(15);
        let options = platform.options();
        let (patches, places) = (random.points(3, 9), random.points(3, 2));
        let weights = platform.tensor(&random.normals(grid.count()), [grid.count()]);
        Pieces {
            kernel: Convolutional::new(rbf(2.0, 1.2).init(9, options), grid, options)
                .with_location(matern32(1.5).init(2, options))
                .with_weights(weights),
            patches: InducingPatches::new(platform.matrix(&patches))
                .with_places(platform.matrix(&places)),
        }
    };
    // In single precision these are sums of many terms of both signs.
    check_module_gradients("responses", (1e-6, 1e-3), build, |platform, pieces| {
        let mut random = Random::new(16);
        let images = platform.matrix(&random.points(4, 16));
        let seeds = platform.matrix(&random.matrix(3, 4));
        let kuf = pieces
            .patches
            .kuf(&Kernels::from(pieces.kernel.clone()), images.clone());
        let kuu = pieces.patches.kuu(&Kernels::from(pieces.kernel.clone()));
        (kuf * seeds.unsqueeze()).sum()
            + kuu.square().sum()
            + pieces.kernel.diagonal_at(images).square().sum()
    });
}
