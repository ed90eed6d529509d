//! Predictive distributions of transformed targets: densities that integrate to one, golden values, integrals over
//! quantiles.

use burn_gp_core::{
    likelihoods::{
        GaussianConfig, LikelihoodConfig, PredictiveDistribution, Recalibration, StudentTConfig,
    },
    process::Marginals,
    transforms::{Transform, TransformName},
};

use crate::support::{Dense, Platform, double_precision_platforms, numbers, panics::message_of};

/// The transformed target t is normal or Student-t around 0.7 with a scale of about 0.6.
const SHIFT: f64 = 0.5;
const SCALE: f64 = 0.8;

fn transforms() -> Vec<Transform> {
    let powers = [0.0, 0.3, 1.0, 1.6, 2.0];
    let powers = powers.map(|power| [Transform::BoxCox { power }, Transform::YeoJohnson { power }]);
    powers
        .into_iter()
        .flatten()
        .chain([Transform::Log])
        .collect()
}

fn student_t() -> LikelihoodConfig {
    StudentTConfig {
        scale: 0.6,
        degrees_of_freedom: 4.5,
        train_degrees_of_freedom: false,
    }
    .into()
}

fn likelihoods() -> [LikelihoodConfig; 2] {
    [GaussianConfig::new(0.4).into(), student_t()]
}

/// `rows` rows with the same function.
fn functions(platform: &Platform, rows: usize) -> Marginals {
    Marginals {
        mean: platform.tensor(&vec![0.3; rows], [rows, 1]),
        variance: platform.tensor(&vec![0.1; rows], [rows, 1]),
    }
}

fn distribution(
    config: &LikelihoodConfig,
    platform: &Platform,
    rows: usize,
) -> PredictiveDistribution {
    let likelihood = config.init(platform.options());
    let own = likelihood.predictive_distribution(&[functions(platform, rows)]);
    own.expect("numbers").in_units(&[SHIFT], &[SCALE])
}

/// Probabilities at evenly spaced logits.
fn probabilities(count: usize) -> Vec<f64> {
    let logit = |node: usize| 54.0 * node as f64 / (count - 1) as f64 - 27.0;
    (0..count)
        .map(|node| 1.0 / (1.0 + (-logit(node)).exp()))
        .collect()
}

/// `∫ f(y) dy` from values at ascending places that are a smooth function of their number: trapezoids of two lengths.
fn integral(places: &[f64], values: &[f64]) -> f64 {
    let trapezoids = |step: usize| -> f64 {
        let nodes: Vec<usize> = (0..places.len()).step_by(step).collect();
        let pairs = nodes.windows(2).map(|pair| (pair[0], pair[1]));
        pairs
            .map(|(a, b)| 0.5 * (values[a] + values[b]) * (places[b] - places[a]))
            .sum()
    };
    (4.0 * trapezoids(1) - trapezoids(2)) / 3.0
}

/// `∫ p(y) dy = 1`, with the density of the likelihood and the Jacobian, for places y that are quantiles.
#[test]
fn densities_integrate_to_one() {
    const NODES: usize = 4001;
    for platform in double_precision_platforms() {
        for config in likelihoods() {
            let plain = distribution(&config, &platform, NODES);
            for transform in transforms() {
                let what = format!("{} of {transform} on {platform}", config.name());
                let own = plain.clone().transformed(std::slice::from_ref(&transform));
                let places = own.quantiles_at(&probabilities(NODES));
                assert!(places.is_sorted(), "quantiles of {what} are not monotone");
                // Box-Cox takes what is below its range as zero, near which densities may be infinite.
                let at_zero = match transform.lowest().is_finite() {
                    true => own.cdf(&vec![0.0; NODES])[0],
                    false => 0.0,
                };
                let cdf = own.cdf(&places);
                let first = cdf.iter().take_while(|p| **p < 2.0 * at_zero).count();
                let (places, below) = (&places[first..], cdf[first]);
                let rows = places.len();
                let z = places.iter().map(|&y| (transform.apply(y) - SHIFT) / SCALE);
                let z = platform.tensor(&z.collect::<Vec<f64>>(), [rows, 1]);
                let likelihood = config.init(platform.options());
                let densities = likelihood.log_predictive_density(z, functions(&platform, rows));
                let jacobian = distribution(&config, &platform, rows)
                    .transformed(std::slice::from_ref(&transform))
                    .log_jacobian(places);
                let densities = numbers(densities).into_iter().zip(jacobian);
                let densities: Vec<f64> =
                    densities.map(|(own, slope)| (own + slope).exp()).collect();
                let total = below + integral(places, &densities);
                // Property T1.
                assert!((total - 1.0).abs() < 1e-6, "{total}: {what}");
            }
        }
    }
}

