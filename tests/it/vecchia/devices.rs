//! The same regression on every device. On the CPU, stationary kernels take one pass over the rows; elsewhere, and for
//! other kernels, covariances and conditional distributions are operations of their own.

use super::{kernels, settings};
use crate::{
    reference::{Problem, assert_all_close, gradients, scalar, tensor, values},
    support::{Platform, platforms, reference_platform},
};
use burn_gp_core::{
    inference::Vecchia, likelihoods::Gaussian, means::MeanConfig, ops::Stationary, process::Process,
};

/// For each kernel, the log density, its gradient, and the means and variances of new points.
fn regression(platform: &Platform) -> Vec<(&'static str, [Vec<f64>; 4])> {
    let problem = Problem::plane(Stationary::Matern32);
    let platform = platform.autodiff();
    let options = platform.options();
    let each = kernels(options).into_iter().map(|(name, kernel)| {
        let mean = MeanConfig::constant(0.3).init(2, 2, options);
        let noise = Gaussian::new(problem.noise, options);
        let model = Vecchia::new(kernel, mean, noise, 2, settings(7, 12));
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let density = model.full_objective(x.clone(), y.clone()).unwrap();
        let slopes = gradients(&model, &density.clone().backward());
        let new_x = tensor(&problem.new_x, options).inner();
        let marginals = model.condition(x, y).unwrap().marginals(new_x);
        let predictions = [values(marginals.mean), values(marginals.variance)];
        let [means, variances] = predictions;
        (name, [vec![scalar(density)], slopes, means, variances])
    });
    each.collect()
}

#[test]
fn every_device_gives_the_same_density_gradient_and_predictions() {
    let Some(reference) = reference_platform() else {
        return;
    };
    let expected = regression(&reference);
    for platform in platforms() {
        // Single precision: a covariance of neighbors with noise .05 has a condition number of about a thousand.
        let tolerance = platform.tolerance(1e-9, 2e-3);
        for ((name, ours), (_, expected)) in regression(&platform).iter().zip(&expected) {
            for (part, (ours, expected)) in ["density", "gradient", "means", "variances"]
                .iter()
                .zip(ours.iter().zip(expected))
            {
                let what = format!("{platform}, {name}, {part}");
                assert_all_close(ours, expected, tolerance, &what);
            }
        }
    }
}
