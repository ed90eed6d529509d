//! Regression with conjugate gradients compared with dense algebra.

use crate::reference::{
    actions::Case, assert_all_close, central_differences, double_precision, gradients, scalar,
    single_precision, tensor, values,
};
use burn::tensor::{DType, Device};
use burn_gp_core::{
    inference::{ConjugateGradients, ConjugateGradientsSettings, Exact, IterationRule, Iterations},
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::Stationary,
    process::{Marginals, Process},
};

type Model = ConjugateGradients<StationaryKernel>;

fn model(case: &Case, settings: ConjugateGradientsSettings, options: (&Device, DType)) -> Model {
    let likelihood = Gaussian::new(case.noise, options);
    ConjugateGradients::new(case.kernel(options), ZeroMean::new(1), likelihood, settings)
}

/// Settings that iterate to convergence, limited only by rounding.
fn converged(rank: usize) -> ConjugateGradientsSettings {
    ConjugateGradientsSettings {
        iterations: 200,
        tolerance: 1e-12,
        rank: Some(rank),
        ..ConjugateGradientsSettings::default()
    }
}

/// With and without a preconditioner. The tolerance is for a condition number of about 1e3.
#[test]
fn converged_it_is_the_exact_posterior() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(50, 2, 0.05);
        let mean = case.posterior(&identity(50), &case.new_x).0;
        let exact = case.exact(&case.new_x).concat();
        for rank in [0, 10] {
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let process = model(&case, converged(rank), options)
                .condition(x, y)
                .unwrap();
            let new_x = tensor(&case.new_x, options);
            let joint = process.joint(new_x.clone());
            assert_all_close(&values(joint.mean), &mean, 1e-8, name);
            assert_all_close(&values(joint.covariance.clone()), &exact, 1e-8, name);
            let variances = values(process.marginals(new_x).variance);
            let covariance = values(joint.covariance);
            let diagonal: Vec<f64> = (0..7).map(|i| covariance[8 * i]).collect();
            assert_all_close(&variances, &diagonal, 1e-9, name);
        }
    }
}

fn identity(size: usize) -> crate::reference::Matrix {
    crate::reference::add_diagonal(vec![vec![0.0; size]; size], 1.0)
}

/// After the same number of iterations, the means equal those of CaGP-CG (arXiv:2411.01036, Section
/// 5). The number is small because these residuals are not reorthogonalized.
#[test]
fn the_mean_is_that_of_computation_aware_regression() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(60, 3, 0.5);
        for iterations in 1..=5 {
            let settings = ConjugateGradientsSettings {
                iterations,
                ..converged(0)
            };
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let process = model(&case, settings, options).condition(x, y).unwrap();
            let ours = values(process.marginals(tensor(&case.new_x, options)).mean);
            let policy = Iterations::new(IterationRule::Residuals, iterations, 0.0);
            let (expected, _) = case.predicted(policy, options);
            assert_all_close(&ours, &expected, 1e-8, name);
        }
    }
}

/// The mean and three standard errors of independent numbers.
fn interval(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, 3.0 * (squares / (count - 1.0) / count).sqrt())
}

/// Over many seeds the estimates of the log evidence and its gradient are unbiased, with and
/// without a preconditioner.
#[test]
fn evidence_and_gradient_are_unbiased() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let case = Case::new(40, 2, 0.05);
        let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
        let likelihood = Gaussian::new(case.noise, options);
        // `tests/exact.rs` compares the exact model with dense algebra. It has the same parameters
        // in the same order.
        let exact = Exact::new(case.kernel(options), ZeroMean::new(1), likelihood);
        let evidence =
            |model: &Exact<_>| scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        let expected = central_differences(&exact, 1e-5, evidence);
        for rank in [0, 10] {
            let (mut evidences, mut slopes) = (Vec::new(), vec![Vec::new(); expected.len()]);
            for seed in 0..150 {
                let settings = ConjugateGradientsSettings {
                    probes: 2,
                    seed,
                    ..converged(rank)
                };
                let model = model(&case, settings, options);
                let objective = model.full_objective(x.clone(), y.clone()).unwrap();
                let found = gradients(&model, &objective.backward());
                evidences.push(scalar(objective));
                slopes
                    .iter_mut()
                    .zip(found)
                    .for_each(|(all, one)| all.push(one));
            }
            let (mean, error) = interval(&evidences);
            let distance = (mean + case.negative_evidence()).abs();
            assert!(distance < error, "{name}, {rank}: {distance} of {error}");
            for (index, (samples, expected)) in slopes.iter().zip(&expected).enumerate() {
                let (mean, error) = interval(samples);
                // The term 1e-6 is for the finite differences.
                let distance = (mean - expected).abs();
                assert!(
                    distance < error + 1e-6,
                    "{name}, {rank}, {index}: {distance} of {error}"
                );
            }
        }
    }
}

