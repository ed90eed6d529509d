//! Layers and stacks of layers.

use crate::support::{
    Platform, Random, assert_close, check_module_gradients, double_precision_platforms, numbers,
    platforms,
};
use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::StationaryConfig,
    layers::{GpLayer, Layer, LayerNoise, PatchLayer, Stack},
    means::{IdentityMean, Mean, MeanConfig, ProjectionMean, ZeroMean},
    ops::{Jitter, Stationary},
    parameter::Parameters,
    patches::{ImageShape, PatchGrid},
    process::{AnyProcess, CovarianceShape, Marginals, Process, VariationalGaussian},
    variational::{InducingSet, Parameterization, SolveGp, Whitened, with_scaled_deviations},
};

/// A layer whose `q(u)` depends on the seed.
fn layer(
    platform: &Platform,
    [dimensions, outputs]: [usize; 2],
    mean: MeanConfig,
    seed: u64,
) -> GpLayer {
    let (mut random, count) = (Random::new(seed), 6);
    let options = platform.options();
    let kernel = StationaryConfig::new(Stationary::SquaredExponential)
        .with_lengthscale(1.5)
        .with_variance(0.8);
    let points = platform.matrix(&random.points(count, dimensions));
    let means = platform.matrix(&random.matrix(outputs, count));
    let scales: Vec<_> = (0..outputs)
        .map(|_| random.lower_triangle(count).scaled(0.4))
        .collect();
    let distribution = VariationalGaussian::full(means, platform.batch(&scales));
    GpLayer::new(
        kernel.init(dimensions, options),
        mean.init(dimensions, outputs, options),
        Whitened::new(InducingPoints::new(points), distribution, Jitter::INDUCING),
    )
}

fn noise(training: usize) -> LayerNoise {
    LayerNoise {
        training,
        prediction: 64,
        seed: 3,
    }
}

/// The values of marginals, means first.
fn values(marginals: &Marginals) -> Vec<f64> {
    [
        numbers(marginals.mean.clone()),
        numbers(marginals.variance.clone()),
    ]
    .concat()
}

/// A stack with one layer equals that layer and its posterior exactly.
#[test]
fn one_layer_is_a_sparse_gaussian_process() {
    for platform in platforms() {
        let single = layer(&platform, [2, 3], MeanConfig::zero(), 1);
        let x = platform.matrix(&Random::new(2).points(7, 2));
        let expected = (single.posterior())
            .evaluate(single.kernel(), x.clone())
            .expect("an evaluation");
        let stack = Stack::new(Vec::<GpLayer>::new(), single.clone(), noise(5));
        let stacked = stack.evaluate(x.clone()).expect("a propagation");
        assert_eq!(stacked.samples, 1);
        assert_eq!(values(&stacked.marginals), values(&expected.marginals));
        assert_eq!(numbers(stacked.kl), numbers(expected.kl));
        let predicted = stack.condition().expect("a process").components(x.clone());
        let expected = single.condition().expect("a process").marginals(x);
        assert_eq!(predicted.len(), 1);
        assert_eq!(values(&predicted[0]), values(&expected));
    }
}

/// The KL divergence of a stack is the sum over its layers, and every draw passes through all
/// layers.
#[test]
fn divergences_add_up() {
    for platform in platforms() {
        let hidden = vec![
            layer(&platform, [2, 3], MeanConfig::identity(), 1),
            layer(&platform, [3, 2], MeanConfig::zero(), 2),
        ];
        let output = layer(&platform, [2, 1], MeanConfig::zero(), 3);
        let x = platform.matrix(&Random::new(4).points(5, 2));
        let h = platform.matrix(&Random::new(5).points(5, 3));
        let own = |layer: &GpLayer, x: &Tensor<2>| {
            numbers(layer.evaluate(x.clone()).expect("an evaluation").kl)[0]
        };
        let expected = own(&hidden[0], &x) + own(&hidden[1], &h) + own(&output, &x);
        let stack = Stack::new(hidden, output, noise(4));
        let found = stack.evaluate(x).expect("a propagation");
        assert_eq!((found.samples, found.marginals.mean.dims()), (4, [20, 1]));
        let tolerance = platform.tolerance(1e-13, 1e-5);
        assert_close("divergence", &numbers(found.kl), &[expected], tolerance);
    }
}

