//! Exact regression compared with dense algebra, and its gradients with central differences.

use crate::reference::{
    Problem, add_diagonal, assert_all_close, assert_close, central_differences, combine,
    double_precision, gradients, product, rows, scalar, solve, tensor, transpose, values,
};
use burn::tensor::{DType, Device};
use burn_gp_core::{
    inference::Exact,
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::{AnyMean, MeanConfig, ZeroMean},
    ops::Stationary,
    parameter::hyperparameters,
    process::Process,
};

fn model(problem: &Problem, mean: AnyMean, options: (&Device, DType)) -> Exact<StationaryKernel> {
    let kernel = StationaryKernel::new(
        problem.kind,
        &problem.lengthscales,
        problem.variance,
        options,
    );
    Exact::new(kernel, mean, Gaussian::new(problem.noise, options))
}

#[test]
fn evidence_and_posterior_are_those_of_dense_algebra() {
    for (name, device) in double_precision() {
        for kind in [Stationary::SquaredExponential, Stationary::Matern32] {
            let options = (&device, DType::F64);
            let problem = Problem::plane(kind);
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let model = model(&problem, ZeroMean::new(2).into(), options);
            let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
            let evidence = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
            assert_close(evidence, problem.log_density(&noisy), 1e-10, name);

            let joint = model
                .condition(x, y)
                .unwrap()
                .joint(tensor(&problem.new_x, options));
            let cross = problem.covariance(&problem.x, &problem.new_x);
            let mean = product(&transpose(&cross), &solve(&noisy, &problem.y));
            let explained = product(&transpose(&cross), &solve(&noisy, &cross));
            let prior = problem.covariance(&problem.new_x, &problem.new_x);
            let covariance = combine(&prior, &explained, -1.0);
            assert_all_close(&values(joint.mean), &mean.concat(), 1e-9, name);
            let expected = [covariance.concat(), covariance.concat()].concat();
            assert_all_close(&values(joint.covariance), &expected, 1e-9, name);
        }
    }
}

/// With a mean function, the evidence is that of the residuals, and predictions include the mean.
#[test]
fn mean_functions_shift_data_and_predictions() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let mut problem = Problem::plane(Stationary::Matern52);
        let (x, new_x) = (tensor(&problem.x, options), tensor(&problem.new_x, options));
        let y = tensor(&problem.y, options);
        let mean = MeanConfig::constant(0.7).init(2, 2, options);
        let shifted = model(&problem, mean, options);
        for row in &mut problem.y {
            row.iter_mut().for_each(|value| *value -= 0.7);
        }
        let zero = model(&problem, MeanConfig::zero().init(2, 2, options), options);
        let residual = tensor(&problem.y, options);
        assert_close(
            scalar(shifted.full_objective(x.clone(), y.clone()).unwrap()),
            scalar(zero.full_objective(x.clone(), residual.clone()).unwrap()),
            1e-12,
            name,
        );
        let ours = shifted.condition(x.clone(), y).unwrap();
        let ours = rows(ours.marginals(new_x.clone()).mean);
        let base = zero.condition(x, residual).unwrap();
        let base = rows(base.marginals(new_x).mean + 0.7);
        assert_all_close(&ours.concat(), &base.concat(), 1e-12, name);
    }
}

/// Lengthscales, variance, mean and noise. The differences have a relative error of about 1e-9.
#[test]
fn gradients_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let model = model(&problem, MeanConfig::linear().init(2, 2, options), options);
        let objective = model.full_objective(x.clone(), y.clone()).unwrap();
        let ours = gradients(&model, &objective.backward());
        let differences = central_differences(&model, 1e-5, |model| {
            scalar(model.full_objective(x.clone(), y.clone()).unwrap())
        });
        assert_all_close(&ours, &differences, 1e-7, name);
    }
}

/// Draws have the moments of the joint distribution, within 4 standard errors of 20 000 draws.
#[test]
fn samples_have_the_moments_of_the_process() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let mean = MeanConfig::constant(0.5).init(2, 2, options);
    let process = model(&problem, mean, options).condition(x, y).unwrap();
    let new_x = tensor(&problem.new_x, options);
    let marginals = process.marginals(new_x.clone());
    let count = 20_000;
    let draws = process.sample(new_x, count, 3).unwrap(); // [S, P, N]
    let sample_mean = rows(draws.clone().mean_dim(0).squeeze_dim::<2>(0).transpose());
    let (mean, variance) = (rows(marginals.mean), rows(marginals.variance));
    for (n, (mean, variance)) in mean.iter().zip(&variance).enumerate() {
        for p in 0..2 {
            let standard_error = (variance[p] / count as f64).sqrt();
            let off = (sample_mean[n][p] - mean[p]).abs();
            assert!(off < 4.0 * standard_error, "mean {n} {p}: {off}");
        }
    }
    let sample_variance = rows(draws.var(0).squeeze_dim::<2>(0).transpose());
    for (ours, expected) in sample_variance.concat().iter().zip(variance.concat()) {
        let standard_error = expected * (2.0 / count as f64).sqrt();
        assert!(
            (ours - expected).abs() < 4.0 * standard_error,
            "{ours} {expected}"
        );
    }
}

#[test]
fn hyperparameters_have_paths() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let mean = MeanConfig::constant(0.5).init(2, 2, options);
    assert_eq!(hyperparameters(&mean)[0].values, vec![0.5, 0.5]);
    let paths: Vec<String> = (hyperparameters(&model(&problem, mean, options)).into_iter())
        .map(|parameter| parameter.path)
        .collect();
    let expected = [
        "kernel.lengthscale",
        "kernel.variance",
        "mean.constant",
        "likelihood.noise",
    ];
    assert_eq!(paths, expected);
}
