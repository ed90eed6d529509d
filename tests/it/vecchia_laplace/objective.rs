//! The log evidence and its gradient.

use burn::tensor::DType;
use burn_gp_core::{
    inference::{ConditionError, Exact, VecchiaLaplace, VecchiaLaplaceSettings},
    kernels::{KernelConfig, LinearConfig, StationaryConfig},
    likelihoods::{Gaussian, LikelihoodConfig, SoftmaxConfig},
    ops::Stationary,
};

use super::{Options, kernel, likelihoods, mean, model, neighbors, targets};
use crate::reference::{
    Problem, assert_all_close, assert_close, central_differences, double_precision, gradients,
    log_determinant, log_normal, product, rows, scalar, single_precision, solve, tensor, transpose,
};

/// With all earlier rows as neighbors and Gaussian noise, the approximation is exact: value and gradient. The jitter is
/// 1e-8 of the variance.
#[test]
fn gaussian_targets_with_all_neighbors_are_exact_regression() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for kind in [Stationary::Matern12, Stationary::Matern52] {
            let problem = Problem::plane(kind);
            let y: Vec<Vec<f64>> = problem.output(0).iter().map(|&value| vec![value]).collect();
            let (x, y) = (tensor(&problem.x, options), tensor(&y, options));
            let noise = || Gaussian::new(problem.noise, options);
            let ours = model(&problem, noise(), 49, options);
            let exact = Exact::new(kernel(&problem, options), mean(options), noise());
            let value = ours.full_objective(x.clone(), y.clone()).unwrap();
            let expected = exact.full_objective(x.clone(), y.clone()).unwrap();
            assert_close(scalar(value.clone()), scalar(expected.clone()), 1e-6, name);
            let value = gradients(&ours, &value.backward());
            let expected = gradients(&exact, &expected.backward());
            assert_all_close(&value, &expected, 1e-6, name);
        }
    }
}

/// With few neighbors and Gaussian noise, it is the density with the covariance `Q⁻¹ + σ²I`.
#[test]
fn gaussian_targets_have_the_density_of_the_latent_approximation() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem {
        // Neighbors are the nearest in the inputs themselves.
        lengthscales: vec![1.1, 1.1],
        ..Problem::plane(Stationary::Matern32)
    };
    let y: Vec<f64> = problem.output(0).iter().map(|value| value - 0.3).collect();
    let rows = problem.x.len();
    let covariance = problem.covariance(&problem.x, &problem.x);
    let distance = |a: usize, b: usize| -> f64 {
        let pairs = problem.x[a].iter().zip(&problem.x[b]);
        pairs.map(|(a, b)| (a - b).powi(2)).sum()
    };
    let mut factor = vec![vec![0.0; rows]; rows]; // D^{-½}B
    for row in 0..rows {
        let mut known: Vec<usize> = (0..row).collect();
        known.sort_by(|&a, &b| distance(a, row).total_cmp(&distance(b, row)));
        known.truncate(5);
        let inner = known
            .iter()
            .map(|&a| known.iter().map(|&b| covariance[a][b]).collect());
        let cross: Vec<Vec<f64>> = known.iter().map(|&a| vec![covariance[a][row]]).collect();
        let weights = match known.is_empty() {
            true => Vec::new(),
            false => solve(&inner.collect(), &cross),
        };
        let explained: f64 = weights.iter().zip(&cross).map(|(b, k)| b[0] * k[0]).sum();
        let deviation = (covariance[row][row] - explained).sqrt();
        factor[row][row] = 1.0 / deviation;
        for (&other, weight) in known.iter().zip(&weights) {
            factor[row][other] = -weight[0] / deviation;
        }
    }
    let precision = product(&transpose(&factor), &factor);
    let unit = |row: usize| {
        (0..rows)
            .map(|other| f64::from(u8::from(row == other)))
            .collect()
    };
    let mut noisy = solve(&precision, &(0..rows).map(unit).collect());
    (0..rows).for_each(|row| noisy[row][row] += problem.noise);
    let expected = log_normal(&y, &noisy);
    let targets = problem.output(0).iter().map(|&value| vec![value]).collect();
    let ours = model(&problem, Gaussian::new(problem.noise, options), 5, options);
    let ours = ours.full_objective(tensor(&problem.x, options), tensor(&targets, options));
    assert_close(scalar(ours.unwrap()), expected, 1e-7, name);
}