/// Layers whose second set of inducing variables is at its prior equal those without it, for any
/// first set.
#[test]
fn a_second_set_at_its_prior_changes_nothing() {
    for platform in platforms() {
        let sizes = [
            ([2, 2], MeanConfig::identity(), 1),
            ([2, 1], MeanConfig::zero(), 2),
        ];
        let plain = sizes.map(|(sizes, mean, seed)| layer(&platform, sizes, mean, seed));
        let with_second_set = |layer: &GpLayer, seed: u64| -> GpLayer {
            let posterior = layer.posterior().downcast_ref::<Whitened>();
            let posterior = posterior.expect("a whitened posterior");
            let ([outputs, _], options) =
                (posterior.distribution().mean().dims(), platform.options());
            let others = platform.matrix(&Random::new(seed).points(5, 2));
            let prior = VariationalGaussian::standard(5, outputs, CovarianceShape::Full, options);
            let sets = vec![
                InducingSet::new(
                    posterior.inducing().clone(),
                    posterior.distribution().clone(),
                ),
                InducingSet::new(InducingPoints::new(others), prior),
            ];
            let posterior = SolveGp::new(sets, Parameterization::Whitened, posterior.jitter());
            GpLayer::new(layer.kernel().clone(), layer.mean().clone(), posterior)
        };
        let solve = [
            with_second_set(&plain[0], 21),
            with_second_set(&plain[1], 22),
        ];
        let x = platform.matrix(&Random::new(4).points(6, 2));
        let [first, last] = plain;
        let expected = Stack::new(vec![first], last, noise(3)).evaluate(x.clone());
        let [first, last] = solve;
        let found = Stack::new(vec![first], last, noise(3)).evaluate(x);
        let (expected, found) = (expected.expect("values"), found.expect("values"));
        let tolerance = platform.tolerance(1e-9, 1e-4);
        let what = format!("{platform}");
        let (actual, reference) = (values(&found.marginals), values(&expected.marginals));
        assert_close(&what, &actual, &reference, tolerance);
        let reference = numbers(expected.kl);
        assert_close(&what, &numbers(found.kl), &reference, tolerance);
    }
}

/// The second layer's inputs are draws from the marginals of the first layer. Means and variances
/// are those of the mixture, within three standard errors.
#[test]
fn draws_follow_the_marginals_of_the_layer_before() {
    let samples = 100_000;
    for platform in double_precision_platforms() {
        let first = layer(&platform, [2, 2], MeanConfig::identity(), 1);
        // The identity mean passes the draws through.
        let output = GpLayer::new(
            StationaryConfig::new(Stationary::SquaredExponential).init(2, platform.options()),
            IdentityMean::new(),
            Whitened::new(
                InducingPoints::new(Tensor::zeros([1, 2], platform.options())),
                VariationalGaussian::standard(1, 2, CovarianceShape::Full, platform.options()),
                Jitter::NONE,
            ),
        );
        let x = platform.matrix(&Random::new(4).points(2, 2));
        let expected = first.forward(x.clone()).expect("marginals");
        let stack = Stack::new(vec![first], output, noise(samples));
        let drawn = stack.evaluate(x).expect("a propagation").marginals.mean;
        let drawn = numbers(drawn); // [S·N, P]
        let (means, variances) = (numbers(expected.mean), numbers(expected.variance));
        for (entry, (&mean, &variance)) in means.iter().zip(&variances).enumerate() {
            let own: Vec<f64> = drawn.iter().skip(entry).step_by(4).copied().collect();
            assert_eq!(own.len(), samples);
            let average = own.iter().sum::<f64>() / samples as f64;
            let error = (variance / samples as f64).sqrt();
            assert!(
                (average - mean).abs() < 3.0 * error,
                "mean {average}, {mean}"
            );
            let spread = own.iter().map(|value| (value - average).powi(2));
            let spread = spread.sum::<f64>() / samples as f64;
            // The variance of a sample variance of normals is 2σ⁴/S.
            let error = variance * (2.0 / samples as f64).sqrt();
            assert!(
                (spread - variance).abs() < 3.0 * error,
                "{spread}, {variance}"
            );
        }
    }
}

