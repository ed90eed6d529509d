//! Features of finite rank: networks, Nyström features and random Fourier features.

use crate::support::{
    Dense, Platform, Random, assert_close, check_module_gradients,
    comparison::assert_within,
    double_precision_platforms,
    low_rank_case::{correction, dense_prediction, log_density, products, with_diagonal},
    module_gradients::with_parameter_values,
    numbers, parameter_values, platforms,
    posterior_case::{Case, POINTS, VARIANCE, assert_same_marginals, covariances, kernel},
};
use burn::tensor::{Device, Tensor};
use burn_gp_core::{
    features::{
        Activation, Features, NetworkConfig, Normalization, PerceptronConfig,
        ResidualNetworkConfig, Standardization,
    },
    inducing::Nystrom,
    inference::{Collapsed, LowRankRegression},
    kernels::{Basis, FeatureMap, KernelModule, LowRankKernel, RandomFourier},
    likelihoods::{Gaussian, Likelihood},
    means::ZeroMean,
    ops::{ExactMatmul, Jitter},
    process::{PredictedVariance, Process, VarianceCorrection},
    variational::{Posterior, WeightSpace},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

const NOISE: f64 = 0.2;

/// `z ← γ·(z − mean)/√(variance + 1e-5) + β` over the numbers of one data point.
fn normalized(z: &[f64], gamma: &[f64], beta: &[f64]) -> Vec<f64> {
    let count = z.len() as f64;
    let mean = z.iter().sum::<f64>() / count;
    let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / count;
    let scaled = z.iter().map(|z| (z - mean) / (variance + 1e-5).sqrt());
    let parameters = gamma.iter().zip(beta);
    scaled
        .zip(parameters)
        .map(|(z, (g, b))| g * z + b)
        .collect()
}

/// `u_0 = W_0·(x − μ)/s + b_0`, `u_l = u_{l−1} + tanh(n(W_l·u_{l−1} + b_l))`, then a linear layer.
#[test]
fn residual_networks_add_their_blocks() {
    let x = Random::new(41).points(7, 3);
    let standardization = Standardization {
        means: vec![0.3, -0.2, 0.0],
        deviations: vec![0.5, 2.0, 1.0],
    };
    let both = [
        (Normalization::None, None),
        (Normalization::Layer, Some(standardization)),
    ];
    for (platform, (normalization, standardization)) in
        (platforms().iter()).flat_map(|platform| both.clone().map(|options| (platform, options)))
    {
        let config = ResidualNetworkConfig {
            width: 5,
            standardization: standardization.clone(),
            normalization,
            seed: 4,
            ..ResidualNetworkConfig::default()
        };
        let first = config.init(3, 2, platform.options());
        let mut random = Random::new(43);
        // Scales and shifts that differ from their initial values, 1 and 0.
        let moved: Vec<Vec<f64>> = (parameter_values(&first).iter())
            .map(|values| {
                values
                    .iter()
                    .map(|value| value + 0.3 * random.normal())
                    .collect()
            })
            .collect();
        let module = with_parameter_values(first, &moved);
        let parameters = parameter_values(&module);
        let norms = match normalization {
            Normalization::None => 0,
            Normalization::Layer => 4,
        };
        assert_eq!(parameters.len(), 8 + norms);
        let layer = |index: usize, x: &[f64]| -> Vec<f64> {
            let (weights, biases) = (&parameters[2 * index], &parameters[2 * index + 1]);
            let column = |j: usize| {
                let sum = x
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x * weights[i * biases.len() + j]);
                biases[j] + sum.sum::<f64>()
            };
            (0..biases.len()).map(column).collect()
        };
        let rows = (0..7).flat_map(|row| {
            let inputs: Vec<f64> = match &standardization {
                None => x.row(row).to_vec(),
                Some(Standardization { means, deviations }) => {
                    let given = x.row(row).iter().zip(means).zip(deviations);
                    given
                        .map(|((x, mean), deviation)| (x - mean) / deviation)
                        .collect()
                }
            };
            let mut u = layer(0, &inputs);
            for block in 1..3 {
                let mut sums = layer(block, &u);
                if norms > 0 {
                    let at = 4 + 2 * block;
                    sums = normalized(&sums, &parameters[at], &parameters[at + 1]);
                }
                u = u.iter().zip(sums).map(|(u, sum)| u + sum.tanh()).collect();
            }
            layer((6 + norms) / 2, &u)
        });
        let expected: Vec<f64> = rows.collect();
        let actual = numbers(module.forward(platform.matrix(&x)));
        let what = format!("{normalization:?} on {platform}");
        assert_close(&what, &actual, &expected, platform.tolerance(1e-14, 1e-6));
    }
}

