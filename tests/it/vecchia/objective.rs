//! The log density, its gradient and least squares.

use super::{kernel, kernels, model, settings, zero};
use crate::reference::{
    Problem, add_diagonal, assert_all_close, assert_close, central_differences, double_precision,
    gradients, product, rows, scalar, single_precision, solve, tensor, transpose, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inference::{ConditionError, Exact, Vecchia},
    kernels::{Kernel, StationaryKernel},
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::Stationary,
    parameter::Parameters,
    process::Process,
};

/// With all earlier rows as neighbors, the log density and its gradient are exact.
#[test]
fn all_neighbors_give_the_exact_objective() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for kind in Stationary::ALL {
            let problem = Problem::plane(kind);
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let mean = || MeanConfig::linear().init(2, 2, options);
            let vecchia = model(&problem, mean(), settings(49, 1), options);
            let noise = Gaussian::new(problem.noise, options);
            let exact = Exact::new(kernel(&problem, options), mean(), noise);
            let ours = vecchia.full_objective(x.clone(), y.clone()).unwrap();
            let expected = exact.full_objective(x.clone(), y.clone()).unwrap();
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-10, name);
            let ours = gradients(&vecchia, &ours.backward());
            let expected = gradients(&exact, &expected.backward());
            // The metric has no gradient, and is not trained.
            let ours = &ours[..expected.len()];
            assert_all_close(ours, &expected, 1e-10, name);
        }
    }
}

/// The same for kernels whose covariances are computed tile by tile.
#[test]
fn all_neighbors_give_the_exact_objective_for_any_kernel() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        for (kind, kernel) in kernels(options) {
            let noise = || Gaussian::new(problem.noise, options);
            let mean = || MeanConfig::constant(0.3).init(2, 2, options);
            let vecchia = Vecchia::new(kernel.clone(), mean(), noise(), 2, settings(49, 1));
            let exact = Exact::new(kernel, mean(), noise());
            let ours = vecchia.full_objective(x.clone(), y.clone()).unwrap();
            let expected = exact.full_objective(x.clone(), y.clone()).unwrap();
            let what = format!("{name}, {kind}");
            assert_close(scalar(ours.clone()), scalar(expected.clone()), 1e-10, &what);
            let ours = gradients(&vecchia, &ours.backward());
            let expected = gradients(&exact, &expected.backward());
            assert_all_close(&ours[..expected.len()], &expected, 1e-9, &what);
        }
    }
}

/// Of every parameter, for few neighbors. The differences have a relative error of about 1e-9.
#[test]
fn gradients_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        for (kind, kernel) in kernels(options) {
            let mean = MeanConfig::linear().init(2, 2, options);
            let noise = Gaussian::new(problem.noise, options);
            let model = Vecchia::new(kernel, mean, noise, 2, settings(6, 1));
            let objective = model.full_objective(x.clone(), y.clone()).unwrap();
            let ours = gradients(&model, &objective.backward());
            let differences = central_differences(&model, 1e-5, |model| {
                scalar(model.full_objective(x.clone(), y.clone()).unwrap())
            });
            let what = format!("{name}, {kind}");
            // The last values are the metric: it is fixed in the gradient, and so it is in the objective, because
            // a small change leaves the neighbors as they are.
            assert_all_close(&ours, &differences[..ours.len()], 1e-7, &what);
        }
    }
}

/// In single precision, covariances of both forms have the same density.
#[test]
fn both_forms_agree() {
    for (name, device) in single_precision() {
        let options = (&device, DType::F32);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let noise = || Gaussian::new(problem.noise, options);
        let fused = kernel(&problem, options).boxed();
        // A sum of halves.
        let half = |options| {
            let variance = 0.5 * problem.variance;
            StationaryKernel::new(problem.kind, &problem.lengthscales, variance, options)
        };
        let tiled = burn_gp_core::kernels::Sum::new(half(options), half(options)).boxed();
        let [ours, expected] = [tiled, fused].map(|kernel| {
            let model = Vecchia::new(kernel, zero(2), noise(), 2, settings(8, 1));
            scalar(model.full_objective(x.clone(), y.clone()).unwrap())
        });
        assert_close(ours, expected, 1e-5, name);
    }
}

