//! The continuous ranked probability score, compared with its integral on a dense grid and with closed forms.

use std::f64::consts::PI;

use burn_gp_core::likelihoods::{PredictiveDistribution, Support};

use super::quantiles::{cases, simulated, support_of};
use crate::support::first_platform;

/// The number of targets of a case.
const ROWS: usize = 6;

/// The probability in each tail that the reference leaves out. The score depends on its square.
const TAIL: f64 = 1e-12;

/// The nodes of the reference between two quantiles, from −12 to 12. The part outside is 4e-11 of the distance, and the
/// error of the rule is of order `exp(−π²/h)` = 1e-13 for their distance h, and larger where a component is narrow.
const NODES: i32 = 72;

/// `∫ f` between two numbers for every row, by the trapezoidal rule after the substitution `tanh v`.
fn integral(from: &[f64], to: &[f64], f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let step = 24.0 / f64::from(NODES);
    let mut sums = vec![0.0; from.len()];
    for node in 0..=NODES {
        let v = step * f64::from(node) - 12.0;
        let (share, slope) = ((1.0 + (-2.0 * v).exp()).recip(), 0.5 / v.cosh().powi(2));
        let ends = from.iter().zip(to);
        let at: Vec<f64> = (ends.clone())
            .map(|(from, to)| from + (to - from) * share)
            .collect();
        let values = f(&at);
        for ((sum, value), (from, to)) in sums.iter_mut().zip(values).zip(ends) {
            *sum += step * slope * (to - from) * value;
        }
    }
    sums
}

/// `∫ (P(Y ≤ t) − 1[t ≥ y])² dt` of every row.
fn reference(distribution: &PredictiveDistribution, targets: &[f64], support: Support) -> Vec<f64> {
    let mut sums = vec![0.0; targets.len()];
    if support.is_discrete() {
        let high = distribution.quantile(1.0 - TAIL);
        let largest = (high.iter().chain(targets)).fold(0.0, |most: f64, &own| most.max(own));
        for count in 0..=largest as usize {
            let cdf = distribution.cdf(&vec![count as f64; targets.len()]);
            for ((sum, cdf), &target) in sums.iter_mut().zip(cdf).zip(targets) {
                *sum += (cdf - f64::from(u8::from(count as f64 >= target))).powi(2);
            }
        }
        return sums;
    }
    // A narrow component lies between some of these quantiles.
    let tails = [TAIL, 1e-6, 1e-3, 0.02];
    let levels = tails
        .into_iter()
        .chain((1..20).map(|step| f64::from(step) / 20.0));
    let levels = levels.chain(tails.map(|p| 1.0 - p));
    let mut ends: Vec<Vec<f64>> = targets.iter().map(|&target| vec![target]).collect();
    for p in levels {
        for (own, quantile) in ends.iter_mut().zip(distribution.quantile(p)) {
            own.push(quantile);
        }
    }
    for own in &mut ends {
        own.sort_by(f64::total_cmp);
    }
    for piece in 1..ends[0].len() {
        let [from, to] =
            [piece - 1, piece].map(|end| ends.iter().map(|own| own[end]).collect::<Vec<f64>>());
        let squares = |at: &[f64]| {
            let each = distribution
                .cdf(at)
                .into_iter()
                .zip(from.iter().zip(targets));
            each.map(|(cdf, (from, target))| (cdf - f64::from(u8::from(from >= target))).powi(2))
                .collect()
        };
        for (sum, own) in sums.iter_mut().zip(integral(&from, &to, squares)) {
            *sum += own;
        }
    }
    sums
}

/// The documented error. It is largest where components are a hundred times narrower than their distances: the
/// library takes 73 nodes between two of their locations.
#[test]
fn the_score_is_the_integral_of_the_squared_error_of_the_distribution_function() {
    let Some(platform) = &first_platform() else {
        return;
    };
    for case in cases() {
        let support = support_of(&case, platform);
        for components in [1, 3] {
            let (distribution, targets) = simulated(&case, platform, components, ROWS);
            let found = distribution.continuous_ranked_probability_score(&targets);
            let expected = reference(&distribution, &targets, support);
            for ((found, expected), target) in found.iter().zip(&expected).zip(&targets) {
                assert!(
                    (found - expected).abs() <= 1e-6 * expected,
                    "{}, {components} components, at {target}: {found} instead of {expected}",
                    case.name
                );
            }
        }
    }
}

/// `σ·(z·(2Φ(z) − 1) + 2φ(z) − 1/√π)` with `z = (y − μ)/σ`: at the mean, `σ·(√2 − 1)/√π`. Far away it is the
/// absolute error, less `σ/√π`.
#[test]
fn scores_of_a_normal_distribution() {
    let normal = PredictiveDistribution::of_normals(vec![2.0, 2.0, 2.0], vec![9.0, 9.0, 0.0]);
    let scores = normal.continuous_ranked_probability_score(&[2.0, 1002.0, 5.5]);
    let expected = [
        3.0 * (2f64.sqrt() - 1.0) / PI.sqrt(),
        1000.0 - 3.0 / PI.sqrt(),
        3.5,
    ];
    for (found, expected) in scores.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-12 * expected,
            "{found} {expected}"
        );
    }
    // In other units, the score is in these units.
    let scaled = normal.in_units(&[-7.0], &[10.0]);
    let scaled = scaled.continuous_ranked_probability_score(&[13.0, 10013.0, 48.0]);
    for (found, expected) in scaled.iter().zip(expected) {
        assert!(
            (found - 10.0 * expected).abs() < 1e-11 * expected,
            "{found} {expected}"
        );
    }
}

/// Counts of many millions, whose terms are not all summed.
#[test]
fn scores_of_large_counts_are_close_to_those_of_a_normal_distribution() {
    use burn_gp_core::{likelihoods::LikelihoodConfig, process::Marginals};
    let Some(platform) = &first_platform() else {
        return;
    };
    let functions = Marginals {
        mean: platform.tensor(&[1e8f64.ln()], [1, 1]),
        variance: platform.tensor(&[1e-20], [1, 1]),
    };
    let likelihood = LikelihoodConfig::poisson().init(platform.options());
    let counts = likelihood
        .predictive_distribution(&[functions])
        .expect("counts");
    let mean = counts.quantile(0.5)[0];
    let normal = PredictiveDistribution::of_normals(vec![mean], vec![mean]);
    for target in [mean, mean + 10_000.0, mean - 25_000.0] {
        let [found, expected] = [&counts, &normal]
            .map(|distribution| distribution.continuous_ranked_probability_score(&[target])[0]);
        // The skewness of a Poisson distribution with this mean is 1e-4.
        assert!(
            (found - expected).abs() < 1e-3 * expected,
            "{found} {expected}"
        );
    }
}