/// The same seed gives the same numbers, which full-batch optimizers rely on. Single precision is
/// close to double precision.
#[test]
fn the_estimate_is_a_function_of_seed_and_parameters() {
    for (name, device) in single_precision() {
        let case = Case::new(60, 2, 0.1);
        let evidence = |device: &Device, dtype| {
            let options = (device, dtype);
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let settings = ConjugateGradientsSettings::default();
            scalar(
                model(&case, settings, options)
                    .full_objective(x, y)
                    .unwrap(),
            )
        };
        let single = evidence(&device, DType::F32);
        assert_eq!(single, evidence(&device, DType::F32), "{name}");
        for (_, device) in double_precision() {
            let double = evidence(&device, DType::F64);
            assert!(
                (single - double).abs() < 1e-3 * double.abs(),
                "{name}: {single} {double}"
            );
        }
    }
}

/// What products in single precision change in the log evidence and its gradient, at the smallest tolerance
/// with which they are made, is less than what the default tolerance changes in double precision.
#[test]
fn products_in_single_precision_lose_no_digits() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for noise in [0.1, 1e-3] {
            let case = Case::new(400, 3, noise);
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            let evaluated = |mixed_precision, tolerance| {
                let settings = ConjugateGradientsSettings {
                    mixed_precision,
                    tolerance,
                    rank: Some(20),
                    ..ConjugateGradientsSettings::default()
                };
                let model = model(&case, settings, options);
                let objective = model.full_objective(x.clone(), y.clone()).unwrap();
                let gradients = gradients(&model, &objective.backward());
                [vec![scalar(objective)], gradients].concat()
            };
            let [mixed, double, converged] = [(true, 1e-6), (false, 1e-4), (false, 1e-10)]
                .map(|(mixed, tolerance)| evaluated(mixed, tolerance));
            let off = |found: &[f64]| {
                (found.iter().zip(&converged))
                    .map(|(found, converged)| (found - converged).abs())
                    .fold(0.0, f64::max)
            };
            let (ours, theirs) = (off(&mixed), off(&double));
            println!(
                "{name}, noise {noise}: off by {ours:.2e}, the default tolerance by {theirs:.2e}"
            );
            assert_ne!(
                mixed,
                evaluated(false, 1e-6),
                "{name}: single precision was not used"
            );
            assert!(ours < theirs, "{name}, {noise}: {ours}, {theirs}");
        }
    }
}

/// With noise below the rounding errors of single precision, all products are in double precision.
#[test]
fn where_single_precision_fails_double_precision_takes_over() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(200, 1, 1e-9);
        let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
        let [mixed, double] = [true, false].map(|mixed_precision| {
            let settings = ConjugateGradientsSettings {
                mixed_precision,
                rank: Some(10),
                iterations: 2000,
                ..ConjugateGradientsSettings::default()
            };
            scalar(
                model(&case, settings, options)
                    .full_objective(x.clone(), y.clone())
                    .unwrap(),
            )
        });
        assert_eq!(mixed, double, "{name}");
    }
}

/// A line search does not try a noise variance below a tenth of that at its start.
#[test]
fn small_noise_is_out_of_reach() {
    for (_, device) in double_precision() {
        let options = (&device, DType::F64);
        let of_noise = |noise| {
            model(
                &Case::new(5, 1, noise),
                ConjugateGradientsSettings::default(),
                options,
            )
        };
        let start = of_noise(0.1);
        assert!(of_noise(0.011).is_within_reach(&start) && of_noise(50.0).is_within_reach(&start));
        assert!(!of_noise(0.009).is_within_reach(&start));
    }
}

/// The default number of pivots is 8·√N, rounded up. Setting this number explicitly gives the same
/// estimate.
#[test]
fn pivots_follow_the_number_of_inputs() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let case = Case::new(150, 2, 0.1);
        let evidence = |rank| {
            let settings = ConjugateGradientsSettings {
                rank,
                ..ConjugateGradientsSettings::default()
            };
            let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
            scalar(
                model(&case, settings, options)
                    .full_objective(x, y)
                    .unwrap(),
            )
        };
        assert_eq!(evidence(None), evidence(Some(98)), "{name}");
        assert_ne!(evidence(None), evidence(Some(97)), "{name}");
    }
}

/// Precomputed variances are never below those of dense algebra, and more pivots never increase
/// them, except for rounding. Joint predictions have the same variances.
#[test]
fn variances_made_once_are_no_smaller_than_the_exact_ones() {
    let case = Case::new(300, 2, 0.1);
    let exact = case.exact(&case.new_x);
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
        let mut before = vec![case.variance; case.new_x.len()];
        for rank in [5, 20, 60, 200] {
            let settings = ConjugateGradientsSettings {
                cached_variances: Some(rank),
                ..ConjugateGradientsSettings::default()
            };
            let process = model(&case, settings, options)
                .condition(x.clone(), y.clone())
                .unwrap();
            let new_x = tensor(&case.new_x, options);
            let found = values(process.marginals(new_x.clone()).variance);
            let joint = values(process.joint(new_x).covariance);
            let diagonal: Vec<f64> = (0..7).map(|i| joint[8 * i]).collect();
            assert_all_close(&found, &diagonal, 1e-12, name);
            for (index, (found, before)) in found.iter().zip(&before).enumerate() {
                let exact = exact[index][index];
                assert!(
                    *found <= before + 1e-12 && *found >= exact - 1e-10,
                    "{name}, {rank}: {found} after {before}, {exact}"
                );
            }
            before = found;
        }
    }
}

