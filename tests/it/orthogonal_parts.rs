//! The decomposition of a process by orthogonal inducing points: `f = f_∥ + f_⊥`,
//! `f_∥ = k(·, Z)K_uu⁻¹u` (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference
//! for Gaussian Processes*, arXiv:1910.10596, section 3). All computations use the library in
//! double precision without jitter.

use crate::reference::{
    Matrix, Random, add_diagonal, assert_all_close, combine, double_precision,
    orthogonal::{Gaussians, OrthogonalProblem},
    product, rows, tensor, transpose, values,
};
use crate::support::stationary::KINDS;
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::{InducingPoints, Nystrom},
    kernels::{FeatureMap, KernelModule, Kernels, LowRankKernel, StationaryKernel},
    ops::{Jitter, cholesky},
    process::{ConditionedProcess, Process, VariationalGaussian, WhitenedCovariance},
    variational::{InducingSet, Parameterization, Posterior, SolveGp},
};

/// The tolerance for covariances, whose entries are at most the prior variance of about one.
const TOLERANCE: f64 = 1e-9;

/// Every problem on every device, with its name.
fn for_each_problem(test: impl Fn(&str, &OrthogonalProblem, (&Device, DType))) {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        test(name, &OrthogonalProblem::golden(), options);
        for kind in KINDS {
            let what = format!("{name} {kind:?}");
            test(&what, &OrthogonalProblem::plane(kind), options);
        }
    }
}

/// `f_⊥`: the process conditioned on zeros at the points Z.
fn residual(
    kernel: &StationaryKernel,
    z: &Matrix,
    options: (&Device, DType),
) -> ConditionedProcess {
    let z = tensor(z, options);
    let factor = cholesky(kernel.matrix_at(z.clone()), Jitter::NONE).unwrap();
    let mean = Tensor::zeros([1, z.dims()[0]], options);
    let inducing = InducingPoints::new(z);
    ConditionedProcess::new(
        kernel.clone(),
        inducing,
        factor,
        mean,
        WhitenedCovariance::Known,
    )
}

/// The covariance of one function.
fn covariance(process: &dyn Process, x: &Matrix, options: (&Device, DType)) -> Matrix {
    let joint = process.joint(tensor(x, options)).covariance; // [P, N, N]
    let [_, size, _] = joint.dims();
    rows(joint.narrow(0, 0, 1).reshape([size, size]))
}

/// No eigenvalue is below `-TOLERANCE`: adding it to the diagonal makes all pivots positive.
#[track_caller]
fn assert_positive_semidefinite(matrix: &Matrix, what: &str) {
    let raised = add_diagonal(matrix.clone(), TOLERANCE);
    // The lower triangle of the factor, row by row. A pivot that is not positive fails the test.
    let mut factor: Matrix = Vec::new();
    for (i, row) in raised.iter().enumerate() {
        let mut own: Vec<f64> = Vec::new();
        for j in 0..=i {
            let earlier = if j < i { &factor[j] } else { &own };
            let sum: f64 = own.iter().zip(earlier).map(|(a, b)| a * b).take(j).sum();
            let rest = row[j] - sum;
            if j < i {
                own.push(rest / factor[j][j]);
            } else {
                assert!(rest > 0.0, "{what}: pivot {i} is {:e}", rest - TOLERANCE);
                own.push(rest.sqrt());
            }
        }
        factor.push(own);
    }
    let other = transpose(matrix).concat();
    assert_all_close(
        &matrix.concat(),
        &other,
        1e-14,
        &format!("{what}, symmetric"),
    );
}

/// The covariances of the parts add up to that of the prior, and the part orthogonal to Z is zero
/// there.
#[test]
fn the_parts_add_up_and_one_vanishes_at_the_inducing_points() {
    for_each_problem(|what, problem, options| {
        let kernel = problem.exact(options).kernel().clone();
        let z = &problem.problem.z;
        let points = [problem.problem.x.clone(), problem.union()].concat();
        let inducing = InducingPoints::new(tensor(z, options));
        let nystrom = Nystrom::new(kernel.clone(), inducing, Jitter::NONE);
        let features = rows(
            nystrom
                .feature_map()
                .unwrap()
                .features(tensor(&points, options)),
        );
        let parallel = product(&features, &transpose(&features));
        let orthogonal = covariance(&residual(&kernel, z, options), &points, options);
        let whole = rows(kernel.matrix_at(tensor(&points, options)));
        let sum = combine(&parallel, &orthogonal, 1.0).concat();
        assert_all_close(&sum, &whole.concat(), TOLERANCE, what);
        assert_positive_semidefinite(&orthogonal, &format!("{what}, c"));

        let first = problem.problem.x.len();
        for (i, row) in orthogonal.iter().enumerate() {
            for (j, value) in row[first..][..z.len()].iter().enumerate() {
                assert!(
                    value.abs() <= TOLERANCE,
                    "{what}: c(x_{i}, z_{j}) is {value:e}"
                );
            }
        }
    });
}

