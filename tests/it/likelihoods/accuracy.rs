//! The accuracy of expectations over a grid of functions, parameters and targets, near and far,
//! narrow and wide. Every likelihood whose expectations have no closed form is compared with fine
//! quadrature in double precision, within 10⁻³.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use burn_gp_core::{
    likelihoods::{
        BetaConfig, GammaConfig, LikelihoodConfig, NegativeBinomialConfig, OrdinalConfig,
        StudentTConfig,
    },
    process::Marginals,
};
use libm::lgamma;

use crate::{
    likelihoods::registration::variants,
    support::{
        Platform,
        formulas::{log_normal_cdf, logistic, ordinal, softplus},
        lines::{Line, log_sum_exp},
        numbers, platforms,
    },
};

/// The error bound. Large values have an additional tolerance: the rounding of their parts in
/// single precision, and the fifth digit of densities far below 10⁻⁴⁰ in double precision.
const BAR: f64 = 1e-3;

fn allowed(platform: &Platform, size: f64) -> f64 {
    BAR + platform.tolerance(1e-5, 3e-5) * size.abs()
}

/// Smaller densities are zero in single precision.
pub const SMALLEST_LOG_DENSITY: f64 = -100.0;

/// Locations and widths of the features of a target's log density.
type Foci = Box<dyn Fn(f64) -> Vec<(f64, f64)>>;

/// The mean and variance of a target, given a parameter and the function.
type Moments = fn(f64, f64) -> (f64, f64);

/// A likelihood with one parameter value, and its targets.
struct Grid {
    what: String,
    config: LikelihoodConfig,
    means: Vec<f64>,
    deviations: Vec<f64>,
    targets: Vec<f64>,
    /// `log p(y | f)`.
    log_density: Box<dyn Fn(f64, f64) -> f64>,
    /// The mean and variance of y given f, if they have no closed form.
    moments: Option<Moments>,
    /// The parameter of the moments.
    parameter: f64,
    /// Locations and widths of the features of the log density, for each target.
    foci: Foci,
}

impl Grid {
    fn new(
        what: String,
        config: impl Into<LikelihoodConfig>,
        targets: &[f64],
        log_density: impl Fn(f64, f64) -> f64 + 'static,
        foci: impl Fn(f64) -> Vec<(f64, f64)> + 'static,
    ) -> Self {
        Self {
            what,
            config: config.into(),
            means: vec![-5.0, -1.0, 0.0, 2.0, 5.0],
            deviations: vec![0.03, 0.3, 1.0, 3.0],
            targets: targets.to_vec(),
            log_density: Box::new(log_density),
            moments: None,
            parameter: 0.0,
            foci: Box::new(foci),
        }
    }

    fn with_functions(self, means: &[f64], deviations: &[f64]) -> Self {
        let (means, deviations) = (means.to_vec(), deviations.to_vec());
        Self {
            means,
            deviations,
            ..self
        }
    }

    fn with_moments(self, parameter: f64, moments: Moments) -> Self {
        Self {
            moments: Some(moments),
            parameter,
            ..self
        }
    }

    /// The mean, standard deviation and target of every row.
    fn rows(&self) -> Vec<(f64, f64, f64)> {
        let mut rows = Vec::new();
        for &mean in &self.means {
            for &deviation in &self.deviations {
                rows.extend(self.targets.iter().map(|&target| (mean, deviation, target)));
            }
        }
        rows
    }
}

/// The results for a row.
#[derive(Clone, Copy, Debug)]
struct Found {
    expected: f64,
    slope_in_mean: f64,
    slope_in_variance: f64,
    predictive: f64,
    mean: f64,
    variance: f64,
}

/// Fine quadrature, with gradients by `E[z·g]/σ` and `½·E[(z² − 1)·g]/σ²`.
fn reference(grid: &Grid, (mean, deviation, target): (f64, f64, f64)) -> Found {
    let foci = (grid.foci)(target);
    let nodes = Line {
        mean,
        deviation,
        foci,
    }
    .nodes();
    let mut sums = [0.0; 5];
    let mut logs = Vec::with_capacity(nodes.len());
    for &(f, log_weight) in &nodes {
        let (weight, z) = (log_weight.exp(), (f - mean) / deviation);
        let log_density = (grid.log_density)(target, f);
        logs.push(log_density + log_weight);
        if weight < 1e-30 {
            continue;
        }
        let (own_mean, own_variance) = grid.moments.map_or((0.0, 0.0), |m| m(grid.parameter, f));
        let values = [
            log_density,
            log_density * z / deviation,
            log_density * 0.5 * (z * z - 1.0) / (deviation * deviation),
            own_mean,
            own_mean * own_mean + own_variance,
        ];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += weight * value;
        }
    }
    Found {
        expected: sums[0],
        slope_in_mean: sums[1],
        slope_in_variance: sums[2],
        predictive: log_sum_exp(&logs),
        mean: sums[3],
        variance: sums[4] - sums[3] * sums[3],
    }
}

