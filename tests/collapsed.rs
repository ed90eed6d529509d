//! The collapsed bound and its optimal `q(u)`: dense algebra, the sparse variational bound, exact
//! inference and central differences.

mod reference;

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact, FullBatch},
    kernels::StationaryKernel,
    likelihoods::{Gaussian, Likelihood},
    means::{AnyMean, MeanConfig},
    ops::{Jitter, Stationary},
    variational::{Posterior, Process, VariationalGaussian, Whitened},
};
use reference::{
    Matrix, Problem, Random, add_diagonal, assert_all_close, assert_close, central_differences,
    cholesky, combine, double_precision, gradients, log_determinant, product, rows, scalar,
    single_precision, solve, solve_lower, tensor, trace, transpose, values,
};

const JITTER: f64 = 1e-10;

const KINDS: [Stationary; 4] = [
    Stationary::SquaredExponential,
    Stationary::Matern12,
    Stationary::Matern32,
    Stationary::Matern52,
];

type Model = Collapsed<StationaryKernel, AnyMean, InducingPoints>;

fn kernel(problem: &Problem, options: (&Device, DType)) -> StationaryKernel {
    StationaryKernel::new(
        problem.kind,
        &problem.lengthscales,
        problem.variance,
        options,
    )
}

fn model_with_mean(problem: &Problem, mean: MeanConfig, options: (&Device, DType)) -> Model {
    Collapsed::new(
        kernel(problem, options),
        mean.init(problem.x[0].len(), problem.outputs(), options),
        Gaussian::new(problem.noise, options),
        InducingPoints::new(tensor(&problem.z, options)),
        Jitter::relative(JITTER),
    )
}

fn model(problem: &Problem, options: (&Device, DType)) -> Model {
    model_with_mean(problem, MeanConfig::Zero, options)
}

fn data(problem: &Problem, options: (&Device, DType)) -> (Tensor<2>, Tensor<2>) {
    (tensor(&problem.x, options), tensor(&problem.y, options))
}

fn bound(problem: &Problem, options: (&Device, DType)) -> f64 {
    let (x, y) = data(problem, options);
    scalar(model(problem, options).objective(x, y).unwrap())
}

/// The sparse variational bound of zero-mean `model`'s parts at a whitened distribution.
fn variational_bound(
    model: &Model,
    posterior: &Whitened<InducingPoints>,
    (x, y): (Tensor<2>, Tensor<2>),
) -> Tensor<1> {
    let evaluation = posterior.evaluate(model.kernel(), x).unwrap();
    let expected = (model.likelihood()).expected_log_density(y, evaluation.marginals);
    expected.sum() - evaluation.divergence
}

fn posterior(model: &Model, distribution: VariationalGaussian) -> Whitened<InducingPoints> {
    let jitter = Jitter::relative(JITTER);
    Whitened::new(model.inducing().clone(), distribution, jitter)
}

/// `K − Q`.
fn unexplained(problem: &Problem) -> Matrix {
    let prior = problem.covariance(&problem.x, &problem.x);
    combine(&prior, &problem.nystrom(JITTER), -1.0)
}

/// `Σ_p log N(y_p | 0, Q + σ²I) − P·tr(K − Q)/(2σ²)`.
fn dense_bound(problem: &Problem) -> f64 {
    let noisy = add_diagonal(problem.nystrom(JITTER), problem.noise);
    let penalty = trace(&unexplained(problem)) / (2.0 * problem.noise);
    problem.log_density(&noisy) - problem.outputs() as f64 * penalty
}

#[test]
fn bound_is_that_of_dense_algebra() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let problem = Problem::plane(kind);
            let ours = bound(&problem, (&device, DType::F64));
            let expected = dense_bound(&problem);
            assert_close(ours, expected, 1e-8, &format!("{name} {kind:?}"));
        }
    }
}

/// Seven digits, of which the cancellation in `K − Q` and its division by the noise take some
/// three.
#[test]
fn bound_in_single_precision() {
    for (name, device) in single_precision() {
        for kind in KINDS {
            let problem = Problem::plane(kind);
            let ours = bound(&problem, (&device, DType::F32));
            let expected = dense_bound(&problem);
            assert_close(ours, expected, 1e-3, &format!("{name} {kind:?}"));
        }
    }
}

