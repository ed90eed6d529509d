//! Gneiting's covariance of space and time beside its formula: definite, separable without interaction.

use burn::tensor::{Device, Tensor};
use burn_gp_core::{
    inference::{Vecchia, VecchiaSettings},
    kernels::{AnyKernel, GneitingConfig, Kernel, KernelConfig, KernelModule},
    likelihoods::Gaussian,
    means::ZeroMean,
    parameter::{Parameters, hyperparameters},
};

use crate::support::{Dense, Random, assert_close, double_precision_platforms, numbers};

fn config(smoothness: f64, time_smoothness: f64, interaction: f64, decay: f64) -> GneitingConfig {
    GneitingConfig {
        lengthscale: Some(0.7),
        smoothness,
        time_smoothness,
        interaction,
        decay,
        ..GneitingConfig::default()
    }
}

/// At 200 random points in the plane and time, the least eigenvalue is at least −10⁻¹²: with that on the diagonal, there
/// is a Cholesky factor.
#[test]
fn matrices_are_positive_definite() {
    let platform = &double_precision_platforms()[0];
    let points = Random::new(1009).points(200, 3);
    for smoothness in [0.5, 1.5, 2.5] {
        for [time_smoothness, interaction, decay] in [
            [0.05, 0.5, 0.1],
            [0.5, 1.0, 0.01],
            [0.9, 0.9, 2.0],
            [1.0, 0.0, 0.5],
            [1.0, 1.0, 0.001],
        ] {
            let config = config(smoothness, time_smoothness, interaction, decay);
            let kernel: AnyKernel = KernelConfig::from(config).init(3, platform.options());
            let matrix = numbers(kernel.matrix_at(platform.matrix(&points)));
            let matrix = Dense::new(200, 200, matrix);
            matrix.plus(&Dense::identity(200).scaled(1e-12)).cholesky();
        }
    }
}

/// `k((s, t), (s′, t′))·σ² = k((s, t), (s′, t))·k((s, t), (s, t′))` for β = 0, and not for β = 1.
#[test]
fn without_interaction_it_is_a_product() {
    let platform = &double_precision_platforms()[0];
    let mut random = Random::new(1013);
    let (x1, x2) = (random.points(12, 3), random.points(9, 3));
    // Points of the second set at the place, or at the time, of those of the first.
    let [same_time, same_place] = [2, 0].map(|kept| {
        let of_first = move |d: usize| (d == 2) == (kept == 2);
        Dense::from_function(12 * 9, 3, |row, d| {
            if of_first(d) {
                x1[(row / 9, d)]
            } else {
                x2[(row % 9, d)]
            }
        })
    });
    let first = Dense::from_function(12 * 9, 3, |row, d| x1[(row / 9, d)]);
    let second = Dense::from_function(12 * 9, 3, |row, d| x2[(row % 9, d)]);
    for (interaction, is_product) in [(0.0, true), (1.0, false)] {
        let config = config(1.5, 0.6, interaction, 0.8);
        let kernel: AnyKernel = KernelConfig::from(config).init(3, platform.options());
        let pairs = |other: &Dense| {
            let sets = |points: &Dense| platform.tensor(&points.values, [12 * 9, 1, 3]);
            numbers(kernel.covariance(sets(&first), sets(other)))
        };
        let both = pairs(&second);
        let product: Vec<f64> = (pairs(&same_time).iter().zip(pairs(&same_place)))
            .map(|(space, time)| space * time)
            .collect();
        if is_product {
            assert_close("separable", &both, &product, 1e-14);
        } else {
            let least = both
                .iter()
                .zip(&product)
                .map(|(both, product)| both / product);
            assert!(least.fold(f64::INFINITY, f64::min) > 1.0);
        }
    }
}

/// α = 1, and β = 0 or 1, are not trained.
#[test]
fn ends_of_ranges_are_not_parameters() {
    let count = |time_smoothness, interaction| {
        let config = config(0.5, time_smoothness, interaction, 1.0);
        let kernel: AnyKernel = KernelConfig::from(config).init(3, &Device::default());
        hyperparameters(&kernel).len()
    };
    assert_eq!(count(0.5, 0.5), 6);
    assert_eq!(count(1.0, 0.5), 5);
    assert_eq!(count(1.0, 1.0), 4);
    assert_eq!(count(0.5, 0.0), 5);
}

/// Neighbors are chosen in units of the lengthscales of space and of the time.
#[test]
fn scales_of_inputs_are_in_their_order() {
    let config = GneitingConfig {
        dimension: Some(1),
        lengthscale: Some(0.4),
        time_lengthscale: 3.0,
        variance: 2.0,
        ..GneitingConfig::default()
    };
    let platform = &double_precision_platforms()[0];
    let kernel: AnyKernel = KernelConfig::from(config).init(3, platform.options());
    let scales = kernel.input_scales(3).expect("a kernel of differences");
    assert_close("ℓ", &scales.lengthscales, &[0.4, 3.0, 0.4], 1e-14);
    assert_close("σ²", &[scales.variance], &[2.0], 1e-14);
    let noise = Gaussian::new(0.1, platform.options());
    let settings = VecchiaSettings::default();
    let vecchia = Vecchia::new(kernel, ZeroMean::new(1), noise, 3, settings);
    let metric = vecchia.parameter("metric.scales").expect("a metric");
    assert_close("metric", &metric, &[2.5, 1.0 / 3.0, 2.5], 1e-14);
}

#[test]
fn values_out_of_range_are_refused() {
    let refused = |config: GneitingConfig| {
        KernelConfig::from(config)
            .check_for("kernel", 3)
            .map_err(|error| error.to_string())
    };
    for (config, message) in [
        (
            config(1.0, 0.5, 0.5, 1.0),
            "smoothness 1; it must be 0.5, 1.5 or 2.5",
        ),
        (
            config(0.5, 0.0, 0.5, 1.0),
            "time smoothness 0; it must be above 0 and at most 1",
        ),
        (
            config(0.5, 0.5, 1.5, 1.0),
            "interaction 1.5; it must lie from 0 to 1",
        ),
        (config(0.5, 0.5, 0.5, 0.0), "decay"),
    ] {
        let error = refused(config).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
    let one_input = KernelConfig::from(GneitingConfig::default()).check_for("kernel", 1);
    assert!(one_input.is_err());
    assert_eq!(refused(config(0.5, 1.0, 0.0, 1.0)), Ok(()));
}

/// Nothing is infinite or NaN where points coincide, in space, in time or in both.
#[test]
fn gradients_at_coincident_points_are_finite() {
    for platform in double_precision_platforms() {
        let tracked = platform.autodiff();
        for smoothness in [0.5, 1.5, 2.5] {
            let config = config(smoothness, 0.3, 0.5, 1.0);
            let kernel: AnyKernel = KernelConfig::from(config).init(2, tracked.options());
            let x = [0.3, 1.0, 0.3, 2.0, 0.9, 1.0, 0.3, 1.0];
            let x: Tensor<2> = tracked.tensor(&x, [4, 2]).require_grad();
            let gradients = kernel.matrix_at(x.clone()).sum().backward();
            let of_points = numbers(x.grad(&gradients).expect("tracked"));
            assert!(
                of_points.iter().all(|value| value.is_finite()),
                "{of_points:?}"
            );
        }
    }
}