/// The library's results for all rows at once.
fn found(grid: &Grid, platform: &Platform) -> Vec<Found> {
    let tracked = platform.autodiff();
    let likelihood = grid.config.init(tracked.options());
    let rows = grid.rows();
    let shape = [rows.len(), 1];
    let column = |of: &dyn Fn(&(f64, f64, f64)) -> f64| -> Tensor<2> {
        tracked.tensor(&rows.iter().map(of).collect::<Vec<_>>(), shape)
    };
    let mean = column(&|row| row.0).require_grad();
    let variance = column(&|row| row.1 * row.1).require_grad();
    let targets = column(&|row| row.2);
    let marginals = Marginals {
        mean: mean.clone(),
        variance: variance.clone(),
    };
    let expected = likelihood.expected_log_density(targets.clone(), marginals.clone());
    let gradients = expected.clone().sum().backward();
    let slope = |input: Tensor<2>| numbers(input.grad(&gradients).expect("a gradient"));
    let slopes = (slope(mean), slope(variance));
    let predictive = numbers(likelihood.log_predictive_density(targets, marginals.clone()));
    let predicted = likelihood.predict(marginals);
    let (means, variances) = (numbers(predicted.mean), numbers(predicted.variance));
    let expected = numbers(expected);
    (0..rows.len())
        .map(|row| Found {
            expected: expected[row],
            slope_in_mean: slopes.0[row],
            slope_in_variance: slopes.1[row],
            predictive: predictive[row],
            mean: means[row],
            variance: variances[row],
        })
        .collect()
}

fn student_t() -> Vec<Grid> {
    let mut grids = Vec::new();
    for scale in [0.01f64, 0.05, 0.3, 1.0, 10.0] {
        for degrees in [2.01f64, 4.0, 20.0, 100.0] {
            let constant = lgamma((degrees + 1.0) / 2.0)
                - lgamma(degrees / 2.0)
                - 0.5 * (degrees * PI).ln()
                - f64::ln(scale);
            let config = StudentTConfig {
                scale,
                degrees_of_freedom: degrees,
                train_degrees_of_freedom: true,
            };
            let density = move |y: f64, f: f64| {
                let squares = ((y - f) / scale).powi(2) / degrees;
                constant - 0.5 * (degrees + 1.0) * squares.ln_1p()
            };
            let targets = [0.0, 0.35, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 20.0, 60.0];
            let what = format!("student-t, scale {scale}, {degrees} degrees");
            let width = scale * degrees.sqrt();
            let foci = move |y: f64| vec![(y, scale), (y, width)];
            let grid = Grid::new(what, config, &targets, density, foci);
            grids.push(grid.with_functions(&[0.0], &[0.03, 0.3, 1.0, 3.0, 10.0]));
        }
    }
    grids
}

/// The last cut point of four labels with equal initial probabilities.
const QUARTILE: f64 = 0.674_489_750_196_081_7;

fn probit_moments(_: f64, f: f64) -> (f64, f64) {
    let probability = log_normal_cdf(f).exp();
    (probability, probability * log_normal_cdf(-f).exp())
}

fn logit_moments(_: f64, f: f64) -> (f64, f64) {
    (logistic(f), logistic(f) * logistic(-f))
}