/// The mean is zero and the variance is one. A constant input becomes zero.
#[test]
fn standardized_points_have_mean_zero_and_variance_one() {
    let mut x = Random::new(47).points(50, 3);
    for row in 0..50 {
        x.values[3 * row + 1] = 40.0 * x.values[3 * row + 1] - 7.0;
        x.values[3 * row + 2] = 1234.1;
    }
    for platform in platforms() {
        let points = platform.matrix(&x);
        let standardization = Standardization::of(&points);
        let values = numbers(standardization.apply(points));
        // In single precision a constant of 1234.1 remains within its rounding error, 6e-5.
        let tolerance = platform.tolerance(1e-12, 1e-4);
        for (d, variance) in [(0, 1.0), (1, 1.0), (2, 0.0)] {
            let column: Vec<f64> = values.iter().skip(d).step_by(3).copied().collect();
            let mean = column.iter().sum::<f64>() / 50.0;
            let spread = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 50.0;
            assert!(
                mean.abs() < tolerance,
                "input {d} on {platform}: mean {mean}"
            );
            assert!(
                (spread - variance).abs() < tolerance,
                "input {d} on {platform}: variance {spread}"
            );
        }
    }
}

#[test]
#[should_panic(expected = "3 inputs with 2 means and 2 standard deviations")]
fn standardizations_of_other_points_are_refused() {
    let standardization = Standardization {
        means: vec![0.0; 2],
        deviations: vec![1.0; 2],
    };
    let _ = standardization.apply(Tensor::zeros([4, 3], &Device::flex()));
}

/// For 3 and 5 inputs, weights and biases are uniform within 1/√inputs. Normalizations start
/// without scale or shift.
#[test]
fn residual_networks_start_within_the_fan_in() {
    let config = ResidualNetworkConfig {
        width: 5,
        seed: 4,
        ..ResidualNetworkConfig::default()
    };
    for platform in platforms() {
        let parameters = parameter_values(&config.init(3, 2, platform.options()));
        let within = |values: &[f64], inputs: f64| {
            values.iter().all(|w| w.abs() <= inputs.sqrt().recip()) && values[0] != 0.0
        };
        assert!(within(&parameters[0], 3.0) && within(&parameters[1], 3.0));
        assert!(within(&parameters[10], 5.0) && within(&parameters[11], 5.0));
        for norm in [6, 8] {
            assert_eq!(parameters[norm], [1.0; 5]);
            assert_eq!(parameters[norm + 1], [0.0; 5]);
        }
    }
}

/// Gradients through evidence, penalty and network to every weight. The largest norm is unique.
#[test]
fn gradients_reach_every_layer() {
    let mut random = Random::new(42);
    let (x, y) = (random.points(12, 2), random.matrix(12, 2));
    let standardization = Standardization {
        means: vec![0.1, -0.3],
        deviations: vec![0.6, 1.2],
    };
    for (activation, normalization, standardization) in [
        (
            Activation::Tanh,
            Normalization::Layer,
            Some(standardization),
        ),
        (Activation::Silu, Normalization::None, None),
    ] {
        let config = ResidualNetworkConfig {
            width: 4,
            activation,
            standardization,
            normalization,
            ..ResidualNetworkConfig::default()
        };
        check_module_gradients(
            "deep basis kernel",
            (1e-6, 1e-2),
            |platform| {
                let network = config.init(2, 3, platform.options());
                LowRankRegression::new(
                    Basis::new(network),
                    ZeroMean::new(2),
                    Gaussian::new(NOISE, platform.options()),
                    VarianceCorrection::default(),
                )
            },
            |platform, model| {
                let data = (platform.matrix(&x), platform.matrix(&y));
                model.full_objective(data.0, data.1).unwrap()
            },
        );
    }
}

