//! Quantiles and intervals of new targets: simulated coverage, brute force and closed forms.

use burn_gp_core::{
    likelihoods::{
        AnyLikelihood, BetaConfig, CensoredConfig, GammaConfig, Gaussian, Interval,
        LikelihoodConfig, NegativeBinomialConfig, PredictiveDistribution, StudentTConfig, Support,
        TargetKind, TweedieConfig,
    },
    process::Marginals,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::support::{
    Platform, Random, double_precision_platforms, first_platform,
    likelihood_cases::{Case, registry},
    platforms,
};

/// The number of rows. One target is drawn per row. The distribution of a sum of a random number of variables takes a
/// hundred times as long as the others.
fn draws(case: &Case) -> usize {
    if case.config.name() == "tweedie" {
        200
    } else {
        2500
    }
}

const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];

/// Whether the targets of a likelihood are ordered.
fn is_ordered(case: &Case) -> bool {
    let target = case.config.target();
    !matches!(target, TargetKind::TwoClasses | TargetKind::Classes)
}

/// The cases of the registry, and cases whose noise is narrow or wide relative to the functions.
pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = registry().into_iter().filter(is_ordered).collect();
    let more: Vec<(&'static str, &'static str, LikelihoodConfig)> = vec![
        (
            "student-t",
            "student-t with a narrow scale",
            StudentTConfig {
                scale: 0.01,
                degrees_of_freedom: 2.3,
                train_degrees_of_freedom: false,
            }
            .into(),
        ),
        (
            "student-t",
            "student-t with a wide scale",
            StudentTConfig {
                scale: 30.0,
                degrees_of_freedom: 3.0,
                train_degrees_of_freedom: true,
            }
            .into(),
        ),
        (
            "censored",
            "a lower limit and little noise",
            CensoredConfig {
                noise: 1e-4,
                lower: Some(0.3),
                upper: None,
                ..Default::default()
            }
            .into(),
        ),
        (
            "censored",
            "an upper limit and much noise",
            CensoredConfig {
                noise: 9.0,
                lower: None,
                upper: Some(0.3),
                ..Default::default()
            }
            .into(),
        ),
        (
            "tweedie",
            "a tweedie with many events",
            TweedieConfig {
                dispersion: 1e-3,
                power: 1.6,
            }
            .into(),
        ),
        (
            "tweedie",
            "a tweedie with few events",
            TweedieConfig {
                dispersion: 5.0,
                power: 1.7,
            }
            .into(),
        ),
        ("gamma", "a narrow gamma", GammaConfig { shape: 1e4 }.into()),
        ("gamma", "a wide gamma", GammaConfig { shape: 0.05 }.into()),
        (
            "negative-binomial",
            "a negative binomial with little dispersion",
            NegativeBinomialConfig { dispersion: 1e-5 }.into(),
        ),
        (
            "negative-binomial",
            "a negative binomial with much dispersion",
            NegativeBinomialConfig { dispersion: 20.0 }.into(),
        ),
        (
            "beta",
            "a narrow beta",
            BetaConfig { precision: 1e4 }.into(),
        ),
        ("beta", "a wide beta", BetaConfig { precision: 2.0 }.into()),
    ];
    for (like, name, config) in more {
        if let Some(case) = registry().into_iter().find(|case| case.name == like) {
            cases.push(Case {
                name,
                config,
                ..case
            });
        }
    }
    cases
}

/// Means and variances of the functions of `rows` rows. The variances range from 1e-4 to about 2.
pub(super) fn functions(rows: usize, latents: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let means = random.normals(rows * latents);
    let logarithms = random.uniforms(rows * latents, 1e-4f64.ln(), 2f64.ln());
    (means, logarithms.iter().map(|log| log.exp()).collect())
}

pub(super) fn marginals(
    platform: &Platform,
    (means, variances): &(Vec<f64>, Vec<f64>),
    latents: usize,
) -> Marginals {
    let shape = [means.len() / latents, latents];
    Marginals {
        mean: platform.tensor(means, shape),
        variance: platform.tensor(variances, shape),
    }
}

