//! The collapsed bounds with orthogonal inducing points and their optimal distributions, compared
//! with the published formulas with N×N matrices and with central differences.

use crate::reference::{
    Random, add_diagonal, assert_all_close, assert_close, central_differences, combine,
    double_precision, gradients, log_determinant,
    orthogonal::{Gaussians, Model, OrthogonalProblem, scaled},
    product, scalar, single_precision, solve, tensor, trace, transpose, values,
};
use crate::support::stationary::KINDS;
use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    means::MeanConfig,
    ops::{Jitter, Stationary},
    process::{Process, VariationalGaussian},
};

/// Runs a test in double precision with every kernel on every device.
fn for_each_kernel(test: impl Fn(&str, &OrthogonalProblem, (&Device, DType))) {
    for (name, device) in double_precision() {
        for kind in KINDS {
            let problem = OrthogonalProblem::plane(kind);
            test(&format!("{name} {kind:?}"), &problem, (&device, DType::F64));
        }
    }
}

/// Random distributions of the orthogonal variables.
fn distributions(problem: &OrthogonalProblem) -> Vec<Gaussians> {
    let mut random = Random(31);
    [0.01, 0.3, 1.0]
        .map(|size| Gaussians::random(&mut random, problem.o.len(), 2, size))
        .into()
}

/// Equation 30, equation 10 at its optimal mean, equation 14, and equation 9 for random `q(v_⊥)`.
#[test]
fn bounds_are_those_of_dense_algebra() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let ours = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, problem.optimal_bound(), 1e-8, what);
        let ours = scalar(model.decoupled_bound(x.clone(), y.clone()).unwrap());
        assert_close(ours, problem.decoupled_bound(), 1e-8, what);
        let single = problem.collapsed(&problem.problem.z, Jitter::NONE, options);
        let ours = scalar(single.tighter_bound(x.clone(), y.clone()).unwrap());
        assert_close(ours, problem.tighter_bound(), 1e-8, what);
        for orthogonal in distributions(problem) {
            let whitened = orthogonal.whitened(&problem.cvv(), options);
            let ours = model.bound(x.clone(), y.clone(), &whitened).unwrap();
            assert_close(scalar(ours), problem.bound(&orthogonal), 1e-8, what);
        }
    });
}

/// `L_S − L_OD` and `T(Z∪O) − L_S` by their formulas, which contain only determinants and traces,
/// and `L_A − T(Z)` by equation 15.
#[test]
fn gaps_between_bounds_are_those_of_dense_algebra() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let bound = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        let decoupled = scalar(model.decoupled_bound(x.clone(), y.clone()).unwrap());
        let union = problem.collapsed(&problem.union(), Jitter::NONE, options);
        let union = scalar(union.full_objective(x.clone(), y.clone()).unwrap());

        let noise = problem.problem.noise;
        let (noisy, nystrom) = (problem.noisy(), problem.orthogonal_nystrom());
        let relative = add_diagonal(scaled(&nystrom, 1.0 / noise), 1.0);
        let determinant = log_determinant(&relative);
        // With two outputs each gap, which has a factor of one half, occurs twice.
        let expected = trace(&nystrom) / noise - determinant;
        assert_close(bound - decoupled, expected, 1e-8, what);
        let all = combine(&noisy, &nystrom, 1.0);
        let expected = log_determinant(&noisy) + determinant - log_determinant(&all);
        assert_close(union - bound, expected, 1e-8, what);

        let single = problem.collapsed(&problem.problem.z, Jitter::NONE, options);
        let tighter = scalar(single.tighter_bound(x.clone(), y.clone()).unwrap());
        let single = scalar(single.full_objective(x, y).unwrap());
        let kuf = (problem.problem).covariance(&problem.problem.z, &problem.problem.x);
        let squares = product(&kuf, &transpose(&kuf));
        let precision = combine(&problem.kuu(), &squares, 1.0 / noise);
        let projected = product(&kuf, &product(&problem.cff(), &transpose(&kuf)));
        let expected = trace(&solve(&precision, &projected)) / (noise * noise);
        assert_close(tighter - single, expected, 1e-8, what);
    });
}

