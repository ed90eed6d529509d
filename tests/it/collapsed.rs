//! The collapsed bound and its optimal `q(u)`, compared with dense algebra, the sparse variational
//! bound, exact inference and central differences.

use crate::reference::{
    Matrix, Problem, Random, add_diagonal, assert_all_close, assert_close, central_differences,
    cholesky, combine, double_precision, gradients, log_determinant, product, rows, scalar,
    single_precision, solve, solve_lower, tensor, trace, transpose, values,
};
use crate::support::stationary::KINDS;
use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::StationaryKernel,
    likelihoods::{Gaussian, Likelihood},
    means::MeanConfig,
    ops::{Jitter, Stationary},
    process::{Process, VariationalGaussian},
    variational::{Posterior, Whitened},
};

const JITTER: f64 = 1e-10;

type Model = Collapsed;

/// A problem on a device.
struct Case {
    /// The names of the device and the kernel.
    what: String,
    problem: Problem,
    device: Device,
    dtype: DType,
}

/// The 2-D problem with each kernel on each device.
fn cases(devices: Vec<(&str, Device)>, dtype: DType, kinds: &[Stationary]) -> Vec<Case> {
    let case = |(name, device): &(&str, Device), kind: Stationary| Case {
        what: format!("{name} {kind:?}"),
        problem: Problem::plane(kind),
        device: device.clone(),
        dtype,
    };
    let of_device = |named: &(&str, Device)| -> Vec<Case> {
        kinds.iter().map(|&kind| case(named, kind)).collect()
    };
    devices.iter().flat_map(of_device).collect()
}

/// Every kernel in double precision.
fn every_kernel() -> Vec<Case> {
    cases(double_precision(), DType::F64, &KINDS)
}

/// One kernel in double precision.
fn one_kernel(kind: Stationary) -> Vec<Case> {
    cases(double_precision(), DType::F64, &[kind])
}

impl Case {
    /// The same case on the autodiff device.
    fn autodiff(self) -> Self {
        let device = self.device.autodiff();
        Self { device, ..self }
    }

    fn options(&self) -> (&Device, DType) {
        (&self.device, self.dtype)
    }

    fn kernel(&self) -> StationaryKernel {
        let problem = &self.problem;
        StationaryKernel::new(
            problem.kind,
            &problem.lengthscales,
            problem.variance,
            self.options(),
        )
    }

    fn model_with_mean(&self, mean: MeanConfig) -> Model {
        let (problem, options) = (&self.problem, self.options());
        Collapsed::new(
            self.kernel(),
            mean.init(problem.x[0].len(), problem.outputs(), options),
            Gaussian::new(problem.noise, options),
            InducingPoints::new(tensor(&problem.z, options)),
            Jitter::relative(JITTER),
        )
    }

    fn model(&self) -> Model {
        self.model_with_mean(MeanConfig::zero())
    }

    /// Exact inference with the same prior and noise.
    fn exact(&self) -> Exact<StationaryKernel> {
        let mean = MeanConfig::zero().init(2, 2, self.options());
        let likelihood = Gaussian::new(self.problem.noise, self.options());
        Exact::new(self.kernel(), mean, likelihood)
    }

    fn data(&self) -> (Tensor<2>, Tensor<2>) {
        let options = self.options();
        (
            tensor(&self.problem.x, options),
            tensor(&self.problem.y, options),
        )
    }

    fn new_x(&self) -> Tensor<2> {
        tensor(&self.problem.new_x, self.options())
    }

    fn bound(&self) -> f64 {
        let (x, y) = self.data();
        scalar(self.model().full_objective(x, y).unwrap())
    }

    /// The optimal distribution for `model`.
    fn optimum(&self, model: &Model) -> VariationalGaussian {
        let (x, y) = self.data();
        model.optimal_distribution(x, y).unwrap()
    }

    /// The sparse variational bound of a zero-mean `model` at a whitened distribution.
    fn variational_bound(&self, model: &Model, posterior: &Whitened) -> Tensor<1> {
        let (x, y) = self.data();
        let evaluation = posterior
            .evaluate(&model.kernel().clone().into(), x)
            .unwrap();
        let expected = (model.likelihood()).expected_log_density(y, evaluation.marginals);
        expected.sum() - evaluation.kl
    }
}

fn posterior(model: &Model, distribution: VariationalGaussian) -> Whitened {
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
    for case in every_kernel() {
        let expected = dense_bound(&case.problem);
        assert_close(case.bound(), expected, 1e-8, &case.what);
    }
}

/// Single precision has seven digits. The cancellation in `K − Q` and its division by the noise
/// cost about three.
#[test]
fn bound_in_single_precision() {
    for case in cases(single_precision(), DType::F32, &KINDS) {
        let expected = dense_bound(&case.problem);
        assert_close(case.bound(), expected, 1e-3, &case.what);
    }
}

