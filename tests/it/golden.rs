//! Golden values of one small problem: squared-exponential kernel (variance 1.3, lengthscale 0.8),
//! noise variance 0.05, `x = 0, 0.5, …, 3.5`, `y = sin 2x + 0.1·cos 7x`.
//!
//! An independent dense implementation in double precision computed the values and printed 11
//! decimals. These and the condition number of the problem determine the tolerance.

use crate::reference::{
    Matrix, Problem, assert_all_close, assert_close, combine, double_precision,
    orthogonal::{Gaussians, OrthogonalProblem},
    product, scalar, single_precision, solve, tensor, transpose, values,
};
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact},
    kernels::StationaryKernel,
    likelihoods::{Gaussian, Likelihood},
    means::ZeroMean,
    ops::Jitter,
    process::{Marginals, Process, VariationalGaussian},
    variational::{
        Evaluation, InducingSet, OrthogonallyDecoupled, Parameterization, Posterior, SolveGp,
        Unwhitened, Whitened,
    },
};

const TOLERANCE: f64 = 1e-8;

/// The components of all models of the problem.
struct Golden {
    x: Tensor<2>,
    y: Tensor<2>,
    new_x: Tensor<2>,
    kernel: StationaryKernel,
    likelihood: Gaussian,
}

fn golden(options: (&Device, DType)) -> Golden {
    let problem = Problem::golden();
    Golden {
        x: tensor(&problem.x, options),
        y: tensor(&problem.y, options),
        new_x: tensor(&problem.new_x, options),
        kernel: StationaryKernel::new(
            problem.kind,
            &problem.lengthscales,
            problem.variance,
            options,
        ),
        likelihood: Gaussian::new(problem.noise, options),
    }
}

fn exact(options: (&Device, DType)) -> Exact<StationaryKernel> {
    let Golden {
        kernel, likelihood, ..
    } = golden(options);
    Exact::new(kernel, ZeroMean::new(1), likelihood)
}

fn points(locations: &[f64], options: (&Device, DType)) -> InducingPoints {
    let rows: Matrix = locations.iter().map(|&location| vec![location]).collect();
    InducingPoints::new(tensor(&rows, options))
}

fn collapsed(locations: &[f64], options: (&Device, DType)) -> Collapsed {
    let Golden {
        kernel, likelihood, ..
    } = golden(options);
    let inducing = points(locations, options);
    Collapsed::new(kernel, ZeroMean::new(1), likelihood, inducing, Jitter::NONE)
}

const Z: [f64; 3] = [0.3, 1.7, 3.1];
const O: [f64; 2] = [1.0, 2.4];
const Z_AND_O: [f64; 5] = [0.3, 1.7, 3.1, 1.0, 2.4];

#[test]
fn exact_evidence_and_predictions() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let Golden { x, y, new_x, .. } = golden(options);
        let model = exact(options);
        let evidence = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(evidence, -6.04461724997, TOLERANCE, name);
        let marginals = model.condition(x, y).unwrap().marginals(new_x);
        assert_all_close(
            &values(marginals.mean),
            &[0.51773330818, 1.00403246886],
            TOLERANCE,
            name,
        );
        assert_all_close(
            &values(marginals.variance),
            &[0.02998228527, 0.31644008133],
            TOLERANCE,
            name,
        );
    }
}

#[test]
fn collapsed_bound_with_three_and_with_five_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for (locations, expected) in [(&Z[..], -36.84581281772), (&Z_AND_O[..], -8.14694287089)] {
            let Golden { x, y, .. } = golden(options);
            let bound = scalar(collapsed(locations, options).full_objective(x, y).unwrap());
            assert_close(bound, expected, TOLERANCE, name);
        }
    }
}

#[test]
fn collapsed_predictions_with_five_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let Golden { x, y, new_x, .. } = golden(options);
        let process = collapsed(&Z_AND_O, options).condition(x, y).unwrap();
        let marginals = process.marginals(new_x);
        assert_all_close(
            &values(marginals.mean),
            &[0.57906141017, 0.59777318542],
            TOLERANCE,
            name,
        );
        assert_all_close(
            &values(marginals.variance),
            &[0.02856431491, 0.75729022735],
            TOLERANCE,
            name,
        );
    }
}