/// Single precision has seven digits. The cancellation in the residual covariance and its division
/// by the noise cost about three. The jitter that single precision needs contributes to the
/// difference.
#[test]
fn bounds_in_single_precision() {
    for (name, device) in single_precision() {
        let options = (&device, DType::F32);
        for kind in KINDS {
            let problem = OrthogonalProblem::plane(kind);
            let (x, y) = problem.data(options);
            let what = format!("{name} {kind:?}");
            let model = problem.model(Jitter::INDUCING, options);
            let ours = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
            assert_close(ours, problem.optimal_bound(), 1e-3, &what);
            let ours = scalar(model.decoupled_bound(x.clone(), y.clone()).unwrap());
            assert_close(ours, problem.decoupled_bound(), 1e-3, &what);
            let single = problem.collapsed(&problem.problem.z, Jitter::INDUCING, options);
            let ours = scalar(single.tighter_bound(x, y).unwrap());
            assert_close(ours, problem.tighter_bound(), 1e-3, &what);
        }
    }
}

/// Equations 28 and 29, and the optimal `q(u)` for any `q(v_⊥)`.
#[test]
fn optimal_distributions_are_those_of_dense_algebra() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let (kuu, cvv) = (problem.kuu(), problem.cvv());
        let check = |ours: &VariationalGaussian, prior, expected: &Gaussians| {
            let ours = Gaussians::unwhitened(ours, prior);
            let (mean, expected_mean) = (ours.mean.concat(), expected.mean.concat());
            assert_all_close(&mean, &expected_mean, 1e-8, what);
            let covariances = ours.covariances.concat().concat();
            let expected = expected.covariances.concat().concat();
            assert_all_close(&covariances, &expected, 1e-8, what);
        };
        let [inducing, orthogonal] = model.optimal_distributions(x.clone(), y.clone()).unwrap();
        let expected = problem.optimal_orthogonal();
        check(&orthogonal, &cvv, &expected);
        check(&inducing, &kuu, &problem.optimal_inducing(&expected));
        for given in distributions(problem) {
            let whitened = given.whitened(&cvv, options);
            let ours = model.optimal_inducing(x.clone(), y.clone(), &whitened);
            check(&ours.unwrap(), &kuu, &problem.optimal_inducing(&given));
        }
        let weights = values(model.optimal_weights(x, y).unwrap().transpose());
        let expected = solve(&cvv, &expected.mean).concat();
        assert_all_close(&weights, &expected, 1e-7, what);
    });
}

/// The bound for any `q(v_⊥)` is the evidence lower bound at the optimal `q(u)`, and no other
/// `q(u)` gives a higher value.
#[test]
fn bound_is_the_largest_evidence_lower_bound_of_its_distribution() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let (kuu, cvv) = (problem.kuu(), problem.cvv());
        let mut random = Random(37);
        for orthogonal in distributions(problem) {
            let whitened = orthogonal.whitened(&cvv, options);
            let bound = model.bound(x.clone(), y.clone(), &whitened).unwrap();
            let bound = scalar(bound);
            let inducing = model.optimal_inducing(x.clone(), y.clone(), &whitened);
            let optimum = Gaussians::unwhitened(&inducing.unwrap(), &kuu);
            let attained = problem.evidence_lower_bound(&optimum, &orthogonal);
            assert_close(attained, bound, 1e-8, what);
            for size in [1e-3, 0.1, 1.0] {
                let mut other = Gaussians::random(&mut random, kuu.len(), 2, size);
                other.mean = combine(&other.mean, &optimum.mean, 1.0);
                let value = problem.evidence_lower_bound(&other, &orthogonal);
                assert!(value <= bound + 1e-9, "{what} {size}: {value} {bound}");
            }
        }
    });
}