/// With an inducing point at every input the orthogonal part is zero: `C_ff = 0`.
#[test]
fn nothing_is_left_where_every_input_is_an_inducing_point() {
    for_each_problem(|what, problem, options| {
        let kernel = problem.exact(options).kernel().clone();
        let x = &problem.problem.x;
        let process = residual(&kernel, x, options);
        let covariance = covariance(&process, x, options).concat();
        let variance = values(process.marginals(tensor(x, options)).variance);
        for value in covariance.iter().chain(&variance) {
            assert!(value.abs() <= 1e-6, "{what}: {value:e}");
        }
    });
}

/// The covariance of `v_⊥` that the library factors is `c(O, O)`.
#[test]
fn the_covariance_of_the_orthogonal_variables_is_the_residual_one() {
    for_each_problem(|what, problem, options| {
        let kernel = problem.exact(options).kernel().clone();
        let prior = Kernels::from(kernel.clone());
        let posterior = posterior(problem, 1.0, options);
        let [first, second] = Posterior::inducing(&posterior)[..] else {
            panic!("two sets");
        };
        let union = first.union(&[second]).kuu(&prior).squeeze_dim::<2>(0);
        let factor = rows(cholesky(union, Jitter::NONE).unwrap().lower());
        let first = problem.problem.z.len();
        let block: Matrix = factor[first..]
            .iter()
            .map(|row| row[first..].to_vec())
            .collect();
        let ours = product(&block, &transpose(&block));
        let expected = covariance(
            &residual(&kernel, &problem.problem.z, options),
            &problem.o,
            options,
        );
        assert_all_close(&ours.concat(), &expected.concat(), TOLERANCE, what);
        assert_positive_semidefinite(&expected, &format!("{what}, C_vv"));
    });
}

/// Gaussians over both sets. The standard deviations of the first are multiplied by `spread`.
fn posterior(problem: &OrthogonalProblem, spread: f64, options: (&Device, DType)) -> SolveGp {
    let mut random = Random(77);
    let prior = [problem.kuu(), problem.cvv()];
    let points = [&problem.problem.z, &problem.o];
    let outputs = problem.problem.outputs();
    let sets =
        points
            .into_iter()
            .zip(&prior)
            .zip([spread, 1.0])
            .map(|((points, prior), spread)| {
                let gaussian = Gaussians::random(&mut random, points.len(), outputs, 0.5);
                let gaussian = gaussian.whitened(prior, options);
                let gaussian =
                    VariationalGaussian::full(gaussian.mean(), gaussian.scale() * spread);
                InducingSet::new(InducingPoints::new(tensor(points, options)), gaussian)
            });
    SolveGp::new(sets.collect(), Parameterization::Whitened, Jitter::NONE)
}

/// `S_f⊥`, the covariance of `f_⊥` given `u`, and `Σ*` with its diagonal, for any posterior and for
/// the optimal one.
#[test]
fn covariances_of_predictions_are_positive_and_have_the_variances_on_their_diagonals() {
    for_each_problem(|what, problem, options| {
        let kernel = problem.exact(options).kernel().clone();
        let x = [problem.problem.x.clone(), problem.problem.new_x.clone()].concat();
        let check = |part: &str, process: &dyn Process| {
            let what = format!("{what}, {part}");
            let covariance = covariance(process, &x, options);
            assert_positive_semidefinite(&covariance, &what);
            let diagonal: Vec<f64> = (0..covariance.len()).map(|i| covariance[i][i]).collect();
            let variance = process.marginals(tensor(&x, options)).variance; // [N, P]
            let variance = values(variance.narrow(1, 0, 1));
            assert_all_close(&variance, &diagonal, TOLERANCE, &what);
        };
        for (part, spread) in [("S_f⊥", 0.0), ("Σ*", 1.0)] {
            let posterior = posterior(problem, spread, options);
            check(part, &posterior.condition(&kernel.clone().into()).unwrap());
        }
        let (x, y) = problem.data(options);
        let best = problem.model(Jitter::NONE, options).condition(x, y);
        check("Σ* at the optimum", &best.unwrap());
    });
}
