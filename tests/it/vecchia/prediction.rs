//! Predictions, joint distributions and draws.

use super::{kernels, model, settings, zero};
use crate::reference::{
    Problem, Random, assert_all_close, double_precision, rows, scalar, tensor, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inference::{Exact, Vecchia},
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::Stationary,
    process::{Joint, Process},
};

/// With enough neighbors, means, variances and covariances are those of the exact process.
#[test]
fn all_neighbors_give_the_exact_process() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let data = || (tensor(&problem.x, options), tensor(&problem.y, options));
        let new_x = tensor(&problem.new_x, options);
        for (kind, kernel) in kernels(options) {
            let noise = || Gaussian::new(problem.noise, options);
            let mean = || MeanConfig::constant(0.5).init(2, 2, options);
            // Half of the neighbors are the nearest of all.
            let vecchia = Vecchia::new(kernel.clone(), mean(), noise(), 2, settings(5, 4 * 57));
            let exact = Exact::new(kernel, mean(), noise());
            let (x, y) = data();
            let ours = vecchia.condition(x.clone(), y.clone()).unwrap();
            let exact = exact.condition(x, y).unwrap();
            let what = format!("{name}, {kind}");
            let (marginals, expected) = (
                ours.marginals(new_x.clone()),
                exact.marginals(new_x.clone()),
            );
            assert_all_close(
                &values(marginals.mean),
                &values(expected.mean),
                1e-10,
                &what,
            );
            assert_all_close(
                &values(marginals.variance),
                &values(expected.variance),
                1e-10,
                &what,
            );
            let (joint, expected) = (ours.joint(new_x.clone()), exact.joint(new_x.clone()));
            assert_all_close(
                &values(joint.mean),
                &values(expected.mean.clone()),
                1e-10,
                &what,
            );
            assert_all_close(
                &values(joint.covariance),
                &values(expected.covariance),
                1e-10,
                &what,
            );
            let means = values(ours.process().joint_marginals(new_x.clone()).mean + 0.5);
            assert_all_close(&means, &values(expected.mean), 1e-10, &what);
        }
    }
}

/// The joint distribution with few neighbors: the means of both algorithms agree, and the covariance is that of the
/// linear system.
#[test]
fn joint_means_do_not_depend_on_the_algorithm() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let new_x = tensor(&Random(3).uniform_rows(40, 2, -3.0, 3.0), options);
        let process = model(&problem, zero(2), settings(5, 8), options)
            .condition(x, y)
            .unwrap();
        let joint = process.joint(new_x.clone());
        let substituted = process.process().joint_marginals(new_x.clone());
        let expected = values(joint.mean);
        assert_all_close(&values(substituted.mean), &expected, 1e-12, name);
        let marginals = process.marginals(new_x);
        assert_all_close(
            &values(substituted.variance),
            &values(marginals.variance),
            0.0,
            name,
        );
        // Far from the data, a joint distribution with few neighbors differs from independent ones.
        assert!(
            values(marginals.mean)
                .iter()
                .zip(&expected)
                .any(|(a, b)| (a - b).abs() > 1e-3)
        );
    }
}

/// Draws have the moments of the joint distribution, within 4 standard errors of 100 000 draws.
#[test]
fn draws_have_the_moments_of_the_joint_distribution() {
    let (_, device) = double_precision().remove(0);
    let problem = Problem::plane(Stationary::Matern32);
    // Draws at inputs with autodiff are computed by dense algebra.
    for device in [device.clone(), device.autodiff()] {
        let options = (&device, DType::F64);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let mean = MeanConfig::constant(0.5).init(2, 2, options);
        let process = model(&problem, mean, settings(5, 6), options)
            .condition(x, y)
            .unwrap();
        let new_x = tensor(&problem.new_x, options);
        let Joint { mean, covariance } = process.joint(new_x.clone());
        let count = 100_000;
        let draws = process.sample(new_x, count, 3).unwrap(); // [S, P, N]
        assert_eq!(draws.dims(), [count, 2, 7]);
        let (mean, covariance) = (rows(mean), values(covariance));
        let draws = values(draws);
        for p in 0..2 {
            let at = |s: usize, n: usize| draws[(2 * s + p) * 7 + n] - mean[n][p];
            for i in 0..7 {
                let variance = covariance[i * 7 + i];
                let average = (0..count).map(|s| at(s, i)).sum::<f64>() / count as f64;
                assert!(
                    average.abs() < 4.0 * (variance / count as f64).sqrt(),
                    "mean {i}"
                );
                for j in 0..7 {
                    let other = covariance[j * 7 + j];
                    let expected = covariance[i * 7 + j];
                    let ours = (0..count).map(|s| at(s, i) * at(s, j)).sum::<f64>() / count as f64;
                    let error = ((variance * other + expected.powi(2)) / count as f64).sqrt();
                    assert!(
                        (ours - expected).abs() < 4.0 * error,
                        "{i}, {j}: {ours}, {expected}"
                    );
                }
            }
        }
    }
}

/// An input of the data, almost without noise, is predicted as observed.
#[test]
fn observed_inputs_are_interpolated() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for kind in [Stationary::Matern12, Stationary::Matern32] {
            let mut problem = Problem::plane(kind);
            problem.noise = 1e-12;
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let process = model(&problem, zero(2), settings(10, 16), options);
            let process = process.condition(x.clone(), y.clone()).unwrap();
            let marginals = process.marginals(x.clone());
            assert_all_close(&values(marginals.mean), &values(y.clone()), 1e-6, name);
            let limit = 1e-8 * problem.variance;
            let variances = values(marginals.variance);
            assert!(
                variances
                    .iter()
                    .all(|variance| (0.0..=limit).contains(variance)),
                "{name}"
            );
            let joint = process.joint(x);
            assert_all_close(&values(joint.mean), &values(y), 1e-6, name);
            assert!(
                values(joint.covariance)
                    .iter()
                    .all(|value| value.abs() <= limit),
                "{name}"
            );
        }
    }
}

/// At inputs on a device with autodiff, gradients reach the inputs.
#[test]
fn predictions_have_gradients_of_their_inputs() {
    let (name, device) = double_precision().remove(0);
    let (plain, device) = ((&device, DType::F64), device.clone().autodiff());
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern52);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let process = model(&problem, zero(2), settings(5, 9), options)
        .condition(x, y)
        .unwrap();
    let point = vec![vec![0.31, -0.42], vec![1.1, 0.2]];
    let losses: [&dyn Fn(Tensor<2>) -> Tensor<1>; 3] = [
        &|x| {
            let marginals = process.marginals(x);
            marginals.mean.sum() + marginals.variance.sum() * 3.0
        },
        &|x| {
            let joint = process.joint(x);
            joint.mean.sum() + joint.covariance.sum()
        },
        &|x| process.sample(x, 2, 1).unwrap().square().sum(),
    ];
    for loss in losses {
        let inputs = tensor(&point, options).require_grad();
        let gradient = inputs.grad(&loss(inputs.clone()).backward()).unwrap();
        let step = 1e-5;
        let differences = (0..4).map(|index| {
            let at = |change: f64| {
                let mut moved = point.clone();
                moved[index / 2][index % 2] += change;
                scalar(loss(tensor(&moved, plain)))
            };
            (at(step) - at(-step)) / (2.0 * step)
        });
        let differences: Vec<f64> = differences.collect();
        // Rounding of 1e-16 over steps of 1e-5, and covariances that are not smooth.
        assert_all_close(&values(gradient), &differences, 1e-6, name);
    }
}
