//! The softmax, compared with fine quadrature in double precision, for narrow and wide functions
//! mixed.

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{AnyLikelihood, SoftmaxConfig},
    process::Marginals,
};

use crate::support::{
    Platform, Random,
    formulas::{logistic, softplus},
    lines::{Line, log_sum_exp},
    numbers, platforms,
};

/// The error bound: absolute for log densities, relative for gradients.
const BAR: f64 = 1e-3;

/// Smaller log probabilities are left out.
const SMALLEST_LOG_PROBABILITY: f64 = -30.0;

const EULER: f64 = 0.577_215_664_901_532_9;

/// The means and standard deviations of the functions of a row.
type Row = Vec<(f64, f64)>;

/// The reference results for a row.
struct Exact {
    /// `E[log Σ_j exp f_j]`
    log_sum: f64,
    /// `log E[softmax]`
    log_probabilities: Vec<f64>,
    /// `E[softmax·(1 − softmax)]`
    spreads: Vec<f64>,
}

/// `log F(t)` and `log F′(t)` of a function with Gumbel noise, by a trapezoidal sum over the
/// function.
fn distribution(t: f64, (mean, deviation): (f64, f64)) -> (f64, f64) {
    let step = 0.2 * deviation.min(1.0);
    let count = (9.5 * deviation / step).ceil() as i64;
    let (mut value, mut slope) = (0.0, 0.0);
    for number in -count..=count {
        let distance = number as f64 * step;
        let weight = (-0.5 * (distance / deviation).powi(2)).exp();
        let excess = mean + distance - t;
        let term = weight * (-excess.exp()).exp();
        value += term;
        slope += term * excess.exp();
    }
    let constant = (step / (deviation * (2.0 * std::f64::consts::PI).sqrt())).ln();
    let log = |sum: f64| sum.max(1e-300).ln() + constant;
    (log(value), log(slope))
}

/// From the distribution of the largest function with Gumbel noise, on a line with equal steps.
fn exact(row: &Row) -> Exact {
    let extreme =
        |of: &dyn Fn(&(f64, f64)) -> f64| row.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let first = extreme(&|f| f.0 - 8.0 * f.1) - 5.0;
    let last = extreme(&|f| f.0 + 9.0 * f.1) + 20.0;
    let step = 0.25;
    let mut logs: Vec<Vec<f64>> = vec![Vec::new(); row.len()];
    let (mut log_sum, mut total, mut spreads) = (0.0, 0.0, vec![0.0; row.len()]);
    let mut t = first;
    while t < last {
        let parts: Vec<(f64, f64)> = row.iter().map(|f| distribution(t, *f)).collect();
        let product: f64 = parts.iter().map(|part| part.0).sum();
        let rates: Vec<f64> = parts.iter().map(|part| (part.1 - part.0).exp()).collect();
        let all: f64 = rates.iter().sum();
        for (class, part) in parts.iter().enumerate() {
            logs[class].push(product - part.0 + part.1 + f64::ln(step));
            let others: f64 = all - rates[class];
            spreads[class] += (product - part.0 + part.1).exp() * others * step;
        }
        let density = product.exp() * all * step;
        log_sum += t * density;
        total += density;
        t += step;
    }
    assert!((total - 1.0).abs() < 1e-7, "{row:?}: {total}");
    Exact {
        log_sum: log_sum / total - EULER,
        log_probabilities: logs.iter().map(|logs| log_sum_exp(logs)).collect(),
        spreads,
    }
}

/// Two functions: a logistic function of their difference, which is Gaussian.
fn exact_of_two(row: &Row) -> Exact {
    let difference = Line {
        mean: row[0].0 - row[1].0,
        deviation: row[0].1.hypot(row[1].1),
        foci: vec![(0.0, 1.0)],
    };
    let nodes = difference.nodes();
    let sum =
        |of: &dyn Fn(f64) -> f64| nodes.iter().map(|(d, log)| of(*d) * log.exp()).sum::<f64>();
    let log = |sign: f64| {
        let logs = nodes.iter().map(|(d, log)| log - softplus(-sign * d));
        log_sum_exp(&logs.collect::<Vec<_>>())
    };
    let spread = sum(&|d| logistic(d) * logistic(-d));
    Exact {
        log_sum: row[0].0 + sum(&|d| softplus(-d)),
        log_probabilities: vec![log(1.0), log(-1.0)],
        spreads: vec![spread; 2],
    }
}

