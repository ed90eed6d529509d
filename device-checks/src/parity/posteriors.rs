//! Every posterior by its name.

use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{KernelConfig, Kernels, StationaryConfig},
    ops::{Jitter, Stationary},
    process::Process,
    variational::PosteriorName,
};

use super::{Case, Group, Harness, Reason};

/// Rows, dimensions and functions.
const ROWS: usize = 53;
const DIMENSIONS: usize = 2;
const FUNCTIONS: usize = 3;

/// The inducing points of the first and of the second set.
const INDUCING: [usize; 2] = [37, 17];

pub(super) fn cases() -> Vec<Case> {
    let case = |name: PosteriorName| {
        let compute = move |harness: &mut Harness| compute(name, harness);
        Case::compare(Group::Posterior, name.name(), compute)
    };
    PosteriorName::all().map(case).collect()
}

fn compute(name: PosteriorName, harness: &mut Harness) -> Result<(), Reason> {
    let config = name.config();
    let sets = if config.has_orthogonal_set() { 2 } else { 1 };
    let sets: Vec<InducingPoints> = (INDUCING[..sets].iter())
        .map(|&count| {
            // Three lengthscales apart, so that the matrix is well conditioned.
            let points = harness.normals(count * DIMENSIONS);
            let points: Vec<f64> = points.iter().map(|point| 3.0 * point).collect();
            InducingPoints::new(harness.constant(&points, [count, DIMENSIONS]))
        })
        .collect();
    let kernel = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
    let kernel = kernel.init(DIMENSIONS, harness.options());
    let kernel = harness.module(Kernels::from(kernel));
    let jitter = Jitter::INDUCING;
    let posterior = config.init(sets, &kernel, FUNCTIONS, jitter, harness.options())?;
    let mut posterior = harness.module(posterior);
    posterior.synchronize(&kernel);
    let x = harness.normal([ROWS, DIMENSIONS]);
    let evaluation = posterior.evaluate(&kernel, x.clone())?;
    harness.output("means", evaluation.marginals.mean);
    harness.output("variances", evaluation.marginals.variance);
    harness.output("divergence", evaluation.kl);
    let predicted = posterior.condition(&kernel)?.marginals(x.inner());
    harness.value("predicted means", predicted.mean);
    harness.value("predicted variances", predicted.variance);
    Ok(())
}
