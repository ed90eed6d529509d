//! The evidence lower bound.

use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{VecchiaLaplace, VecchiaLaplaceSettings, Vnngp},
    kernels::Kernels,
    likelihoods::{Gaussian, LikelihoodConfig, SoftmaxConfig},
    means::{AnyMean, MeanConfig, ZeroMean},
    ops::{Jitter, Stationary},
    parameter::vector,
    process::{Marginals, VariationalGaussian},
    variational::{Evaluation, Posterior, Unwhitened},
};

use super::{DEVIATIONS, MEANS, model, model_of_ten, ten_rows};
use crate::{
    reference::{
        Problem, assert_all_close, assert_close, central_differences, double_precision, gradients,
        scalar, tensor, values,
    },
    vecchia::{Options, kernel, settings},
};

fn constant(options: Options<'_>) -> AnyMean {
    MeanConfig::constant(0.3).init(2, 1, options)
}

fn counts(problem: &Problem) -> Vec<Vec<f64>> {
    let function = problem.output(0).into_iter();
    function
        .map(|value| vec![(2.0 * value.exp()).round()])
        .collect()
}

/// With all earlier rows as neighbors, the divergence, the expected log density and their gradients are those of the
/// unwhitened sparse model with an inducing point at each row and a diagonal covariance.
#[test]
fn all_neighbors_give_the_sparse_model_with_all_inducing_points() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let problem = ten_rows();
        let likelihood = LikelihoodConfig::poisson().init(options);
        let (x, y) = (
            tensor(&problem.x, options),
            tensor(&counts(&problem), options),
        );
        let ours = model_of_ten(likelihood.clone(), 9, Jitter::NONE, options);
        let ours = ours.with_frozen_hyperparameters();
        let row = |values: [f64; 10]| vector(&values, options).unsqueeze_dim::<2>(0);
        let gaussian = VariationalGaussian::diagonal(row(MEANS), row(DEVIATIONS));
        let points = InducingPoints::new(x.clone());
        let sparse = Unwhitened::new(points, gaussian, Jitter::NONE);
        let prior = Kernels::from(kernel(&problem, options));
        let Evaluation { marginals, kl } = sparse.evaluate(&prior, x.clone()).unwrap();
        let own = ours.evaluate(x.clone()).unwrap();
        assert_close(scalar(own.kl.clone()), scalar(kl.clone()), 1e-9, name);
        let expected =
            |marginals: Marginals| likelihood.expected_log_density(y.clone(), marginals).sum();
        let (theirs, own_density) = (expected(marginals), expected(own.marginals));
        assert_close(
            scalar(own_density.clone()),
            scalar(theirs.clone()),
            1e-9,
            name,
        );
        let found = (own_density - own.kl).backward();
        let found = gradients(&ours, &found);
        let theirs = (theirs - kl).backward();
        let [mean, deviation] = {
            let all = gradients(sparse.distribution(), &theirs);
            [all[..10].to_vec(), all[10..].to_vec()]
        };
        // ∂/∂log s = s·∂/∂s
        let in_logs = deviation.iter().zip(DEVIATIONS).map(|(slope, s)| slope * s);
        let theirs: Vec<f64> = mean.into_iter().chain(in_logs).collect();
        assert_all_close(&found, &theirs, 1e-9, name);
    }
}

/// The bound is below the log density of the latent approximation on neighbors, which for Gaussian noise the Laplace
/// approximation has exactly, for any distribution. Both have the same jitter.
#[test]
fn the_bound_is_below_the_log_density_on_neighbors() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    for kind in [Stationary::Matern12, Stationary::Matern52] {
        let problem = Problem::plane(kind);
        let jitter = Jitter::for_precision(DType::F64);
        let y: Vec<Vec<f64>> = problem.output(0).iter().map(|&value| vec![value]).collect();
        let (x, y) = (tensor(&problem.x, options), tensor(&y, options));
        let noise = || Gaussian::new(problem.noise, options);
        for neighbors in [1, 5, 20] {
            let exact = VecchiaLaplace::new(
                kernel(&problem, options),
                ZeroMean::new(1),
                noise(),
                2,
                settings(neighbors, neighbors),
                VecchiaLaplaceSettings::default(),
            );
            let evidence = scalar(exact.full_objective(x.clone(), y.clone()).unwrap());
            let ours = model(
                &problem,
                ZeroMean::new(1),
                noise(),
                neighbors,
                jitter,
                options,
            );
            let [_, deviation] = ours.clone().with_prior_moments().unwrap().moments();
            for scale in [0.3, 1.0, 2.0] {
                let ours = ours
                    .clone()
                    .with_moments(y.clone().squeeze_dim(1) * scale, deviation.clone() * scale);
                let bound = scalar(ours.objective(x.clone(), y.clone(), 50).unwrap());
                assert!(bound <= evidence + 1e-9, "{name}: {bound}, {evidence}");
            }
        }
    }
}