/// With at least as many pivots as rows, precomputed variances are exact, also with repeated rows
/// and small noise. The tolerance 1e-8 is a condition number of 1e5 times the rounding error,
/// reduced by sums.
#[test]
fn variances_made_once_of_all_rows_are_exact() {
    let mut case = Case::new(80, 2, 1e-3);
    let first: Vec<Vec<f64>> = case.x[..5].to_vec();
    case.x[75..].clone_from_slice(&first);
    let exact = case.exact(&case.new_x);
    let exact: Vec<f64> = (0..7).map(|i| exact[i][i]).collect();
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for rank in [80, 500] {
            let settings = ConjugateGradientsSettings {
                cached_variances: Some(rank),
                ..ConjugateGradientsSettings::default()
            };
            let process = model(&case, settings, options)
                .condition(tensor(&case.x, options), tensor(&case.y, options))
                .unwrap();
            let found = process.marginals(tensor(&case.new_x, options)).variance;
            assert_all_close(&values(found), &exact, 1e-8, name);
        }
    }
}

/// Predictions of exact regression or of conjugate gradients with the kernel, initial lengthscale
/// and initial noise of Table 1 of arXiv:2505.18526.
fn predicted(
    case: &Case,
    settings: Option<ConjugateGradientsSettings>,
    options: (&Device, DType),
) -> Marginals {
    let kernel = StationaryKernel::new(Stationary::SquaredExponential, &[2.0; 4], 1.0, options);
    let (mean, likelihood) = (ZeroMean::new(1), Gaussian::new(case.noise, options));
    let (x, y) = (tensor(&case.x, options), tensor(&case.y, options));
    let new_x = tensor(&case.new_x, options);
    match settings {
        None => {
            let exact = Exact::new(kernel, mean, likelihood);
            exact.condition(x, y).unwrap().marginals(new_x)
        }
        Some(settings) => {
            let model = ConjugateGradients::new(kernel, mean, likelihood, settings);
            model.condition(x, y).unwrap().marginals(new_x)
        }
    }
}

/// Means and precomputed variances agree with exact regression to 1e-4. In single precision they
/// agree to 1e-3, because solves with condition number 1e4 have three digits.
#[test]
fn with_variances_made_once_it_is_exact_regression() {
    let case = Case::new(500, 4, 1e-2);
    let settings = ConjugateGradientsSettings {
        tolerance: 1e-6,
        cached_variances: Some(256),
        ..ConjugateGradientsSettings::default()
    };
    let (_, device) = double_precision().remove(0);
    let exact = predicted(&case, None, (&device, DType::F64));
    let (means, variances) = (values(exact.mean), values(exact.variance));
    let double = double_precision().into_iter();
    let single = single_precision().into_iter();
    let devices = double
        .map(|(name, device)| (name, device, DType::F64, 1e-4))
        .chain(single.map(|(name, device)| (name, device, DType::F32, 1e-3)));
    for (name, device, dtype, tolerance) in devices {
        let found = predicted(&case, Some(settings), (&device, dtype));
        assert_all_close(&values(found.mean), &means, tolerance, name);
        assert_all_close(&values(found.variance), &variances, tolerance, name);
    }
}

/// With the default tolerance and few pivots, predictive standard deviations agree with dense
/// algebra to 1% when the noise is small. The error of a variance from the solve is large relative
/// to such noise.
#[test]
fn deviations_are_exact_to_a_hundredth_where_noise_is_small() {
    let case = Case::new(400, 2, 1e-3);
    // Points between two training rows, where the variances are small.
    let between: Vec<Vec<f64>> = (case.x.windows(2).take(40))
        .map(|rows| {
            rows[0]
                .iter()
                .zip(&rows[1])
                .map(|(a, b)| 0.9 * a + 0.1 * b)
                .collect()
        })
        .collect();
    let exact = case.exact(&between);
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let settings = ConjugateGradientsSettings {
            rank: Some(20),
            ..ConjugateGradientsSettings::default()
        };
        let process = model(&case, settings, options)
            .condition(tensor(&case.x, options), tensor(&case.y, options))
            .unwrap();
        let found = values(process.marginals(tensor(&between, options)).variance);
        for (index, found) in found.iter().enumerate() {
            let deviation = |variance: f64| (variance + case.noise).sqrt();
            let ratio = deviation(*found) / deviation(exact[index][index]);
            assert!((ratio - 1.0).abs() < 0.01, "{name}, {index}: {ratio}");
        }
    }
}
