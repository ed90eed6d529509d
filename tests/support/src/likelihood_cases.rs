//! Every likelihood, with naive formulas in plain Rust that share no code with the library.

mod beta;
mod dirichlet;
mod hurdle;
mod intervals;
mod second_columns;
mod successes;

use std::f64::consts::PI;

use burn_gp_core::{
    likelihoods::{
        AnyLikelihood, AsymmetricLaplaceConfig, CensoredConfig, GammaConfig, GaussianConfig,
        HeteroskedasticConfig, LikelihoodConfig, LogNormalConfig, NegativeBinomialConfig,
        OrdinalConfig, RobustMaxConfig, SoftmaxConfig, StudentTConfig, TweedieConfig,
        WeibullConfig, ZeroInflatedPoissonConfig,
    },
    process::Marginals,
};
use libm::lgamma;

use beta::beta;
use dirichlet::dirichlet;
use hurdle::hurdle;
use intervals::intervals;
pub use second_columns::in_columns;
use successes::successes;

use crate::{
    Platform, Random,
    formulas::{logistic, normal_cdf},
    platforms,
};

/// The number of rows of every case.
pub const ROWS: usize = 5;

/// A likelihood with targets and the expected results.
pub struct Case {
    pub name: &'static str,
    pub config: LikelihoodConfig,
    /// The target columns of one output, row by row.
    pub targets: Vec<f64>,
    /// A target column and a finite value that is not a possible target in it.
    pub impossible: Vec<(usize, f64)>,
    /// The number of latent functions of an output.
    pub latents: usize,
    /// `log p(y | f)` from the target columns and functions of one output.
    pub log_density: fn(&[f64], &[f64]) -> f64,
    /// The mean and variance of each component of `y`, given the functions.
    pub moments: fn(&[f64]) -> Vec<(f64, f64)>,
    /// The error bound of the library's own quadrature.
    pub quadrature_error: f64,
}

impl Case {
    /// The number of target columns of an output.
    pub fn columns(&self) -> usize {
        self.targets.len() / ROWS
    }

    /// The targets of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        let columns = self.columns();
        &self.targets[row * columns..(row + 1) * columns]
    }

    /// Means and variances of the functions, `[ROWS, latents]`, row-major, from almost certain to
    /// vague.
    pub fn moments_of_functions(&self) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(191);
        let count = ROWS * self.latents;
        let means = random.normals(count);
        (means, random.uniforms(count, 0.05, 0.7))
    }

    /// The same marginals as tensors on a platform.
    pub fn marginals(&self, platform: &Platform) -> Marginals {
        let (means, variances) = self.moments_of_functions();
        Marginals {
            mean: platform.tensor(&means, [ROWS, self.latents]),
            variance: platform.tensor(&variances, [ROWS, self.latents]),
        }
    }

    pub fn init(&self, platform: &Platform) -> AnyLikelihood {
        self.config.init(platform.options())
    }

    /// Whether the log density is a smooth function of `f`.
    pub fn is_smooth(&self) -> bool {
        self.init(&platforms()[0]).description().is_smooth
    }
}

fn log_normal(error: f64, variance: f64) -> f64 {
    -0.5 * (error * error / variance + (2.0 * PI * variance).ln())
}

fn bernoulli(label: f64, probability: f64) -> f64 {
    (if label == 1.0 {
        probability
    } else {
        1.0 - probability
    })
    .ln()
}

/// Means and variances of indicator variables with the given probabilities.
fn indicators(probabilities: &[f64]) -> Vec<(f64, f64)> {
    probabilities.iter().map(|&p| (p, p * (1.0 - p))).collect()
}

fn softmax(f: &[f64]) -> Vec<f64> {
    let sum: f64 = f.iter().map(|f| f.exp()).sum();
    f.iter().map(|f| f.exp() / sum).collect()
}

const EPSILON: f64 = 0.01;

fn robust_max(f: &[f64]) -> Vec<f64> {
    let largest = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let other = EPSILON / (f.len() - 1) as f64;
    f.iter()
        .map(|&f| if f == largest { 1.0 - EPSILON } else { other })
        .collect()
}

/// For the four labels of its case, with equal initial probabilities: quartiles of the standard
/// normal.
fn ordinal(f: f64) -> Vec<f64> {
    const QUARTILE: f64 = 0.674_489_750_196_081_7;
    let cuts = [f64::NEG_INFINITY, -QUARTILE, 0.0, QUARTILE, f64::INFINITY];
    (cuts.windows(2))
        .map(|pair| normal_cdf(pair[1] - f) - normal_cdf(pair[0] - f))
        .collect()
}