/// A mixture of `components` with equal weights and `rows` rows, and one target per row.
pub(super) fn simulated(
    case: &Case,
    platform: &Platform,
    components: usize,
    rows: usize,
) -> (PredictiveDistribution, Vec<f64>) {
    let likelihood: AnyLikelihood = case.init(platform);
    let parts: Vec<_> = (0..components)
        .map(|index| functions(rows, case.latents, 71 + index as u64))
        .collect();
    let all: Vec<Marginals> = (parts.iter())
        .map(|part| marginals(platform, part, case.latents))
        .collect();
    let distribution = likelihood.predictive_distribution(&all);
    let distribution = distribution.unwrap_or_else(|| panic!("{} has no quantiles", case.name));
    assert_eq!(distribution.len(), rows);
    let (mut random, mut chooser) = (Random::new(89), ChaCha8Rng::seed_from_u64(97));
    let mut values = Vec::with_capacity(rows * case.latents);
    for row in 0..rows {
        let (means, variances) = &parts[chooser.random_range(0..components)];
        for latent in 0..case.latents {
            let index = row * case.latents + latent;
            values.push(means[index] + variances[index].sqrt() * random.normal());
        }
    }
    let function = platform.tensor(&values, [1, rows, case.latents]);
    let drawn = likelihood.sample(function, &mut chooser);
    (distribution, crate::support::numbers(drawn))
}

pub(super) fn support_of(case: &Case, platform: &Platform) -> Support {
    let target = case.init(platform).target_distribution();
    target.expect("ordered targets").support()
}

fn share(count: usize, draws: usize) -> f64 {
    count as f64 / draws as f64
}

/// Five standard errors of the fraction of draws in an interval.
fn sampling_error(level: f64, draws: usize) -> f64 {
    5.0 * (level * (1.0 - level) / draws as f64).sqrt()
}

fn covered(interval: &Interval, targets: &[f64]) -> f64 {
    let ends = interval.lower.iter().zip(&interval.upper);
    let inside = |&(y, (lower, upper)): &(&f64, (&f64, &f64))| lower <= y && y <= upper;
    share(
        targets.iter().zip(ends).filter(inside).count(),
        targets.len(),
    )
}

/// Whether a number is a possible target.
fn is_in(support: Support, value: f64) -> bool {
    match support {
        Support::Reals => value.is_finite(),
        Support::Positive => value > 0.0 && value.is_finite(),
        Support::NonNegative => value >= 0.0 && value.is_finite(),
        Support::Within(lower, upper) => (lower..=upper).contains(&value) && value.is_finite(),
        Support::UnitInterval => value > 0.0 && value < 1.0,
        Support::Counts => value >= 0.0 && value.fract() == 0.0,
        Support::Labels(classes) => (0..classes).any(|label| value == label as f64),
    }
}

/// Whether single targets have positive probabilities.
fn has_atoms(support: Support) -> bool {
    let is_cut_off = matches!(support, Support::NonNegative | Support::Within(..));
    support.is_discrete() || is_cut_off
}

/// A number below a target, with no possible target between them; the target itself if it has no probability of its own.
fn just_below(support: Support, target: f64) -> f64 {
    match support {
        Support::Counts | Support::Labels(_) => target - 1.0,
        Support::NonNegative if target == 0.0 => -1.0,
        // The distribution allows for the rounding of limits in other units.
        Support::Within(lower, upper) if target == lower || target == upper => target - 1e-8,
        _ => target,
    }
}

/// Whether rounding to the nearest number changes the distribution function. It does near an end of
/// the support where the density is unbounded.
fn is_at_an_end(support: Support, value: f64) -> bool {
    match support {
        Support::Positive | Support::NonNegative => value < 1e-300,
        Support::UnitInterval => !(1e-300..=1.0 - 1e-6).contains(&value),
        _ => false,
    }
}