/// Both approximations of the evidence, and their order: the deterministic one exceeds the bound
/// by the trace term.
#[test]
fn training_conditional_approximations_are_those_of_dense_algebra() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let options = (&device, DType::F64);
            let problem = Problem::plane(kind);
            let model = model(&problem, options);
            let (x, y) = data(&problem, options);
            let nystrom = problem.nystrom(JITTER);
            let deterministic = add_diagonal(nystrom.clone(), problem.noise);
            let ours = model.deterministic_training_conditional(x.clone(), y.clone());
            let expected = problem.log_density(&deterministic);
            assert_close(scalar(ours.unwrap()), expected, 1e-8, name);
            let mut independent = deterministic;
            for (i, row) in unexplained(&problem).iter().enumerate() {
                independent[i][i] += row[i];
            }
            let ours = model.fully_independent_training_conditional(x, y);
            let expected = problem.log_density(&independent);
            assert_close(scalar(ours.unwrap()), expected, 1e-8, name);
        }
    }
}

/// Woodbury's identity and the determinant lemma: with targets of zero only the determinant is
/// left, and the difference is the quadratic form.
#[test]
fn determinant_and_quadratic_form_are_those_of_dense_algebra() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let model = model(&problem, options);
        let (x, y) = data(&problem, options);
        let noisy = add_diagonal(problem.nystrom(JITTER), problem.noise);
        let density = |y| {
            scalar(
                model
                    .deterministic_training_conditional(x.clone(), y)
                    .unwrap(),
            )
        };
        let without_targets = density(y.zeros_like());
        let count = (problem.x.len() * problem.outputs()) as f64;
        let constant = count * (2.0 * std::f64::consts::PI).ln();
        let determinant = problem.outputs() as f64 * log_determinant(&noisy);
        assert_close(-2.0 * without_targets - constant, determinant, 1e-9, name);
        let weighted = solve(&noisy, &problem.y);
        let quadratic = trace(&product(&transpose(&problem.y), &weighted));
        let ours = 2.0 * (without_targets - density(y.clone()));
        assert_close(ours, quadratic, 1e-9, name);
    }
}

/// `W′W′ᵀ = B⁻¹` with a lower-triangular `W′`, and `b′ = B⁻¹Λy/σ²`.
#[test]
fn optimal_distribution_is_that_of_dense_algebra() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = data(&problem, options);
        let ours = model(&problem, options).optimal_distribution(x, y).unwrap();
        let factor = cholesky(&problem.kuu(JITTER));
        let features = solve_lower(&factor, &problem.covariance(&problem.z, &problem.x));
        let mut precision = product(&features, &transpose(&features));
        precision
            .iter_mut()
            .flatten()
            .for_each(|value| *value /= problem.noise);
        let precision = add_diagonal(precision, 1.0);
        let size = precision.len();
        let identity = add_diagonal(vec![vec![0.0; size]; size], 1.0);
        let covariance = solve(&precision, &identity);
        for output in 0..2 {
            let scale = rows(ours.scale().narrow(0, output, 1).squeeze_dim(0));
            for (i, row) in scale.iter().enumerate() {
                assert!(row[i] > 0.0, "{name}: diagonal entry {i} is {}", row[i]);
            }
            let square = product(&scale, &transpose(&scale)).concat();
            assert_all_close(&square, &covariance.concat(), 1e-11, name);
        }
        let mut projected = product(&features, &problem.y);
        projected
            .iter_mut()
            .flatten()
            .for_each(|value| *value /= problem.noise);
        let mean = solve(&precision, &projected);
        let ours = rows(ours.mean().transpose());
        assert_all_close(&ours.concat(), &mean.concat(), 1e-9, name);
    }
}

#[test]
fn variational_bound_at_the_optimum_is_the_collapsed_bound_and_no_other_is_higher() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let options = (&device, DType::F64);
            let problem = Problem::plane(kind);
            let model = model(&problem, options);
            let (x, y) = data(&problem, options);
            let data = || (x.clone(), y.clone());
            let collapsed = bound(&problem, options);
            let optimum = model.optimal_distribution(x.clone(), y.clone()).unwrap();
            let at_optimum = posterior(&model, optimum.clone());
            let attained = scalar(variational_bound(&model, &at_optimum, data()));
            assert_close(attained, collapsed, 1e-8, &format!("{name} {kind:?}"));

            let mut random = Random(11);
            let mut noise = |count: usize, size: f64| -> Vec<f64> {
                (0..count).map(|_| size * random.normal()).collect()
            };
            for size in [1e-4, 1e-2, 0.3, 2.0] {
                let mean_step = tensor(&vec![noise(10, size), noise(10, size)], options);
                let steps = (0..20).map(|_| noise(10, size)).collect();
                let scale_step = tensor(&steps, options).reshape([2, 10, 10]).tril(0);
                let mean = optimum.mean() + mean_step;
                let scale = optimum.scale() + scale_step;
                let elsewhere = posterior(&model, VariationalGaussian::full(mean, scale));
                let value = scalar(variational_bound(&model, &elsewhere, data()));
                assert!(value <= collapsed + 1e-9, "{name} {kind:?} {size}: {value}");
            }
        }
    }
}

