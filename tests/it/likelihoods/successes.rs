//! Numbers of successes among trials: few and many, predicted with and without the trials.

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{BetaBinomialConfig, LikelihoodConfig, PredictiveDistribution, Support},
    process::Marginals,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::support::{
    Platform, Random, assert_close, double_precision_platforms,
    formulas::{log_beta_binomial, log_binomial, logistic},
    integrals::on_grid,
    likelihood_cases::registry,
    numbers, platforms,
};

/// Correlations of two trials; zero stands for the binomial likelihood.
const DISPERSIONS: [f64; 6] = [0.0, 1e-4, 0.01, 0.1, 0.5, 0.95];

fn config(dispersion: f64) -> LikelihoodConfig {
    match dispersion {
        0.0 => LikelihoodConfig::binomial(),
        _ => BetaBinomialConfig { dispersion }.into(),
    }
}

fn log_density(y: f64, n: f64, f: f64, dispersion: f64) -> f64 {
    match dispersion {
        0.0 => log_binomial(y, n, f),
        _ => log_beta_binomial(y, n, f, dispersion),
    }
}

/// The log density in both precisions keeps its digits for many trials and for functions far away, where differences
/// of log-gammas would lose them.
#[test]
fn densities_of_few_and_many_trials() {
    let functions = [-20.0, -6.0, -2.5, -0.25, 0.0, 1.5, 8.0];
    for platform in platforms() {
        for dispersion in DISPERSIONS {
            // The reference is that of the rounded parameter.
            let dispersion = platform.rounded(&[dispersion])[0];
            let likelihood = config(dispersion).init(platform.options());
            for trials in [1.0_f64, 7.0, 1000.0, 20_000.0] {
                let mut counts = [0.0, 1.0, (0.3 * trials).floor(), trials - 1.0, trials];
                counts.sort_by(f64::total_cmp);
                let rows: Vec<f64> = counts.iter().flat_map(|&y| [y, trials]).collect();
                let targets = platform.tensor(&rows, [counts.len(), 2]);
                for f in functions {
                    let function = platform.tensor(&vec![f; counts.len()], [1, counts.len(), 1]);
                    let found = numbers(likelihood.log_density(targets.clone(), function));
                    for (&y, found) in counts.iter().zip(found) {
                        let expected = log_density(y, trials, f, dispersion);
                        // The reference has the rounding errors of log-gammas near 10⁵.
                        let allowed = platform.tolerance(1e-8, 1e-5) * (1.0 + expected.abs());
                        assert!(
                            (found - expected).abs() < allowed,
                            "{dispersion} on {platform}: {y} of {trials} at {f}: {found}, expected {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// The probabilities of all numbers of successes add up to one.
#[test]
fn probabilities_of_all_counts_add_up_to_one() {
    for platform in platforms() {
        for dispersion in DISPERSIONS {
            let likelihood = config(dispersion).init(platform.options());
            let trials = 40;
            let rows: Vec<f64> = (0..=trials).flat_map(|y| [f64::from(y), 40.0]).collect();
            let count = rows.len() / 2;
            let column = |value| platform.tensor(&vec![value; count], [count, 1]);
            let marginals = Marginals {
                mean: column(-0.7),
                variance: column(0.9),
            };
            let targets: Tensor<2> = platform.tensor(&rows, [count, 2]);
            let found = numbers(likelihood.log_predictive_density(targets, marginals));
            let total: f64 = found.iter().map(|log| log.exp()).sum();
            // The accuracy of the nodes around each mode.
            assert!(
                (total - 1.0).abs() < 1e-4,
                "{dispersion} on {platform}: {total}"
            );
        }
    }
}

/// One trial is a label, whatever the correlation with others.
#[test]
fn one_trial_is_a_label() {
    for platform in platforms() {
        let labels = LikelihoodConfig::bernoulli_logit().init(platform.options());
        let f = Random::new(5).uniforms(8, -4.0, 4.0);
        let y = [0.0, 1.0].repeat(4);
        let pairs: Vec<f64> = y.iter().flat_map(|&y| [y, 1.0]).collect();
        let function: Tensor<3> = platform.tensor(&f, [1, 8, 1]);
        let expected = labels.log_density(platform.tensor(&y, [8, 1]), function.clone());
        for dispersion in DISPERSIONS {
            let likelihood = config(dispersion).init(platform.options());
            let found = likelihood.log_density(platform.tensor(&pairs, [8, 2]), function.clone());
            let what = format!("{dispersion} on {platform}");
            let tolerance = platform.tolerance(1e-11, 1e-5);
            assert_close(
                &what,
                &numbers(found),
                &numbers(expected.clone()),
                tolerance,
            );
        }
    }
}

/// Labels at one place count as one row, up to the number of their orders: `Σ log p(label) = log p(y | n) − log n!/(y!(n − y)!)`.
#[test]
fn labels_of_one_place_are_one_row() {
    for platform in double_precision_platforms() {
        let marginals = |count: usize| Marginals {
            mean: platform.tensor(&vec![0.6; count], [count, 1]),
            variance: platform.tensor(&vec![1.3; count], [count, 1]),
        };
        let labels = LikelihoodConfig::bernoulli_logit().init(platform.options());
        let y: Tensor<2> = platform.tensor(&[1.0, 1.0, 0.0, 1.0, 0.0], [5, 1]);
        let each = numbers(labels.expected_log_density(y, marginals(5)).sum())[0];
        let together = LikelihoodConfig::binomial().init(platform.options());
        let row: Tensor<2> = platform.tensor(&[3.0, 5.0], [1, 2]);
        let found = numbers(together.expected_log_density(row, marginals(1)))[0];
        // Both are quadrature with the same nodes.
        assert!((found - each - 10f64.ln()).abs() < 1e-11, "{found} {each}");
    }
}

fn marginals(platform: &Platform, means: &[f64], variances: &[f64]) -> Marginals {
    let shape = [means.len(), 1];
    Marginals {
        mean: platform.tensor(means, shape),
        variance: platform.tensor(variances, shape),
    }
}

/// Functions and trials of some rows.
const MEANS: [f64; 6] = [-6.0, -1.0, 0.0, 0.4, 2.0, 0.1];
const VARIANCES: [f64; 6] = [0.5, 0.01, 1.0, 1e-6, 2.0, 0.0];
const TRIALS: [f64; 6] = [3.0, 1.0, 25.0, 60.0, 11.0, 200.0];

fn counts(platform: &Platform, dispersion: f64) -> PredictiveDistribution {
    let likelihood = config(dispersion).init(platform.options());
    let own = marginals(platform, &MEANS, &VARIANCES);
    let shares = likelihood.predictive_distribution(&[own]).expect("shares");
    shares.with_trials(&TRIALS)
}

/// The probabilities of all counts of a row by dense quadrature.
fn probabilities(row: usize, dispersion: f64) -> Vec<f64> {
    let trials = TRIALS[row];
    let densities = |f: &[f64]| -> Vec<f64> {
        let counts = (0..=trials as usize).map(|y| y as f64);
        counts
            .map(|y| log_density(y, trials, f[0], dispersion).exp())
            .collect()
    };
    match VARIANCES[row] {
        0.0 => densities(&[MEANS[row]]),
        variance => on_grid(&[MEANS[row]], &[variance], &densities),
    }
}

/// Distribution functions, quantiles and scores of counts, from the probabilities of all of them.
#[test]
fn distributions_of_counts_are_sums_of_their_probabilities() {
    for platform in double_precision_platforms() {
        for dispersion in DISPERSIONS {
            let distribution = counts(&platform, dispersion);
            let exact: Vec<Vec<f64>> = (0..TRIALS.len())
                .map(|row| {
                    let mut sum = 0.0;
                    let each = probabilities(row, dispersion).into_iter();
                    each.map(|p| {
                        sum += p;
                        sum
                    })
                    .collect()
                })
                .collect();
            let at = |row: usize, y: f64| match y < 0.0 {
                true => 0.0,
                false => exact[row][(y as usize).min(exact[row].len() - 1)],
            };
            for share in [0.0, 0.2, 0.5, 0.9, 1.0] {
                let y: Vec<f64> = TRIALS.iter().map(|n| (share * n).floor()).collect();
                let found = distribution.cdf(&y);
                for (row, found) in found.iter().enumerate() {
                    let expected = at(row, y[row]);
                    let what = format!("{dispersion}, row {row}, at {}", y[row]);
                    // The accuracy of the quadrature of the reference.
                    assert!(
                        (found - expected).abs() < 1e-9,
                        "{what}: {found}, {expected}"
                    );
                }
                let scores = distribution.continuous_ranked_probability_score(&y);
                for (row, score) in scores.iter().enumerate() {
                    let terms = (0..TRIALS[row] as usize)
                        .map(|k| (exact[row][k] - f64::from(u8::from(k as f64 >= y[row]))).powi(2));
                    let expected: f64 = terms.sum();
                    let what = format!("{dispersion}, row {row}: {score}, {expected}");
                    assert!((score - expected).abs() < 1e-8 * (1.0 + expected), "{what}");
                }
            }
            for p in [1e-3, 0.025, 0.5, 0.9, 0.999] {
                for (row, found) in distribution.quantile(p).into_iter().enumerate() {
                    let holds = at(row, found) >= p - 1e-9 && at(row, found - 1.0) < p + 1e-9;
                    assert!(holds, "{dispersion}, row {row}, {p}: {found}");
                    assert!((0.0..=TRIALS[row]).contains(&found), "{found}");
                }
            }
        }
    }
}

/// The intervals of counts, drawn from the likelihood's shares, cover at least what they say.
#[test]
fn intervals_of_counts_cover_what_they_say() {
    let Some(platform) = double_precision_platforms().into_iter().next() else {
        return;
    };
    for dispersion in [0.0, 0.05, 0.5] {
        let likelihood = config(dispersion).init(platform.options());
        let (mut normal, mut random) = (Random::new(3), ChaCha8Rng::seed_from_u64(7));
        let rows = 3000;
        let (means, variances) = (normal.normals(rows), vec![0.5; rows]);
        let trials: Vec<f64> = (0..rows).map(|row| (1 + row % 40) as f64).collect();
        let f: Vec<f64> = (means.iter())
            .map(|mean| mean + 0.5f64.sqrt() * normal.normal())
            .collect();
        let shares = likelihood.sample(platform.tensor(&f, [1, rows, 1]), &mut random);
        let shares = numbers(shares);
        let y: Vec<f64> = (shares.iter().zip(&trials))
            .map(|(share, &n)| {
                (0..n as usize)
                    .filter(|_| random.random_bool(*share))
                    .count() as f64
            })
            .collect();
        let own = marginals(&platform, &means, &variances);
        let shares = likelihood.predictive_distribution(&[own]).expect("shares");
        let counts = shares.with_trials(&trials);
        for level in [0.5, 0.9] {
            let interval = counts.interval(level);
            let ends = interval.lower.iter().zip(&interval.upper);
            let inside = (y.iter().zip(ends)).filter(|(y, (low, high))| low <= y && y <= high);
            let covered = inside.count() as f64 / rows as f64;
            // Five standard errors.
            let error = 5.0 * (level * (1.0 - level) / rows as f64).sqrt();
            assert!(
                covered > level - error,
                "{dispersion}: {covered} in {level}"
            );
        }
    }
}

/// Without trials, the distribution is that of the share in many trials.
#[test]
fn shares_are_counts_of_many_trials() {
    for platform in double_precision_platforms() {
        for dispersion in [0.0, 0.1, 0.5] {
            let likelihood = config(dispersion).init(platform.options());
            let own = || marginals(&platform, &[-1.0, 0.5], &[0.3, 0.8]);
            let shares = likelihood
                .predictive_distribution(&[own()])
                .expect("shares");
            let support = likelihood.target_distribution().map(|own| own.support());
            assert_eq!(support, Some(Support::UnitInterval));
            let many = 20_000.0;
            let counts = shares.clone().with_trials(&[many; 2]);
            for at in [0.1, 0.4, 0.7] {
                let (share, count) = (shares.cdf(&[at; 2]), counts.cdf(&[at * many; 2]));
                for (share, count) in share.iter().zip(&count) {
                    // The share has a standard deviation of 0.004.
                    assert!(
                        (share - count).abs() < 1e-3,
                        "{dispersion}: {share}, {count}"
                    );
                }
            }
            // A known function has the mean of its link.
            let mean = numbers(likelihood.predict(own()).mean)[0];
            assert!((mean - logistic(-1.0)).abs() < 0.05, "{mean}");
        }
    }
}

/// Distributions with trials of their own can be joined.
#[test]
fn distributions_of_counts_are_appended() {
    for platform in double_precision_platforms() {
        let all = counts(&platform, 0.1);
        let likelihood = config(0.1).init(platform.options());
        let part = |rows: std::ops::Range<usize>| {
            let own = marginals(&platform, &MEANS[rows.clone()], &VARIANCES[rows.clone()]);
            let shares = likelihood.predictive_distribution(&[own]).expect("shares");
            shares.with_trials(&TRIALS[rows])
        };
        let mut joined = part(0..1);
        joined.append(part(1..2));
        joined.append(part(2..6));
        assert_eq!(joined, all);
        assert_eq!(joined.quantile(0.7), all.quantile(0.7));
    }
}

#[test]
#[should_panic(expected = "1 numbers of trials for targets that are no share of successes")]
fn counts_have_no_trials() {
    let platform = &platforms()[0];
    let likelihood = LikelihoodConfig::poisson().init(platform.options());
    let own = marginals(platform, &[0.0], &[1.0]);
    let distribution = likelihood.predictive_distribution(&[own]).expect("counts");
    let _ = distribution.with_trials(&[3.0]);
}

/// More successes than trials are impossible, and so is a part of one.
#[test]
fn more_successes_than_trials_are_impossible() {
    let platform = &platforms()[0];
    for case in registry()
        .iter()
        .filter(|case| case.name.ends_with("binomial"))
    {
        let likelihood = case.init(platform).description();
        if likelihood.columns != 2 {
            continue;
        }
        assert_eq!(likelihood.check_targets(&[3.0, 3.0, 0.0, 1.0], 2), Ok(()));
        // Two outputs: both successes, then both trials.
        let error = likelihood.check_targets(&[3.0, 2.0, 4.0, 1.0], 4);
        assert_eq!(
            error.map_err(|error| (error.row, error.column)),
            Err((0, 1))
        );
        let error = likelihood.check_targets(&[3.0, 4.0, 5.0, 4.0], 2);
        let error = error.expect_err("too many").to_string();
        assert_eq!(
            error,
            format!(
                "target 5 in row 1, column 0 is not possible under the {} likelihood, which takes a number of trials, 1 or more, and a number of successes among them",
                case.name
            )
        );
    }
}