/// The noise depends on the step: repeated calls give the same noise, the next step gives other
/// noise, and the record contains the number of steps.
#[test]
fn every_step_has_noise_of_its_own() {
    for platform in platforms() {
        let build = || {
            let hidden = vec![layer(&platform, [2, 2], MeanConfig::identity(), 1)];
            Stack::new(
                hidden,
                layer(&platform, [2, 1], MeanConfig::zero(), 2),
                noise(2),
            )
        };
        let x = platform.matrix(&Random::new(4).points(3, 2));
        let look =
            |stack: &Stack| values(&stack.evaluate(x.clone()).expect("a propagation").marginals);
        let stack = build();
        let first = look(&stack);
        assert_eq!(first, look(&stack));
        let mut stack = stack;
        stack.after_step();
        let second = look(&stack);
        assert_ne!(first, second);
        let restored = build().load_record(stack.clone().into_record());
        assert_eq!(second, look(&restored));
    }
}

/// Predictions average over draws. If the hidden layers are certain, all draws agree.
#[test]
fn predictions_are_mixtures() {
    for platform in platforms() {
        let first = layer(&platform, [2, 2], MeanConfig::identity(), 1);
        let output = layer(&platform, [2, 1], MeanConfig::zero(), 2);
        let x = platform.matrix(&Random::new(4).points(5, 2));
        let stack = Stack::new(vec![first.clone()], output.clone(), noise(1));
        let process = stack.condition().expect("a process");
        let components = process.components(x.clone());
        assert_eq!(components.len(), 64);
        let repeated = process.components(x.clone());
        for (one, other) in components.iter().zip(&repeated) {
            assert_eq!(values(one), values(other));
        }
        let mixed = Marginals::of_mixture(components.clone()).expect("components");
        let (mut mean, mut square) = (vec![0.0; 5], vec![0.0; 5]);
        for component in &components {
            let (means, variances) = (
                numbers(component.mean.clone()),
                numbers(component.variance.clone()),
            );
            for row in 0..5 {
                mean[row] += means[row] / 64.0;
                square[row] += (variances[row] + means[row].powi(2)) / 64.0;
            }
        }
        let variance: Vec<f64> = (0..5).map(|row| square[row] - mean[row].powi(2)).collect();
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close("mean", &numbers(mixed.mean), &mean, tolerance);
        assert_close("variance", &numbers(mixed.variance), &variance, tolerance);
        let draws = process.draws(x.clone(), 6, 3).expect("draws");
        assert_eq!(draws.dims(), [6, 1, 5]);

        let means = process.layer_means(x.clone());
        let hidden = first.condition().expect("a process").marginals(x).mean;
        assert_eq!(numbers(means[0].clone()), numbers(hidden.clone()));
        let last = output
            .condition()
            .expect("a process")
            .marginals(hidden)
            .mean;
        assert_eq!(numbers(means[1].clone()), numbers(last));
    }
}