#[test]
fn bounds_with_orthogonal_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let (golden, jitter) = (OrthogonalProblem::golden(), Jitter::NONE);
        let (x, y) = golden.data(options);
        let model = golden.model(jitter, options);
        let tighter = golden.collapsed(&golden.problem.z, jitter, options);
        for (bound, expected) in [
            (tighter.tighter_bound(x.clone(), y.clone()), -34.65289128277),
            (model.decoupled_bound(x.clone(), y.clone()), -16.42960721428),
            (model.full_objective(x.clone(), y.clone()), -8.35178877251),
        ] {
            assert_close(scalar(bound.unwrap()), expected, TOLERANCE, name);
        }
    }
}

#[test]
fn optimal_distributions_with_orthogonal_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let golden = OrthogonalProblem::golden();
        let (x, y) = golden.data(options);
        let [inducing, orthogonal] = (golden.model(Jitter::NONE, options))
            .optimal_distributions(x, y)
            .unwrap();
        let (kuu, cvv) = (golden.kuu(), golden.cvv());
        let inducing = Gaussians::unwhitened(&inducing, &kuu);
        let orthogonal = Gaussians::unwhitened(&orthogonal, &cvv);
        let all_close = |ours: &[f64], expected: &[f64]| {
            assert_all_close(ours, expected, TOLERANCE, name);
        };
        let expected = [0.48083959012, -0.22499514565, 0.02984571757];
        all_close(&inducing.mean.concat(), &expected);
        let expected = [0.75443150846, -0.85986400302];
        all_close(&orthogonal.mean.concat(), &expected);
        let expected = [0.02458064642, -0.00554165910, -0.00554165910, 0.02256824964];
        all_close(&orthogonal.covariances[0].concat(), &expected);
        let kls = [inducing.kl(&kuu), orthogonal.kl(&cvv)];
        all_close(&kls, &[4.73012964186, 2.86139448812]);
        let bound = golden.evidence_lower_bound(&inducing, &orthogonal);
        all_close(&[bound + kls[0] + kls[1]], &[-0.76026464253]);
    }
}

/// The mean is that of a single set with all points. The covariance is not.
#[test]
fn predictions_with_orthogonal_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let golden = OrthogonalProblem::golden();
        let (x, y) = golden.data(options);
        let process = golden.model(Jitter::NONE, options).condition(x, y).unwrap();
        let joint = process.joint(golden.new_x(options));
        let expected = [0.57906141017, 0.59777318542];
        assert_all_close(&values(joint.mean), &expected, TOLERANCE, name);
        let expected = [0.03215870557, -0.01830035598, -0.01830035598, 0.75407123517];
        assert_all_close(&values(joint.covariance), &expected, TOLERANCE, name);
    }
}

fn fixed_distribution(options: (&Device, DType)) -> VariationalGaussian {
    let mean = tensor(&vec![vec![0.4, -0.2, 0.1]], options);
    let scale = vec![
        vec![0.5, 0.0, 0.0],
        vec![0.1, 0.4, 0.0],
        vec![-0.05, 0.2, 0.6],
    ];
    VariationalGaussian::full(mean, tensor(&scale, options).unsqueeze())
}

/// The bound from an evaluation.
fn bound(model: &Golden, evaluation: Evaluation) -> f64 {
    let expected = (model.likelihood).expected_log_density(model.y.clone(), evaluation.marginals);
    scalar(expected.sum() - evaluation.kl)
}

#[test]
fn bound_and_divergence_at_a_fixed_distribution() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let model = golden(options);
        let distribution = fixed_distribution(options);
        let unwhitened = Unwhitened::new(points(&Z, options), distribution.clone(), Jitter::NONE);
        let evaluation = unwhitened
            .evaluate(&model.kernel.clone().into(), model.x.clone())
            .unwrap();
        assert_close(
            scalar(evaluation.kl.clone()),
            1.38248502239,
            TOLERANCE,
            name,
        );
        assert_close(bound(&model, evaluation), -55.59029182152, TOLERANCE, name);
        let whitened = Whitened::new(points(&Z, options), distribution, Jitter::NONE);
        let evaluation = whitened
            .evaluate(&model.kernel.clone().into(), model.x.clone())
            .unwrap();
        assert_close(scalar(evaluation.kl), 1.13651353620, TOLERANCE, name);
    }
}

fn orthogonal_distribution(options: (&Device, DType)) -> VariationalGaussian {
    let mean = tensor(&vec![vec![0.15, -0.25]], options);
    let scale = vec![vec![0.3, 0.0], vec![0.1, 0.2]];
    VariationalGaussian::full(mean, tensor(&scale, options).unsqueeze())
}

/// SOLVE-GP with `O = 1, 2.4`.
fn orthogonal(parameterization: Parameterization, options: (&Device, DType)) -> SolveGp {
    let sets = vec![
        InducingSet::new(points(&Z, options), fixed_distribution(options)),
        InducingSet::new(points(&O, options), orthogonal_distribution(options)),
    ];
    SolveGp::new(sets, parameterization, Jitter::NONE)
}