#[test]
fn quantiles_map_back() {
    for platform in double_precision_platforms() {
        for config in likelihoods() {
            let plain = distribution(&config, &platform, 1);
            for transform in transforms() {
                let own = plain.clone().transformed(std::slice::from_ref(&transform));
                for p in [1e-6, 0.03, 0.5, 0.8, 1.0 - 1e-6] {
                    let (found, before) = (own.quantile(p)[0], plain.quantile(p)[0]);
                    assert_eq!(found, transform.invert(before));
                    if found > 0.0 || transform.name() == TransformName::YeoJohnson {
                        // The places of quantiles are accurate to 1e-11 of the scale.
                        assert!((own.cdf(&[found])[0] - p).abs() < 1e-9, "{transform}, {p}");
                        let (level, expected) =
                            (own.central_level(&[found]), plain.central_level(&[before]));
                        assert!((level[0] - expected[0]).abs() < 1e-9, "{transform}, {p}");
                    }
                }
            }
        }
    }
}

/// Numbers below all possible targets have no probability; that of zero is that of all values below its range.
#[test]
fn the_lower_end_of_positive_targets() {
    let own = PredictiveDistribution::of_normals(vec![0.0], vec![4.0]);
    let root = own.clone().transformed(&[Transform::BoxCox { power: 0.5 }]);
    let below = own.cdf(&[-2.0])[0];
    assert_eq!((root.cdf(&[-1e-9])[0], root.cdf(&[0.0])[0]), (0.0, below));
    assert_eq!(root.quantile(0.9 * below), [0.0]);
    assert_eq!(root.central_level(&[0.0])[0], 1.0 - 2.0 * below);
    assert_eq!(root.central_level(&[-1.0])[0], 1.0);
    let log = own.transformed(&[Transform::Log]);
    assert_eq!((log.cdf(&[-3.0])[0], log.cdf(&[0.0])[0]), (0.0, 0.0));
    assert!(log.cdf(&[f64::NAN])[0].is_nan());
    // Below, the score grows like the distance.
    let scores = [-3.0, -1.0, 0.0].map(|y| log.continuous_ranked_probability_score(&[y])[0]);
    assert!(
        (scores[0] - scores[1] - 2.0).abs() < 1e-9 && (scores[1] - scores[2] - 1.0).abs() < 1e-9,
        "{scores:?}"
    );
}

/// `log y = 0.5 + 2z`.
fn log_normals() -> PredictiveDistribution {
    let own = PredictiveDistribution::of_normals(vec![0.2, -0.4, 1.0], vec![0.09, 0.01, 1e-6]);
    own.in_units(&[0.5], &[2.0]).transformed(&[Transform::Log])
}

#[test]
fn moments_of_log_normals() {
    let (means, variances) = log_normals().moments();
    for (row, (mean, variance)) in [(0.2, 0.09), (-0.4, 0.01), (1.0, 1e-6)]
        .into_iter()
        .enumerate()
    {
        let (location, spread): (f64, f64) = (0.5 + 2.0 * mean, 4.0 * variance);
        let expected = (location + 0.5 * spread).exp();
        let square = expected * expected * spread.exp_m1();
        let errors = [means[row] / expected - 1.0, variances[row] / square - 1.0];
        assert!(errors.iter().all(|error| error.abs() < 1e-12), "{errors:?}");
    }
}

