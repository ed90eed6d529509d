//! Sums of a stationary covariance over image patches, compared with their definition.

use crate::support::{
    Dense, Input, Random, assert_close, assert_finite, check_gradients, check_gradients_by_entry,
    double_precision_platforms,
    gradients::Loss,
    numbers,
    patch_case::{Case, VARIANCE},
    platforms,
    stationary::{KINDS, profile},
};
use burn_gp_core::{
    ops::{Stationary, patch_covariance, patch_variance},
    patches::{ImageShape, PatchGrid},
};

/// Image, patch and stride, inducing patches and images: single patches, strides and channels, rows
/// that end inside a register, and several blocks, image tiles and threads.
const GEOMETRIES: [([usize; 3], [usize; 2], [usize; 2]); 8] = [
    ([3, 3, 1], [2, 1], [1, 1]),
    ([6, 6, 1], [6, 1], [3, 5]),
    ([4, 5, 2], [1, 1], [2, 3]),
    ([5, 7, 2], [3, 2], [5, 4]),
    ([9, 9, 3], [4, 2], [7, 3]),
    ([10, 9, 1], [3, 1], [130, 2]),
    ([20, 20, 1], [4, 1], [90, 7]),
    ([12, 40, 2], [5, 1], [21, 5]),
];

#[test]
fn values_are_those_of_the_definition() {
    for (image, patch, sizes) in GEOMETRIES {
        for shared in [true, false] {
            let case = Case::new(image, patch, sizes, shared);
            case.check_values(&format!("{image:?}, {patch:?}, {sizes:?}, shared {shared}"));
        }
    }
}

#[test]
fn images_around_the_borders_of_tiles() {
    for images in 1..=20 {
        Case::new([9, 8, 1], [2, 1], [5, images], true).check_values(&format!("{images} images"));
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for (image, patch, sizes) in GEOMETRIES {
        for shared in [true, false] {
            let case = Case::new(image, patch, sizes, shared);
            let what = format!("{image:?}, {patch:?}, {sizes:?}, shared {shared}");
            case.check_gradients(&what, check_gradients);
        }
    }
}

/// Any number of threads gives the same results up to rounding.
#[test]
fn threads_share_the_work() {
    let case = Case::new([16, 16, 1], [3, 1], [37, 11], false);
    for platform in double_precision_platforms() {
        for kind in KINDS {
            let results = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("threads").install(|| {
                    let tracked = platform.autodiff();
                    let loss: Loss<'_> = &|platform, inputs| case.loss(kind, platform, inputs);
                    let gradients = crate::support::gradients::autodiff_gradients(
                        &tracked,
                        &case.inputs(true),
                        loss,
                    );
                    let values = [
                        case.covariance(kind, &platform),
                        case.variance(kind, &platform),
                    ];
                    (values, gradients)
                })
            };
            let (values, gradients) = results(1);
            for threads in [2, 3, 8] {
                let (others, other_gradients) = results(threads);
                let what = format!("{platform}, {kind:?}, {threads} threads");
                for (value, other) in values.iter().zip(&others) {
                    assert_close(&what, other, value, 1e-13);
                }
                for (gradient, other) in gradients.iter().zip(&other_gradients) {
                    assert_close(&what, other, gradient, 1e-12);
                }
            }
        }
    }
}

