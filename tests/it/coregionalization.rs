//! Mixtures of latent functions, compared with independent outputs, dense formulas and draws.

use crate::support::{
    Dense, Platform, Random, assert_close, check_module_gradients, numbers, platforms,
    posterior_case::{
        Case, POINTS, assert_same_joint, assert_same_marginals, elbo, kernel, likelihood,
    },
};
use burn_gp_core::{
    means::ConstantMean,
    process::{Process, WithMean},
    variational::{Coregionalized, Posterior, first_mixing},
};

/// The number of latent functions.
const LATENT: usize = 2;

/// The number of outputs.
const OUTPUTS: usize = 3;

fn mixing() -> Dense {
    Dense::new(OUTPUTS, LATENT, vec![1.0, 0.3, -0.7, 0.9, 0.4, -1.6])
}

/// With the identity as mixing matrix, the marginals, the KL divergence and the process do not
/// change.
#[test]
fn an_identity_mixing_is_independent_outputs() {
    for platform in platforms() {
        let (case, kernel) = (Case::new(OUTPUTS), kernel(&platform));
        let x = || case.x(&platform);
        let identity = || platform.matrix(&Dense::identity(OUTPUTS));
        let tolerance = platform.tolerance(1e-12, 1e-5);
        check_identity(&platform, &case.whitened(&platform), tolerance);
        check_identity(&platform, &case.unwhitened(&platform), tolerance);
        let latent = case.whitened(&platform);
        let independent = latent.condition(&kernel).expect("factor");
        let mixed = Coregionalized::new(latent, identity()).condition(&kernel);
        let mixed = mixed.expect("factor");
        let what = format!("{platform}");
        let (first, second) = (mixed.marginals(x()), independent.marginals(x()));
        assert_same_marginals(&what, &first, &second, tolerance);
        assert_same_joint(&what, mixed.joint(x()), independent.joint(x()), tolerance);
        let (first, second) = (
            mixed.joint_across_outputs(x()),
            independent.joint_across_outputs(x()),
        );
        let expected = numbers(second.covariance);
        assert_close(&what, &numbers(first.covariance), &expected, tolerance);
        assert_close(
            &what,
            &numbers(first.mean),
            &numbers(second.mean),
            tolerance,
        );
    }
}

fn check_identity<Q: Posterior + Clone>(platform: &Platform, latent: &Q, tolerance: f64) {
    let (case, kernel) = (Case::new(OUTPUTS), kernel(platform));
    let identity = platform.matrix(&Dense::identity(OUTPUTS));
    let mixed = Coregionalized::new(latent.clone(), identity);
    let first = mixed.evaluate(&kernel, case.x(platform)).expect("factor");
    let second = latent.evaluate(&kernel, case.x(platform)).expect("factor");
    let what = format!("{platform}");
    assert_same_marginals(&what, &first.marginals, &second.marginals, tolerance);
    let kl = numbers(second.kl);
    assert_close(&what, &numbers(first.kl), &kl, tolerance);
}

/// `Cov[f] = (W ⊗ I)·Cov[g]·(W ⊗ I)ᵀ`, entry by entry, and everything derived from it.
#[test]
fn covariances_are_those_of_the_mixed_functions() {
    for platform in platforms() {
        let (case, kernel) = (Case::new(LATENT), kernel(&platform));
        let x = || case.x(&platform);
        let latent = case.whitened(&platform);
        let joint = latent.condition(&kernel).expect("factor").joint(x());
        let (means, covariances) = (numbers(joint.mean), numbers(joint.covariance));
        let w = mixing();
        let posterior = Coregionalized::new(latent, platform.matrix(&w));
        let process = posterior.condition(&kernel).expect("factor");
        let across = process.joint_across_outputs(x());
        assert_eq!(across.covariance.dims(), [OUTPUTS, OUTPUTS, POINTS, POINTS]);
        let expected_mean = Dense::from_function(POINTS, OUTPUTS, |n, p| {
            (0..LATENT).map(|q| w[(p, q)] * means[n * LATENT + q]).sum()
        });
        let area = POINTS * POINTS;
        let entry = |first: usize, second: usize, index: usize| -> f64 {
            let weight = |q| w[(first, q)] * w[(second, q)];
            (0..LATENT)
                .map(|q| weight(q) * covariances[q * area + index])
                .sum()
        };
        let expected: Vec<f64> = (0..OUTPUTS * OUTPUTS * area)
            .map(|index| entry(index / area / OUTPUTS, index / area % OUTPUTS, index % area))
            .collect();
        let what = format!("{platform}");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close(
            &what,
            &numbers(across.mean),
            &expected_mean.values,
            tolerance,
        );
        assert_close(&what, &numbers(across.covariance), &expected, tolerance);
        let joint = process.joint(x());
        let within: Vec<f64> = (0..OUTPUTS)
            .flat_map(|p| (0..area).map(move |index| (p, index)))
            .map(|(p, index)| entry(p, p, index))
            .collect();
        assert_close(&what, &numbers(joint.covariance), &within, tolerance);
        let variances = Dense::from_function(POINTS, OUTPUTS, |n, p| entry(p, p, n * POINTS + n));
        // The marginals are the diagonal of the covariances, but are computed separately.
        let tolerance = platform.tolerance(1e-10, 1e-4);
        for marginals in [
            process.marginals(x()),
            posterior.evaluate(&kernel, x()).expect("factor").marginals,
        ] {
            assert_close(
                &what,
                &numbers(marginals.mean),
                &expected_mean.values,
                tolerance,
            );
            assert_close(
                &what,
                &numbers(marginals.variance),
                &variances.values,
                tolerance,
            );
        }
    }
}