#[test]
fn gradient_of_the_bound_vanishes_at_the_optimal_distribution() {
    for_each_kernel(|what, problem, (device, dtype)| {
        let device = device.clone().autodiff();
        let options = (&device, dtype);
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let slopes = |distribution: &VariationalGaussian| {
            let bound = model.bound(x.clone(), y.clone(), distribution).unwrap();
            gradients(distribution, &bound.backward())
        };
        let [_, optimum] = model.optimal_distributions(x.clone(), y.clone()).unwrap();
        let at_optimum = slopes(&optimum);
        let zeros = vec![0.0; at_optimum.len()];
        assert_all_close(&at_optimum, &zeros, 1e-6, what);
        // With the covariance of the prior, the means have the same optimum.
        let prior = VariationalGaussian::standard(7, 2, Default::default(), options);
        let decoupled = VariationalGaussian::full(optimum.mean().detach(), prior.scale().detach());
        let at_optimum = slopes(&decoupled);
        assert_all_close(&at_optimum[..14], &zeros[..14], 1e-6, what);
        let elsewhere = slopes(&prior)[..14]
            .iter()
            .fold(0.0, |max: f64, v| max.max(v.abs()));
        assert!(elsewhere > 1.0, "{what}: {elsewhere}");
    });
}

/// Kernel, mean, noise and both sets of points. The differences have a relative error of about
/// 1e-8.
#[test]
fn gradients_are_those_of_central_differences() {
    type Objective = fn(&Model, Tensor<2>, Tensor<2>) -> Tensor<1>;
    let objectives: [Objective; 2] = [
        |model, x, y| model.full_objective(x, y).unwrap(),
        |model, x, y| model.decoupled_bound(x, y).unwrap(),
    ];
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = OrthogonalProblem::plane(Stationary::Matern52);
        let (x, y) = problem.data(options);
        // The jitter is large enough to affect the gradient.
        let jitter = Jitter::relative(1e-2);
        let model = problem.model_with_mean(MeanConfig::linear(), jitter, options);
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

/// A model with a distribution over its orthogonal variables.
#[derive(Module, Debug)]
struct Distributed {
    model: Model,
    orthogonal: VariationalGaussian,
}

#[test]
fn gradients_of_the_bound_of_a_distribution_are_those_of_central_differences() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = OrthogonalProblem::plane(Stationary::Matern32);
        let (x, y) = problem.data(options);
        let jitter = Jitter::relative(1e-2);
        let distributed = Distributed {
            model: problem.model_with_mean(MeanConfig::linear(), jitter, options),
            orthogonal: distributions(&problem)[1].whitened(&problem.cvv(), options),
        };
        let bound = |Distributed { model, orthogonal }: &Distributed| {
            model.bound(x.clone(), y.clone(), orthogonal).unwrap()
        };
        let ours = gradients(&distributed, &bound(&distributed).backward());
        let differences = central_differences(&distributed, 1e-5, |model| scalar(bound(model)));
        assert_all_close(&ours, &differences, 1e-6, name);
    }
}

/// Equations 37 and 38 at the optimum.
#[test]
fn predictions_are_those_of_dense_algebra() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let process = problem
            .model(Jitter::NONE, options)
            .condition(x, y)
            .unwrap();
        let orthogonal = problem.optimal_orthogonal();
        let inducing = problem.optimal_inducing(&orthogonal);
        let new_x = &problem.problem.new_x;
        let (mean, covariances) = problem.prediction(&inducing, &orthogonal, new_x);
        let joint = process.joint(problem.new_x(options));
        assert_all_close(&values(joint.mean), &mean.concat(), 1e-8, what);
        let expected = covariances.concat().concat();
        assert_all_close(&values(joint.covariance), &expected, 1e-8, what);
        let marginals = process.marginals(problem.new_x(options));
        assert_all_close(&values(marginals.mean), &mean.concat(), 1e-8, what);
        let diagonal = |n: usize| covariances.iter().map(move |covariance| covariance[n][n]);
        let variances: Vec<f64> = (0..new_x.len()).flat_map(diagonal).collect();
        assert_all_close(&values(marginals.variance), &variances, 1e-8, what);
    });
}

#[test]
fn mean_functions_shift_data_and_predictions() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let constant = MeanConfig::constant(0.7);
        let shifted = problem.model_with_mean(constant, Jitter::NONE, options);
        let zero = problem.model(Jitter::NONE, options);
        let residual = y.clone() - 0.7;
        let ours = scalar(shifted.full_objective(x.clone(), y.clone()).unwrap());
        let expected = scalar(zero.full_objective(x.clone(), residual.clone()).unwrap());
        assert_close(ours, expected, 1e-12, what);
        let new_x = problem.new_x(options);
        let ours = shifted.condition(x.clone(), y).unwrap();
        let base = zero.condition(x, residual).unwrap();
        let ours = values(ours.marginals(new_x.clone()).mean - 0.7);
        let expected = values(base.marginals(new_x).mean);
        assert_all_close(&ours, &expected, 1e-10, what);
    });
}