#[test]
fn gradient_of_the_variational_bound_vanishes_at_the_optimum() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let model = model(&problem, options);
        let (x, y) = data(&problem, options);
        let gradient = |distribution: VariationalGaussian| {
            let posterior = posterior(&model, distribution);
            let bound = variational_bound(&model, &posterior, (x.clone(), y.clone()));
            gradients(posterior.distribution(), &bound.backward())
        };
        let largest = |values: Vec<f64>| values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        let optimum = model.optimal_distribution(x.clone(), y.clone()).unwrap();
        let at_prior = VariationalGaussian::standard(10, 2, Default::default(), options);
        let scale = largest(gradient(at_prior));
        assert!(scale > 1.0, "{name}: the gradient at the prior is {scale}");
        let at_optimum = largest(gradient(optimum));
        assert!(at_optimum <= 1e-7 * scale, "{name}: {at_optimum}, {scale}");
    }
}

/// The envelope theorem: the collapsed bound moves with kernel, noise and inducing points as the
/// variational bound does at a fixed optimal distribution.
#[test]
fn gradient_is_that_of_the_variational_bound_at_the_optimum() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        for kind in KINDS {
            let options = (&device, DType::F64);
            let problem = Problem::plane(kind);
            let model = model(&problem, options);
            let (x, y) = data(&problem, options);
            let optimum = model.optimal_distribution(x.clone(), y.clone()).unwrap();
            let collapsed = model.objective(x.clone(), y.clone()).unwrap().backward();
            let posterior = posterior(&model, optimum);
            let variational = variational_bound(&model, &posterior, (x, y)).backward();
            let parts = |grads| {
                [
                    gradients(model.kernel(), grads),
                    gradients(model.likelihood(), grads),
                    gradients(model.inducing(), grads),
                ]
            };
            for (ours, theirs) in parts(&collapsed).iter().zip(parts(&variational)) {
                assert_all_close(ours, &theirs, 1e-6, &format!("{name} {kind:?}"));
            }
        }
    }
}

/// Kernel, mean, noise and inducing points; the differences' own error is about 1e-8 relative.
#[test]
fn gradients_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern52);
        let (x, y) = data(&problem, options);
        let model = model_with_mean(&problem, MeanConfig::Linear, options);
        type Objective = fn(&Model, Tensor<2>, Tensor<2>) -> Tensor<1>;
        let objectives: [Objective; 3] = [
            |model, x, y| model.objective(x, y).unwrap(),
            |model, x, y| model.deterministic_training_conditional(x, y).unwrap(),
            |model, x, y| model.fully_independent_training_conditional(x, y).unwrap(),
        ];
        for objective in objectives {
            let value = objective(&model, x.clone(), y.clone());
            let ours = gradients(&model, &value.backward());
            let differences = central_differences(&model, 1e-5, |model| {
                scalar(objective(model, x.clone(), y.clone()))
            });
            assert_all_close(&ours, &differences, 1e-6, name);
        }
    }
}

#[test]
fn bound_lies_below_the_evidence_and_reaches_it_with_all_points() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let options = (&device, DType::F64);
            let mut problem = Problem::plane(kind);
            let (x, y) = data(&problem, options);
            let mean = MeanConfig::Zero.init(2, 2, options);
            let likelihood = Gaussian::new(problem.noise, options);
            let exact = Exact::new(kernel(&problem, options), mean, likelihood);
            let evidence = scalar(exact.objective(x, y).unwrap());
            let ours = bound(&problem, options);
            assert!(
                ours <= evidence + 1e-8,
                "{name} {kind:?}: {ours} {evidence}"
            );
            problem.z = problem.x.clone();
            let ours = bound(&problem, options);
            assert!(
                ours <= evidence + 1e-8,
                "{name} {kind:?}: {ours} {evidence}"
            );
            assert!(
                evidence - ours <= 1e-4,
                "{name} {kind:?}: {ours} {evidence}"
            );
        }
    }
}

