//! Spectra compared with the kernels.

use burn_gp_core::{
    kernels::{
        Kernel, KernelConfig, KernelModule, LinearConfig, Periodic, RandomFourier,
        StationaryKernel, WhiteConfig,
    },
    ops::Stationary,
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    sampling::kernel_cases::{kernels, mixtures_and_lines, stationary},
    support::{
        Dense, Random, assert_close, dense::mean_cosine, double_precision_platforms,
        first_platform, numbers, platforms, posterior_case::DIMENSIONS, stationary::KINDS,
    },
};

/// `Σ σ²·mean cos ωᵀ(x − x′)` is the kernel. With 40 000 frequencies the standard error of a mean
/// of cosines is at most `1/√(2·40 000) = 0.0035`. The test allows five standard errors, relative
/// to the variance.
#[test]
fn spectra_are_those_of_the_kernels() {
    let Some(platform) = &first_platform() else {
        return;
    };
    let points = Random::new(501).points(12, DIMENSIONS);
    let count = 40_000;
    for config in kernels() {
        let kernel = config.init(DIMENSIONS, platform.options());
        let mut random = ChaCha8Rng::seed_from_u64(17);
        let components = kernel
            .spectrum(DIMENSIONS, count, &mut random)
            .expect("the kernel is stationary");
        let entry = |i: usize, j: usize| -> f64 {
            let difference: Vec<f64> = (0..DIMENSIONS)
                .map(|d| points[(i, d)] - points[(j, d)])
                .collect();
            let terms = components.iter().map(|component| {
                component.variance * mean_cosine(&component.frequencies, &difference)
            });
            terms.sum()
        };
        let estimate = Dense::from_function(12, 12, entry);
        let x = platform.matrix(&points);
        let expected = numbers(kernel.matrix_at(x));
        assert_close(
            &format!("{config:?}"),
            &estimate.values,
            &expected,
            5.0 / (2.0 * count as f64).sqrt(),
        );
    }
}

/// Separate lengthscales for the dimensions.
#[test]
fn spectra_know_separate_lengthscales() {
    let platform = &double_precision_platforms()[0];
    let lengthscales = [0.5, 2.0];
    for kind in KINDS {
        let kernel = burn_gp_core::kernels::StationaryKernel::new(
            kind,
            &lengthscales,
            1.0,
            platform.options(),
        );
        let mut random = ChaCha8Rng::seed_from_u64(19);
        let count = 40_000;
        let components = kernel
            .spectrum(2, count, &mut random)
            .expect("it is stationary");
        for (difference, x) in [([0.4, 0.0], [0.4, 0.0]), ([0.0, 0.9], [0.0, 0.9])] {
            let frequencies = components[0].frequencies.chunks(2);
            let sum: f64 = frequencies
                .map(|w| (w[0] * difference[0] + w[1] * difference[1]).cos())
                .sum();
            let origin = platform.tensor(&[0.0, 0.0], [1, 2]);
            let expected = numbers(kernel.covariance_at(platform.tensor(&x, [1, 2]), origin))[0];
            let error = (sum / count as f64 - expected).abs();
            assert!(
                error < 5.0 / (2.0 * count as f64).sqrt(),
                "{kind:?}: {error}"
            );
        }
    }
}

/// The covariance of random features converges to that of the kernel as `1/√F`. With F features the
/// error is within five standard errors `σ²/√(2F)` for each component. A kernel has at most twelve
/// components.
#[test]
fn the_covariance_of_random_features_converges_to_the_kernel() {
    for platform in platforms() {
        let x = platform.matrix(&Random::new(503).points(9, DIMENSIONS));
        for config in mixtures_and_lines() {
            let kernel = config.init(DIMENSIONS, platform.options());
            let expected = numbers(kernel.matrix_at(x.clone()));
            for count in [100, 1_600, 25_600] {
                let mut random = ChaCha8Rng::seed_from_u64(29);
                let options = platform.options();
                let features = RandomFourier::new(&kernel, DIMENSIONS, count, &mut random, options);
                let features = features.expect("the kernel has a spectrum");
                let variance = expected[0];
                let tolerance = 5.0 * variance / (2.0 * count as f64).sqrt();
                assert_close(
                    &format!("{config:?}, {count} frequencies on {platform}"),
                    &numbers(features.matrix_at(x.clone())),
                    &expected,
                    tolerance,
                );
            }
        }
    }
}

/// If the base of a periodic kernel has different lengthscales for a sine and its cosine, or is
/// periodic itself, the kernel is not a function of the difference of two points.
#[test]
fn periodic_kernels_that_are_not_stationary_have_no_spectrum() {
    let platform = &double_precision_platforms()[0];
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let kind = Stationary::SquaredExponential;
    let uneven = StationaryKernel::new(kind, &[0.5, 0.6], 1.0, platform.options());
    let uneven = Periodic::new(uneven, &[2.0], platform.options());
    let error = uneven.spectrum(1, 3, &mut random).expect_err("it has none");
    assert_eq!(error.kernel, "Periodic");
    let even = StationaryKernel::new(kind, &[0.5, 0.5], 1.0, platform.options());
    let even = Periodic::new(even, &[2.0], platform.options());
    assert!(even.spectrum(1, 3, &mut random).is_ok());
    let nested = stationary(kind, 1.0, 1.0).periodic(2.0).periodic(3.0);
    let nested = nested.init(1, platform.options());
    let error = nested.spectrum(1, 3, &mut random).expect_err("it has none");
    assert_eq!(error.kernel, "Periodic");
}

#[test]
fn kernels_without_a_spectrum_are_named() {
    let platform = &platforms()[0];
    let linear = KernelConfig::from(LinearConfig {
        ard: false,
        variance: 1.0,
        ..LinearConfig::default()
    });
    let white = KernelConfig::from(WhiteConfig { variance: 1.0 });
    let smooth = stationary(Stationary::Matern52, 1.0, 1.0);
    for (config, name) in [
        (linear.clone(), "Linear"),
        (smooth.clone().plus(white), "White"),
        (smooth.times(linear).scaled(2.0), "Linear"),
    ] {
        let kernel = config.init(DIMENSIONS, platform.options());
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let error = kernel
            .spectrum(DIMENSIONS, 3, &mut random)
            .expect_err("it has none");
        let text = error.to_string();
        assert!(
            text.contains(&format!("which the kernel {name} does not have")),
            "{text}"
        );
    }
}
