//! Gradients compared with central differences.

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::Likelihood, process::Marginals};

use crate::support::{
    Platform, Random, check_gradients, check_gradients_to, check_module_gradients,
    likelihood_cases::{Case, ROWS, registry},
    module_gradients::parameter_values,
    platforms,
};

fn densities(
    case: &Case,
    platform: &Platform,
    likelihood: &dyn Likelihood,
    marginals: Marginals,
) -> Tensor<1> {
    let targets = platform.tensor(&case.targets, [ROWS, case.columns()]);
    likelihood
        .expected_log_density(targets.clone(), marginals.clone())
        .sum()
        + likelihood.log_predictive_density(targets, marginals).sum()
}

#[test]
fn gradients_of_the_marginals() {
    for case in registry() {
        let (means, variances) = case.moments_of_functions();
        let inputs = [means.into(), variances.into()];
        let double = match case.name {
            // The gradients of the probabilities are separate integrals, within 10⁻³.
            "softmax" | "dirichlet" => 1e-3,
            // The places of the nodes are not differentiated. Their error of 7e-8 meets a sum of terms that almost
            // cancel in one direction.
            "zero-inflated-poisson" => 3e-6,
            _ => 1e-6,
        };
        check_gradients_to(case.name, &inputs, (double, 1e-3), &|platform, inputs| {
            let marginals = Marginals {
                mean: inputs[0].clone().reshape([ROWS, case.latents]),
                variance: inputs[1].clone().reshape([ROWS, case.latents]),
            };
            densities(&case, platform, &*case.init(platform), marginals)
        });
    }
}

/// The gradients that a layer needs to propagate samples.
#[test]
fn gradients_of_the_functions() {
    for case in registry().into_iter().filter(Case::is_smooth) {
        let values = Random::new(223).uniforms(2 * ROWS * case.latents, -1.5, 1.5);
        check_gradients(case.name, &[values.into()], 1e-3, &|platform, inputs| {
            let function = inputs[0].clone().reshape([2, ROWS, case.latents]);
            let targets = platform.tensor(&case.targets, [ROWS, case.columns()]);
            case.init(platform).log_density(targets, function).sum()
        });
    }
}

#[test]
fn gradients_of_the_parameters() {
    let trained = |case: &Case| !parameter_values(&case.init(&platforms()[0])).is_empty();
    for case in registry().into_iter().filter(trained) {
        check_module_gradients(
            case.name,
            (1e-6, 1e-3),
            |platform| case.init(platform),
            |platform, likelihood| {
                densities(&case, platform, &**likelihood, case.marginals(platform))
            },
        );
    }
}