/// Integrals over quantiles are those of closed forms: logarithms of a power close to zero, and mixtures of normals, whose
/// moments are means over their components.
#[test]
fn integrals_are_closed_forms() {
    let own = PredictiveDistribution::of_normals(vec![0.2, -0.4], vec![0.09, 0.01]);
    let own = own.in_units(&[0.5], &[2.0]);
    let almost = own
        .clone()
        .transformed(&[Transform::BoxCox { power: 1e-12 }]);
    let log = own.transformed(&[Transform::Log]);
    let (found, expected) = (almost.moments(), log.moments());
    for row in 0..2 {
        // The tails beyond logits of 30 have a probability of 1e-13, and e^{2·7.4·0.6} there.
        assert!(
            (found.0[row] / expected.0[row] - 1.0).abs() < 1e-9,
            "{found:?}, {expected:?}"
        );
        assert!(
            (found.1[row] / expected.1[row] - 1.0).abs() < 1e-7,
            "{found:?}, {expected:?}"
        );
    }
    for platform in double_precision_platforms() {
        let likelihood = LikelihoodConfig::from(GaussianConfig::new(0.2)).init(platform.options());
        let components = [(0.1, 0.3), (1.4, 0.05)].map(|(mean, variance)| Marginals {
            mean: platform.tensor(&[mean], [1, 1]),
            variance: platform.tensor(&[variance], [1, 1]),
        });
        let own = likelihood
            .predictive_distribution(&components)
            .expect("numbers");
        let (means, variances) = own.transformed(&[Transform::Log]).moments();
        let moments = [(0.1f64, 0.5f64), (1.4, 0.25)]
            .map(|(m, v)| ((m + 0.5 * v).exp(), (2.0 * m + 2.0 * v).exp()));
        let mean = 0.5 * (moments[0].0 + moments[1].0);
        let variance = 0.5 * (moments[0].1 + moments[1].1) - mean * mean;
        assert!(
            (means[0] / mean - 1.0).abs() < 1e-12 && (variances[0] / variance - 1.0).abs() < 1e-12
        );
    }
}

/// `z ~ N(0.4, 0.36)` with `g(y) = 1 + 0.7z`, the power 0.3 of Box and Cox: computed in 50 digits.
#[test]
fn golden_values() {
    let normal = PredictiveDistribution::of_normals(vec![0.4], vec![0.36]);
    let own = normal
        .clone()
        .in_units(&[1.0], &[0.7])
        .transformed(&[Transform::BoxCox { power: 0.3 }]);
    let expected = [
        (0.05, 1.720_331_366_514_266_5),
        (0.5, 2.954_293_464_569_055_5),
        (0.95, 4.703_951_175_611_573),
    ];
    for (p, quantile) in expected {
        assert!((own.quantile(p)[0] / quantile - 1.0).abs() < 1e-12, "{p}");
    }
    let (means, _) = own.moments();
    assert!(
        (means[0] / 3.049_605_659_040_795_4 - 1.0).abs() < 1e-9,
        "{means:?}"
    );
    let log = normal.transformed(&[Transform::Log]);
    assert!((log.moments().0[0] / 1.786_038_430_750_073_4 - 1.0).abs() < 1e-12);
    // log y ~ N(0.4, 0.36) at y = 2.5. The error is of fourth order in steps of six standard deviations over 200.
    let score = log.continuous_ranked_probability_score(&[2.5])[0];
    assert!(
        (score / 0.572_206_285_124_798_1 - 1.0).abs() < 1e-6,
        "{score}"
    );
}