/// The mean of the estimates from the batches of a partition, and of their gradients, is the bound. The mean and the
/// likelihood have gradients, too; equal inputs are in different batches.
#[test]
fn batches_average_to_the_bound() {
    let (name, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    for row in 0..7 {
        problem.x[40 + row] = problem.x[row].clone();
    }
    let ours = with_copies(&problem, options);
    let (x, y) = (
        tensor(&problem.x, options),
        tensor(&counts(&problem), options),
    );
    assert_eq!(ours.inputs().dims(), [43, 2]);
    let all = ours.objective(x.clone(), y.clone(), 50).unwrap();
    let batches = (0..5).map(|batch| {
        let rows = |all: &Tensor<2>| all.clone().narrow(0, 10 * batch, 10);
        ours.objective(rows(&x), rows(&y), 50).unwrap()
    });
    // Times five, because burn divides gradients by numbers in single precision.
    let (sum, all) = (batches.reduce(|sum, value| sum + value).unwrap(), all * 5.0);
    assert_close(scalar(sum.clone()), scalar(all.clone()), 1e-12, name);
    let found = gradients(&ours, &sum.backward());
    assert_all_close(&found, &gradients(&ours, &all.backward()), 1e-12, name);
}

fn with_copies(
    problem: &Problem,
    options: Options<'_>,
) -> Vnngp<burn_gp_core::kernels::StationaryKernel> {
    let likelihood = LikelihoodConfig::poisson().init(options);
    let jitter = Jitter::for_precision(DType::F64);
    let ours = model(problem, constant(options), likelihood, 6, jitter, options);
    let [mean, deviation] = ours.clone().with_prior_moments().unwrap().moments();
    ours.with_moments(mean + 0.2, deviation * 1.5)
        .with_frozen_hyperparameters()
}

/// Gradients in the distribution, through the neighbors.
#[test]
fn gradients_are_those_of_central_differences() {
    let (name, device) = double_precision().remove(0);
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let problem = ten_rows();
    let likelihood = LikelihoodConfig::bernoulli().init(options);
    let labels = problem
        .output(0)
        .into_iter()
        .map(|value| vec![f64::from(u8::from(value > 0.4))]);
    let (x, y) = (
        tensor(&problem.x, options),
        tensor(&labels.collect(), options),
    );
    let ours = model_of_ten(likelihood, 4, Jitter::NONE, options).with_frozen_hyperparameters();
    let value = ours.objective(x.clone(), y.clone(), 10).unwrap();
    let found = gradients(&ours, &value.backward());
    let differences = central_differences(&ours, 1e-5, |moved| {
        let [mean, deviation] = moved.moments();
        let moved = ours.clone().with_moments(mean, deviation);
        scalar(moved.objective(x.clone(), y.clone(), 10).unwrap())
    });
    // The distribution comes last.
    let last = differences.len() - found.len();
    assert_eq!(found.len(), 20);
    assert_all_close(&found, &differences[last..], 1e-8, name);
}

/// Rows with equal inputs share an inducing value, in any precision and order.
#[test]
fn equal_inputs_share_a_value() {
    let (name, device) = double_precision().remove(0);
    for dtype in [DType::F64, DType::F32] {
        let options = (&device, dtype);
        let mut problem = ten_rows();
        problem.x[9] = problem.x[0].clone();
        problem.x[3] = vec![0.0, 0.25];
        problem.x[8] = vec![-0.0, 0.25];
        let jitter = Jitter::for_precision(dtype);
        let ours = model(
            &problem,
            ZeroMean::new(1),
            Gaussian::new(0.2, options),
            3,
            jitter,
            options,
        );
        let [mean, deviation] = ours.moments();
        assert_eq!(mean.dims(), [8]);
        let means = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], options);
        let ours = ours.with_moments(means, deviation);
        let found = ours.evaluate(tensor(&problem.x, options)).unwrap();
        let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 4.0, 1.0];
        assert_eq!(values(found.marginals.mean), expected, "{name}");
        let all = scalar(ours.divergences().unwrap().sum());
        assert_close(scalar(found.kl), all, 1e-5, name);
    }
}

#[test]
fn bad_data_are_errors() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = ten_rows();
    problem.x[7][1] = f64::NAN;
    let noise = Gaussian::new(0.2, options);
    let ours = model(&problem, ZeroMean::new(1), noise, 3, Jitter::NONE, options);
    assert_eq!(ours.with_prior_moments().unwrap_err().batch, 7);
}

#[test]
#[should_panic(expected = "Vnngp: row 1 of inputs [2, 2] is none of the 10 inputs")]
fn other_rows_are_refused() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let ours = model_of_ten(Gaussian::new(0.2, options), 3, Jitter::NONE, options);
    let mut x = ten_rows().x[..2].to_vec();
    x[1][0] += 1e-9;
    drop(ours.evaluate(tensor(&x, options)));
}

#[test]
#[should_panic(expected = "the softmax likelihood has 3 latent functions; expected one")]
fn several_latent_functions_are_refused() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let likelihood = LikelihoodConfig::from(SoftmaxConfig::new(3)).init(options);
    model_of_ten(likelihood, 3, Jitter::NONE, options);
}
