//! Networks compared with plain sums of products.

use crate::support::{
    Dense, Input, Random, assert_close, check_gradients, kernel_registry::network, numbers,
    perceptron::perceptron, platforms,
};
use burn_gp_core::{
    features::{Activation, Features, ResidualNetworkConfig},
    ops::tanh,
};

#[test]
fn perceptrons_are_layers_of_sums() {
    let x = Random::new(181).points(7, 3);
    for activation in [Activation::Tanh, Activation::Relu, Activation::Silu] {
        let config = network(activation);
        let rows: Vec<f64> = (0..7)
            .flat_map(|i| perceptron(&config, x.row(i), 2))
            .collect();
        let expected = Dense::new(7, 2, rows);
        for platform in platforms() {
            let module = config.init(3, 2, platform.options());
            let actual = module.forward(platform.matrix(&x));
            assert_eq!(actual.dims(), [7, 2]);
            let what = format!("{activation:?} on {platform}");
            let tolerance = platform.tolerance(1e-14, 1e-6);
            assert_close(&what, &numbers(actual), &expected.values, tolerance);
        }
    }
}

/// The initial weights depend only on the seed, and their range keeps the variance constant across
/// layers.
#[test]
fn first_weights_depend_on_the_seed_alone() {
    let platform = &platforms()[0];
    let weights = |seed: u64| {
        let config = burn_gp_core::features::PerceptronConfig {
            hidden: vec![50],
            seed,
            ..Default::default()
        };
        crate::support::parameter_values(&config.init(30, 1, platform.options()))
    };
    assert_eq!(weights(1), weights(1));
    assert_ne!(weights(1), weights(2));
    let first = &weights(1)[0];
    let range = (6.0f64 / 80.0).sqrt();
    let variance = first.iter().map(|w| w * w).sum::<f64>() / first.len() as f64;
    // For 1500 uniform numbers, the variance is within a tenth of r²/3 for all but a few seeds in a
    // thousand, and no number lies outside the range.
    assert!(
        (variance / (range * range / 3.0) - 1.0).abs() < 0.1,
        "{variance}"
    );
    assert!(first.iter().all(|w| w.abs() <= range));
}

/// Arguments on both sides of every change of formula, and enough for several threads.
#[test]
fn hyperbolic_tangents_are_those_of_the_standard_library() {
    let arguments: Vec<f64> = (-2500..=2500).map(|i| f64::from(i) / 125.0).collect();
    let expected: Vec<f64> = arguments.iter().map(|x| x.tanh()).collect();
    for platform in platforms() {
        let x = platform.tensor(&arguments, [arguments.len()]);
        let tolerance = platform.tolerance(1e-15, 1e-6);
        assert_close(
            &format!("{platform}"),
            &numbers(tanh(x)),
            &expected,
            tolerance,
        );
    }
    let few: Vec<f64> = arguments.into_iter().step_by(271).collect();
    let weights = Random::new(191).normals(few.len());
    check_gradients("tanh", &[Input::from(few)], 1e-4, &|platform, inputs| {
        let weights = platform.tensor(&weights, [weights.len()]);
        (tanh(inputs[0].clone()) * weights).sum()
    });
}

/// The outputs equal the inputs at first, and the last weights can change them.
#[test]
fn networks_begin_as_the_identity_where_they_are_to() {
    let x = Random::new(183).points(6, 3);
    for platform in platforms() {
        let config = ResidualNetworkConfig {
            width: 8,
            from_identity: true,
            ..ResidualNetworkConfig::default()
        };
        let network = config.init(3, 3, platform.options());
        let inputs = platform.matrix(&x);
        let outputs = network.forward(inputs.clone());
        assert_eq!(numbers(outputs), numbers(inputs), "{platform}");
    }
}