fn ordinal_moments(f: &[f64]) -> Vec<(f64, f64)> {
    let probabilities = ordinal(f[0]);
    let moment = |power: i32| -> f64 {
        let terms = probabilities.iter().enumerate();
        terms.map(|(label, p)| (label as f64).powi(power) * p).sum()
    };
    vec![(moment(1), moment(2) - moment(1).powi(2))]
}

/// The limits of the censored case.
const LIMITS: (f64, f64) = (-0.5, 1.5);

fn log_density_of_censored(y: f64, f: f64) -> f64 {
    let deviation = 0.7f64.sqrt();
    let (lower, upper) = LIMITS;
    if y == lower {
        normal_cdf((lower - f) / deviation).ln()
    } else if y == upper {
        normal_cdf((f - upper) / deviation).ln()
    } else {
        log_normal(y - f, 0.7)
    }
}

/// The moments of a normal variable between limits, from those of the truncated one.
fn moments_of_censored(f: f64) -> (f64, f64) {
    let (deviation, (lower, upper)) = (0.7f64.sqrt(), LIMITS);
    let (a, b) = ((lower - f) / deviation, (upper - f) / deviation);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    let (low, high) = (normal_cdf(a), normal_cdf(-b));
    let inside = 1.0 - low - high;
    let first = f * inside + deviation * (density(a) - density(b));
    let second = (f * f + 0.7) * inside
        + 2.0 * f * deviation * (density(a) - density(b))
        + 0.7 * (a * density(a) - b * density(b));
    let mean = lower * low + upper * high + first;
    let square = lower * lower * low + upper * upper * high + second;
    (mean, square - mean * mean)
}

/// The sum over the number of gamma variables, for dispersion 0.6 and power 1.4.
fn log_density_of_tweedie(y: f64, f: f64) -> f64 {
    let (dispersion, power, mean) = (0.6, 1.4, f.exp());
    let rate = mean.powf(2.0 - power) / (dispersion * (2.0 - power));
    if y == 0.0 {
        return -rate;
    }
    let shape = (2.0 - power) / (power - 1.0);
    let scale = dispersion * (power - 1.0) * mean.powf(power - 1.0);
    let terms = (1..200).map(|number| {
        let number = f64::from(number);
        let own = number * shape;
        let gamma = (own - 1.0) * y.ln() - y / scale - own * scale.ln() - lgamma(own);
        (number * rate.ln() - rate - lgamma(number + 1.0) + gamma).exp()
    });
    terms.sum::<f64>().ln()
}

/// Exact up to rounding.
const EXACT: f64 = 1e-10;

const REALS: [f64; ROWS] = [0.4, -1.0, 2.0, 0.8, 2.9];
const LABELS: [f64; ROWS] = [0.0, 1.0, 1.0, 0.0, 1.0];
const COUNTS: [f64; ROWS] = [0.0, 1.0, 4.0, 2.0, 11.0];

pub fn registry() -> Vec<Case> {
    let mut cases = real_numbers();
    cases.extend(labels());
    cases.extend(counts());
    cases.extend(positive_numbers());
    cases.extend(successes());
    cases.push(dirichlet());
    cases.push(hurdle());
    cases.push(intervals());
    cases
}

