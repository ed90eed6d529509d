//! Recalibrated predictive distributions: their own distribution functions, densities, quantiles, moments and draws.

use burn_gp_core::likelihoods::{
    PredictiveDistribution, Recalibration, RecalibrationError, Support,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::quantiles::{cases, functions, marginals, simulated, support_of};
use crate::support::{Random, first_platform, likelihood_cases::Case, numbers, platforms};

/// The number of rows: maps have five knots.
const ROWS: usize = 220;

/// The number of rows of distributions of sums of a random number of variables, which take a hundred times as long.
const FEW_ROWS: usize = 40;

fn rows(case: &Case) -> usize {
    match case.config.name() {
        "tweedie" => FEW_ROWS,
        _ => ROWS,
    }
}

/// `P(Y < y)` and `P(Y ≤ y)`.
fn step(distribution: &PredictiveDistribution, support: Support, targets: &[f64]) -> [Vec<f64>; 2] {
    let below: Vec<f64> = targets
        .iter()
        .map(|&target| match support {
            Support::Counts | Support::Labels(_) => target - 1.0,
            Support::NonNegative if target == 0.0 => -1.0,
            // The distribution allows for the rounding of limits in other units.
            Support::Within(lower, upper) if target == lower || target == upper => target - 1e-8,
            _ => target,
        })
        .collect();
    [distribution.cdf(&below), distribution.cdf(targets)]
}

/// A distribution, targets that are too low for it, and its recalibration by them: the target of a row is its quantile at
/// `u²`, with evenly spaced u.
fn wrong(case: &Case) -> Option<(PredictiveDistribution, Vec<f64>, Recalibration, Support)> {
    let platform = &first_platform()?;
    let count = rows(case);
    let (distribution, _) = simulated(case, platform, 1, count);
    let levels = count / 5;
    // In no order of the rows.
    let level = |row: usize| ((((7 * row) % levels) as f64 + 0.5) / levels as f64).powi(2);
    let levels: Vec<f64> = (0..count).map(level).collect();
    let targets = distribution.quantiles_at(&levels);
    let map = Recalibration::fit(&distribution, &targets)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    Some((distribution, targets, map, support_of(case, platform)))
}

#[test]
fn transforms_of_the_rows_are_uniform() {
    for case in cases() {
        let Some((distribution, targets, map, support)) = wrong(&case) else {
            return;
        };
        let own = distribution.recalibrated(&map);
        let [below, at] = step(&own, support, &targets);
        let count = targets.len() as f64;
        for p in [0.5, 0.25, 0.75]
            .into_iter()
            .take(if count < 100.0 { 1 } else { 3 })
        {
            // The share of the probability of each target below p.
            let shares = below.iter().zip(&at).map(|(below, at)| match at - below {
                step if step > 0.0 => ((p - below) / step).clamp(0.0, 1.0),
                _ => f64::from(u8::from(*at <= p)),
            });
            let share = shares.sum::<f64>() / count;
            // A knot is within the five rows of a level; between knots, a sixth apart, the map is linear.
            let tolerance = if p == 0.5 { 0.05 } else { 0.1 };
            assert!(
                (share - p).abs() < tolerance,
                "{}: {share} at {p}",
                case.name
            );
        }
    }
}

#[test]
fn densities_are_those_of_the_distribution_functions() {
    for case in cases() {
        let Some((before, targets, map, support)) = wrong(&case) else {
            return;
        };
        let after = before.clone().recalibrated(&map);
        let slopes = after.log_slopes(&targets);
        let [steps, mapped] = [&before, &after].map(|own| step(own, support, &targets));
        // The distribution functions a little below and above each target.
        let around = |sign: f64| -> Vec<f64> {
            let each = targets.iter().zip(&steps[1]);
            let moved = each.map(|(target, p)| target + sign * 1e-6 * (target.abs() + p));
            moved.collect()
        };
        let (lower, upper) = (around(-1.0), around(1.0));
        let difference = |own: &PredictiveDistribution| -> Vec<f64> {
            let (lower, upper) = (own.cdf(&lower), own.cdf(&upper));
            lower
                .iter()
                .zip(upper)
                .map(|(low, high)| high - low)
                .collect()
        };
        let (plain, other) = (difference(&before), difference(&after));
        for (row, slope) in slopes.iter().enumerate() {
            let target = targets[row];
            let probability = steps[1][row] - steps[0][row];
            if probability > 1e-6 {
                let ratio = (mapped[1][row] - mapped[0][row]) / probability;
                // Distribution functions are accurate to about 1e-12.
                let error = (ratio - slope.exp()).abs();
                assert!(
                    error < 1e-5 * (1.0 + ratio),
                    "{}: {ratio}, {} at {target}",
                    case.name,
                    slope.exp()
                );
            } else if probability == 0.0 && plain[row] > 1e-9 && !support.is_discrete() {
                let ratio = other[row] / plain[row];
                // Differences of 1e-9 of numbers accurate to 1e-12, across a knot in a few rows.
                let error = (ratio / slope.exp() - 1.0).abs();
                let is_at_knot = || {
                    [&lower, &upper].iter().any(|ends| {
                        let mut moved = targets.clone();
                        moved[row] = ends[row];
                        (after.log_slopes(&moved)[row] - slope).abs() > 1e-2
                    })
                };
                assert!(
                    error < 1e-2 || is_at_knot(),
                    "{}: {ratio}, {} at {target}",
                    case.name,
                    slope.exp()
                );
            }
        }
    }
}

#[test]
fn quantiles_are_the_least_with_their_probability() {
    for case in cases() {
        let Some((distribution, _, map, support)) = wrong(&case) else {
            return;
        };
        let own = distribution.recalibrated(&map);
        for p in [0.03, 0.2, 0.5, 0.71, 0.98] {
            let quantiles = own.quantile(p);
            let [below, at] = step(&own, support, &quantiles);
            for (row, &quantile) in quantiles.iter().enumerate() {
                let is_inner =
                    quantile.abs() > 1e-300 && quantile < 1.0 - 1e-6 || support.is_discrete();
                let is_least = match at[row] - below[row] > 0.0 {
                    true => at[row] >= p - 1e-9 && below[row] < p + 1e-9,
                    // The places of quantiles are accurate to 1e-11 of the scale.
                    false => (at[row] - p).abs() < 1e-6,
                };
                assert!(
                    is_least || !is_inner && !matches!(support, Support::Reals),
                    "{}: {quantile} at {p}, {} to {}",
                    case.name,
                    below[row],
                    at[row]
                );
            }
        }
    }
}

/// Normal predictions with a map of nine knots, far from the identity.
fn normals() -> PredictiveDistribution {
    let mut random = Random::new(5);
    let distribution = PredictiveDistribution::of_normals(vec![0.0; 500], vec![1.0; 500]);
    let targets = random.normals(500).into_iter();
    let targets: Vec<f64> = targets.map(|own| 1.7 * own + 0.4 * own * own).collect();
    let map = Recalibration::fit(&distribution, &targets).expect("500 rows");
    let own = PredictiveDistribution::of_normals(vec![0.3, -1.0], vec![0.5, 1e-4]);
    own.recalibrated(&map)
}

#[test]
fn moments_and_scores_are_those_of_the_quantiles() {
    let own = normals();
    let nodes = 200_000;
    let (mut sums, mut squares) = ([0.0; 2], [0.0; 2]);
    for node in 0..nodes {
        let quantiles = own.quantile((f64::from(node) + 0.5) / f64::from(nodes));
        for (row, quantile) in quantiles.into_iter().enumerate() {
            sums[row] += quantile / f64::from(nodes);
            squares[row] += quantile * quantile / f64::from(nodes);
        }
    }
    let (means, variances) = own.moments();
    // 2∫₀¹ (1[y ≤ q(p)] − p)(q(p) − y) dp
    let targets = [0.9, -1.02];
    let mut scores = [0.0; 2];
    for node in 0..nodes {
        let p = (f64::from(node) + 0.5) / f64::from(nodes);
        for (row, quantile) in own.quantile(p).into_iter().enumerate() {
            let above = f64::from(u8::from(targets[row] <= quantile));
            scores[row] += 2.0 * (above - p) * (quantile - targets[row]) / f64::from(nodes);
        }
    }
    let found = own.continuous_ranked_probability_score(&targets);
    for row in 0..2 {
        let scale = variances[row].sqrt();
        // The midpoint rule misses the tails beyond 1/400000.
        assert!(
            (means[row] - sums[row]).abs() < 1e-4 * scale,
            "{means:?}, {sums:?}"
        );
        let variance = squares[row] - sums[row] * sums[row];
        assert!(
            (variances[row] / variance - 1.0).abs() < 2e-3,
            "{variances:?}, {variance}"
        );
        assert!(
            (found[row] - scores[row]).abs() < 1e-4 * scale,
            "{found:?}, {scores:?}"
        );
    }
}

/// Means and variances by the distribution function are those that likelihoods predict.
#[test]
fn moments_are_those_of_the_likelihood() {
    for case in cases() {
        for platform in platforms() {
            let rows = 8;
            let own = marginals(&platform, &functions(rows, case.latents, 71), case.latents);
            let predicted = case.init(&platform).predict(own);
            let (expected, squares) = (numbers(predicted.mean), numbers(predicted.variance));
            let (means, variances) = simulated(&case, &platform, 1, rows).0.moments();
            assert_eq!((means.len(), expected.len()), (rows, rows), "{}", case.name);
            // The quadrature of likelihoods, and the precision of their tensors.
            let tolerance = platform.tolerance(1e-5, 1e-3);
            for row in 0..rows {
                let what = format!("{} on {platform}, row {row}", case.name);
                // Tails of 1e-10 are left out, which counts where a target is at its limit almost surely, and so do digits
                // of the limit.
                let left_out = platform.tolerance(1e-9, 1e-7);
                let error = (means[row] - expected[row]).abs();
                assert!(
                    error < tolerance * squares[row].sqrt() + left_out,
                    "{what}: {}, {}",
                    means[row],
                    expected[row]
                );
                // With few degrees of freedom, the tails that are left out have a large share of the variance, and some
                // hundred-thousandths where the logarithm of a target varies widely.
                let is_heavy = ["wide", "much dispersion"].map(|word| case.name.contains(word));
                let tails = if is_heavy.contains(&true) { 5e-5 } else { 0.0 };
                if case.config.name() != "student-t" {
                    let error = (variances[row] - squares[row]).abs();
                    assert!(
                        error < (tolerance + tails) * squares[row] + left_out,
                        "{what}: {}, {}",
                        variances[row],
                        squares[row]
                    );
                }
            }
        }
    }
}

/// `∫ f(y)·R′(F(y)) dy = 1`.
#[test]
fn densities_integrate_to_one() {
    let own = normals();
    let (mean, variance) = (0.3f64, 0.5f64);
    let (nodes, reach) = (400_000, 12.0);
    let step = 2.0 * reach / f64::from(nodes);
    let mut sum = 0.0;
    for node in 0..nodes {
        let y = -reach + step * (f64::from(node) + 0.5);
        let slope = own.log_slopes(&[y, 0.0])[0];
        let score = (y - mean) / variance.sqrt();
        let log = -0.5 * score * score - 0.5 * (2.0 * std::f64::consts::PI * variance).ln();
        sum += step * (log + slope).exp();
    }
    // The midpoint rule at nine jumps of the density.
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
}

#[test]
fn moved_draws_have_the_quantiles() {
    for case in cases()
        .into_iter()
        .filter(|case| case.config.name() != "tweedie")
    {
        let Some((before, _, map, support)) = wrong(&case) else {
            return;
        };
        let after = before.clone().recalibrated(&map);
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let draws = 10;
        let drawn: Vec<f64> = (0..draws)
            .flat_map(|_| {
                let levels: Vec<f64> = (0..before.len())
                    .map(|_| random.random_range(1e-9..1.0))
                    .collect();
                before.quantiles_at(&levels)
            })
            .collect();
        let moved = after.recalibrated_draws(&drawn, &mut random);
        for p in [0.2, 0.5, 0.9] {
            let quantiles = after.quantile(p);
            let [below, at] = step(&after, support, &quantiles);
            let (mut fewest, mut most) = (0, 0);
            for (place, draw) in moved.iter().enumerate() {
                let quantile = quantiles[place % quantiles.len()];
                let rounding = 1e-9 * (1.0 + quantile.abs());
                fewest += usize::from(*draw < quantile - rounding);
                most += usize::from(*draw <= quantile + rounding);
            }
            let count = moved.len() as f64;
            let [low, high] = [&below, &at].map(|all| all.iter().sum::<f64>() / all.len() as f64);
            // Five standard errors.
            let allowed = 5.0 * (p * (1.0 - p) / count).sqrt();
            assert!(
                fewest as f64 / count < high + allowed && most as f64 / count > low - allowed,
                "{}: {fewest} to {most} of {count} below the quantiles at {p}",
                case.name
            );
        }
    }
}

#[test]
fn too_few_rows_and_numbers_that_are_none_are_errors() {
    let of = |mean: f64| PredictiveDistribution::of_normals(vec![mean; 20], vec![1.0; 20]);
    let mut targets = vec![0.1; 20];
    assert!(Recalibration::fit(&of(0.0), &targets).is_ok());
    targets[7] = f64::NAN;
    let error = Recalibration::fit(&of(0.0), &targets);
    assert_eq!(error, Err(RecalibrationError::NotANumber { row: 7 }));
    let few = PredictiveDistribution::of_normals(vec![0.0; 19], vec![1.0; 19]);
    let error = Recalibration::fit(&few, &[0.5; 19]).expect_err("too few rows");
    assert_eq!(
        error.to_string(),
        "there are 19 held-out rows, but a recalibration needs at least 20"
    );
}