/// The log density of ten targets under exact regression of their powers: `z = (g(y) − 1)/0.7` has the covariance
/// `exp(−½(x − x′)²/0.49) + 0.1·[x = x′]`. Computed in 50 digits.
#[test]
fn golden_log_densities() {
    let x = [0.0, 0.35, 0.6, 1.0, 1.3, 1.7, 2.1, 2.4, 2.8, 3.3];
    let y = [1.2, 1.9, 3.1, 2.6, 4.8, 7.0, 5.2, 3.3, 2.1, 1.4];
    let covariance = Dense::from_function(10, 10, |row, column| {
        let distance: f64 = (x[row] - x[column]) / 0.7;
        (-0.5 * distance * distance).exp() + if row == column { 0.1 } else { 0.0 }
    });
    let cases = [
        (0.3, -16.154_188_510_440_164),
        (0.0, -15.595_005_475_585_822),
    ];
    for (power, expected) in cases {
        let transform = Transform::BoxCox { power };
        let z: Vec<f64> = y
            .iter()
            .map(|&y| (transform.apply(y) - 1.0) / 0.7)
            .collect();
        let z = Dense::new(10, 1, z);
        let square = z.transposed().times(&covariance.solve(&z))[(0, 0)];
        let log_two_pi = (2.0 * std::f64::consts::PI).ln();
        let density = -0.5 * (square + covariance.log_determinant() + 10.0 * log_two_pi);
        let own = PredictiveDistribution::of_normals(vec![0.0; 10], vec![1.1; 10]);
        let own = own.in_units(&[1.0], &[0.7]).transformed(&[transform]);
        let found = density + own.log_jacobian(&y).iter().sum::<f64>();
        // Rounding of a covariance with a condition number of about 50.
        assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
    }
}

/// The mean and variance by quantiles at evenly spaced probabilities.
fn by_quantiles(own: &PredictiveDistribution) -> (f64, f64) {
    let nodes = 20_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    let center = own.quantile(0.5)[0];
    for node in 0..nodes {
        let p = (f64::from(node) + 0.5) / f64::from(nodes);
        let deviation = own.quantile(p)[0] - center;
        sum += deviation / f64::from(nodes);
        squares += deviation * deviation / f64::from(nodes);
    }
    (center + sum, squares - sum * sum)
}

#[test]
fn moments_of_heavy_tails() {
    for platform in double_precision_platforms() {
        let plain = distribution(&student_t(), &platform, 1);
        for transform in transforms() {
            let own = plain.clone().transformed(std::slice::from_ref(&transform));
            let (means, variances) = own.moments();
            // Exponentials of a Student-t variable have no moments. A root of degree 1/λ has as many as 4.5λ.
            let orders = match transform {
                Transform::Log => 0.0,
                Transform::BoxCox { power } => 4.5 * power,
                Transform::YeoJohnson { power } => 4.5 * f64::min(power, 2.0 - power),
                Transform::Quantile { .. } => unreachable!("not among the cases"),
            };
            let is_upper = !matches!(transform, Transform::YeoJohnson { power } if power > 1.0);
            match orders {
                none if none <= 1.0 => {
                    let infinity = if is_upper {
                        f64::INFINITY
                    } else {
                        f64::NEG_INFINITY
                    };
                    assert_eq!(
                        (means[0], variances[0]),
                        (infinity, f64::INFINITY),
                        "{transform}"
                    );
                }
                few if few <= 2.0 => assert_eq!(variances[0], f64::INFINITY, "{transform}"),
                _ => {
                    let (mean, variance) = by_quantiles(&own);
                    let deviation = variance.sqrt();
                    // The midpoint rule misses the tails beyond 1/40000, heavy ones of the variance.
                    assert!(
                        (means[0] - mean).abs() < 2e-3 * deviation,
                        "{transform}: {means:?}, {mean}"
                    );
                    assert!(
                        (variances[0] / variance - 1.0).abs() < 0.1,
                        "{transform}: {variances:?}, {variance}"
                    );
                }
            }
        }
    }
}

#[test]
fn scores_of_log_normals() {
    let own = PredictiveDistribution::of_normals(vec![-0.05], vec![0.09]);
    let own = own.in_units(&[0.5], &[2.0]).transformed(&[Transform::Log]);
    for y in [0.2, 1.0, 2.2, 9.0, 400.0] {
        let found = own.continuous_ranked_probability_score(&[y])[0];
        // ∫ (F(t) − 1[t ≥ y])² dt by a midpoint rule.
        let (nodes, end) = (200_000, f64::max(60.0, 1.01 * y));
        let step = end / f64::from(nodes);
        let expected: f64 = (0..nodes)
            .map(|node| {
                let t = step * (f64::from(node) + 0.5);
                (own.cdf(&[t])[0] - f64::from(u8::from(t >= y))).powi(2) * step
            })
            .sum();
        // The midpoint rule errs by up to half a step at the jump.
        assert!(
            (found - expected).abs() < step,
            "{found}, {expected} at {y}"
        );
    }
}