#[test]
fn several_outputs_are_the_sum_of_single_ones() {
    for_each_kernel(|what, problem, options| {
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let mut alone = problem.clone();
        (alone.problem.y.iter_mut()).for_each(|targets| targets.truncate(1));
        let model_of_one = alone.model(Jitter::NONE, options);
        let orthogonal = distributions(problem)[1].whitened(&problem.cvv(), options);
        let bounds = |model: &Model, y: Tensor<2>, orthogonal: &VariationalGaussian| {
            [
                model.full_objective(x.clone(), y.clone()),
                model.decoupled_bound(x.clone(), y.clone()),
                model.bound(x.clone(), y, orthogonal),
            ]
            .map(|bound| scalar(bound.unwrap()))
        };
        let together = bounds(&model, y.clone(), &orthogonal);
        let single = |output: usize| {
            let mean = orthogonal.mean().narrow(0, output, 1);
            let scale = orthogonal.scale().narrow(0, output, 1);
            let orthogonal = VariationalGaussian::full(mean, scale);
            bounds(&model_of_one, y.clone().narrow(1, output, 1), &orthogonal)
        };
        let (first, second) = (single(0), single(1));
        let sum: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        assert_all_close(&together, &sum, 1e-11, what);
    });
}

/// With more data than fit into one block, sums over blocks equal sums over all data. The bound of
/// its distribution, which processes all data at once, checks the optimum.
#[test]
fn data_in_several_blocks() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let mut problem = OrthogonalProblem::plane(Stationary::Matern32);
        let mut random = Random(23);
        let data = &mut problem.problem;
        data.x = random.uniform_rows(5000, 2, -2.0, 2.0);
        data.y = (data.x.iter())
            .map(|x| vec![(2.0 * x[0]).sin() + 0.3 * random.normal(), x[1]])
            .collect();
        let (x, y) = problem.data(options);
        let model = problem.model(Jitter::NONE, options);
        let [inducing, orthogonal] = model.optimal_distributions(x.clone(), y.clone()).unwrap();
        let attained = model.bound(x.clone(), y.clone(), &orthogonal).unwrap();
        let bound = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(scalar(attained), bound, 1e-8, name);
        let again = model.optimal_inducing(x, y, &orthogonal).unwrap();
        assert_all_close(&values(again.mean()), &values(inducing.mean()), 1e-8, name);
        assert_all_close(
            &values(again.scale()),
            &values(inducing.scale()),
            1e-8,
            name,
        );
    }
}

/// A model trained on the autodiff device conditions on the device without autodiff.
#[test]
fn conditioning_leaves_the_autodiff_device() {
    for (name, plain) in double_precision() {
        let device = plain.clone().autodiff();
        let options = (&device, DType::F64);
        let problem = OrthogonalProblem::plane(Stationary::Matern32);
        let (x, y) = problem.data(options);
        let constant = MeanConfig::constant(0.3);
        let model = problem.model_with_mean(constant, Jitter::NONE, options);
        let process = model.condition(x.clone(), y.clone()).unwrap();
        let new_x = tensor(&problem.problem.new_x, (&plain, DType::F64));
        let marginals = process.marginals(new_x);
        assert!(!marginals.mean.is_autodiff(), "{name}");
        assert!(!marginals.variance.is_autodiff(), "{name}");
        let [inducing, orthogonal] = model.optimal_distributions(x.clone(), y.clone()).unwrap();
        assert!(inducing.mean().is_require_grad(), "{name}: trainable");
        assert!(orthogonal.scale().is_autodiff(), "{name}: trainable");
        assert!(model.optimal_weights(x, y).unwrap().is_autodiff(), "{name}");
        assert_eq!(model.num_params(), 3 + 2 + 1 + 20 + 14, "{name}");
    }
}