#[test]
fn another_inducing_point_never_lowers_the_bound() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let options = (&device, DType::F64);
            let mut problem = Problem::plane(kind);
            let mut random = Random(5);
            let mut last = bound(&problem, options);
            for _ in 0..10 {
                problem.z.extend(random.uniform_rows(1, 2, -2.0, 2.0));
                let now = bound(&problem, options);
                assert!(now >= last - 1e-8, "{name} {kind:?}: {now} after {last}");
                last = now;
            }
        }
    }
}

#[test]
fn predictions_are_those_of_the_variational_posterior_at_the_optimum() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let model = model(&problem, options);
        let (x, y) = data(&problem, options);
        let new_x = tensor(&problem.new_x, options);
        let optimum = model.optimal_distribution(x.clone(), y.clone()).unwrap();
        let collapsed = model.condition(x, y).unwrap();
        let variational = posterior(&model, optimum)
            .condition(model.kernel())
            .unwrap();
        let (ours, theirs) = (
            collapsed.marginals(new_x.clone()),
            variational.marginals(new_x.clone()),
        );
        assert_all_close(&values(ours.mean), &values(theirs.mean), 1e-8, name);
        let variance = values(ours.variance);
        assert_all_close(&variance, &values(theirs.variance), 1e-8, name);
        let (ours, theirs) = (collapsed.joint(new_x.clone()), variational.joint(new_x));
        let covariance = values(ours.covariance);
        assert_all_close(&covariance, &values(theirs.covariance), 1e-8, name);
        let diagonal: Vec<f64> = (0..7).map(|n| covariance[n * 8]).collect();
        let first: Vec<f64> = variance.iter().copied().step_by(2).collect();
        assert_all_close(&first, &diagonal, 1e-12, name);
    }
}

#[test]
fn predictions_with_all_points_are_those_of_exact_inference() {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let options = (&device, DType::F64);
            let mut problem = Problem::plane(kind);
            problem.z = problem.x.clone();
            let (x, y) = data(&problem, options);
            let new_x = tensor(&problem.new_x, options);
            let mean = MeanConfig::Zero.init(2, 2, options);
            let likelihood = Gaussian::new(problem.noise, options);
            let exact = Exact::new(kernel(&problem, options), mean, likelihood);
            let exact = exact.condition(x.clone(), y.clone()).unwrap();
            let ours = model(&problem, options).condition(x, y).unwrap();
            let (ours, exact) = (ours.marginals(new_x.clone()), exact.marginals(new_x));
            assert_all_close(&values(ours.mean), &values(exact.mean), 1e-5, name);
            assert_all_close(&values(ours.variance), &values(exact.variance), 1e-5, name);
        }
    }
}

/// More data than one block: the sums over blocks are the sums over all data. The optimum is
/// checked through the variational bound, which sees all data at once.
#[test]
fn data_in_several_blocks() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let mut random = Random(23);
        let mut problem = Problem::plane(Stationary::Matern32);
        problem.x = random.uniform_rows(5000, 2, -2.0, 2.0);
        problem.y = (problem.x.iter())
            .map(|x| vec![(2.0 * x[0]).sin() + 0.3 * random.normal(), x[1]])
            .collect();
        let model = model(&problem, options);
        let (x, y) = data(&problem, options);
        let collapsed = bound(&problem, options);
        let optimum = model.optimal_distribution(x.clone(), y.clone()).unwrap();
        let attained = variational_bound(&model, &posterior(&model, optimum), (x, y));
        assert_close(scalar(attained), collapsed, 1e-8, name);
    }
}

/// A trained model on the autodiff device conditions on the plain one.
#[test]
fn conditioning_leaves_the_autodiff_device() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = Problem::plane(Stationary::Matern32);
        let (x, y) = data(&problem, options);
        let model = model_with_mean(&problem, MeanConfig::Constant { value: 0.3 }, options);
        let process = model.condition(x.clone(), y.clone()).unwrap();
        let plain = device.clone().inner();
        let marginals = process.marginals(tensor(&problem.new_x, (&plain, DType::F64)));
        assert!(!marginals.mean.is_autodiff(), "{name}");
        assert!(!marginals.variance.is_autodiff(), "{name}");
        let optimum = model.optimal_distribution(x, y).unwrap();
        assert!(optimum.mean().is_require_grad(), "{name}: trainable");
        assert_eq!(model.num_params(), 3 + 2 + 1 + 20, "{name}");
    }
}
