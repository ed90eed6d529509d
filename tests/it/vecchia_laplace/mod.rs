//! The Laplace approximation on neighbors, compared with dense algebra.

mod estimates;
mod objective;
mod prediction;
mod reference_values;

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    inference::{VecchiaLaplace, VecchiaLaplaceSettings},
    kernels::StationaryKernel,
    likelihoods::{AnyLikelihood, Likelihood, LikelihoodConfig},
    means::{AnyMean, MeanConfig},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    reference::{Problem, tensor, values},
    support::likelihood_cases::{Case, in_columns, registry},
    vecchia::{Options, kernel, settings as neighbors},
};

/// Every smooth likelihood with one latent function.
fn likelihoods() -> Vec<LikelihoodConfig> {
    let of_one = |case: &Case| case.latents == 1 && case.is_smooth();
    let cases = registry().into_iter().filter(of_one);
    cases.map(|case| case.config).collect()
}

fn mean(options: Options<'_>) -> AnyMean {
    MeanConfig::constant(0.3).init(2, 1, options)
}

fn model(
    problem: &Problem,
    likelihood: impl Into<AnyLikelihood>,
    count: usize,
    options: Options<'_>,
) -> VecchiaLaplace<StationaryKernel> {
    let settings = VecchiaLaplaceSettings::default();
    let counts = neighbors(count, 4 * problem.x.len());
    let kernel = kernel(problem, options);
    VecchiaLaplace::new(kernel, mean(options), likelihood, 2, counts, settings)
}

/// Targets drawn from a likelihood, [N, T], whose functions are the first outputs of a problem.
fn targets(problem: &Problem, likelihood: &dyn Likelihood, options: Options<'_>) -> Tensor<2> {
    let function = problem.output(0);
    let rows = function.len();
    let function = Tensor::<3>::from_data(TensorData::new(function, [1, rows, 1]), options);
    let drawn = values(likelihood.sample(function, &mut ChaCha8Rng::seed_from_u64(5)));
    let all = in_columns(likelihood, drawn);
    let columns = likelihood.description().columns;
    tensor(&all.chunks(columns).map(<[f64]>::to_vec).collect(), options)
}