/// Golden values of a convolutional kernel with and without a kernel on patch locations, from an
/// independent Python implementation.
#[test]
fn golden_values() {
    let image: Vec<f64> = (1..=9).map(|pixel| f64::from(pixel) / 10.0).collect();
    let weights = [0.5, 1.0, -0.25, 2.0];
    let places = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let location = |a: [f64; 2], b: [f64; 2]| profile(Stationary::Matern32, &a, &b, &[3.0]);
    let with = |name: &str, of_place: &dyn Fn([f64; 2], [f64; 2]) -> f64, expected: [f64; 2]| {
        let grid = PatchGrid::new(ImageShape::new(3, 3, 1), 2, 1).expect("there are patches");
        let row = Dense::from_function(1, 4, |_, p| weights[p] * of_place([0.5, 1.2], places[p]));
        let pairs = Dense::from_function(4, 4, |p, q| {
            weights[p] * weights[q] * of_place(places[p], places[q])
        });
        for platform in platforms() {
            let kind = Stationary::SquaredExponential;
            let images = platform.tensor(&image, [1, 9]);
            let inducing = platform.tensor(&[0.1, 0.2, 0.3, 0.4], [1, 4]);
            let (scale, one) = (platform.tensor(&[0.7], [1]), platform.tensor(&[1.0], [1]));
            let row = platform.matrix(&row);
            let covariance = patch_covariance(
                kind,
                &grid,
                inducing,
                images.clone(),
                scale.clone(),
                one.clone(),
                row,
            );
            let pairs = platform.matrix(&pairs);
            let variance = patch_variance(kind, &grid, images, scale, one, pairs);
            let actual = [numbers(covariance), numbers(variance)].concat();
            // The golden values have eleven decimals.
            let tolerance = platform.tolerance(1e-11, 1e-6);
            assert_close(
                &format!("{platform}, {name}"),
                &actual,
                &expected,
                tolerance,
            );
        }
    };
    with("convolution", &|_, _| 1.0, [2.10904375960, 8.52585229953]);
    with("places", &location, [1.98037444586, 8.10699092006]);
}

/// A case with black images, images with a black background, and inducing patches that occur in
/// these images twice.
fn background(shared: bool) -> Case {
    let mut case = Case::new([8, 8, 1], [3, 1], [6, 4], shared);
    // After standardizing, black is not zero.
    let black = -0.4242;
    for n in 0..case.images.rows {
        for pixel in 0..64 {
            let (row, column) = (pixel / 8, pixel % 8);
            if n == 0 || row < 5 || column < 5 {
                case.images[(n, pixel)] = black;
            }
        }
    }
    let bright = case.patches(1)[35].clone();
    for (d, &light) in bright.iter().enumerate() {
        for m in [0, 1, 5] {
            case.inducing[(m, d)] = black;
        }
        for m in [2, 3] {
            case.inducing[(m, d)] = light;
        }
    }
    case
}

#[test]
fn black_images_and_repeated_patches() {
    for shared in [true, false] {
        let case = background(shared);
        case.check_values(&format!("background, shared {shared}"));
        for platform in platforms() {
            for kind in KINDS {
                // A black image has only covariances between equal patches.
                let what = format!("{platform}, {kind:?}");
                let tolerance = platform.tolerance(1e-14, 1e-6);
                let sum: f64 = case.pair_weights.values.iter().sum();
                let variance = case.variance(kind, &platform)[0];
                assert_close(&what, &[variance], &[VARIANCE * sum], tolerance * 20.0);
                let tracked = platform.autodiff();
                let loss: Loss<'_> = &|platform, inputs| case.loss(kind, platform, inputs);
                for images in [true, false] {
                    let inputs = case.inputs(images);
                    for gradient in
                        crate::support::gradients::autodiff_gradients(&tracked, &inputs, loss)
                    {
                        assert_finite(&what, &gradient);
                    }
                }
            }
        }
    }
}

/// Differences in single entries, because Matérn-1/2 has a kink at coincident patches.
#[test]
fn gradients_at_repeated_patches() {
    for shared in [true, false] {
        background(shared).check_gradients("background", check_gradients_by_entry);
    }
}