/// Checks that intervals cover their nominal fraction of the targets. Intervals of integers may
/// cover more because of the steps of the distribution function: with ties broken at random, the
/// probability integral transform is uniform.
fn check_coverage(case: &Case, platform: &Platform, components: usize) {
    let what = format!("{} on {platform}, {components} components", case.name);
    let (distribution, targets) = simulated(case, platform, components, draws(case));
    let support = support_of(case, platform);
    let levels = distribution.central_level(&targets);
    for level in LEVELS {
        let interval = distribution.interval(level);
        for ends in interval.lower.iter().zip(&interval.upper) {
            assert!(
                ends.0 <= ends.1 && is_in(support, *ends.0) && is_in(support, *ends.1),
                "{what}: an interval of {level} from {} to {}",
                ends.0,
                ends.1
            );
        }
        let found = covered(&interval, &targets);
        let allowed = sampling_error(level, targets.len());
        let excess = found - level;
        assert!(
            excess >= -allowed && (has_atoms(support) || excess <= allowed),
            "{what}: intervals of {level} hold {found}"
        );
        // The same coverage from the distribution functions of the targets.
        let within = levels.iter().filter(|&&least| least <= level).count();
        let within = share(within, targets.len());
        assert!(
            (within - found).abs() <= 2.0 / targets.len() as f64,
            "{what}: {within} by levels, {found} by intervals of {level}"
        );
    }
    let mut random = ChaCha8Rng::seed_from_u64(101);
    let below: Vec<f64> = (targets.iter())
        .map(|&target| just_below(support, target))
        .collect();
    let at = distribution.cdf(&targets);
    let before = if has_atoms(support) {
        distribution.cdf(&below)
    } else {
        at.clone()
    };
    let uniform: Vec<f64> = (before.iter().zip(&at))
        .map(|(before, at)| before + (at - before) * random.random::<f64>())
        .collect();
    for edge in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
        let found = uniform.iter().filter(|&&value| value <= edge).count();
        let found = share(found, targets.len());
        assert!(
            (found - edge).abs() <= sampling_error(edge, targets.len()),
            "{what}: the transform is at most {edge} for {found}"
        );
    }
}

/// The distribution is computed on the host, in double precision, on every platform.
#[test]
fn intervals_cover_what_they_say() {
    let Some(platform) = &first_platform() else {
        return;
    };
    for case in cases() {
        check_coverage(&case, platform, 1);
    }
}

#[test]
fn intervals_of_mixtures_cover_what_they_say() {
    let Some(platform) = &first_platform() else {
        return;
    };
    for case in registry().into_iter().filter(is_ordered) {
        check_coverage(&case, platform, 3);
    }
}

#[test]
fn labels_without_order_have_no_quantiles() {
    for case in registry().into_iter().filter(|case| !is_ordered(case)) {
        for platform in double_precision_platforms() {
            let likelihood = case.init(&platform);
            assert!(likelihood.target_distribution().is_none(), "{}", case.name);
        }
    }
}

/// The distribution function is that of the first platform, in double precision. In single precision, means,
/// variances and parameters are rounded, which counts most where a likelihood is narrow.
#[test]
fn quantiles_invert_the_distribution_function() {
    let reference = &double_precision_platforms()[0];
    for case in cases() {
        for platform in platforms() {
            let rows = if platform.is_double() { 40 } else { 12 };
            let (exact, _) = simulated(&case, reference, 2, rows);
            let (distribution, _) = simulated(&case, &platform, 2, rows);
            let support = support_of(&case, &platform);
            let tolerance = platform.tolerance(1e-9, 1e-4);
            for p in [1e-4, 0.025, 0.3, 0.5, 0.9, 0.999] {
                let quantiles = distribution.quantile(p);
                let found = exact.cdf(&quantiles);
                let below: Vec<f64> = (quantiles.iter())
                    .map(|&value| just_below(support, value))
                    .collect();
                let below = exact.cdf(&below);
                for (index, (&at, &before)) in found.iter().zip(&below).enumerate() {
                    let what = format!("{} on {platform}, {p}: {}", case.name, quantiles[index]);
                    let is_atom = just_below(support, quantiles[index]) < quantiles[index];
                    if is_atom {
                        let rounding = platform.tolerance(0.0, tolerance);
                        let holds = at >= p - rounding && before < p + rounding;
                        assert!(holds, "{what}: {before} to {at}");
                    } else if !is_at_an_end(support, quantiles[index]) {
                        assert!((at - p).abs() < tolerance, "{what}: {at}");
                    }
                }
            }
        }
    }
}

