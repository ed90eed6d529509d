//! The log density and its gradient.

use super::{model, remote, settings, stationary, with_parts};
use crate::{
    reference::{
        Problem, assert_all_close, assert_close, central_differences, double_precision, gradients,
        scalar, single_precision, tensor,
    },
    vecchia::kernels,
};
use burn::tensor::{DType, Device};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact, Vecchia},
    likelihoods::Gaussian,
    means::{MeanConfig, ZeroMean},
    ops::{Jitter, Stationary},
    parameter::Parameters,
};

/// With all earlier rows as neighbors, the log density and its gradient are exact, whatever the inducing points.
#[test]
fn all_neighbors_give_the_exact_objective() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        for (kind, kernel) in kernels(options) {
            let mean = || MeanConfig::linear().init(2, 2, options);
            let noise = Gaussian::new(problem.noise, options);
            let parts = (kernel.clone(), mean());
            let vif = with_parts(&problem, parts, &problem.z, settings(49, 1), options);
            let exact = Exact::new(kernel, mean(), noise);
            let ours = vif.full_objective(x.clone(), y.clone()).unwrap();
            let expected = exact.full_objective(x.clone(), y.clone()).unwrap();
            let what = format!("{name}, {kind}");
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-9, &what);
            let ours = gradients(&vif, &ours.backward());
            let expected = gradients(&exact, &expected.backward());
            // The inducing points are last, and have no effect.
            let (ours, rest) = ours.split_at(expected.len());
            assert_all_close(ours, &expected, 1e-8, &what);
            assert_all_close(rest, &vec![0.0; rest.len()], 1e-7, &what);
        }
    }
}

/// Inducing points at all inputs explain everything, with any number of neighbors.
#[test]
fn inducing_points_at_all_inputs_are_exact() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern12);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let noise = Gaussian::new(problem.noise, options);
        let exact = Exact::new(stationary(&problem, options), ZeroMean::new(2), noise);
        let expected = exact.full_objective(x.clone(), y.clone()).unwrap();
        let expected_gradients = gradients(&exact, &expected.backward());
        let mut all = problem.clone();
        all.z = problem.x.clone();
        for neighbors in [0, 1, 7] {
            let vif = model(&all, settings(neighbors, 1), options);
            let ours = vif.full_objective(x.clone(), y.clone()).unwrap();
            let what = format!("{name}, {neighbors} neighbors");
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-8, &what);
            let ours = gradients(&vif, &ours.backward());
            let ours = &ours[..expected_gradients.len()];
            assert_all_close(ours, &expected_gradients, 1e-8, &what);
        }
    }
}

/// Inducing variables that say nothing about the data leave nearest-neighbor regression.
#[test]
fn remote_inducing_points_leave_vecchia() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for kind in Stationary::ALL {
            let problem = Problem::plane(kind);
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let kernel = || stationary(&problem, options);
            let mean = || MeanConfig::constant(0.2).init(2, 2, options);
            let noise = Gaussian::new(problem.noise, options);
            let parts = (kernel(), mean());
            let vif = with_parts(&problem, parts, &remote(&problem), settings(6, 1), options);
            let vecchia = Vecchia::new(kernel(), mean(), noise, 2, settings(6, 1));
            let ours = vif.full_objective(x.clone(), y.clone()).unwrap();
            let expected = vecchia.full_objective(x, y).unwrap();
            let what = format!("{name}, {kind:?}");
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-10, &what);
            let ours = gradients(&vif, &ours.backward());
            let expected = gradients(&vecchia, &expected.backward());
            // After kernel, mean and noise come the inducing points of one and the metric of the other.
            let shared = ours.len() - 6;
            assert_all_close(&ours[..shared], &expected[..shared], 1e-9, &what);
        }
    }
}

/// Without neighbors, it is FITC.
#[test]
fn no_neighbors_are_the_independent_training_conditional() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for kind in Stationary::ALL {
            let problem = Problem::plane(kind);
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let vif = model(&problem, settings(0, 1), options);
            let collapsed = Collapsed::new(
                stationary(&problem, options),
                ZeroMean::new(2),
                Gaussian::new(problem.noise, options),
                InducingPoints::new(tensor(&problem.z, options)),
                Jitter::NONE,
            );
            let ours = vif.full_objective(x.clone(), y.clone()).unwrap();
            let expected = collapsed.fully_independent_training_conditional(x, y);
            let expected = expected.unwrap();
            let what = format!("{name}, {kind:?}");
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-8, &what);
            let ours = gradients(&vif, &ours.backward());
            let expected = gradients(&collapsed, &expected.backward());
            assert_all_close(&ours[..expected.len()], &expected, 1e-8, &what);
        }
    }
}

/// Of every parameter, inducing points included. The differences have a relative error of about 1e-9.
#[test]
fn gradients_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        for (kind, kernel) in kernels(options) {
            for neighbors in [0, 6] {
                let mean = MeanConfig::linear().init(2, 2, options);
                let parts = (kernel.clone(), mean);
                let counts = settings(neighbors, 1);
                let vif = with_parts(&problem, parts, &problem.z, counts, options);
                let objective = vif.full_objective(x.clone(), y.clone()).unwrap();
                let ours = gradients(&vif, &objective.backward());
                let differences = central_differences(&vif, 1e-5, |vif| {
                    scalar(vif.full_objective(x.clone(), y.clone()).unwrap())
                });
                let what = format!("{name}, {kind}, {neighbors} neighbors");
                // The last values are the metric, which is not trained.
                let differences = &differences[..differences.len() - 2];
                assert_all_close(&ours[..differences.len()], differences, 1e-6, &what);
            }
        }
    }
}

/// Single precision has seven digits. The covariances of what the inducing variables leave are differences, which
/// costs one or two.
#[test]
fn single_precision_is_close() {
    let (name, device) = double_precision().remove(0);
    for kind in [Stationary::Matern32, Stationary::Matern52] {
        let problem = Problem::plane(kind);
        let value = |device: &Device, dtype| {
            let options = (device, dtype);
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let vif = model(&problem, settings(8, 1), options);
            scalar(vif.full_objective(x, y).unwrap())
        };
        let expected = value(&device, DType::F64);
        for (other, device) in single_precision() {
            let ours = value(&device, DType::F32);
            assert_close(ours, expected, 3e-5, &format!("{name}, {other}, {kind:?}"));
        }
    }
}

/// Neighbors stay until a ratio of lengthscales has moved by a tenth.
#[test]
fn the_metric_follows_ratios_of_lengthscales() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let mut vif = model(&problem, settings(4, 1), options);
    assert!(!vif.update_metric(), "{name}");
    vif = vif
        .with_parameter("kernel.lengthscale", &[0.3, 2.6])
        .unwrap();
    assert!(vif.update_metric(), "{name}");
    assert!(!vif.update_metric(), "{name}");
}
