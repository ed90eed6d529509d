//! Gradients of expected log densities with respect to the parameters of narrow likelihoods,
//! compared with central differences of fine integrals in double precision.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{
        AsymmetricLaplaceConfig, BetaBinomialConfig, BetaConfig, CensoredConfig, GammaConfig,
        HurdlePoissonConfig, IntervalCensoredConfig, LikelihoodConfig, NegativeBinomialConfig,
        OrdinalConfig, StudentTConfig, TargetKind, TweedieConfig, WeibullConfig,
        ZeroInflatedPoissonConfig,
    },
    parameter::hyperparameters,
    process::Marginals,
};
use libm::lgamma;

use crate::support::{
    Platform,
    formulas::{
        log_beta_binomial, log_hurdle_poisson, log_normal_between, log_normal_cdf, logistic,
        ordinal, softplus,
    },
    lines::{Line, log_sum_exp},
    module_gradients::{parameter_gradients, parameter_values, with_parameter_values},
    platforms,
};

/// A likelihood with the log density of a target as a function of its parameters.
struct Narrow {
    config: LikelihoodConfig,
    /// The log density from the parameters, y and f.
    log_density: fn(&[f64], f64, f64) -> f64,
    /// The location and width of the kink of the log density.
    focus: fn(f64) -> (f64, f64),
    targets: Vec<f64>,
}

/// The parameters are the scale and the degrees of freedom above two.
fn student_t(parameters: &[f64], y: f64, f: f64) -> f64 {
    let (scale, degrees) = (parameters[0], parameters[1]);
    lgamma((degrees + 1.0) / 2.0)
        - lgamma(degrees / 2.0)
        - 0.5 * (degrees * PI).ln()
        - scale.ln()
        - 0.5 * (degrees + 1.0) * (((y - f) / scale).powi(2) / degrees).ln_1p()
}

/// The parameters are the first cut point and the gaps between the cut points.
fn of_four(parameters: &[f64], y: f64, f: f64) -> f64 {
    let mut sum = 0.0;
    let cuts = parameters.iter().map(|gap| {
        sum += gap;
        sum
    });
    ordinal(&cuts.collect::<Vec<_>>(), y, f)
}

fn negative_binomial(parameters: &[f64], y: f64, f: f64) -> f64 {
    let size = 1.0 / parameters[0];
    let excess = f - size.ln();
    lgamma(y + size)
        - lgamma(size)
        - lgamma(y + 1.0)
        - size * softplus(excess)
        - y * softplus(-excess)
}

fn gamma(parameters: &[f64], y: f64, f: f64) -> f64 {
    let shape = parameters[0];
    shape * shape.ln() - lgamma(shape) + (shape - 1.0) * y.ln() - shape * (f + y * (-f).exp())
}

fn beta(parameters: &[f64], y: f64, f: f64) -> f64 {
    let precision = parameters[0];
    let (a, b) = (precision * logistic(f), precision * logistic(-f));
    lgamma(precision) - lgamma(a) - lgamma(b) + (a - 1.0) * y.ln() + (b - 1.0) * (-y).ln_1p()
}

fn quantile_of_errors(parameters: &[f64], y: f64, f: f64) -> f64 {
    let error = (y - f) / parameters[0];
    let quantile = parameters[1];
    let weight = if error < 0.0 {
        quantile - 1.0
    } else {
        quantile
    };
    f64::ln(quantile * (1.0 - quantile) / parameters[0]) - error * weight
}

fn weibull(parameters: &[f64], y: f64, f: f64) -> f64 {
    let shape = parameters[0];
    let power = shape * (y.ln() - f + lgamma(1.0 + 1.0 / shape));
    shape.ln() - y.ln() + power - power.exp()
}

fn zero_inflated(parameters: &[f64], y: f64, f: f64) -> f64 {
    let zeros = parameters[0];
    match y == 0.0 {
        true => (zeros + (1.0 - zeros) * (-f.exp()).exp()).ln(),
        false => (-zeros).ln_1p() + y * f - f.exp() - lgamma(y + 1.0),
    }
}

/// With limits at 0 and 2.
fn censored(parameters: &[f64], y: f64, f: f64) -> f64 {
    let noise = parameters[0];
    match y {
        0.0 => log_normal_cdf(-f / noise.sqrt()),
        2.0 => log_normal_cdf((f - 2.0) / noise.sqrt()),
        _ => -0.5 * ((y - f).powi(2) / noise + (2.0 * PI * noise).ln()),
    }
}