/// A closed form for one Gaussian, and bisection on a sum of error functions for several.
#[test]
fn gaussian_quantiles() {
    const QUANTILES: [(f64, f64); 4] = [
        (0.5, 0.0),
        (0.25, -0.674_489_750_196_081_7),
        (0.975, 1.959_963_984_540_054),
        (0.001, -3.090_232_306_167_813_5),
    ];
    for platform in double_precision_platforms() {
        let likelihood = AnyLikelihood::from(Gaussian::new(0.3, platform.options()));
        let rows = 50;
        let parts: Vec<_> = (0..4).map(|index| functions(rows, 1, 7 + index)).collect();
        let all: Vec<Marginals> = (parts.iter())
            .map(|part| marginals(&platform, part, 1))
            .collect();
        let one = likelihood.predictive_distribution(&all[..1]).unwrap();
        let four = likelihood.predictive_distribution(&all).unwrap();
        for (p, standard) in QUANTILES {
            let (single, mixed) = (one.quantile(p), four.quantile(p));
            for row in 0..rows {
                let deviation = |part: usize| (parts[part].1[row] + 0.3).sqrt();
                let expected = parts[0].0[row] + standard * deviation(0);
                assert!(
                    (single[row] - expected).abs() < 1e-9,
                    "{p}: {}",
                    single[row]
                );
                let (mut low, mut high) = (-100.0, 100.0);
                for _ in 0..100 {
                    let middle = 0.5 * (low + high);
                    let terms = (0..4).map(|part| {
                        let distance = (middle - parts[part].0[row]) / deviation(part);
                        0.5 * libm::erfc(-distance / 2f64.sqrt())
                    });
                    if terms.sum::<f64>() < 4.0 * p {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                assert!(
                    (mixed[row] - low).abs() < 1e-9,
                    "{p}: {}, {low}",
                    mixed[row]
                );
            }
        }
    }
}

/// With extreme functions the search ends and stays within the support.
#[test]
fn extreme_functions() {
    for case in cases() {
        for platform in platforms() {
            let extreme = [-80.0, 80.0, 0.0, 0.0, 30.0];
            let spreads = [1e-30, 0.0, 2.5e3, 1e-12, 1.0];
            let repeated = |values: &[f64]| -> Vec<f64> {
                (values.iter())
                    .flat_map(|&value| vec![value; case.latents])
                    .collect()
            };
            let moments = (repeated(&extreme), repeated(&spreads));
            let likelihood = case.init(&platform);
            let own = marginals(&platform, &moments, case.latents);
            let distribution = likelihood.predictive_distribution(&[own]).unwrap();
            let support = likelihood.target_distribution().unwrap().support();
            for p in [1e-6, 0.025, 0.5, 0.975, 1.0 - 1e-6] {
                for quantile in distribution.quantile(p) {
                    let ends = support != Support::Reals && quantile == 0.0;
                    assert!(
                        is_in(support, quantile) || ends,
                        "{} on {platform}, {p}: {quantile}",
                        case.name
                    );
                }
            }
            let none = (vec![f64::NAN; case.latents], vec![1.0; case.latents]);
            let none = marginals(&platform, &none, case.latents);
            let nothing = likelihood.predictive_distribution(&[none]).unwrap();
            if !matches!(support, Support::Labels(_)) {
                assert!(nothing.quantile(0.3)[0].is_nan(), "{}", case.name);
            }
        }
    }
}

/// The noise of measurements is added to the function, which has none itself.
#[test]
fn noise_of_measurements() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-12, 1e-6);
        let likelihood = LikelihoodConfig::fixed_noise().init(platform.options());
        let own = marginals(&platform, &(vec![1.0, 2.0], vec![0.25, 0.5]), 1);
        let exact = likelihood.predictive_distribution(&[own]).unwrap();
        let noisy = exact.clone().with_noise(&[0.75, 0.0]);
        let width = |distribution: &PredictiveDistribution, row: usize| {
            let interval = distribution.interval(0.95);
            interval.upper[row] - interval.lower[row]
        };
        assert!((width(&noisy, 0) - 2.0 * width(&exact, 0)).abs() < 4.0 * tolerance);
        assert_eq!(width(&noisy, 1), width(&exact, 1));
        assert_eq!(noisy.of_function().interval(0.5), noisy.interval(0.5));
    }
}