/// `KL(p‖p̃) = ½(Σ log d − log|Σ|)` falls with every neighbor, to zero.
#[test]
fn more_neighbors_are_closer_to_the_exact_density() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    // With targets of zero, the log density is −½(Σ log d + N·log 2π).
    problem.y.iter_mut().for_each(|row| *row = vec![0.0]);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let exact = problem.log_density(&noisy);
    let divergence = |neighbors| {
        let model = model(&problem, zero(1), settings(neighbors, 1), options);
        exact - scalar(model.full_objective(x.clone(), y.clone()).unwrap())
    };
    let all: Vec<f64> = (1..50).map(divergence).collect();
    assert!(all[0] > 1.0, "{name}: {}", all[0]);
    for (fewer, more) in all.iter().zip(&all[1..]) {
        assert!(more - fewer <= 1e-10, "{name}: {fewer}, then {more}");
    }
    assert_close(all[48], 0.0, 1e-10, name);
}

/// The mean over a partition into equal batches is the objective, and so is its gradient.
#[test]
fn batches_are_unbiased() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let model = model(&problem, zero(2), settings(7, 1), options);
        let all = model.full_objective(x.clone(), y.clone()).unwrap();
        let batches = (0..5).map(|first| {
            let batch: Vec<usize> = (first..50).step_by(5).collect();
            model.batch_objective(x.clone(), y.clone(), &batch).unwrap() * 0.2
        });
        let mean = batches.reduce(|sum, batch| sum + batch).unwrap();
        assert_close(scalar(mean.clone()), scalar(all.clone()), 1e-12, name);
        let [ours, expected] = [mean, all].map(|value| gradients(&model, &value.backward()));
        assert_all_close(&ours, &expected, 1e-12, name);
    }
}

/// Duplicated rows with noise are nothing special.
#[test]
fn duplicates_with_noise_are_exact() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::SquaredExponential);
    for row in 0..10 {
        problem.x[30 + row] = problem.x[row].clone();
        problem.new_x.push(problem.x[row].clone());
    }
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let model = model(&problem, zero(2), settings(49, 400), options);
    let ours = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
    assert_close(ours, problem.log_density(&noisy), 1e-10, name);
    let process = model.condition(x, y).unwrap();
    let joint = process.joint(tensor(&problem.new_x, options));
    assert!(
        values(joint.covariance)
            .iter()
            .all(|value| value.is_finite())
    );
}

/// Duplicated inputs with hardly any noise: an error that names the row, or a finite density.
#[test]
fn duplicates_without_noise_are_located() {
    for (name, device) in single_precision() {
        for dtype in [DType::F32, DType::F64] {
            if !device.supports_dtype(dtype) {
                continue;
            }
            let options = (&device, dtype);
            let mut problem = Problem::plane(Stationary::Matern12);
            problem.x[30] = problem.x[20].clone();
            problem.noise = 1e-12;
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let model = model(&problem, zero(2), settings(10, 10), options);
            match model.full_objective(x, y) {
                Ok(value) => assert!(scalar(value).is_finite(), "{name}, {dtype:?}"),
                Err(error) => assert_eq!(error.batch, 30, "{name}, {dtype:?}: {error}"),
            }
        }
    }
}

#[test]
fn inputs_that_are_not_finite_are_errors() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    problem.x[7][1] = f64::NAN;
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let model = model(&problem, zero(2), settings(10, 10), options);
    let error = model.full_objective(x.clone(), y.clone()).unwrap_err();
    assert_eq!(error.batch, 7);
    assert!(error.to_string().contains("NaN"), "{error}");
    let error = model.condition(x, y).unwrap_err();
    assert!(matches!(
        error,
        ConditionError::Input {
            row: 7,
            column: 1,
            ..
        }
    ));
}