/// All gradients of the bound, including the mixing matrix. Sums over data and functions cost some
/// of the seven digits of f32.
#[test]
fn gradients_of_the_bound() {
    let case = Case::new(LATENT);
    let y = Random::new(401).matrix(POINTS, OUTPUTS);
    let build = |platform: &Platform| {
        Coregionalized::new(case.whitened(platform), platform.matrix(&mixing()))
    };
    check_module_gradients("mixture", (1e-6, 1e-3), build, |platform, posterior| {
        let evaluation = (posterior.evaluate(&kernel(platform), case.x(platform))).expect("factor");
        let y = platform.matrix(&y);
        elbo(evaluation, &likelihood(platform), y, POINTS)
    });
}

/// The covariance across outputs of mixed draws at one input is that of the process. With 4000
/// draws the standard error of a covariance of variables with variance v is at most
/// `v·sqrt(2/4000) = 0.022·v`. The test allows four standard errors.
#[test]
fn draws_are_correlated_as_the_outputs_are() {
    for platform in platforms() {
        let (case, kernel) = (Case::new(LATENT), kernel(&platform));
        let latent = case.whitened(&platform);
        let process = Coregionalized::new(latent, platform.matrix(&mixing()))
            .condition(&kernel)
            .expect("factor");
        let mean = ConstantMean::new(platform.tensor(&[0.5, -1.0, 2.0], [OUTPUTS]));
        let process = WithMean::new(process, mean);
        let x = case.x(&platform).narrow(0, 0, 2);
        let across = process.joint_across_outputs(x.clone());
        let draws = 4000;
        let samples = process.sample(x, draws, 7).expect("factor"); // [S, P, 2]
        let values = samples.reshape([draws, OUTPUTS * 2]);
        let center = values.clone().mean_dim(0);
        let centered = values - center.clone();
        let covariance = centered.clone().transpose().matmul(centered) * (1.0 / draws as f64);
        // [P, P, 2, 2] to [P·2, P·2].
        let expected =
            (across.covariance.permute([0, 2, 1, 3])).reshape([OUTPUTS * 2, OUTPUTS * 2]);
        let (ours, expected) = (numbers(covariance), numbers(expected));
        let largest = crate::support::largest(&expected);
        let tolerance = 4.0 * (2.0f64 / draws as f64).sqrt();
        assert_close(&format!("{platform}"), &ours, &expected, tolerance);
        let means = numbers(across.mean.transpose().reshape([1, OUTPUTS * 2]));
        let error = 4.0 * (largest / draws as f64).sqrt() / crate::support::largest(&means);
        assert_close(&format!("{platform}"), &numbers(center), &means, error);
    }
}

#[test]
fn a_first_mixing_starts_each_latent_function_as_one_output() {
    for platform in platforms() {
        let w = first_mixing(5, 2, 3, platform.options());
        assert_eq!(w.dims(), [5, 2]);
        let values = numbers(w);
        assert_eq!(values[..4], [1.0, 0.0, 0.0, 1.0]);
        assert!(values[4..].iter().all(|value| value.abs() < 1.5f64.sqrt()));
        let distinct: std::collections::HashSet<u64> =
            values[4..].iter().map(|value| value.to_bits()).collect();
        assert_eq!(distinct.len(), 6);
        let again = numbers(first_mixing(5, 2, 3, platform.options()));
        assert_eq!(values, again);
        assert_ne!(values, numbers(first_mixing(5, 2, 4, platform.options())));
    }
}