/// A row has the same components alone, in another order and among other rows, up to rounding
/// errors of matrix products with other block sizes.
#[test]
fn predictions_do_not_depend_on_the_rows_beside() {
    for platform in platforms() {
        let hidden = vec![
            layer(&platform, [2, 3], MeanConfig::identity(), 1),
            layer(&platform, [3, 2], MeanConfig::zero(), 2),
        ];
        let output = layer(&platform, [2, 1], MeanConfig::zero(), 3);
        let stack = Stack::new(hidden, output, noise(1));
        let process = stack.condition().expect("a process");
        let x = platform.matrix(&Random::new(4).points(9, 2));
        let of_rows = |x: Tensor<2>| -> Vec<Vec<f64>> {
            let [rows, _] = x.dims();
            let components = process.components(x);
            let of_row = |row: usize| {
                let own = components.iter().flat_map(|each| {
                    [each.mean.clone(), each.variance.clone()].map(|all| numbers(all)[row])
                });
                own.collect()
            };
            (0..rows).map(of_row).collect()
        };
        let together = of_rows(x.clone());
        let turned = of_rows(x.clone().flip([0]));
        let tolerance = platform.tolerance(1e-12, 1e-4);
        for (row, expected) in together.iter().enumerate() {
            let alone = &of_rows(x.clone().narrow(0, row, 1))[0];
            assert_close(
                &format!("{platform}, row {row} alone"),
                alone,
                expected,
                tolerance,
            );
            let what = format!("{platform}, row {row} of another order");
            assert_close(&what, &turned[8 - row], expected, tolerance);
        }
    }
}

/// The noise points are symmetric and have an exact covariance. A few draws therefore have the
/// moments of the layer.
#[test]
fn draws_of_predictions_have_the_moments_of_the_layer() {
    for platform in double_precision_platforms() {
        let first = layer(&platform, [2, 2], MeanConfig::identity(), 1);
        let expected = first.condition().expect("a process");
        // The output layer is at its prior around the identity. Its components are the draws, with
        // this variance.
        let prior = 1e-3;
        let output = GpLayer::new(
            StationaryConfig::new(Stationary::SquaredExponential)
                .with_variance(prior)
                .init(2, platform.options()),
            IdentityMean::new(),
            Whitened::new(
                InducingPoints::new(Tensor::zeros([1, 2], platform.options())),
                VariationalGaussian::standard(1, 2, CovarianceShape::Full, platform.options()),
                Jitter::NONE,
            ),
        );
        let x = platform.matrix(&Random::new(4).points(3, 2));
        let Marginals { mean, variance } = expected.marginals(x.clone());
        let variance = variance + prior;
        let expected = Marginals { mean, variance };
        let stack = Stack::new(vec![first], output, noise(1));
        let components = stack.condition().expect("a process").components(x);
        let found = Marginals::of_mixture(components).expect("components");
        let what = format!("{platform}");
        assert_close(&what, &values(&found), &values(&expected), 1e-9);
    }
}

/// A patch layer is its layer applied to every patch.
#[test]
fn feature_maps_hold_the_functions_at_every_patch() {
    let grid = PatchGrid::new(ImageShape::new(3, 4, 1), 2, 1).expect("patches");
    for platform in platforms() {
        let inner = layer(&platform, [4, 2], MeanConfig::zero(), 1);
        let images = platform.matrix(&Random::new(6).points(3, 12));
        let maps = PatchLayer::new(inner.clone(), grid);
        let evaluation = maps.evaluate(images.clone()).expect("an evaluation");
        let process = maps.condition().expect("a process");
        let conditioned = process.marginals(images.clone());
        let joint = process.joint(images.clone());
        assert_eq!(joint.covariance.dims(), [12, 3, 3]);
        let covariance = numbers(joint.covariance);
        let tolerance = platform.tolerance(1e-10, 1e-4);
        for image in 0..3 {
            for patch in 0..6 {
                let x = grid.extract(images.clone()).narrow(0, 6 * image + patch, 1);
                let expected = inner.forward(x).expect("marginals");
                let at = |map: &Tensor<2>| {
                    numbers(map.clone().narrow(0, image, 1).narrow(1, 2 * patch, 2))
                };
                let what = format!("{platform}, image {image}, patch {patch}");
                for found in [&evaluation.marginals, &conditioned] {
                    assert_close(
                        &what,
                        &at(&found.mean),
                        &numbers(expected.mean.clone()),
                        tolerance,
                    );
                    let variance = numbers(expected.variance.clone());
                    assert_close(&what, &at(&found.variance), &variance, tolerance);
                }
                let variances =
                    [0, 1].map(|function| covariance[(2 * patch + function) * 9 + 4 * image]);
                assert_close(&what, &variances, &numbers(expected.variance), tolerance);
            }
        }
    }
}