/// `β̂` maximizes the density, its covariance is `(HᵀΣ⁻¹H)⁻¹`, and adding `Hβ` to the targets adds β.
#[test]
fn least_squares_maximize_the_density() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let few = model(&problem, zero(2), settings(6, 1), options);
        let design = Tensor::cat(vec![Tensor::ones([50, 1], options), x.clone()], 1); // [N, 3]
        let fit = few
            .least_squares(x.clone(), y.clone(), design.clone())
            .unwrap();
        let density = |coefficients: Tensor<2>| {
            let rest = y.clone() - design.clone().matmul(coefficients);
            scalar(few.full_objective(x.clone(), rest).unwrap())
        };
        let best = density(fit.coefficients.clone());
        for entry in 0..6 {
            for step in [-1e-3, 1e-3] {
                let mut change = vec![vec![0.0; 2]; 3];
                change[entry / 2][entry % 2] = step;
                let changed = density(fit.coefficients.clone() + tensor(&change, options));
                assert!(changed < best, "{name}: {changed}, {best}");
            }
        }
        let added = tensor(
            &vec![vec![0.3, -2.0], vec![1.5, 0.1], vec![-0.7, 4.0]],
            options,
        );
        let shifted = y.clone() + design.clone().matmul(added.clone());
        let other = few
            .least_squares(x.clone(), shifted, design.clone())
            .unwrap();
        let expected = values(fit.coefficients + added);
        assert_all_close(&values(other.coefficients), &expected, 1e-9, name);

        let all = model(&problem, zero(2), settings(49, 1), options);
        let fit = all.least_squares(x, y.clone(), design.clone()).unwrap();
        let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
        let design = rows(design);
        let information = product(&transpose(&design), &solve(&noisy, &design));
        let identity = add_diagonal(vec![vec![0.0; 3]; 3], 1.0);
        let expected = solve(&information, &identity);
        assert_all_close(&values(fit.covariance), &expected.concat(), 1e-9, name);
        let right = product(&transpose(&design), &solve(&noisy, &problem.y));
        let expected = solve(&information, &right);
        assert_all_close(&values(fit.coefficients), &expected.concat(), 1e-9, name);
    }
}

/// Neighbors stay until a ratio of lengthscales has moved by a tenth.
#[test]
fn the_metric_follows_ratios_of_lengthscales() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let problem = Problem::plane(Stationary::Matern32);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let objective = |model: &Vecchia<StationaryKernel>| {
        scalar(model.full_objective(x.clone(), y.clone()).unwrap())
    };
    let set = |model: &mut Vecchia<StationaryKernel>, lengthscales: &[f64]| {
        *model = model
            .clone()
            .with_parameter("kernel.lengthscale", lengthscales)
            .unwrap();
    };
    let mut model = model(&problem, zero(2), settings(4, 1), options);
    let first = objective(&model);
    // Both in the same ratio, and a ratio that moves by 9 %.
    for lengthscales in [[2.7, 3.9], [0.9 * 1.09, 1.3]] {
        set(&mut model, &lengthscales);
        assert!(!model.update_metric(), "{name}: {lengthscales:?}");
    }
    set(&mut model, &[0.3, 2.6]);
    let old = objective(&model);
    assert!(model.update_metric(), "{name}");
    let new = objective(&model);
    assert!(
        (new - old).abs() > 1e-3,
        "{name}: the neighbors are the same"
    );
    assert!(!model.update_metric(), "{name}");
    // The neighbors of the new metric, with the lengthscales of the beginning.
    set(&mut model, &[0.9, 1.3]);
    assert!((objective(&model) - first).abs() > 1e-3, "{name}");
    assert!(model.update_metric(), "{name}");
    assert_close(objective(&model), first, 1e-12, name);
}
