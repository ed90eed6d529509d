//! Kernels, means and networks.

use burn::tensor::Tensor;
use burn_gp_core::{
    features::{
        FirstWeights, NetworkConfig, Normalization, PerceptronConfig, ResidualNetworkConfig,
        Standardization,
    },
    kernels::{Kernel, KernelModule, covariance_product},
    means::{MeanConfig, OffsetMeanConfig},
    parameter::{Bounds, Parameters, hyperparameters},
};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, kernel, number, options, points};

/// Calls all methods of a kernel.
#[test]
fn kernels_of_any_numbers() {
    let inputs = (
        kernel(|| number().boxed()),
        points(4),
        points(3),
        options(),
        any::<u64>(),
    );
    search(1500, inputs, |(config, first, second, options, seed)| {
        no_panic(DOCUMENTED, || {
            let dimensions = first.columns;
            if config.missing_dimension(dimensions).is_some() {
                return;
            }
            let kernel = config.init(dimensions, (&options.0, options.1));
            let x1 = first.tensor(&options);
            let _ = kernel.covariance_at(x1.clone(), x1.clone()).into_data();
            let _ = kernel.matrix_at(x1.clone()).into_data();
            let _ = kernel.diagonal_at(x1.clone()).into_data();
            if second.columns == dimensions {
                let x2 = second.tensor(&options);
                let _ = kernel.covariance_at(x1.clone(), x2.clone()).into_data();
                let vectors = Tensor::ones([second.rows, 2], (&options.0, options.1));
                let _ = covariance_product(&kernel, x1.clone(), Some(x2), vectors).into_data();
            }
            if let Ok(expected) = kernel.expected_products()
                && second.columns == dimensions
            {
                let (mean, variance) = (x1.clone(), x1.clone().square());
                let x2 = second.tensor(&options);
                let _ = expected
                    .variances(mean.clone(), variance.clone())
                    .into_data();
                let covariances = expected.covariances(mean.clone(), variance.clone(), x2.clone());
                let _ = covariances.into_data();
                let _ = expected.products(mean, variance, x2).into_data();
                let _ = expected.relevances(dimensions).into_data();
            }
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let _ = kernel.spectrum(dimensions, 3, &mut random);
            let place = (&options.0, options.1).into();
            if let Ok(features) = kernel.prior_features(dimensions, 3, &mut random, place) {
                let _ = features.evaluate(x1).into_data();
            }
            for path in kernel.parameter_paths() {
                let _ = kernel.parameter(&path);
            }
            let _ = hyperparameters(&kernel);
        })?;
        Ok(())
    });
}

/// Arbitrary values and bounds of parameters.
#[test]
fn parameters_of_any_numbers() {
    let bound = || proptest::option::of(number());
    let values = proptest::collection::vec(number(), 0..4);
    let inputs = (
        crate::values::usual_kernel(),
        values,
        bound(),
        bound(),
        options(),
        any::<proptest::sample::Index>(),
    );
    search(
        1500,
        inputs,
        |(config, values, lower, upper, options, which)| {
            no_panic(DOCUMENTED, || {
                if config.missing_dimension(2).is_some() {
                    return;
                }
                let kernel = config.init(2, (&options.0, options.1));
                let paths = kernel.parameter_paths();
                if paths.is_empty() {
                    return;
                }
                let path = &paths[which.index(paths.len())];
                let bounded = kernel.clone().with_bounds(path, Bounds { lower, upper });
                for kernel in [Some(kernel), bounded.ok()].into_iter().flatten() {
                    if let Ok(kernel) = kernel.with_parameter(path, &values) {
                        let _ = kernel.parameter(path);
                        let _ = kernel.with_frozen(path);
                    }
                }
            })?;
            Ok(())
        },
    );
}

#[test]
fn means_of_any_numbers() {
    let config = prop_oneof![
        Just(MeanConfig::zero()),
        number().prop_map(MeanConfig::constant),
        Just(MeanConfig::linear()),
        Just(MeanConfig::identity()),
        prop::collection::vec(0usize..4, 1..3)
            .prop_map(|added| MeanConfig::from(OffsetMeanConfig::new(added))),
    ];
    search(
        500,
        (config, points(4), 1usize..4, options()),
        |(config, points, outputs, options)| {
            no_panic(DOCUMENTED, || {
                let x = points.tensor(&options);
                if config.check_for("mean", points.columns).is_err() {
                    return;
                }
                let mean = config.init(points.columns, outputs, (&options.0, options.1));
                let _ = mean.forward(x.clone()).into_data();
                let targets = Tensor::ones([points.rows, outputs], (&options.0, options.1));
                let _ = mean.residual(targets, x).into_data();
            })?;
            Ok(())
        },
    );
}

#[test]
fn networks_of_any_sizes() {
    let standardization =
        proptest::option::of((proptest::collection::vec(number(), 1..3), any::<bool>()));
    let inputs = (
        proptest::collection::vec(0usize..4, 0..3),
        (0usize..4, 0usize..3, standardization),
        points(4),
        0usize..4,
        options(),
        any::<[bool; 2]>(),
    );
    search(
        600,
        inputs,
        |(
            hidden,
            (width, blocks, standardization),
            points,
            outputs,
            options,
            [residual, layer],
        )| {
            let documented = [
                DOCUMENTED,
                &[
                    "means and",
                    "standard deviations; expected",
                    "a network of no",
                ],
            ]
            .concat();
            no_panic(&documented, || {
                let config = match residual {
                    true => NetworkConfig::from(ResidualNetworkConfig {
                        width,
                        blocks,
                        normalization: if layer {
                            Normalization::Layer
                        } else {
                            Normalization::None
                        },
                        standardization: standardization.map(|(values, _)| Standardization {
                            means: values.clone(),
                            deviations: values,
                        }),
                        ..Default::default()
                    }),
                    false => NetworkConfig::from(PerceptronConfig {
                        hidden,
                        first_weights: FirstWeights::FanIn,
                        ..Default::default()
                    }),
                };
                let network = config.init(points.columns, outputs, (&options.0, options.1));
                let x = points.tensor(&options);
                let _ = Standardization::of(&x);
                let _ = network.forward(x).into_data();
            })?;
            Ok(())
        },
    );
}
