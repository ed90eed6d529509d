//! Regression by inducing variables and neighbors, compared with exact, nearest-neighbor and sparse regression.

mod objective;
mod prediction;
mod quality;
mod reference_values;

use burn_gp_core::{
    inducing::InducingPoints,
    inference::{VecchiaSettings, Vif},
    kernels::Kernel,
    likelihoods::Gaussian,
    means::{AnyMean, ZeroMean},
    ops::Jitter,
};

use crate::{
    reference::{Matrix, Problem, tensor},
    vecchia::{Options, kernel as stationary, settings},
};

/// A model with a kernel, a mean and the inducing points `z`.
fn with_parts(
    problem: &Problem,
    (kernel, mean): (impl Kernel, AnyMean),
    z: &Matrix,
    settings: VecchiaSettings,
    options: Options<'_>,
) -> Vif {
    let noise = Gaussian::new(problem.noise, options);
    let inducing = InducingPoints::new(tensor(z, options));
    let dimensions = problem.x[0].len();
    Vif::new(
        kernel,
        mean,
        noise,
        inducing,
        dimensions,
        settings,
        Jitter::NONE,
    )
}

/// A model with a stationary kernel and no mean.
fn model(problem: &Problem, settings: VecchiaSettings, options: Options<'_>) -> Vif {
    let parts = (
        stationary(problem, options),
        ZeroMean::new(problem.outputs()).into(),
    );
    with_parts(problem, parts, &problem.z, settings, options)
}

/// Inducing points so far from the data that their covariances with them are zero.
fn remote(problem: &Problem) -> Matrix {
    let point = |index| vec![1e5 * f64::from(index); problem.x[0].len()];
    (1..4).map(point).collect()
}