/// Three functions with moderate standard deviations: the product of three trapezoidal rules.
fn exact_of_three(row: &Row) -> Exact {
    let step = 0.4;
    let mut exact = Exact {
        log_sum: 0.0,
        log_probabilities: vec![0.0; 3],
        spreads: vec![0.0; 3],
    };
    for number in 0..35i32.pow(3) {
        let z = [1, 35, 35 * 35].map(|unit| f64::from(number / unit % 35 - 17) * step);
        let weight = z.iter().map(|z| (-0.5 * z * z).exp()).product::<f64>()
            * (step / (2.0 * std::f64::consts::PI).sqrt()).powi(3);
        let f: Vec<f64> = row.iter().zip(z).map(|(f, z)| f.0 + f.1 * z).collect();
        let log_sum = log_sum_exp(&f);
        exact.log_sum += weight * log_sum;
        for (class, f) in f.iter().enumerate() {
            let probability = (f - log_sum).exp();
            exact.log_probabilities[class] += weight * probability;
            exact.spreads[class] += weight * probability * (1.0 - probability);
        }
    }
    for value in &mut exact.log_probabilities {
        *value = value.ln();
    }
    exact
}

/// The library's results for all rows with the same number of functions.
struct Found {
    log_sums: Vec<f64>,
    log_probabilities: Vec<f64>,
    probabilities: Vec<f64>,
    slopes_in_mean: Vec<f64>,
    slopes_in_variance: Vec<f64>,
}

fn marginals(platform: &Platform, rows: &[Row]) -> Marginals {
    let shape = [rows.len(), rows[0].len()];
    let flat = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> { rows.iter().flatten().map(of).collect() };
    Marginals {
        mean: platform.tensor(&flat(|f| f.0), shape),
        variance: platform.tensor(&flat(|f| f.1 * f.1), shape),
    }
}

fn find(config: &SoftmaxConfig, platform: &Platform, rows: &[Row]) -> Found {
    let likelihood = AnyLikelihood::from(config.init(platform.options()));
    let tracked = platform.autodiff();
    let Marginals { mean, variance } = marginals(&tracked, rows);
    let (mean, variance) = (mean.require_grad(), variance.require_grad());
    let marginals = Marginals {
        mean: mean.clone(),
        variance: variance.clone(),
    };
    let classes = rows[0].len();
    let label = |class: usize| tracked.tensor(&vec![class as f64; rows.len()], [rows.len(), 1]);
    let expected = likelihood.expected_log_density(label(0), marginals.clone());
    let gradients = expected.clone().sum().backward();
    let slopes = |input: Tensor<2>| numbers(input.grad(&gradients).expect("a gradient"));
    let columns = (0..classes).map(|class| {
        let density = likelihood.log_predictive_density(label(class), marginals.clone());
        density.reshape([rows.len(), 1])
    });
    let own = rows.iter().map(|row| row[0].0);
    Found {
        log_sums: own.zip(numbers(expected)).map(|(own, e)| own - e).collect(),
        log_probabilities: numbers(Tensor::cat(columns.collect(), 1)),
        probabilities: numbers(
            likelihood
                .class_probabilities(marginals.clone())
                .expect("labels"),
        ),
        slopes_in_mean: slopes(mean),
        slopes_in_variance: slopes(variance),
    }
}

/// The largest errors.
#[derive(Debug, Default)]
struct Errors {
    log_sum: f64,
    log_probability: f64,
    probability: f64,
    slope_in_mean: f64,
    slope_in_variance: f64,
}

impl Errors {
    /// The error of a gradient is relative to its size plus `rounding`, which covers the rounding
    /// error if all probability is in one class.
    fn add(&mut self, found: &Found, row: usize, exact: &Exact, rounding: f64) {
        let worst = |error: &mut f64, size: f64| *error = if size > *error { size } else { *error };
        worst(
            &mut self.log_sum,
            (found.log_sums[row] - exact.log_sum).abs(),
        );
        let classes = exact.spreads.len();
        for class in 0..classes {
            let (index, log) = (row * classes + class, exact.log_probabilities[class]);
            let probability = log.exp();
            if log > SMALLEST_LOG_PROBABILITY {
                worst(
                    &mut self.log_probability,
                    (found.log_probabilities[index] - log).abs(),
                );
            }
            worst(
                &mut self.probability,
                (found.probabilities[index] - probability).abs(),
            );
            let own = if class == 0 { 1.0 } else { 0.0 };
            let (slope, expected) = (found.slopes_in_mean[index], own - probability);
            let relative = (slope - expected).abs() / (expected.abs() + rounding);
            worst(&mut self.slope_in_mean, relative);
            let (slope, expected) = (found.slopes_in_variance[index], -0.5 * exact.spreads[class]);
            let relative = (slope - expected).abs() / (expected.abs() + rounding);
            worst(&mut self.slope_in_variance, relative);
        }
    }