#[test]
fn bound_and_predictions_with_orthogonal_points() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let model = golden(options);
        for (parameterization, kls, expected) in [
            (
                Parameterization::Unwhitened,
                [1.38248502239, 0.94013469777],
                -38.51203823700,
            ),
            (
                Parameterization::Whitened,
                [1.13651353620, 1.92591071676],
                -47.84113464077,
            ),
        ] {
            let posterior = orthogonal(parameterization, options);
            let evaluation = posterior
                .evaluate(&model.kernel.clone().into(), model.x.clone())
                .unwrap();
            let kl = scalar(evaluation.kl.clone());
            assert_close(kl, kls.iter().sum(), TOLERANCE, name);
            assert_close(bound(&model, evaluation), expected, TOLERANCE, name);
        }
        let posterior = orthogonal(Parameterization::Unwhitened, options);
        let process = posterior.condition(&model.kernel.clone().into()).unwrap();
        let Marginals { mean, variance } = process.marginals(model.new_x.clone());
        let (mean, variance) = (values(mean), values(variance));
        assert_all_close(&mean, &[0.07124155950, 0.27194193266], TOLERANCE, name);
        assert_all_close(&variance, &[0.19318997536, 0.92585607028], TOLERANCE, name);
    }
}

/// The mean of the second Gaussian is `m_v = C_vv·a`. The weights a are solved for here.
#[test]
fn bound_of_the_orthogonally_decoupled_posterior() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let (model, problem) = (golden(options), Problem::golden());
        let matrix = |locations: &[f64]| -> Matrix {
            locations.iter().map(|&location| vec![location]).collect()
        };
        let (z, o) = (matrix(&Z), matrix(&O));
        let kuv = problem.covariance(&z, &o);
        let explained = product(&transpose(&kuv), &solve(&problem.covariance(&z, &z), &kuv));
        let residual = combine(&problem.covariance(&o, &o), &explained, -1.0);
        let weights = transpose(&solve(&residual, &matrix(&[0.15, -0.25])));
        let posterior = OrthogonallyDecoupled::new(
            (points(&Z, options), fixed_distribution(options)),
            (points(&O, options), tensor(&weights, options)),
            Parameterization::Unwhitened,
            Jitter::NONE,
        );
        let evaluation = posterior
            .evaluate(&model.kernel.clone().into(), model.x.clone())
            .unwrap();
        let kl = scalar(evaluation.kl.clone()) - 1.38248502239;
        assert_close(kl, 0.10607110679, TOLERANCE, name);
        assert_close(bound(&model, evaluation), -45.12551083954, TOLERANCE, name);
    }
}

/// Single precision has about seven digits. The condition number of `K_uu` costs two, and the
/// division by the noise costs one.
#[test]
fn the_same_in_single_precision() {
    for (name, device) in single_precision() {
        let options = (&device, DType::F32);
        let Golden { x, y, .. } = golden(options);
        let evidence = scalar(exact(options).full_objective(x.clone(), y.clone()).unwrap());
        assert_close(evidence, -6.04461724997, 1e-4, name);
        let bound = collapsed(&Z, options).full_objective(x.clone(), y.clone());
        assert_close(scalar(bound.unwrap()), -36.84581281772, 1e-4, name);
        let model = OrthogonalProblem::golden().model(Jitter::NONE, options);
        let bound = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(bound, -8.35178877251, 1e-4, name);
        let bound = scalar(model.decoupled_bound(x.clone(), y.clone()).unwrap());
        assert_close(bound, -16.42960721428, 1e-4, name);
        let model = collapsed(&Z, options);
        let bound = scalar(model.tighter_bound(x, y).unwrap());
        assert_close(bound, -34.65289128277, 1e-4, name);
        let model = golden(options);
        let distribution = fixed_distribution(options);
        let posterior = Unwhitened::new(points(&Z, options), distribution, Jitter::NONE);
        let evaluation = posterior
            .evaluate(&model.kernel.clone().into(), model.x.clone())
            .unwrap();
        assert_close(self::bound(&model, evaluation), -55.59029182152, 1e-4, name);
        let posterior = orthogonal(Parameterization::Unwhitened, options);
        let evaluation = posterior
            .evaluate(&model.kernel.clone().into(), model.x.clone())
            .unwrap();
        assert_close(self::bound(&model, evaluation), -38.51203823700, 1e-4, name);
    }
}