/// Images, inducing patches, lengthscales and weights are mirrored together.
#[test]
fn mirrored_images_have_the_same_covariances() {
    for ([height, width, channels], [size, stride]) in [
        ([6, 9, 1], [3, 1]),
        ([7, 9, 2], [3, 2]),
        ([8, 8, 3], [2, 3]),
    ] {
        let case = Case::new([height, width, channels], [size, stride], [4, 3], false);
        let grid = case.grid();
        // The index of a pixel's channel, or of a patch, after mirroring.
        let mirror = |width: usize, channels: usize, index: usize| {
            let (row, column) = (index / (width * channels), index / channels % width);
            (row * width + width - 1 - column) * channels + index % channels
        };
        let in_image = |index| mirror(width, channels, index);
        let in_patch = |index| mirror(size, channels, index);
        let of_patches = |index| mirror(grid.columns(), 1, index);
        let columns = |matrix: &Dense, mirrored: &dyn Fn(usize) -> usize| {
            Dense::from_function(matrix.rows, matrix.columns, |i, j| matrix[(i, mirrored(j))])
        };
        let pairs = columns(&case.pair_weights, &of_patches).transposed();
        let mirrored = Case {
            inducing: columns(&case.inducing, &in_patch),
            images: columns(&case.images, &in_image),
            lengthscales: (0..grid.dimensions())
                .map(|d| case.lengthscales[in_patch(d)])
                .collect(),
            weights: columns(&case.weights, &of_patches),
            pair_weights: columns(&pairs, &of_patches).transposed(),
            ..case.clone()
        };
        assert_ne!(case.images, mirrored.images);
        for platform in platforms() {
            for kind in KINDS {
                let what = format!("{platform}, {kind:?}, {height}x{width}x{channels}");
                let tolerance = platform.tolerance(1e-13, 2e-5);
                let (one, other) = (&case, &mirrored);
                let values = one.covariance(kind, &platform);
                assert_close(
                    &what,
                    &other.covariance(kind, &platform),
                    &values,
                    tolerance,
                );
                let values = one.variance(kind, &platform);
                assert_close(&what, &other.variance(kind, &platform), &values, tolerance);
            }
        }
    }
}

/// No images or no inducing patches give empty results.
#[test]
fn nothing_has_no_covariances() {
    for (inducing, images) in [(0, 2), (2, 0)] {
        let case = Case::new([4, 4, 1], [2, 1], [inducing, images], false);
        for platform in platforms() {
            let kind = Stationary::Matern52;
            assert!(case.covariance(kind, &platform).is_empty());
            assert_eq!(case.variance(kind, &platform).len(), images);
            let loss: Loss<'_> = &|platform, inputs| case.loss(kind, platform, inputs);
            let inputs = case.inputs(true);
            let gradients =
                crate::support::gradients::autodiff_gradients(&platform.autodiff(), &inputs, loss);
            for (gradient, input) in gradients.iter().zip(&inputs) {
                assert_eq!(gradient.len(), input.values.len());
            }
        }
    }
}

#[test]
#[should_panic(expected = "expected [M, 4] and [M, 4]")]
fn weights_of_other_patches_are_the_callers_error() {
    let mut case = Case::new([3, 3, 1], [2, 1], [2, 1], true);
    case.weights = Dense::identity(3);
    case.covariance(Stationary::Matern32, &platforms()[0]);
}

#[test]
#[should_panic(expected = "2 lengthscales and 1 variances for patches of 4 dimensions")]
fn lengthscales_of_other_patches_are_the_callers_error() {
    let mut case = Case::new([3, 3, 1], [2, 1], [2, 1], true);
    case.lengthscales = vec![1.0, 2.0];
    case.variance(Stationary::Matern32, &platforms()[0]);
}

