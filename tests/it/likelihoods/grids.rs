//! Grids of functions, parameters and targets for every likelihood of one function whose expectations are compared
//! with fine quadrature.

mod hurdle;
mod intervals;
mod successes;

use std::f64::consts::PI;

use burn_gp_core::likelihoods::{
    AsymmetricLaplaceConfig, BetaConfig, CensoredConfig, GammaConfig, LikelihoodConfig,
    LogNormalConfig, NegativeBinomialConfig, OrdinalConfig, StudentTConfig, TweedieConfig,
    WeibullConfig, ZeroInflatedPoissonConfig,
};
use libm::lgamma;

use crate::support::{
    formulas::{log_normal_cdf, logistic, ordinal, softplus},
    lines::log_sum_exp,
};

/// Locations and widths of the features of a target's log density.
pub type Foci = Box<dyn Fn(f64) -> Vec<(f64, f64)>>;

/// The mean and variance of a target, given a parameter and the function.
pub type Moments = fn(f64, f64) -> (f64, f64);

/// A likelihood with one parameter value, and its targets.
pub struct Grid {
    pub what: String,
    pub config: LikelihoodConfig,
    means: Vec<f64>,
    deviations: Vec<f64>,
    targets: Vec<f64>,
    /// The value of the second target column, if there is one.
    pub second: Option<f64>,
    /// `log p(y | f)`.
    pub log_density: Box<dyn Fn(f64, f64) -> f64>,
    /// The mean and variance of y given f, if they have no closed form.
    pub moments: Option<Moments>,
    /// The parameter of the moments.
    pub parameter: f64,
    /// Locations and widths of the features of the log density, for each target.
    pub foci: Foci,
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
            second: None,
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