fn real_numbers() -> Vec<Case> {
    vec![
        Case {
            name: "gaussian",
            config: GaussianConfig { noise: 0.8 }.into(),
            targets: REALS.to_vec(),
            impossible: vec![],
            latents: 1,
            log_density: |y, f| log_normal(y[0] - f[0], 0.8),
            moments: |f| vec![(f[0], 0.8)],
            quadrature_error: EXACT,
        },
        Case {
            name: "censored",
            config: CensoredConfig {
                noise: 0.7,
                lower: Some(LIMITS.0),
                upper: Some(LIMITS.1),
                ..Default::default()
            }
            .into(),
            targets: vec![0.4, -0.5, 1.5, 0.8, 1.4],
            impossible: vec![(0, -0.75), (0, 2.0)],
            latents: 1,
            log_density: |y, f| log_density_of_censored(y[0], f[0]),
            moments: |f| vec![moments_of_censored(f[0])],
            quadrature_error: 1e-8,
        },
        Case {
            name: "fixed-noise",
            config: LikelihoodConfig::fixed_noise(),
            targets: vec![0.4, 0.3, -1.0, 0.9, 2.0, 0.5, 0.8, 2.0, 2.9, 1.5],
            impossible: vec![(1, 0.0), (1, -0.5)],
            latents: 1,
            log_density: |y, f| log_normal(y[0] - f[0], y[1]),
            moments: |f| vec![(f[0], 0.0)],
            quadrature_error: EXACT,
        },
        Case {
            name: "heteroskedastic",
            config: HeteroskedasticConfig { noise: 0.6 }.into(),
            targets: REALS.to_vec(),
            impossible: vec![],
            latents: 2,
            log_density: |y, f| log_normal(y[0] - f[0], 0.6 * f[1].exp()),
            moments: |f| vec![(f[0], 0.6 * f[1].exp())],
            quadrature_error: 1e-8,
        },
        Case {
            name: "student-t",
            config: StudentTConfig {
                scale: 0.9,
                degrees_of_freedom: 8.0,
                train_degrees_of_freedom: true,
            }
            .into(),
            targets: REALS.to_vec(),
            impossible: vec![],
            latents: 1,
            log_density: |y, f| {
                let (scale, degrees) = (0.9f64, 8.0);
                let squares = ((y[0] - f[0]) / scale).powi(2) / degrees;
                lgamma(4.5)
                    - lgamma(4.0)
                    - 0.5 * (degrees * PI).ln()
                    - scale.ln()
                    - 4.5 * (1.0 + squares).ln()
            },
            moments: |f| vec![(f[0], 0.81 * 8.0 / 6.0)],
            quadrature_error: 1e-6,
        },
        Case {
            name: "asymmetric-laplace",
            config: AsymmetricLaplaceConfig {
                scale: 0.5,
                quantile: 0.3,
                train_quantile: true,
            }
            .into(),
            targets: REALS.to_vec(),
            impossible: vec![],
            latents: 1,
            log_density: |y, f| {
                let error = (y[0] - f[0]) / 0.5;
                let loss = error * if error < 0.0 { -0.7 } else { 0.3 };
                (0.3 * 0.7 / 0.5f64).ln() - loss
            },
            moments: |f| {
                let mean = 0.5 * (1.0 - 0.6) / 0.21;
                vec![(f[0] + mean, 0.25 * (1.0 - 0.6 + 0.18) / (0.21 * 0.21))]
            },
            quadrature_error: 1e-6,
        },
    ]
}

fn labels() -> Vec<Case> {
    let not_labels = |classes: f64| vec![(0, -1.0), (0, 0.5), (0, classes)];
    vec![
        Case {
            name: "bernoulli",
            config: LikelihoodConfig::bernoulli(),
            targets: LABELS.to_vec(),
            impossible: not_labels(2.0),
            latents: 1,
            log_density: |y, f| bernoulli(y[0], normal_cdf(f[0])),
            moments: |f| indicators(&[normal_cdf(f[0])]),
            quadrature_error: 1e-8,
        },
        Case {
            name: "bernoulli-logit",
            config: LikelihoodConfig::bernoulli_logit(),
            targets: LABELS.to_vec(),
            impossible: not_labels(2.0),
            latents: 1,
            log_density: |y, f| bernoulli(y[0], logistic(f[0])),
            moments: |f| indicators(&[logistic(f[0])]),
            quadrature_error: 1e-8,
        },
        Case {
            name: "softmax",
            config: SoftmaxConfig::new(3).into(),
            targets: vec![0.0, 2.0, 1.0, 1.0, 2.0],
            impossible: not_labels(3.0),
            latents: 3,
            log_density: |y, f| softmax(f)[y[0] as usize].ln(),
            moments: |f| indicators(&softmax(f)),
            quadrature_error: 1e-4,
        },
        Case {
            name: "robust-max",
            config: RobustMaxConfig {
                epsilon: EPSILON,
                ..RobustMaxConfig::new(3)
            }
            .into(),
            targets: vec![0.0, 2.0, 1.0, 1.0, 2.0],
            impossible: not_labels(3.0),
            latents: 3,
            log_density: |y, f| robust_max(f)[y[0] as usize].ln(),
            moments: |f| indicators(&robust_max(f)),
            quadrature_error: 2e-3,
        },
        Case {
            name: "ordinal",
            config: OrdinalConfig { classes: 4 }.into(),
            targets: vec![0.0, 3.0, 1.0, 2.0, 1.0],
            impossible: not_labels(4.0),
            latents: 1,
            log_density: |y, f| ordinal(f[0])[y[0] as usize].ln(),
            moments: ordinal_moments,
            quadrature_error: 1e-8,
        },
    ]
}