/// With all neighbors, counts have the evidence of the dense Laplace approximation.
#[test]
fn counts_with_all_neighbors_have_the_dense_evidence() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let likelihood = LikelihoodConfig::poisson().init(options);
    let y = targets(&problem, &*likelihood, options);
    let counts = crate::reference::values(y.clone());
    let covariance = problem.covariance(&problem.x, &problem.x);
    let rows = counts.len();
    let mut latent = vec![0.0; rows];
    // Newton's method with K: g = K(K + W⁻¹)⁻¹(g + W⁻¹∂).
    let rate = |g: f64| (g + 0.3).exp();
    let noisy = |latent: &[f64]| {
        let mut matrix = covariance.clone();
        (0..rows).for_each(|row| matrix[row][row] += 1.0 / rate(latent[row]));
        matrix
    };
    for _ in 0..50 {
        let pseudo: Vec<Vec<f64>> = (0..rows)
            .map(|row| vec![latent[row] + (counts[row] - rate(latent[row])) / rate(latent[row])])
            .collect();
        let weights = solve(&noisy(&latent), &pseudo);
        latent = product(&covariance, &weights).concat();
    }
    let column: Vec<Vec<f64>> = latent.iter().map(|&value| vec![value]).collect();
    let energy: f64 = (solve(&covariance, &column).concat().iter().zip(&latent))
        .map(|(a, b)| a * b)
        .sum();
    let factorial = |count: f64| (1..=count as u32).map(|k| f64::from(k).ln()).sum::<f64>();
    let density: f64 = (counts.iter().zip(&latent))
        .map(|(count, g)| count * (g + 0.3) - rate(*g) - factorial(*count))
        .sum();
    // log|K| + log|K⁻¹ + W| = log|K + W⁻¹| + log|W|
    let weights: f64 = latent.iter().map(|&g| rate(g).ln()).sum();
    let determinant = log_determinant(&noisy(&latent)) + weights;
    let expected = density - 0.5 * energy - 0.5 * determinant;
    let ours = model(&problem, likelihood, 49, options);
    let ours = ours.full_objective(tensor(&problem.x, options), y).unwrap();
    assert_close(scalar(ours), expected, 1e-6, name);
}