    fn assert(&self, what: &str, bar: f64) {
        let all = [
            self.log_sum,
            self.log_probability,
            self.probability,
            self.slope_in_mean,
            self.slope_in_variance,
        ];
        assert!(all.iter().all(|error| *error <= bar), "{what}: {self:?}");
    }
}

/// Rows with all mixtures of means and standard deviations.
fn rows(classes: usize, count: usize) -> Vec<Row> {
    let mut random = Random::new(227 + classes as u64);
    let mut uniform = |low: f64, high: f64| random.uniforms(1, low, high)[0];
    let mut rows = Vec::new();
    for index in 0..count {
        let row = (0..classes).map(|_| {
            let log_deviation = uniform(0.03f64.ln(), 10f64.ln());
            let (place, shift, coin) =
                (uniform(-10.0, 10.0), uniform(-0.3, 0.3), uniform(0.0, 1.0));
            match index % 5 {
                0 => (place, log_deviation.exp()),
                1 => (place * 0.1, log_deviation.exp()),
                2 => (place, log_deviation.exp().min(1.0)),
                3 => (place * 0.1, if coin < 0.5 { 0.03 } else { 10.0 }),
                _ => {
                    let deviations = [0.03, 0.3, 1.0, 3.0, 10.0];
                    let deviation = deviations[(coin * 5.0) as usize % 5];
                    ((place / 7.0).round() * 10.0 + shift, deviation)
                }
            }
        });
        rows.push(row.collect());
    }
    rows
}

/// Checks the reference itself against integrals that do not use the noise.
#[test]
fn largest_with_noise_is_a_softmax() {
    let close = |row: &Row, exact: &Exact, known: &Exact| {
        let pairs = [(exact.log_sum, known.log_sum)].into_iter();
        let logs = exact.log_probabilities.iter().zip(&known.log_probabilities);
        let spreads = exact.spreads.iter().zip(&known.spreads);
        let both = logs.chain(spreads).map(|(a, b)| (*a, *b));
        for (found, expected) in pairs.chain(both) {
            // The rounding errors of a thousand terms, and the part that the line omits on its
            // right, 10⁻⁸.
            assert!(
                (found - expected).abs() < 1e-6,
                "{row:?}: {found}, expected {expected}"
            );
        }
    };
    for row in rows(2, 40) {
        close(&row, &exact(&row), &exact_of_two(&row));
    }
    for row in rows(3, 10) {
        let row = row.iter().map(|f| (0.3 * f.0, f.1.min(1.0))).collect();
        close(&row, &exact(&row), &exact_of_three(&row));
    }
}

/// Expected log densities, their gradients, log densities of new labels and probabilities.
#[test]
fn softmax_over_the_grid() {
    for (classes, count) in [(2, 100), (3, 60), (10, 30)] {
        let rows = rows(classes, count);
        let exact: Vec<Exact> = rows.iter().map(exact).collect();
        for platform in platforms() {
            let found = find(&SoftmaxConfig::new(classes), &platform, &rows);
            let mut errors = Errors::default();
            let rounding = platform.tolerance(1e-4, 1e-3);
            for (row, exact) in exact.iter().enumerate() {
                errors.add(&found, row, exact, rounding);
            }
            errors.assert(&format!("{classes} classes on {platform}"), BAR);
        }
    }
}

/// Loads a configuration that was saved with quasi-Monte-Carlo nodes.
#[test]
fn saved_numbers_of_nodes() {
    let saved = r#"{"classes": 3, "nodes": 128}"#;
    let config: SoftmaxConfig = serde_json::from_str(saved).expect("readable");
    let rows = rows(3, 5);
    for platform in platforms() {
        let found = find(&config, &platform, &rows);
        let mut errors = Errors::default();
        for (index, row) in rows.iter().enumerate() {
            errors.add(&found, index, &exact(row), platform.tolerance(1e-4, 1e-3));
        }
        errors.assert(&format!("{platform}"), BAR);
    }
}