fn counts() -> Vec<Case> {
    vec![
        Case {
            name: "poisson",
            config: LikelihoodConfig::poisson(),
            targets: COUNTS.to_vec(),
            impossible: vec![(0, -1.0), (0, 0.5)],
            latents: 1,
            log_density: |y, f| y[0] * f[0] - f[0].exp() - lgamma(y[0] + 1.0),
            moments: |f| vec![(f[0].exp(), f[0].exp())],
            quadrature_error: 1e-6,
        },
        Case {
            name: "negative-binomial",
            config: NegativeBinomialConfig { dispersion: 0.4 }.into(),
            targets: COUNTS.to_vec(),
            impossible: vec![(0, -1.0), (0, 0.5)],
            latents: 1,
            log_density: |y, f| {
                let (size, mean) = (2.5, f[0].exp());
                lgamma(y[0] + size) - lgamma(size) - lgamma(y[0] + 1.0)
                    + size * (size / (size + mean)).ln()
                    + y[0] * (mean / (size + mean)).ln()
            },
            moments: |f| {
                let mean = f[0].exp();
                vec![(mean, mean + 0.4 * mean * mean)]
            },
            quadrature_error: 1e-6,
        },
        Case {
            name: "zero-inflated-poisson",
            config: ZeroInflatedPoissonConfig { zeros: 0.3 }.into(),
            targets: COUNTS.to_vec(),
            impossible: vec![(0, -1.0), (0, 0.5)],
            latents: 1,
            log_density: |y, f| match y[0] == 0.0 {
                true => (0.3 + 0.7 * (-f[0].exp()).exp()).ln(),
                false => 0.7f64.ln() + y[0] * f[0] - f[0].exp() - lgamma(y[0] + 1.0),
            },
            moments: |f| {
                let mean = 0.7 * f[0].exp();
                let square = 0.7 * (f[0].exp() + (2.0 * f[0]).exp());
                vec![(mean, square - mean * mean)]
            },
            quadrature_error: 1e-6,
        },
    ]
}

fn positive_numbers() -> Vec<Case> {
    vec![
        Case {
            name: "exponential",
            config: LikelihoodConfig::exponential(),
            targets: vec![0.0, 0.5, 1.7, 3.0, 0.2],
            impossible: vec![(0, -0.125)],
            latents: 1,
            log_density: |y, f| -f[0] - y[0] / f[0].exp(),
            moments: |f| vec![(f[0].exp(), (2.0 * f[0]).exp())],
            quadrature_error: 1e-6,
        },
        Case {
            name: "gamma",
            config: GammaConfig { shape: 3.0 }.into(),
            targets: vec![0.1, 0.5, 1.7, 3.0, 0.9],
            impossible: vec![(0, 0.0), (0, -0.125)],
            latents: 1,
            log_density: |y, f| {
                let scale = f[0].exp() / 3.0;
                2.0 * y[0].ln() - y[0] / scale - lgamma(3.0) - 3.0 * scale.ln()
            },
            moments: |f| vec![(f[0].exp(), (2.0 * f[0]).exp() / 3.0)],
            quadrature_error: 1e-4,
        },
        Case {
            name: "tweedie",
            config: TweedieConfig {
                dispersion: 0.6,
                power: 1.4,
            }
            .into(),
            targets: vec![0.0, 0.5, 1.7, 0.0, 4.2],
            impossible: vec![(0, -0.125)],
            latents: 1,
            log_density: |y, f| log_density_of_tweedie(y[0], f[0]),
            moments: |f| vec![(f[0].exp(), 0.6 * (1.4 * f[0]).exp())],
            quadrature_error: 1e-6,
        },
        Case {
            name: "weibull",
            config: WeibullConfig { shape: 2.0 }.into(),
            targets: vec![0.1, 0.5, 1.7, 3.0, 0.9],
            impossible: vec![(0, 0.0), (0, -0.125)],
            latents: 1,
            log_density: |y, f| {
                // Γ(3/2) = √π/2
                let ratio = y[0] / (2.0 * f[0].exp() / PI.sqrt());
                (2.0 / y[0]).ln() + 2.0 * ratio.ln() - ratio * ratio
            },
            moments: |f| {
                let mean = f[0].exp();
                vec![(mean, mean * mean * (4.0 / PI - 1.0))]
            },
            quadrature_error: 1e-4,
        },
        Case {
            name: "log-normal",
            config: LogNormalConfig { noise: 0.4 }.into(),
            targets: vec![0.1, 0.5, 1.7, 3.0, 0.9],
            impossible: vec![(0, 0.0), (0, -0.125)],
            latents: 1,
            log_density: |y, f| log_normal(y[0].ln() - f[0], 0.4) - y[0].ln(),
            moments: |f| {
                let mean = (f[0] + 0.2).exp();
                vec![(mean, mean * mean * (0.4f64.exp() - 1.0))]
            },
            quadrature_error: 1e-8,
        },
        beta(),
    ]
}