/// The derivatives of 1024 inducing patches with 4096 patches per image are more numbers than a GPU
/// keeps at a time for five images.
#[test]
fn groups_of_images_add_up() {
    let grid = PatchGrid::new(ImageShape::new(64, 64, 1), 1, 1).expect("there are patches");
    let (rows, columns, patches) = (1024, 5, grid.count());
    let mut random = Random::new(31);
    let inputs: Vec<Input> = vec![
        (&random.points(rows, 1)).into(),
        vec![1.3].into(),
        vec![0.9].into(),
        (&random.matrix(rows, patches)).into(),
        (&random.points(columns, patches)).into(),
    ];
    let factors = random.matrix(rows, columns);
    let loss: Loss<'_> = &|platform, inputs| {
        let [inducing, scales, variance, weights, images] =
            [0, 1, 2, 3, 4].map(|index: usize| inputs[index].clone());
        let covariance = patch_covariance(
            Stationary::Matern32,
            &grid,
            inducing.reshape([rows, 1]),
            images.reshape([columns, patches]),
            scales,
            variance,
            weights.reshape([rows, patches]),
        );
        (covariance * platform.matrix(&factors)).sum()
    };
    let mut expected: Option<Vec<Vec<f64>>> = None;
    for platform in platforms() {
        let gradients =
            crate::support::gradients::autodiff_gradients(&platform.autodiff(), &inputs, loss);
        let expected = expected.get_or_insert_with(|| gradients.clone());
        for (index, (gradient, expected)) in gradients.iter().zip(expected).enumerate() {
            // Single precision sums up to twenty million terms of both signs.
            let tolerance = platform.tolerance(1e-11, 1e-4);
            let what = format!("{platform}, input {index}");
            assert_close(&what, gradient, expected, tolerance);
        }
    }
}

/// Transposed storage gives the same numbers, forward and backward, as does the expanded gradient of
/// a plain sum.
#[test]
fn views_are_read_like_other_tensors() {
    let case = Case::new([9, 9, 3], [4, 2], [7, 3], false);
    let grid = case.grid();
    for platform in platforms() {
        let tracked = platform.autodiff();
        let results = |transposed: bool| -> Vec<Vec<f64>> {
            let stored = [
                &case.inducing,
                &case.images,
                &case.weights,
                &case.pair_weights,
            ]
            .map(|matrix| match transposed {
                true => tracked.matrix(&matrix.transposed()).require_grad(),
                false => tracked.matrix(matrix).require_grad(),
            });
            let seen = |tensor: burn::tensor::Tensor<2>| match transposed {
                true => tensor.transpose(),
                false => tensor,
            };
            let [inducing, images, weights, pair_weights] = stored.clone().map(seen);
            let scales = tracked.tensor(&case.lengthscales, [case.lengthscales.len()]);
            let amplitude = tracked.tensor(&[VARIANCE], [1]);
            let kind = Stationary::Matern52;
            let covariance = patch_covariance(
                kind,
                &grid,
                inducing,
                images.clone(),
                scales.clone(),
                amplitude.clone(),
                weights,
            );
            let variance = patch_variance(kind, &grid, images, scales, amplitude, pair_weights);
            let gradients = (covariance.clone().sum() + variance.clone().sum()).backward();
            let gradients = stored.map(|tensor| {
                let gradient = tensor.grad(&gradients).expect("a gradient");
                numbers(seen(gradient))
            });
            [numbers(covariance), numbers(variance)]
                .into_iter()
                .chain(gradients)
                .collect()
        };
        assert_eq!(results(true), results(false), "{platform}");
    }
}

/// A missing pixel spoils its own image only.
#[test]
fn not_a_number_stays_in_its_image() {
    let case = Case::new([9, 8, 1], [2, 1], [5, 3], true);
    let mut spoiled = case.clone();
    spoiled.images[(1, 20)] = f64::NAN;
    for platform in platforms() {
        for kind in KINDS {
            let what = format!("{platform}, {kind:?}");
            let (whole, some) = (
                case.covariance(kind, &platform),
                spoiled.covariance(kind, &platform),
            );
            for (index, (whole, some)) in whole.iter().zip(&some).enumerate() {
                assert_eq!(index % 3 == 1, some.is_nan(), "{what}");
                assert!(index % 3 == 1 || some == whole, "{what}");
            }
            let (whole, some) = (
                case.variance(kind, &platform),
                spoiled.variance(kind, &platform),
            );
            assert!(some[1].is_nan(), "{what}");
            assert_eq!([some[0], some[2]], [whole[0], whole[2]], "{what}");
        }
    }
}