/// For every likelihood with one latent function and few neighbors: the gradient in all parameters of the kernel, the
/// mean and the likelihood, through the mode. The mode is accurate to 1e-7, which the differences of 1e-4 multiply.
#[test]
fn gradients_are_those_of_central_differences() {
    let (name, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let x = tensor(&problem.x, options);
    for config in likelihoods() {
        let likelihood = config.init(options);
        let what = format!("{name}, {}", likelihood.description().name);
        let plain = (&double_precision().remove(0).1, DType::F64);
        let y = targets(&problem, &*config.init(plain), plain);
        let y = tensor(&rows(y), options);
        let model = model(&problem, likelihood, 6, options);
        let value = model.full_objective(x.clone(), y.clone()).unwrap();
        assert!(scalar(value.clone()).is_finite(), "{what}");
        let ours = gradients(&model, &value.backward());
        let differences = central_differences(&model, 1e-4, |model| {
            scalar(model.full_objective(x.clone(), y.clone()).unwrap())
        });
        assert_all_close(&ours, &differences[..ours.len()], 1e-5, &what);
    }
}

/// The same for a kernel that is no stationary one.
#[test]
fn gradients_of_any_kernel() {
    let (name, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let x = tensor(&problem.x, options);
    let likelihood = LikelihoodConfig::bernoulli().init(options);
    let labels = problem
        .output(0)
        .into_iter()
        .map(|value| vec![f64::from(u8::from(value > 0.2))]);
    let y = tensor(&labels.collect(), options);
    let matern = KernelConfig::from(StationaryConfig::matern32().with_lengthscale(0.8));
    let kernel = matern.plus(LinearConfig::default()).init(2, options);
    let counts = neighbors(6, 12);
    let settings = VecchiaLaplaceSettings::default();
    let model = VecchiaLaplace::new(kernel, mean(options), likelihood, 2, counts, settings);
    let value = model.full_objective(x.clone(), y.clone()).unwrap();
    let ours = gradients(&model, &value.backward());
    let differences = central_differences(&model, 1e-4, |model| {
        scalar(model.full_objective(x.clone(), y.clone()).unwrap())
    });
    assert_all_close(&ours, &differences[..ours.len()], 1e-6, name);
}

fn evidence(problem: &Problem, config: &LikelihoodConfig, options: Options<'_>) -> f64 {
    let likelihood = config.init(options);
    let y = targets(problem, &*likelihood, options);
    let model = model(problem, likelihood, 8, options);
    scalar(
        model
            .full_objective(tensor(&problem.x, options), y)
            .unwrap(),
    )
}

/// Single precision has six digits, of which the jitter of 1e-6 and differences of derivatives take some.
#[test]
fn single_precision_is_close() {
    for (name, device) in single_precision() {
        let problem = Problem::plane(Stationary::Matern12);
        for config in [
            LikelihoodConfig::bernoulli_logit(),
            LikelihoodConfig::poisson(),
        ] {
            let double = &double_precision().remove(0).1;
            let expected = evidence(&problem, &config, (double, DType::F64));
            let ours = evidence(&problem, &config, (&device, DType::F32));
            assert_close(ours, expected, 1e-3, name);
        }
    }
}

/// Rows with equal inputs have equal latent values; the jitter keeps them apart.
#[test]
fn equal_inputs_are_finite() {
    let (_, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::SquaredExponential);
    for row in 0..10 {
        problem.x[30 + row] = problem.x[row].clone();
    }
    let labels = (0..50).map(|row| vec![f64::from(row % 2)]).collect();
    let y = tensor(&labels, options);
    let likelihood = LikelihoodConfig::bernoulli_logit().init(options);
    let model = model(&problem, likelihood, 20, options);
    let value = model
        .full_objective(tensor(&problem.x, options), y)
        .unwrap();
    assert!(scalar(value.clone()).is_finite());
    let gradients = gradients(&model, &value.backward());
    assert!(gradients.iter().all(|value| value.is_finite()));
}

#[test]
fn bad_data_are_errors() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    let likelihood = || LikelihoodConfig::poisson().init(options);
    let y = targets(&problem, &*likelihood(), options);
    let impossible = y.clone() - 0.5;
    let error = model(&problem, likelihood(), 9, options)
        .condition(tensor(&problem.x, options), impossible)
        .unwrap_err();
    assert!(matches!(error, ConditionError::Target(_)), "{error}");
    problem.x[7][1] = f64::NAN;
    let x = tensor(&problem.x, options);
    let model = model(&problem, likelihood(), 9, options);
    let error = model.full_objective(x.clone(), y.clone()).unwrap_err();
    assert_eq!(error.batch, 7);
    let error = model.condition(x, y).unwrap_err();
    assert!(
        matches!(
            error,
            ConditionError::Input {
                row: 7,
                column: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "the softmax likelihood has 3 latent functions; expected one")]
fn several_latent_functions_are_refused() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let likelihood = LikelihoodConfig::from(SoftmaxConfig::new(3)).init(options);
    model(
        &Problem::plane(Stationary::Matern32),
        likelihood,
        5,
        options,
    );
}