#[test]
fn gradients_flow_through_the_draws() {
    let build = |platform: &Platform| {
        let hidden = vec![layer(platform, [2, 2], MeanConfig::identity(), 1)];
        Stack::new(
            hidden,
            layer(platform, [2, 1], MeanConfig::zero(), 2),
            noise(3),
        )
    };
    check_module_gradients("stack", (1e-6, 2e-3), build, |platform, stack| {
        let x = platform.matrix(&Random::new(4).points(4, 2));
        let found = stack.evaluate(x).expect("a propagation");
        let seeds = platform.matrix(&Random::new(5).matrix(12, 1));
        (found.marginals.mean * seeds.clone()).sum()
            + (found.marginals.variance * seeds).sum()
            + found.kl
    });
}

/// With a small deviation factor, a layer starts as its mean function.
#[test]
fn deviations_are_scaled_and_nothing_else() {
    for platform in platforms() {
        let before = layer(&platform, [2, 3], MeanConfig::identity(), 1);
        let after = with_scaled_deviations(before.clone(), 0.01);
        for path in before.parameter_paths() {
            let factor = if path.ends_with(".scale") { 0.01 } else { 1.0 };
            let read = |layer: &GpLayer| layer.parameter(&path).expect("a parameter");
            let expected: Vec<f64> = read(&before).iter().map(|value| factor * value).collect();
            let tolerance = platform.tolerance(1e-15, 1e-7);
            assert_close(&path, &read(&after), &expected, tolerance);
        }
        assert!(
            before
                .parameter_paths()
                .iter()
                .any(|path| path.ends_with(".scale"))
        );
    }
}

#[test]
fn means_hand_their_inputs_on() {
    for platform in platforms() {
        let x = platform.matrix(&Random::new(7).points(40, 3));
        let options = platform.options();
        let identity = MeanConfig::identity().init_for(&x, 3);
        assert_eq!(numbers(identity.forward(x.clone())), numbers(x.clone()));
        let wider = MeanConfig::identity().init_for(&x, 5).forward(x.clone());
        assert_eq!(numbers(wider.clone().narrow(1, 0, 3)), numbers(x.clone()));
        assert_eq!(numbers(wider.narrow(1, 3, 2)), vec![0.0; 80]);
        assert_eq!(ZeroMean::new(2).forward(x.clone()).dims(), [40, 2]);

        // The points lie along two directions with different lengths: the principal directions.
        let directions = [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]];
        let points: Vec<f64> = (0..10)
            .flat_map(|index| {
                let along = f64::from(index) - 4.5;
                let across = if index % 2 == 0 { 0.3 } else { -0.3 };
                (0..3).map(move |axis| along * directions[0][axis] + across * directions[1][axis])
            })
            .collect();
        let points = platform.tensor(&points, [10, 3]);
        let weights = ProjectionMean::principal(points, 1).weights();
        // The order of the signs correlates the second direction slightly with the first.
        let found = numbers(weights);
        assert_close("direction", &found, &directions[0], 0.05);
        let truncation = ProjectionMean::truncation(3, 2, options).forward(x.clone());
        assert_eq!(numbers(truncation), numbers(x.narrow(1, 0, 2)));
    }
}