/// `k = ΦΦᵀ`: the covariances and their diagonal.
#[test]
fn basis_kernels_are_products_of_features() {
    let mut random = Random::new(43);
    let (x1, x2) = (random.points(9, 2), random.points(6, 2));
    let config = ResidualNetworkConfig {
        width: 6,
        ..ResidualNetworkConfig::default()
    };
    for platform in double_precision_platforms() {
        let network = config.init(2, 3, platform.options());
        let features = |x: &Dense| {
            let values = numbers(network.forward(platform.matrix(x)));
            Dense::new(x.rows, 3, values)
        };
        let (phi1, phi2) = (features(&x1), features(&x2));
        let kernel = Basis::new(network);
        let (x1, x2) = (platform.matrix(&x1), platform.matrix(&x2));
        // Multiplying the features by a constant multiplies the kernel by its square.
        let thrice = kernel.clone().times(1.5).times(2.0);
        let ninefold = numbers(kernel.covariance_at(x1.clone(), x2.clone()) * 9.0);
        let of_thrice = numbers(thrice.covariance_at(x1.clone(), x2.clone()));
        assert_close(
            "covariance of features times 3",
            &of_thrice,
            &ninefold,
            1e-13,
        );
        let cross = numbers(kernel.covariance_at(x1.clone(), x2));
        assert_close("covariance", &cross, &products(&phi1, &phi2).values, 1e-13);
        let own = products(&phi1, &phi1);
        assert_close(
            "matrix",
            &numbers(kernel.matrix_at(x1.clone())),
            &own.values,
            1e-13,
        );
        assert_close(
            "diagonal",
            &numbers(kernel.diagonal_at(x1)),
            &own.diagonal(),
            1e-13,
        );
    }
}

/// The rank is at most the number of features, and no eigenvalue is negative: symmetric elimination
/// of a kernel matrix of many more points ends after that many pivots, all positive.
#[test]
fn the_rank_of_a_basis_kernel_is_that_of_its_features() {
    const FEATURES: usize = 3;
    let x = Random::new(47).points(40, 2);
    let networks = [
        NetworkConfig::from(PerceptronConfig {
            hidden: vec![8, 8],
            ..PerceptronConfig::default()
        }),
        NetworkConfig::from(ResidualNetworkConfig {
            width: 6,
            ..ResidualNetworkConfig::default()
        }),
    ];
    for platform in double_precision_platforms() {
        for config in &networks {
            let kernel = Basis::new(config.init(2, FEATURES, platform.options()));
            let matrix = numbers(kernel.matrix_at(platform.matrix(&x)));
            let mut rest = Dense::new(x.rows, x.rows, matrix);
            let largest = rest.diagonal().into_iter().fold(0.0, f64::max);
            for _ in 0..FEATURES {
                let diagonal = rest.diagonal();
                let best = (0..x.rows).max_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
                let best = best.unwrap();
                assert!(diagonal[best] > 1e-9 * largest, "{config:?}: {diagonal:?}");
                rest = Dense::from_function(x.rows, x.rows, |i, j| {
                    rest[(i, j)] - rest[(i, best)] * rest[(best, j)] / diagonal[best]
                });
            }
            let what = format!("{config:?} on {platform}");
            assert_within(
                &what,
                &rest.values,
                &vec![0.0; rest.values.len()],
                1e-9 * largest,
            );
        }
    }
}

fn nystrom(case: &Case, platform: &Platform) -> Nystrom {
    Nystrom::new(
        kernel(platform).first().clone(),
        case.inducing(platform),
        Jitter::INDUCING,
    )
}

