//! Nearest-neighbor (Vecchia) regression compared with exact regression and dense algebra.

use crate::reference::{
    Problem, Random, add_diagonal, assert_all_close, assert_close, central_differences,
    double_precision, gradients, product, rows, scalar, single_precision, solve, tensor, values,
};
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::{ConditionError, Exact, Vecchia, VecchiaSettings},
    kernels::{
        AnyKernel, Kernel, KernelConfig, LinearConfig, PeriodicConfig, StationaryConfig,
        StationaryKernel, WhiteConfig,
    },
    likelihoods::Gaussian,
    means::{AnyMean, MeanConfig, ZeroMean},
    ops::Stationary,
    parameter::Parameters,
    process::{Joint, Process},
};

type Options<'a> = (&'a Device, DType);

fn settings(neighbors: usize, prediction_neighbors: usize) -> VecchiaSettings {
    VecchiaSettings {
        neighbors,
        prediction_neighbors,
    }
}

fn kernel(problem: &Problem, options: Options<'_>) -> StationaryKernel {
    StationaryKernel::new(
        problem.kind,
        &problem.lengthscales,
        problem.variance,
        options,
    )
}

fn model(
    problem: &Problem,
    mean: AnyMean,
    settings: VecchiaSettings,
    options: Options<'_>,
) -> Vecchia<StationaryKernel> {
    let noise = Gaussian::new(problem.noise, options);
    Vecchia::new(kernel(problem, options), mean, noise, 2, settings)
}

fn zero(outputs: usize) -> AnyMean {
    ZeroMean::new(outputs).into()
}

/// Kernels of every structure: stationary, scaled, sums, and not stationary.
fn kernels(options: Options<'_>) -> Vec<(&'static str, AnyKernel)> {
    let matern = || KernelConfig::from(StationaryConfig::matern32().with_lengthscale(0.8));
    let configs: Vec<(&'static str, KernelConfig)> = vec![
        ("stationary", matern()),
        ("sum", matern().plus(StationaryConfig::rbf().isotropic())),
        ("white", matern().plus(WhiteConfig::default())),
        ("linear", matern().plus(LinearConfig::default())),
        ("product", matern().times(PeriodicConfig::default())),
    ];
    let init = |(name, config): (_, KernelConfig)| (name, config.init(2, options.clone()));
    configs.into_iter().map(init).collect()
}

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
        let information = product(
            &crate::reference::transpose(&design),
            &solve(&noisy, &design),
        );
        let identity = add_diagonal(vec![vec![0.0; 3]; 3], 1.0);
        let expected = solve(&information, &identity);
        assert_all_close(&values(fit.covariance), &expected.concat(), 1e-9, name);
        let right = product(
            &crate::reference::transpose(&design),
            &solve(&noisy, &problem.y),
        );
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

/// The 12 rows, in the plane, of the reference values.
fn golden() -> Problem {
    let x = [
        0.103, 0.217, 0.911, 0.793, 0.154, 0.958, 0.862, 0.109, 0.497, 0.542, 0.289, 0.613, 0.718,
        0.346, 0.052, 0.571, 0.947, 0.438, 0.405, 0.063, 0.623, 0.887, 0.337, 0.324,
    ];
    let y = [
        0.31, 1.12, -0.45, 0.87, 0.62, 0.05, 0.93, -0.21, 1.30, 0.48, 0.77, 0.29,
    ];
    Problem {
        lengthscales: vec![0.6, 1.1],
        variance: 1.7,
        noise: 0.05,
        x: x.chunks(2).map(<[f64]>::to_vec).collect(),
        y: y.iter().map(|&value| vec![value]).collect(),
        new_x: vec![
            vec![0.45, 0.42],
            vec![0.48, 0.47],
            vec![1.6, 1.4],
            vec![1.5, 1.55],
        ],
        ..Problem::plane(Stationary::Matern32)
    }
}

/// Values of an independent implementation, with Matérn-3/2 and three neighbors of each row.
#[test]
fn objectives_have_the_reference_values() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = golden();
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let constant = MeanConfig::constant(0.4).init(2, 1, options);
        let three = model(&problem, constant.clone(), settings(3, 1), options);
        let ours = scalar(three.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, -7.221_889_452_246_957, 1e-13, name);
        let batch = three
            .batch_objective(x.clone(), y.clone(), &[1, 4, 7, 10])
            .unwrap();
        assert_close(scalar(batch), -8.221_306_655_606_286, 1e-13, name);
        let all = model(&problem, constant, settings(11, 1), options);
        let ours = scalar(all.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, -6.702_144_220_524_763, 1e-12, name);

        let centered = model(&problem, zero(1), settings(3, 1), options);
        let design = Tensor::ones([12, 1], options);
        let fit = centered.least_squares(x, y, design).unwrap();
        assert_close(
            values(fit.coefficients)[0],
            0.420_520_951_921_002,
            1e-12,
            name,
        );
        let error = values(fit.covariance)[0].sqrt();
        assert_close(error, 0.967_302_224_571_42, 1e-12, name);
    }
}

/// `KL(p‖p̃)` of 1 to 11 neighbors.
#[test]
fn divergences_have_the_reference_values() {
    let expected = [
        3.125_748_709_045_698,
        0.807_092_494_425_174_5,
        0.405_159_706_475_461_5,
        0.190_698_384_567_631_3,
        0.135_365_913_333_351_35,
        0.100_305_526_425_001_01,
        0.077_617_916_917_855_47,
        0.014_951_945_011_013_38,
        0.000_162_781_128_477_896,
        0.000_006_779_942_735_236,
        0.0,
    ];
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = golden();
    problem.y.iter_mut().for_each(|row| row[0] = 0.0);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let exact = problem.log_density(&noisy);
    for (fewer, expected) in expected.into_iter().enumerate() {
        let model = model(&problem, zero(1), settings(fewer + 1, 1), options);
        let ours = exact - scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, expected, 1e-12, name);
    }
}

/// With all rows as neighbors, the process is the exact one.
#[test]
fn predictions_have_the_reference_values() {
    let mean = [
        0.497_322_590_040_492,
        0.557_577_880_445_815,
        0.682_500_548_631_86,
        0.684_766_742_634_625,
    ];
    let variance = [
        0.040_116_837_303_707,
        0.036_903_809_953_714,
        1.463_958_377_633_079,
        1.424_084_248_667_527,
    ];
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = golden();
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let constant = MeanConfig::constant(0.4).init(2, 1, options);
        let process = model(&problem, constant, settings(3, 60), options)
            .condition(x, y)
            .unwrap();
        let marginals = process.marginals(tensor(&problem.new_x, options));
        assert_all_close(&values(marginals.mean), &mean, 1e-12, name);
        assert_all_close(&values(marginals.variance), &variance, 1e-12, name);
        let joint = process.joint(tensor(&problem.new_x, options));
        assert_all_close(&values(joint.mean), &mean, 1e-12, name);
        let covariance = values(joint.covariance);
        assert_close(covariance[1], 0.035_371_590_210_113, 1e-12, name);
        assert_close(covariance[14], 1.353_460_986_907_99, 1e-12, name);
    }
}