fn labels() -> Vec<Grid> {
    let probit = Grid::new(
        "bernoulli".into(),
        LikelihoodConfig::bernoulli(),
        &[0.0, 1.0],
        |y, f| log_normal_cdf((2.0 * y - 1.0) * f),
        |_| vec![(0.0, 1.0)],
    );
    let logit = Grid::new(
        "bernoulli-logit".into(),
        LikelihoodConfig::bernoulli_logit(),
        &[0.0, 1.0],
        |y, f| -softplus((1.0 - 2.0 * y) * f),
        |_| vec![(0.0, 1.0)],
    );
    let ordinal = Grid::new(
        "ordinal".into(),
        OrdinalConfig { classes: 4 },
        &[0.0, 1.0, 2.0, 3.0],
        |y, f| ordinal(&[-QUARTILE, 0.0, QUARTILE], y, f),
        |_| vec![(-0.7, 1.0), (0.0, 1.0), (0.7, 1.0)],
    );
    let means = [-20.0, -5.0, -1.0, 0.0, 2.0, 10.0];
    let deviations = [0.03, 0.3, 1.0, 3.0, 10.0];
    vec![
        probit
            .with_functions(&means, &deviations)
            .with_moments(0.0, probit_moments),
        logit
            .with_functions(&means, &deviations)
            .with_moments(0.0, logit_moments),
        ordinal.with_functions(&means, &deviations),
    ]
}

const COUNTS: [f64; 6] = [0.0, 1.0, 2.0, 7.0, 50.0, 1000.0];

fn counts() -> Vec<Grid> {
    let foci = |y: f64| {
        let y = y.max(1.0);
        vec![(y.ln(), 1.0), (y.ln(), y.powf(-0.5))]
    };
    let poisson = |y: f64, f: f64| y * f - f.exp() - lgamma(y + 1.0);
    let mut grids = vec![Grid::new(
        "poisson".into(),
        LikelihoodConfig::poisson(),
        &COUNTS,
        poisson,
        foci,
    )];
    for dispersion in [1e-4f64, 0.01, 0.5, 5.0, 100.0] {
        let size = 1.0 / dispersion;
        let density = move |y: f64, f: f64| {
            let excess = f - size.ln();
            lgamma(y + size)
                - lgamma(size)
                - lgamma(y + 1.0)
                - size * softplus(excess)
                - y * softplus(-excess)
        };
        let foci = move |y: f64| {
            let width = (1.0 / y.max(1.0) + dispersion).sqrt();
            vec![
                (y.max(1.0).ln(), width),
                (size.ln(), 1.0),
                ((y + size).ln() + size.ln(), 1.0),
            ]
        };
        let config = NegativeBinomialConfig { dispersion };
        let what = format!("negative-binomial, dispersion {dispersion}");
        grids.push(Grid::new(what, config, &COUNTS, density, foci));
    }
    grids
}

fn positive_numbers() -> Vec<Grid> {
    let exponential = |y: f64, f: f64| -f - y * (-f).exp();
    let foci = |y: f64| vec![(y.max(1e-6).ln(), 1.0)];
    let targets = [0.0, 1e-3, 0.1, 1.0, 10.0, 1e4];
    let config = LikelihoodConfig::exponential();
    let mut grids = vec![Grid::new(
        "exponential".into(),
        config,
        &targets,
        exponential,
        foci,
    )];
    for shape in [0.01f64, 0.5, 2.0, 20.0, 1000.0] {
        let constant = shape * f64::ln(shape) - lgamma(shape);
        let density =
            move |y: f64, f: f64| constant + (shape - 1.0) * y.ln() - shape * (f + y * (-f).exp());
        let foci = move |y: f64| {
            vec![
                (y.ln(), shape.powf(-0.5).min(1.0)),
                (y.ln() + shape.ln(), 1.0),
            ]
        };
        let targets = [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4];
        let config = GammaConfig { shape };
        let what = format!("gamma, shape {shape}");
        grids.push(Grid::new(what, config, &targets, density, foci));
    }
    grids
}

fn fractions() -> Vec<Grid> {
    let mut grids = Vec::new();
    for precision in [0.1f64, 0.5, 2.0, 5.0, 20.0, 100.0, 1000.0] {
        let density = move |y: f64, f: f64| {
            let (a, b) = (precision * logistic(f), precision * logistic(-f));
            lgamma(precision) - lgamma(a) - lgamma(b)
                + (a - 1.0) * y.ln()
                + (b - 1.0) * (-y).ln_1p()
        };
        let foci = move |y: f64| {
            let logit = y.ln() - (-y).ln_1p();
            let width = (1.0 + precision * y * (1.0 - y)).powf(-0.5);
            vec![
                (logit, width),
                (0.0, 1.0),
                (-precision.ln_1p(), 1.0),
                (precision.ln_1p(), 1.0),
            ]
        };
        let moments =
            |precision: f64, f: f64| (logistic(f), logistic(f) * logistic(-f) / (1.0 + precision));
        let targets = [1e-6, 0.01, 0.2, 0.5, 0.9, 0.999];
        let config = BetaConfig { precision };
        let what = format!("beta, precision {precision}");
        let grid = Grid::new(what, config, &targets, density, foci);
        grids.push(grid.with_moments(precision, moments));
    }
    grids
}