    fn with_second(self, value: f64) -> Self {
        Self {
            second: Some(value),
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
    pub fn rows(&self) -> Vec<(f64, f64, f64)> {
        let mut rows = Vec::new();
        for &mean in &self.means {
            for &deviation in &self.deviations {
                rows.extend(self.targets.iter().map(|&target| (mean, deviation, target)));
            }
        }
        rows
    }
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

pub fn grids() -> Vec<Grid> {
    let mut grids = student_t();
    grids.extend(labels());
    grids.extend(counts());
    grids.extend(positive_numbers());
    grids.extend(fractions());
    grids.extend(successes::successes());
    grids.extend(hurdle::hurdle());
    grids.extend(intervals::intervals());
    grids.extend(quantiles());
    grids.extend(zero_inflated());
    grids.extend(lifetimes());
    grids.extend(log_normal());
    grids.extend(censored());
    grids.extend(tweedie());
    grids
}

fn quantiles() -> Vec<Grid> {
    let mut grids = Vec::new();
    for scale in [0.01f64, 0.3, 1.0, 10.0] {
        for quantile in [0.05, 0.5, 0.9] {
            let constant = f64::ln(quantile * (1.0 - quantile) / scale);
            let density = move |y: f64, f: f64| {
                let error = (y - f) / scale;
                constant
                    - error
                        * if error < 0.0 {
                            quantile - 1.0
                        } else {
                            quantile
                        }
            };
            let targets = [0.0, 0.35, 1.0, -2.0, 3.0, 7.0, -20.0, 60.0];
            let config = AsymmetricLaplaceConfig {
                scale,
                quantile,
                train_quantile: false,
            };
            let what = format!("asymmetric-laplace, scale {scale}, quantile {quantile}");
            let grid = Grid::new(what, config, &targets, density, move |y| vec![(y, scale)]);
            grids.push(grid.with_functions(&[0.0], &[0.03, 0.3, 1.0, 3.0, 10.0]));
        }
    }
    grids
}

fn zero_inflated() -> Vec<Grid> {
    let foci = |y: f64| {
        vec![
            (y.max(1.0).ln(), 1.0),
            (y.max(1.0).ln(), y.max(1.0).powf(-0.5)),
        ]
    };
    let of = |zeros: f64| {
        let density = move |y: f64, f: f64| match y == 0.0 {
            true => (zeros + (1.0 - zeros) * (-f.exp()).exp()).ln(),
            false => (-zeros).ln_1p() + y * f - f.exp() - lgamma(y + 1.0),
        };
        let config = ZeroInflatedPoissonConfig { zeros };
        let what = format!("zero-inflated-poisson, zeros {zeros}");
        Grid::new(what, config, &COUNTS, density, foci)
    };
    [0.001, 0.3, 0.99].map(of).into()
}

fn lifetimes() -> Vec<Grid> {
    let of = |shape: f64| {
        let offset = lgamma(1.0 + 1.0 / shape);
        let density = move |y: f64, f: f64| {
            let power = shape * (y.ln() - f + offset);
            f64::ln(shape) - y.ln() + power - power.exp()
        };
        let foci = move |y: f64| vec![(y.ln() + offset, 1.0 / shape)];
        let targets = [1e-3, 0.1, 1.0, 10.0, 1e4];
        let what = format!("weibull, shape {shape}");
        let grid = Grid::new(what, WeibullConfig { shape }, &targets, density, foci);
        // The mean of e^{−kf} is exp(k²σ²/2), which overflows for vague functions.
        let deviations = [0.03, 0.3, 1.0, 3.0].map(|deviation: f64| deviation.min(3.0 / shape));
        grid.with_functions(&[-2.0, 0.0, 2.0], &deviations)
    };
    [0.3, 1.0, 2.0, 5.0].map(of).into()
}

fn log_normal() -> Vec<Grid> {
    let of = |noise: f64| {
        let density = move |y: f64, f: f64| {
            -0.5 * ((y.ln() - f).powi(2) / noise + (2.0 * PI * noise).ln()) - y.ln()
        };
        let foci = move |y: f64| vec![(y.ln(), noise.sqrt())];
        let targets = [1e-3, 0.1, 1.0, 10.0, 1e4];
        let what = format!("log-normal, noise {noise}");
        Grid::new(what, LogNormalConfig { noise }, &targets, density, foci)
    };
    [1e-3, 0.1, 3.0].map(of).into()
}

/// Limits at −1 and 2, and targets at and between them.
fn censored() -> Vec<Grid> {
    let (lower, upper) = (-1.0, 2.0);
    let of = |noise: f64| {
        let deviation = noise.sqrt();
        let density = move |y: f64, f: f64| {
            if y == lower {
                log_normal_cdf((lower - f) / deviation)
            } else if y == upper {
                log_normal_cdf((f - upper) / deviation)
            } else {
                -0.5 * ((y - f).powi(2) / noise + (2.0 * PI * noise).ln())
            }
        };
        let config = CensoredConfig {
            noise,
            lower: Some(lower),
            upper: Some(upper),
            ..Default::default()
        };
        let what = format!("censored, noise {noise}");
        let foci = move |y: f64| vec![(y, deviation)];
        let targets = [lower, -0.6, 1.0, upper];
        let grid = Grid::new(what, config, &targets, density, foci);
        grid.with_functions(&[-5.0, -1.0, 0.0, 2.0, 5.0], &[0.03, 0.3, 1.0, 3.0])
    };
    [1e-4, 0.01, 0.3, 10.0].map(of).into()
}

/// The sum over the number of gamma variables, without its negligible terms.
fn tweedie() -> Vec<Grid> {
    let of = |(dispersion, power): (f64, f64)| {
        let shape = (2.0 - power) / (power - 1.0);
        // log Σ_n (y^{2−p}/(φ(2 − p)))ⁿ·(y^{2−p}/(φ(p − 1)))^{na}/(n!·Γ(na))
        let series = move |y: f64| {
            let power_of_target = y.powf(2.0 - power) / dispersion;
            let log = (power_of_target / (2.0 - power)).ln()
                + shape * (power_of_target / (power - 1.0)).ln();
            let terms = (1..3000).map(|number| {
                let number = f64::from(number);
                number * log - lgamma(number + 1.0) - lgamma(number * shape)
            });
            log_sum_exp(&terms.collect::<Vec<_>>())
        };
        let targets = [0.0, 1e-3, 0.1, 1.0, 10.0, 300.0];
        let known = targets.map(|y| (y, if y > 0.0 { series(y) - y.ln() } else { 0.0 }));
        let density = move |y: f64, f: f64| {
            let rate = ((2.0 - power) * f).exp() / (dispersion * (2.0 - power));
            let scaled = y * ((1.0 - power) * f).exp() / (dispersion * (power - 1.0));
            let constant = known.iter().find(|(target, _)| *target == y);
            constant.map_or(f64::NAN, |(_, constant)| constant - rate - scaled)
        };
        let foci = move |y: f64| {
            let zero = (dispersion * (2.0 - power)).ln() / (2.0 - power);
            match y > 0.0 {
                true => vec![
                    (y.ln(), (dispersion * y.powf(power - 2.0)).sqrt()),
                    (y.ln(), 1.0),
                    (zero, 1.0),
                ],
                false => vec![(zero, 1.0 / (2.0 - power))],
            }
        };
        let what = format!("tweedie, dispersion {dispersion}, power {power}");
        let config = TweedieConfig { dispersion, power };
        let grid = Grid::new(what, config, &targets, density, foci);
        grid.with_functions(&[-5.0, -1.0, 0.0, 2.0, 5.0], &[0.03, 0.3, 1.0, 2.0])
    };
    let values = [(1.0, 1.5), (0.1, 1.2), (3.0, 1.8), (0.5, 1.05), (0.5, 1.95)];
    values.map(of).into()
}