#[test]
fn a_power_of_one_changes_nothing() {
    let plain = PredictiveDistribution::of_normals(vec![0.3, -2.0], vec![0.5, 2.0])
        .in_units(&[0.5], &[2.0]);
    let own = plain
        .clone()
        .transformed(&[Transform::YeoJohnson { power: 1.0 }]);
    let targets = [2.7, -0.3];
    let pairs = [
        (own.moments().0, plain.moments().0),
        (own.moments().1, plain.moments().1),
        (own.cdf(&targets), plain.cdf(&targets)),
        (own.quantile(0.1), plain.quantile(0.1)),
        (own.log_jacobian(&targets), plain.log_jacobian(&targets)),
    ];
    for (found, expected) in pairs {
        for (found, expected) in found.iter().zip(&expected) {
            // Integrals over quantiles without tails of 1e-13.
            assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
        }
    }
    let scores = [&own, &plain].map(|own| own.continuous_ranked_probability_score(&targets));
    for (found, expected) in scores[0].iter().zip(&scores[1]) {
        // Errors of fourth order in steps of six standard deviations over 200.
        assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
    }
}

/// Each output has a transformation of its own; rows may be added.
#[test]
fn outputs_and_rows() {
    let of = |means: Vec<f64>| {
        let variances = vec![0.2; means.len()];
        let own = PredictiveDistribution::of_normals(means, variances);
        own.transformed(&[Transform::Log, Transform::YeoJohnson { power: 1.0 }])
    };
    let all = of(vec![0.1, 0.2, 0.3, 0.4]);
    let (medians, expected) = (all.quantile(0.5), [0.1f64.exp(), 0.2, 0.3f64.exp(), 0.4]);
    for (found, expected) in medians.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{medians:?}");
    }
    let mut rows = of(vec![0.1, 0.2]);
    rows.append(of(vec![0.3, 0.4]));
    assert_eq!(rows, all);
    assert_eq!(all.of_function().quantile(0.5), medians);
    let noisy = || all.clone().with_noise(&[0.1; 4]);
    assert_eq!(
        message_of("noise", noisy),
        "transformed targets cannot have noise"
    );
    let twice = || all.clone().transformed(&[Transform::Log]);
    assert_eq!(
        message_of("a second transformation", twice),
        "transformed targets cannot have a transformation"
    );
}

/// A recalibration comes before or after the transformation, with the same result.
#[test]
fn recalibrated_logarithms() {
    let normals = PredictiveDistribution::of_normals(vec![0.4; 300], vec![0.36; 300]);
    let targets: Vec<f64> = (0..300)
        .map(|row| 0.7 + ((37 * row) % 300) as f64 / 200.0 - 0.75)
        .collect();
    let transformed = normals.clone().transformed(&[Transform::Log]);
    let exponentials: Vec<f64> = targets.iter().map(|target| target.exp()).collect();
    let map = Recalibration::fit(&normals, &targets).expect("300 rows");
    let same = Recalibration::fit(&transformed, &exponentials).expect("300 rows");
    let (before, after) = (normals.recalibrated(&map), transformed.recalibrated(&same));
    for p in [0.01, 0.3, 0.5, 0.9] {
        let (found, expected) = (after.quantile(p)[0], before.quantile(p)[0].exp());
        assert!(
            (found / expected - 1.0).abs() < 1e-10,
            "{p}: {found}, {expected}"
        );
    }
    let slopes = [after.log_slopes(&exponentials), before.log_slopes(&targets)];
    let differ = slopes[0]
        .iter()
        .zip(&slopes[1])
        .filter(|(found, expected)| (*found - *expected).abs() > 1e-9);
    // A target at one of up to nine knots may come to lie on its other side.
    assert!(differ.count() <= 9);
    let own = after.quantiles_at(
        &(0..300)
            .map(|node| (f64::from(node) + 0.5) / 300.0)
            .collect::<Vec<_>>(),
    );
    let mean = own.iter().sum::<f64>() / 300.0;
    // The midpoint rule with 300 nodes.
    assert!((after.moments().0[0] / mean - 1.0).abs() < 5e-3, "{mean}");
}
