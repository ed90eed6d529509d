//! Estimates by random vectors against exact log-determinants and variances.

use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inference::{VecchiaLaplace, VecchiaLaplaceSettings},
    kernels::StationaryKernel,
    likelihoods::LikelihoodConfig,
    ops::Stationary,
    process::Process,
};

use super::{Options, kernel, mean, neighbors};
use crate::reference::{
    Problem, Random, assert_close, double_precision, gradients, scalar, tensor, values,
};

/// Labels at 600 random places of the unit square, from a smooth function.
fn rows(options: Options<'_>) -> (Problem, Tensor<2>) {
    let mut random = Random(3);
    let x = random.uniform_rows(600, 2, 0.0, 1.0);
    let label = |x: &Vec<f64>, random: &mut Random| {
        let function = 2.0 * (7.0 * x[0]).sin() * (5.0 * x[1]).cos();
        vec![f64::from(u8::from(
            random.uniform() < 1.0 / (1.0 + (-function).exp()),
        ))]
    };
    let y = x.iter().map(|x| label(x, &mut random)).collect();
    let problem = Problem {
        lengthscales: vec![0.2],
        variance: 2.0,
        x,
        ..Problem::plane(Stationary::Matern32)
    };
    (problem, tensor(&y, options))
}

fn model(
    problem: &Problem,
    settings: VecchiaLaplaceSettings,
    options: Options<'_>,
) -> VecchiaLaplace<StationaryKernel> {
    let likelihood = LikelihoodConfig::bernoulli_logit().init(options);
    let kernel = kernel(problem, options);
    VecchiaLaplace::new(
        kernel,
        mean(options),
        likelihood,
        2,
        neighbors(15, 30),
        settings,
    )
}

fn estimated() -> VecchiaLaplaceSettings {
    VecchiaLaplaceSettings {
        exact_rows: 0,
        ..VecchiaLaplaceSettings::default()
    }
}

/// With 48 probes, the evidence is within two nats of the exact one, and derivatives are within one nat for a change of
/// a parameter by one. Another seed gives another estimate, and the same seed the same.
#[test]
fn the_evidence_is_close_to_the_exact_one() {
    let (name, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let (problem, y) = rows(options);
    let x = tensor(&problem.x, options);
    let both = |settings| {
        let model = model(&problem, settings, options);
        let value = model.full_objective(x.clone(), y.clone()).unwrap();
        (scalar(value.clone()), gradients(&model, &value.backward()))
    };
    let (exact, expected) = both(VecchiaLaplaceSettings::default());
    let (value, ours) = both(estimated());
    assert_close(value, exact, 5e-3, name);
    for (ours, expected) in ours.iter().zip(&expected) {
        assert!((ours - expected).abs() < 1.0, "{name}: {ours}, {expected}");
    }
    assert_eq!(both(estimated()), (value, ours));
    let (other, _) = both(estimated().with_seed(1));
    assert_ne!(other, value);
    assert_close(other, exact, 5e-3, name);
}

/// Means are exact, and so are variances on average: 4 000 draws have a relative standard error of 2.2%.
#[test]
fn the_variances_are_close_to_the_exact_ones() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let (problem, y) = rows(options);
    let x = tensor(&problem.x, options);
    let new = tensor(&Random(9).uniform_rows(20, 2, 0.0, 1.0), options);
    let marginals = |settings| {
        let process = model(&problem, settings, options).condition(x.clone(), y.clone());
        process.unwrap().marginals(new.clone())
    };
    let expected = marginals(VecchiaLaplaceSettings::default());
    let ours = marginals(estimated().with_draws(4000));
    for (ours, expected) in values(ours.mean).iter().zip(values(expected.mean)) {
        assert_close(*ours, expected, 1e-10, name);
    }
    for (ours, expected) in values(ours.variance).iter().zip(values(expected.variance)) {
        assert!(
            (ours / expected - 1.0).abs() < 0.1,
            "{name}: {ours}, {expected}"
        );
    }
}