/// The parameters are φ and p − 1.
fn tweedie(parameters: &[f64], y: f64, f: f64) -> f64 {
    let (dispersion, above) = (parameters[0], parameters[1]);
    let below = 1.0 - above;
    let rate = (below * f).exp() / (dispersion * below);
    if y == 0.0 {
        return -rate;
    }
    let (shape, scaled) = (below / above, y * (-above * f).exp() / (dispersion * above));
    let log = rate.ln() + shape * scaled.ln();
    let terms = (1..200).map(|number| {
        let number = f64::from(number);
        number * log - lgamma(number + 1.0) - lgamma(number * shape)
    });
    log_sum_exp(&terms.collect::<Vec<_>>()) - rate - scaled - y.ln()
}

/// The number of trials of all targets that are successes.
const TRIALS: f64 = 60.0;

fn successes(parameters: &[f64], y: f64, f: f64) -> f64 {
    log_beta_binomial(y, TRIALS, f, parameters[0])
}

/// The upper limit of all targets that are intervals.
const UPPER: f64 = 2.0;

fn interval(parameters: &[f64], lower: f64, f: f64) -> f64 {
    let noise = parameters[0];
    match lower == UPPER {
        true => -0.5 * ((lower - f).powi(2) / noise + (2.0 * PI * noise).ln()),
        false => log_normal_between((lower - f) / noise.sqrt(), (UPPER - f) / noise.sqrt()),
    }
}

fn narrow_likelihoods() -> Vec<Narrow> {
    let beta_binomial = |dispersion| Narrow {
        config: BetaBinomialConfig { dispersion }.into(),
        log_density: successes,
        focus: |y| ((y.max(0.5) / (TRIALS - y).max(0.5)).ln(), 0.2),
        targets: vec![0.0, 7.0, 50.0, 60.0],
    };
    let student = |scale, degrees| {
        let config = StudentTConfig {
            scale,
            degrees_of_freedom: degrees,
            train_degrees_of_freedom: true,
        };
        Narrow {
            config: config.into(),
            log_density: student_t,
            focus: |y| (y, 0.02),
            targets: vec![0.0, 0.35, 2.0, 9.0],
        }
    };
    vec![
        student(0.02, 4.0),
        // Almost a Gaussian.
        student(0.02, 100.0),
        Narrow {
            config: OrdinalConfig { classes: 4 }.into(),
            log_density: of_four,
            focus: |_| (0.0, 1.0),
            targets: vec![0.0, 1.0, 2.0, 3.0],
        },
        Narrow {
            config: NegativeBinomialConfig { dispersion: 0.01 }.into(),
            log_density: negative_binomial,
            focus: |y| (y.max(1.0).ln(), 0.1),
            targets: vec![0.0, 7.0, 50.0],
        },
        Narrow {
            config: GammaConfig { shape: 1000.0 }.into(),
            log_density: gamma,
            focus: |y| (y.ln(), 0.03),
            targets: vec![0.1, 1.0, 10.0],
        },
        Narrow {
            config: AsymmetricLaplaceConfig {
                scale: 0.02,
                quantile: 0.9,
                train_quantile: true,
            }
            .into(),
            log_density: quantile_of_errors,
            focus: |y| (y, 0.02),
            targets: vec![0.0, 0.35, 2.0, 9.0],
        },
        Narrow {
            config: CensoredConfig {
                noise: 4e-4,
                upper: Some(2.0),
                ..Default::default()
            }
            .into(),
            log_density: censored,
            focus: |y| (y, 0.02),
            targets: vec![0.0, 0.35, 2.0],
        },
        Narrow {
            config: IntervalCensoredConfig {
                noise: 4e-4,
                ..Default::default()
            }
            .into(),
            log_density: interval,
            focus: |lower| (if lower < 0.0 { UPPER } else { lower }, 0.02),
            targets: vec![f64::NEG_INFINITY, 0.35, 1.984_375, 2.0],
        },
        Narrow {
            config: TweedieConfig {
                dispersion: 0.05,
                power: 1.4,
            }
            .into(),
            log_density: tweedie,
            focus: |y| (if y > 0.0 { y.ln() } else { -6.0 }, 0.2),
            targets: vec![0.0, 0.2, 1.0, 2.0],
        },
        Narrow {
            config: WeibullConfig { shape: 2.0 }.into(),
            log_density: weibull,
            focus: |y| (y.ln(), 0.5),
            targets: vec![0.8, 1.0, 1.2],
        },
        Narrow {
            config: ZeroInflatedPoissonConfig { zeros: 0.02 }.into(),
            log_density: zero_inflated,
            focus: |y| (y.max(1.0).ln(), 0.1),
            targets: vec![0.0, 0.0, 7.0, 50.0],
        },
        Narrow {
            config: HurdlePoissonConfig { zeros: 0.02 }.into(),
            log_density: |parameters, y, f| log_hurdle_poisson(y, f, parameters[0]),
            focus: |y| (y.max(1.0).ln(), 0.1),
            targets: vec![0.0, 0.0, 7.0, 50.0],
        },
        beta_binomial(0.002),
        beta_binomial(0.5),
        Narrow {
            config: BetaConfig { precision: 1000.0 }.into(),
            log_density: beta,
            focus: |y| (y.ln() - (-y).ln_1p(), 0.03),
            targets: vec![0.01, 0.5, 0.9],
        },
    ]
}

