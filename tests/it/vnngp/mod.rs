//! The variational nearest-neighbor Gaussian process, compared with dense algebra.

mod objective;
mod prediction;
mod reference_values;

use burn::tensor::Tensor;
use burn_gp_core::{
    inference::Vnngp,
    kernels::StationaryKernel,
    likelihoods::AnyLikelihood,
    means::{AnyMean, ZeroMean},
    ops::{Jitter, Stationary},
    parameter::vector,
};

use crate::{
    reference::{Problem, tensor},
    vecchia::{Options, golden, kernel, settings},
};

/// Means and standard deviations of the inducing values of the reference values.
const MEANS: [f64; 10] = [0.1, 0.8, -0.5, 0.6, 0.4, -0.1, 0.7, -0.3, 0.9, 0.2];
const DEVIATIONS: [f64; 10] = [0.3, 0.25, 0.4, 0.35, 0.2, 0.3, 0.25, 0.45, 0.3, 0.35];

/// The ten rows of the reference values.
fn ten_rows() -> Problem {
    let all = golden();
    Problem {
        kind: Stationary::Matern32,
        lengthscales: vec![0.5],
        variance: 1.3,
        x: all.x[..10].to_vec(),
        y: all.y[..10].to_vec(),
        new_x: all.new_x[..2].to_vec(),
        ..all
    }
}

fn model(
    problem: &Problem,
    mean: impl Into<AnyMean>,
    likelihood: impl Into<AnyLikelihood>,
    neighbors: usize,
    jitter: Jitter,
    options: Options<'_>,
) -> Vnngp<StationaryKernel> {
    let x = tensor(&problem.x, options);
    let neighbors = settings(neighbors, neighbors);
    Vnngp::new(
        kernel(problem, options),
        mean,
        likelihood,
        x,
        neighbors,
        jitter,
    )
}

fn model_of_ten(
    likelihood: impl Into<AnyLikelihood>,
    neighbors: usize,
    jitter: Jitter,
    options: Options<'_>,
) -> Vnngp<StationaryKernel> {
    let [mean, deviation] = moments_of_ten(options);
    model(
        &ten_rows(),
        ZeroMean::new(1),
        likelihood,
        neighbors,
        jitter,
        options,
    )
    .with_moments(mean, deviation)
}

fn moments_of_ten(options: Options<'_>) -> [Tensor<1>; 2] {
    [MEANS, DEVIATIONS].map(|values| vector(&values, options))
}