fn grids() -> Vec<Grid> {
    let mut grids = student_t();
    grids.extend(labels());
    grids.extend(counts());
    grids.extend(positive_numbers());
    grids.extend(fractions());
    grids
}

/// Likelihoods with closed forms, and likelihoods of several functions, which `several_functions`
/// and `softmax` test.
const OTHERS: [&str; 5] = [
    "gaussian",
    "fixed-noise",
    "heteroskedastic",
    "softmax",
    "robust-max",
];

#[test]
fn every_likelihood_has_a_grid() {
    let mut names: Vec<String> = OTHERS.iter().map(|name| (*name).to_owned()).collect();
    let platform = &platforms()[0];
    names.extend(grids().iter().map(|grid| {
        grid.config
            .init(platform.options())
            .description()
            .name
            .to_owned()
    }));
    names.sort();
    names.dedup();
    let mut variants = variants();
    variants.sort();
    assert_eq!(names, variants);
}

/// Collects all errors, so a failure shows all of them.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn check(&mut self, what: impl Fn() -> String, found: f64, expected: f64, allowed: f64) {
        // `!(<=)` instead of `>`, because NaN must fail.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !((found - expected).abs() <= allowed) {
            let what = what();
            self.0.push(format!(
                "{what}: {found}, expected {expected}, allowed {allowed:.1e}"
            ));
        }
    }
}

#[test]
fn expectations_over_the_grid() {
    let mut complaints = Complaints::default();
    for grid in grids() {
        let rows = grid.rows();
        let references: Vec<Found> = rows.iter().map(|row| reference(&grid, *row)).collect();
        for platform in platforms() {
            let found = found(&grid, &platform);
            for ((row, found), exact) in rows.iter().zip(found).zip(&references) {
                let mut check = |name: &str, found: f64, expected: f64, extra: f64| {
                    let what = || format!("{} on {platform}, {row:?}, {name}", grid.what);
                    complaints.check(what, found, expected, allowed(&platform, expected) + extra);
                };
                check("expected", found.expected, exact.expected, 0.0);
                if exact.predictive > SMALLEST_LOG_DENSITY {
                    check("predictive", found.predictive, exact.predictive, 0.0);
                }
                // Differences over a narrow Gaussian have rounding errors, and a gradient is
                // relative to a unit.
                let rounding = platform.tolerance(1e-9, 1e-6) * (1.0 + exact.expected.abs());
                let slope = exact.slope_in_mean;
                check(
                    "slope in mean",
                    found.slope_in_mean,
                    slope,
                    BAR * slope.abs() + rounding / row.1,
                );
                let slope = exact.slope_in_variance;
                let extra = BAR * slope.abs() + rounding / (row.1 * row.1);
                check("slope in variance", found.slope_in_variance, slope, extra);
                if grid.moments.is_some() {
                    check("mean", found.mean, exact.mean, 0.0);
                    check("variance", found.variance, exact.variance, 0.0);
                }
            }
        }
    }
    let count = complaints.0.len();
    assert!(count == 0, "{count} values:\n{}", complaints.0.join("\n"));
}

/// Cases with errors of up to 1.6 with 20 Gauss–Hermite nodes, to two digits.
#[test]
fn narrow_densities() {
    let student = |scale| {
        let config = StudentTConfig {
            scale,
            ..Default::default()
        };
        LikelihoodConfig::from(config)
    };
    let cases = [
        (student(0.05), 0.0, 1.0, 0.35, -0.98),
        (student(0.2), 0.0, 1.0, 0.0, -0.95),
        (LikelihoodConfig::poisson(), 2.0, 4.0, 7.0, -3.58),
    ];
    for platform in platforms() {
        for (config, mean, variance, target, expected) in &cases {
            let marginals = Marginals {
                mean: platform.tensor(&[*mean], [1, 1]),
                variance: platform.tensor(&[*variance], [1, 1]),
            };
            let target = platform.tensor(&[*target], [1, 1]);
            let likelihood = config.init(platform.options());
            let found = numbers(likelihood.log_predictive_density(target, marginals))[0];
            assert!(
                (found - expected).abs() < 6e-3,
                "{config:?} on {platform}: {found}"
            );
        }
    }
}