/// Both approximations of the evidence and their order: the deterministic one exceeds the bound by
/// the trace term.
#[test]
fn training_conditional_approximations_are_those_of_dense_algebra() {
    for case in every_kernel() {
        let (problem, model) = (&case.problem, case.model());
        let (x, y) = case.data();
        let nystrom = problem.nystrom(JITTER);
        let deterministic = add_diagonal(nystrom.clone(), problem.noise);
        let ours = model.deterministic_training_conditional(x.clone(), y.clone());
        let expected = problem.log_density(&deterministic);
        assert_close(scalar(ours.unwrap()), expected, 1e-8, &case.what);
        let mut independent = deterministic;
        for (i, row) in unexplained(problem).iter().enumerate() {
            independent[i][i] += row[i];
        }
        let ours = model.fully_independent_training_conditional(x, y);
        let expected = problem.log_density(&independent);
        assert_close(scalar(ours.unwrap()), expected, 1e-8, &case.what);
    }
}

/// Woodbury's identity and the determinant lemma. With zero targets only the determinant remains,
/// and the difference is the quadratic form.
#[test]
fn determinant_and_quadratic_form_are_those_of_dense_algebra() {
    for case in one_kernel(Stationary::Matern52) {
        let (name, problem, model) = (&case.what, &case.problem, case.model());
        let (x, y) = case.data();
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
    for case in one_kernel(Stationary::Matern32) {
        let (name, problem) = (&case.what, &case.problem);
        let ours = case.optimum(&case.model());
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
    for case in every_kernel() {
        let (what, options, model) = (&case.what, case.options(), case.model());
        let collapsed = case.bound();
        let optimum = case.optimum(&model);
        let at_optimum = posterior(&model, optimum.clone());
        let attained = scalar(case.variational_bound(&model, &at_optimum));
        assert_close(attained, collapsed, 1e-8, what);

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
            let value = scalar(case.variational_bound(&model, &elsewhere));
            assert!(value <= collapsed + 1e-9, "{what} {size}: {value}");
        }
    }
}

#[test]
fn gradient_of_the_variational_bound_vanishes_at_the_optimum() {
    for case in one_kernel(Stationary::Matern52) {
        let case = case.autodiff();
        let (what, model) = (&case.what, case.model());
        let gradient = |distribution: VariationalGaussian| {
            let posterior = posterior(&model, distribution);
            let bound = case.variational_bound(&model, &posterior);
            gradients(posterior.distribution(), &bound.backward())
        };
        let largest = |values: Vec<f64>| values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        let at_prior = VariationalGaussian::standard(10, 2, Default::default(), case.options());
        let scale = largest(gradient(at_prior));
        assert!(scale > 1.0, "{what}: the gradient at the prior is {scale}");
        let at_optimum = largest(gradient(case.optimum(&model)));
        assert!(at_optimum <= 1e-7 * scale, "{what}: {at_optimum}, {scale}");
    }
}

/// The envelope theorem: the collapsed bound and the variational bound at a fixed optimal
/// distribution have the same gradient with respect to kernel, noise and inducing points.
#[test]
fn gradient_is_that_of_the_variational_bound_at_the_optimum() {
    for case in every_kernel() {
        let case = case.autodiff();
        let model = case.model();
        let (x, y) = case.data();
        let collapsed = model.full_objective(x, y).unwrap().backward();
        let posterior = posterior(&model, case.optimum(&model));
        let variational = case.variational_bound(&model, &posterior).backward();
        let parts = |grads| {
            [
                gradients(model.kernel(), grads),
                gradients(model.likelihood(), grads),
                gradients(model.inducing(), grads),
            ]
        };
        for (ours, theirs) in parts(&collapsed).iter().zip(parts(&variational)) {
            assert_all_close(ours, &theirs, 1e-6, &case.what);
        }
    }
}

/// Kernel, mean, noise and inducing points. The differences have a relative error of about 1e-8.
#[test]
fn gradients_are_those_of_central_differences() {
    for case in one_kernel(Stationary::Matern52) {
        let case = case.autodiff();
        let (x, y) = case.data();
        let model = case.model_with_mean(MeanConfig::linear());
        type Objective = fn(&Model, Tensor<2>, Tensor<2>) -> Tensor<1>;
        let objectives: [Objective; 4] = [
            |model, x, y| model.full_objective(x, y).unwrap(),
            |model, x, y| model.deterministic_training_conditional(x, y).unwrap(),
            |model, x, y| model.fully_independent_training_conditional(x, y).unwrap(),
            |model, x, y| model.tighter_bound(x, y).unwrap(),
        ];
        for objective in objectives {
            let value = objective(&model, x.clone(), y.clone());
            let ours = gradients(&model, &value.backward());
            let differences = central_differences(&model, 1e-5, |model| {
                scalar(objective(model, x.clone(), y.clone()))
            });
            assert_all_close(&ours, &differences, 1e-6, &case.what);
        }
    }
}

#[test]
fn bound_lies_below_the_evidence_and_reaches_it_with_all_points() {
    for mut case in every_kernel() {
        let (x, y) = case.data();
        let evidence = scalar(case.exact().full_objective(x, y).unwrap());
        let what = case.what.clone();
        let ours = case.bound();
        assert!(ours <= evidence + 1e-8, "{what}: {ours} {evidence}");
        case.problem.z = case.problem.x.clone();
        let ours = case.bound();
        assert!(ours <= evidence + 1e-8, "{what}: {ours} {evidence}");
        assert!(evidence - ours <= 1e-4, "{what}: {ours} {evidence}");
    }
}

#[test]
fn another_inducing_point_never_lowers_the_bound() {
    for mut case in every_kernel() {
        let mut random = Random(5);
        let mut last = case.bound();
        for _ in 0..10 {
            (case.problem.z).extend(random.uniform_rows(1, 2, -2.0, 2.0));
            let now = case.bound();
            assert!(now >= last - 1e-8, "{}: {now} after {last}", case.what);
            last = now;
        }
    }
}

#[test]
fn predictions_are_those_of_the_variational_posterior_at_the_optimum() {
    for case in one_kernel(Stationary::Matern32) {
        let (what, model) = (&case.what, case.model());
        let (x, y) = case.data();
        let collapsed = model.condition(x, y).unwrap();
        let variational = posterior(&model, case.optimum(&model))
            .condition(&model.kernel().clone().into())
            .unwrap();
        let (ours, theirs) = (
            collapsed.marginals(case.new_x()),
            variational.marginals(case.new_x()),
        );
        assert_all_close(&values(ours.mean), &values(theirs.mean), 1e-8, what);
        let variance = values(ours.variance);
        assert_all_close(&variance, &values(theirs.variance), 1e-8, what);
        let (ours, theirs) = (
            collapsed.joint(case.new_x()),
            variational.joint(case.new_x()),
        );
        let covariance = values(ours.covariance);
        assert_all_close(&covariance, &values(theirs.covariance), 1e-8, what);
        let diagonal: Vec<f64> = (0..7).map(|n| covariance[n * 8]).collect();
        let first: Vec<f64> = variance.iter().copied().step_by(2).collect();
        assert_all_close(&first, &diagonal, 1e-12, what);
    }
}

#[test]
fn predictions_with_all_points_are_those_of_exact_inference() {
    for mut case in every_kernel() {
        case.problem.z = case.problem.x.clone();
        let (what, (x, y)) = (&case.what, case.data());
        let exact = case.exact().condition(x.clone(), y.clone()).unwrap();
        let ours = case.model().condition(x, y).unwrap();
        let (ours, exact) = (ours.marginals(case.new_x()), exact.marginals(case.new_x()));
        assert_all_close(&values(ours.mean), &values(exact.mean), 1e-5, what);
        assert_all_close(&values(ours.variance), &values(exact.variance), 1e-5, what);
    }
}

/// With more data than fit into one block, sums over blocks equal sums over all data. The
/// variational bound, which processes all data at once, checks the optimum.
#[test]
fn data_in_several_blocks() {
    for mut case in one_kernel(Stationary::Matern32) {
        let mut random = Random(23);
        let problem = &mut case.problem;
        problem.x = random.uniform_rows(5000, 2, -2.0, 2.0);
        problem.y = (problem.x.iter())
            .map(|x| vec![(2.0 * x[0]).sin() + 0.3 * random.normal(), x[1]])
            .collect();
        let model = case.model();
        let at_optimum = posterior(&model, case.optimum(&model));
        let attained = case.variational_bound(&model, &at_optimum);
        assert_close(scalar(attained), case.bound(), 1e-8, &case.what);
    }
}

/// A model trained on the autodiff device conditions on the device without autodiff.
#[test]
fn conditioning_leaves_the_autodiff_device() {
    for case in one_kernel(Stationary::Matern32) {
        let plain = case.device.clone();
        let case = case.autodiff();
        let (what, (x, y)) = (&case.what, case.data());
        let model = case.model_with_mean(MeanConfig::constant(0.3));
        let process = model.condition(x, y).unwrap();
        let marginals = process.marginals(tensor(&case.problem.new_x, (&plain, DType::F64)));
        assert!(!marginals.mean.is_autodiff(), "{what}");
        assert!(!marginals.variance.is_autodiff(), "{what}");
        let optimum = case.optimum(&model);
        assert!(optimum.mean().is_require_grad(), "{what}: trainable");
        assert_eq!(model.num_params(), 3 + 2 + 1 + 20, "{what}");
    }
}