/// The reference integrals, summed over the rows.
fn integral(narrow: &Narrow, parameters: &[f64], (mean, deviation): (f64, f64)) -> f64 {
    let row = |&target: &f64| {
        let foci = vec![(narrow.focus)(target)];
        let line = Line {
            mean,
            deviation,
            foci,
        };
        let terms = line.nodes().into_iter().filter(|(_, log)| *log > -60.0);
        let terms = terms.map(|(f, log)| log.exp() * (narrow.log_density)(parameters, target, f));
        terms.sum::<f64>()
    };
    narrow.targets.iter().map(row).sum()
}

/// The gradient of the library's sum over the rows with respect to every raw parameter.
fn slopes(narrow: &Narrow, platform: &Platform, (mean, deviation): (f64, f64)) -> Vec<f64> {
    let tracked = platform.autodiff();
    let likelihood = narrow.config.init(tracked.options());
    let shape = [narrow.targets.len(), 1];
    let all = |value: f64| tracked.tensor(&vec![value; shape[0]], shape);
    let marginals = Marginals {
        mean: all(mean),
        variance: all(deviation * deviation),
    };
    let targets = tracked.tensor(&narrow.targets, shape);
    let targets = match narrow.config.target() {
        TargetKind::Successes => Tensor::cat(vec![targets, all(TRIALS)], 1),
        TargetKind::Intervals => Tensor::cat(vec![targets, all(UPPER)], 1),
        _ => targets,
    };
    let expected = likelihood.expected_log_density(targets, marginals);
    let gradients = expected.sum().backward();
    parameter_gradients(&likelihood, &gradients).concat()
}

/// The reference gradient. Its parameters are those that the library reports for raw parameters
/// next to its own.
fn exact_slopes(narrow: &Narrow, platform: &Platform, function: (f64, f64)) -> Vec<f64> {
    let likelihood = narrow.config.init(platform.options());
    let raw = parameter_values(&likelihood);
    let at = |block: usize, index: usize, change: f64| {
        let mut raw = raw.clone();
        raw[block][index] += change;
        let moved = with_parameter_values(likelihood.clone(), &raw);
        let reported = hyperparameters(&moved).into_iter();
        let parameters: Vec<f64> = reported.flat_map(|parameter| parameter.values).collect();
        integral(narrow, &parameters, function)
    };
    let blocks = raw.iter().enumerate();
    let places = blocks.flat_map(|(block, values)| (0..values.len()).map(move |i| (block, i)));
    let step = 1e-4;
    places
        .map(|(block, index)| (at(block, index, step) - at(block, index, -step)) / (2.0 * step))
        .collect()
}

#[test]
fn slopes_in_the_parameters_of_narrow_likelihoods() {
    let double = &platforms()[0];
    assert!(double.is_double());
    let mut wrong = Vec::new();
    for narrow in narrow_likelihoods() {
        for function in [(0.0, 0.03), (0.0, 0.3), (1.0, 1.0), (0.5, 3.0)] {
            let exact = exact_slopes(&narrow, double, function);
            let largest = exact
                .iter()
                .fold(0.0f64, |largest, slope| largest.max(slope.abs()));
            for platform in platforms() {
                let found = slopes(&narrow, &platform, function);
                assert_eq!(found.len(), exact.len());
                for (index, (found, exact)) in found.iter().zip(&exact).enumerate() {
                    // The rounding error scales with the largest gradient. The second term covers
                    // gradients of rows that cancel.
                    let rounding = platform.tolerance(1e-6, 1e-4) * largest;
                    let rounding = rounding + platform.tolerance(1e-9, 1e-6);
                    let allowed = 1e-3 * exact.abs() + rounding;
                    // NaN must fail.
                    #[allow(clippy::neg_cmp_op_on_partial_ord)]
                    if !((found - exact).abs() <= allowed) {
                        wrong.push(format!(
                            "{:?} on {platform}, function {function:?}, parameter {index}: {found}, \
                             expected {exact}",
                            narrow.config
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
