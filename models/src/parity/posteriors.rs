//! Every posterior by its name.

use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{KernelConfig, StationaryConfig},
    ops::{Jitter, Stationary},
    process::Process,
    variational::{Posterior, PosteriorName},
};

use super::{Case, Group, Reason, Site};

/// Rows, dimensions and functions.
const ROWS: usize = 53;
const DIMENSIONS: usize = 2;
const FUNCTIONS: usize = 3;

/// The inducing points of the first and of the second set.
const INDUCING: [usize; 2] = [37, 17];

pub(super) fn cases() -> Vec<Case> {
    let case = |name: PosteriorName| {
        let compute = move |site: &mut Site| compute(name, site);
        Case::compare(Group::Posterior, name.name, compute)
    };
    PosteriorName::all().map(case).collect()
}

fn compute(name: PosteriorName, site: &mut Site) -> Result<(), Reason> {
    let config = (name.make)();
    let sets = if config.has_orthogonal_set() { 2 } else { 1 };
    let sets: Vec<InducingPoints> = (INDUCING[..sets].iter())
        .map(|&count| {
            // Three lengthscales apart, so that the matrix is well conditioned.
            let points = site.normals(count * DIMENSIONS);
            let points: Vec<f64> = points.iter().map(|point| 3.0 * point).collect();
            InducingPoints::new(site.constant(&points, [count, DIMENSIONS]))
        })
        .collect();
    // Posteriors of other crates need a kernel that is chosen at run time.
    let kernel = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
    let kernel = site.module(kernel.init(DIMENSIONS, site.options()));
    let jitter = Jitter::INDUCING;
    let posterior = config.init(sets, &kernel, FUNCTIONS, jitter, site.options())?;
    let posterior = site.module(posterior).refreshed(&kernel);
    let x = site.normal([ROWS, DIMENSIONS]);
    let evaluation = posterior.evaluate(&kernel, x.clone())?;
    site.output("means", evaluation.marginals.mean);
    site.output("variances", evaluation.marginals.variance);
    site.output("divergence", evaluation.kl);
    let predicted = posterior.condition(&kernel)?.marginals(x.inner());
    site.value("predicted means", predicted.mean);
    site.value("predicted variances", predicted.variance);
    Ok(())
}