/// Sparse regression: the kernel, the bound, and the predictions of SGPR and FITC, with jitter on
/// both sides.
#[test]
fn nystrom_features_are_sparse_regression() {
    let case = Case::new(2);
    let new = Random::new(44).points(8, 2);
    let (kuu, kuf) = (case.kuu(), covariances(&case.z, &case.x));
    let kun = covariances(&case.z, &new);
    let factor = kuu.cholesky();
    let phi = factor.solve_lower(&kuf).transposed();
    let new_phi = factor.solve_lower(&kun).transposed();
    let low_rank = products(&phi, &phi);
    let left: Vec<f64> = low_rank.diagonal().iter().map(|q| VARIANCE - q).collect();
    let evidence = log_density(&with_diagonal(&low_rank, &[NOISE; POINTS]), &case.y);
    let bound = evidence - 2.0 * left.iter().sum::<f64>() / (2.0 * NOISE);
    let noises: Vec<f64> = left.iter().map(|c| c + NOISE).collect();
    let (mean, variance) = dense_prediction((&phi, &new_phi), &case.y, &noises);
    let new_left = products(&new_phi, &new_phi).diagonal();
    let variance: Vec<f64> = (variance.iter().zip(&new_left))
        .flat_map(|(variance, q)| [variance + VARIANCE - q; 2])
        .collect();
    for platform in double_precision_platforms() {
        let what = format!("on {platform}");
        let kernel_matrix = {
            let map = nystrom(&case, &platform).feature_map().unwrap();
            let phi = map.features(case.x(&platform));
            numbers(phi.clone().exact_matmul(phi.transpose()))
        };
        assert_close(&what, &kernel_matrix, &low_rank.values, 1e-7);
        let (x, y) = (case.x(&platform), platform.matrix(&case.y));
        let likelihood = Gaussian::new(NOISE, platform.options());
        let regression = |kind| {
            LowRankRegression::new(
                nystrom(&case, &platform),
                ZeroMean::new(2),
                likelihood.clone(),
                correction(true, kind),
            )
        };
        let added = regression(PredictedVariance::Added);
        let ours = numbers(added.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(&what, &ours, &[bound], 1e-7);
        let collapsed = Collapsed::new(
            kernel(&platform).first().clone(),
            ZeroMean::new(2),
            likelihood.clone(),
            case.inducing(&platform),
            Jitter::INDUCING,
        );
        let theirs = numbers(collapsed.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(&what, &ours, &theirs, 1e-7);
        let new_x = platform.matrix(&new);
        let ours = added.condition(x.clone(), y.clone()).unwrap();
        let theirs = collapsed.condition(x.clone(), y.clone()).unwrap();
        let (ours, theirs) = (
            ours.marginals(new_x.clone()),
            theirs.marginals(new_x.clone()),
        );
        assert_same_marginals(&what, &ours, &theirs, 1e-7);
        let fitc = regression(PredictedVariance::Reweighted)
            .condition(x, y)
            .unwrap()
            .marginals(new_x);
        assert_close(&what, &numbers(fitc.mean), &mean.values, 1e-7);
        assert_close(&what, &numbers(fitc.variance), &variance, 1e-7);
    }
}

/// The whitened posterior is a posterior over the weights of Nyström features.
#[test]
fn nystrom_weights_are_whitened_inducing_variables() {
    let case = Case::new(2);
    let new = Random::new(45).points(8, 2);
    for platform in platforms() {
        let weights = WeightSpace::new(
            case.distribution(&platform),
            correction(true, PredictedVariance::Added),
        );
        let whitened = case.whitened(&platform);
        let features = nystrom(&case, &platform);
        let x = platform.matrix(&new);
        let ours = weights.evaluate(&features, x.clone()).unwrap();
        let theirs = whitened.evaluate(&kernel(&platform), x.clone()).unwrap();
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert_same_marginals(&what, &ours.marginals, &theirs.marginals, tolerance);
        let (ours, theirs) = (numbers(ours.kl), numbers(theirs.kl));
        assert_close(&what, &ours, &theirs, tolerance);
        let ours = weights.condition(&features).unwrap().marginals(x.clone());
        let theirs = whitened.condition(&kernel(&platform)).unwrap().marginals(x);
        assert_same_marginals(&what, &ours, &theirs, tolerance);
    }
}

/// The squared norms are exactly the variance, and the products approximate the covariances. With F
/// frequencies the standard error of one is at most `σ²/√(2F)`, and none of 64 exceeds four
/// standard errors.
#[test]
fn fourier_features_have_the_covariances_of_their_kernel() {
    let x = Random::new(46).points(8, 2);
    let expected = covariances(&x, &x);
    for platform in platforms() {
        let mut random = ChaCha8Rng::seed_from_u64(47);
        let options = platform.options();
        let mut draw = |count| {
            RandomFourier::new(kernel(&platform).first(), 2, count, &mut random, options).unwrap()
        };
        let (features, few) = (draw(4000), draw(50));
        let x = platform.matrix(&x);
        let diagonal = numbers(features.diagonal_at(x.clone()));
        let what = format!("on {platform}");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close(&what, &diagonal, &[VARIANCE; 8], tolerance);
        let actual = numbers(features.matrix_at(x.clone()));
        assert_within(
            &what,
            &actual,
            &expected.values,
            4.0 * VARIANCE / 8000f64.sqrt(),
        );
        // The same inference works with these features.
        let model = LowRankRegression::new(
            few,
            ZeroMean::new(1),
            Gaussian::new(NOISE, platform.options()),
            VarianceCorrection::default(),
        );
        let y = platform.tensor(&[1.0, -1.0, 0.5, 0.2, 0.0, 0.3, -0.4, 0.9], [8, 1]);
        let process = model.condition(x.clone(), y).unwrap();
        let prediction = model.likelihood().predict(process.marginals(x));
        assert!(
            numbers(prediction.variance)
                .iter()
                .all(|&v| v > NOISE * 0.999)
        );
    }
}
