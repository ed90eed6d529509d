//! The parts that a series may consist of, as a sum of kernels.

use core::fmt::{self, Display, Formatter};
use std::f64::consts::PI;

use burn_gp_core::{
    kernels::{ConstantConfig, KernelConfig, LinearConfig, StationaryConfig},
    parameter::{Bounds, LOWER_BOUND, ParameterConfig, Prior},
};
use serde::{Deserialize, Serialize};

use super::{Season, term_form::TermForm};
use crate::MarkovConfig;

/// How the level of a series moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// A random walk: the forecast stays at the last level.
    Level,
    /// A line whose slope is a random walk: the forecast goes on along the last slope.
    Slope,
    /// A smooth curve that returns to its mean: the forecast levels off.
    Damped,
}

impl Trend {
    /// All trends.
    pub const ALL: [Self; 3] = [Self::Level, Self::Slope, Self::Damped];
}

impl Display for Trend {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Level => "level",
            Self::Slope => "trend",
            Self::Damped => "damped trend",
        })
    }
}

/// What a series is the sum of, besides noise. In words, such as `trend + yearly season + short memory`.
///
/// | part | kernel |
/// |---|---|
/// | level | constant + Matérn-1/2 whose lengthscale is twenty times the series: a random walk |
/// | trend | constant + linear + Matérn-3/2 whose lengthscale is ten times the series: an integrated random walk |
/// | damped trend | constant + Matérn-5/2 |
/// | season | the periodic squared exponential times Matérn-1/2: a pattern that changes slowly |
/// | short memory | Matérn-3/2 |
///
/// ```
/// use burn_gp_models::forecasting::{Season, Structure, Trend};
///
/// let structure = Structure {
///     trend: Trend::Slope,
///     seasons: vec![Season::named(12.0, "yearly")],
///     has_memory: true,
/// };
/// assert_eq!(structure.to_string(), "trend + yearly season + short memory");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// The trend.
    pub trend: Trend,
    /// The seasons.
    pub seasons: Vec<Season>,
    /// Whether deviations from trend and seasons last for some steps.
    pub has_memory: bool,
}

impl Display for Structure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.trend)?;
        for season in &self.seasons {
            write!(formatter, " + {season}")?;
        }
        match self.has_memory {
            true => formatter.write_str(" + short memory"),
            false => Ok(()),
        }
    }
}

/// What a term of the kernel describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Trend,
    /// The season with this place in the list.
    Season(usize),
    Memory,
}

/// The value of a parameter at which training starts, the median of its log-normal prior.
#[derive(Clone, Copy, Debug)]
struct Start {
    path: &'static str,
    median: f64,
    /// The standard deviation of the logarithm; zero for a parameter that is not trained.
    deviation: f64,
    /// A lower bound besides four standard deviations.
    least: f64,
}

impl Start {
    fn new(path: &'static str, median: f64, deviation: f64) -> Self {
        Self {
            path,
            median,
            deviation,
            least: 0.0,
        }
    }

    fn fixed(path: &'static str, value: f64) -> Self {
        Self::new(path, value, 0.0)
    }

    /// Adds the settings of the parameter at this path of the model.
    fn add_to(self, config: &mut ParameterConfig, path: String) {
        // Parameters have a lower bound, which variances of slopes with a year of days would cross.
        let median = self.median.max(ABOVE_BOUND * LOWER_BOUND);
        if self.deviation == 0.0 {
            config.frozen.push(path.clone());
        } else {
            let reach = (BOUND * self.deviation).exp();
            let bounds = Bounds::between((median / reach).max(self.least), median * reach);
            config.bounds.insert(path.clone(), bounds);
            let prior = Prior::LogNormal {
                mean: median.ln(),
                deviation: self.deviation,
            };
            config.priors.0.insert(path.clone(), prior);
        }
        config.values.insert(path, vec![median]);
    }
}

/// Bounds are this many standard deviations of the logarithm from the median.
const BOUND: f64 = 4.0;
/// Medians are at least this many times the lower bound of all positive parameters.
const ABOVE_BOUND: f64 = 4.0;
/// The variance of the unknown mean of standardized values, and of a level before data.
const MEAN_VARIANCE: f64 = 4.0;
/// The longest season if there is none, which scales the priors of trends.
const NO_SEASON: f64 = 10.0;
/// The lengthscale of a random walk, in lengths of the series: longer than any forecast.
const WALK: f64 = 20.0;
/// The lengthscale of an integrated random walk, in lengths of the series.
const INTEGRATED_WALK: f64 = 10.0;
/// The noise variance of standardized values.
const NOISE: f64 = 0.05;

/// The path of the noise variance.
pub(super) const NOISE_PATH: &str = "likelihood.noise";

struct Term {
    role: Role,
    kernel: KernelConfig,
    /// The kernel again, with its parameters in the order of the starts.
    form: TermForm,
    starts: Vec<Start>,
}

impl Structure {
    /// The longest period, or what stands for it.
    fn longest(&self) -> f64 {
        let periods = self.seasons.iter().map(|season| season.period);
        periods.reduce(f64::max).unwrap_or(NO_SEASON)
    }

    /// The configuration of the model, with priors for standardized values and times in steps that end at zero. The
    /// priors are fixed: they do not depend on the values.
    pub(super) fn config(&self, span: f64) -> MarkovConfig {
        let terms = self.terms(span);
        let mut parameters = ParameterConfig::default();
        for (index, term) in terms.iter().enumerate() {
            for start in &term.starts {
                start.add_to(&mut parameters, path_of(terms.len(), index, start));
            }
        }
        Start::new("noise", NOISE, 1.5).add_to(&mut parameters, NOISE_PATH.to_owned());
        let kernels = terms.into_iter().map(|term| term.kernel);
        let kernel = kernels.reduce(KernelConfig::plus).unwrap_or_default();
        MarkovConfig::new(kernel).with_parameters(parameters)
    }

    /// The form of each term, and the paths of its parameters.
    pub(super) fn forms(&self) -> Vec<(TermForm, Vec<String>)> {
        let terms = self.terms(1.0);
        let count = terms.len();
        let of_term = |(index, term): (usize, Term)| {
            let paths = term.starts.iter().map(|start| path_of(count, index, start));
            (term.form, paths.collect())
        };
        terms.into_iter().enumerate().map(of_term).collect()
    }

    /// The roles of the terms of the kernel, from first to last.
    pub(super) fn roles(&self) -> Vec<Role> {
        self.terms(1.0).into_iter().map(|term| term.role).collect()
    }

    /// The name of a role, in words.
    pub(super) fn name_of(&self, role: Role) -> String {
        match role {
            Role::Trend => self.trend.to_string(),
            Role::Season(index) => self.seasons[index].to_string(),
            Role::Memory => "short memory".to_owned(),
        }
    }

    fn terms(&self, span: f64) -> Vec<Term> {
        let longest = self.longest();
        let mut terms = self.trend_terms(longest, span);
        let seasons = self.seasons.iter().enumerate();
        terms.extend(seasons.map(|(index, season)| season_term(index, self.shape_of(season))));
        if self.has_memory {
            terms.push(Term {
                role: Role::Memory,
                kernel: StationaryConfig::matern32().into(),
                form: TermForm::Matern(2),
                starts: vec![
                    Start::new("variance", 0.1, 1.5),
                    Start::new("lengthscale", (0.25 * longest).max(2.0), 1.0),
                ],
            });
        }
        terms
    }

    fn trend_terms(&self, period: f64, span: f64) -> Vec<Term> {
        let term = |kernel: KernelConfig, form, starts| Term {
            role: Role::Trend,
            kernel,
            form,
            starts,
        };
        let mean = term(
            ConstantConfig::default().into(),
            TermForm::Constant,
            vec![Start::fixed("variance", MEAN_VARIANCE)],
        );
        match self.trend {
            Trend::Level => {
                // A step of the random walk has the variance 2σ²/ℓ.
                let length = WALK * span;
                let variance = 0.5 * length * (0.05 / period);
                let starts = vec![
                    Start::new("variance", variance, 2.0),
                    Start::fixed("lengthscale", length),
                ];
                let walk = StationaryConfig::matern12().into();
                vec![mean, term(walk, TermForm::Matern(1), starts)]
            }
            Trend::Slope => {
                // The spectral density of the noise that drives the slope is 4σ²(√3/ℓ)³.
                let length = INTEGRATED_WALK * span;
                let rate = 3f64.sqrt() / length;
                let variance = 0.01 / period.powi(3) / (4.0 * rate.powi(3));
                let slope = vec![Start::new("variance", 0.05 / (period * period), 1.5)];
                let starts = vec![
                    Start::new("variance", variance, 3.0),
                    Start::fixed("lengthscale", length),
                ];
                vec![
                    mean,
                    term(LinearConfig::default().into(), TermForm::Line, slope),
                    term(
                        StationaryConfig::matern32().into(),
                        TermForm::Matern(2),
                        starts,
                    ),
                ]
            }
            Trend::Damped => {
                let starts = vec![
                    Start::new("variance", 1.0, 1.5),
                    Start::new("lengthscale", 4.0 * period, 1.0),
                ];
                let curve = StationaryConfig::matern52().into();
                vec![mean, term(curve, TermForm::Matern(3), starts)]
            }
        }
    }

    /// About the number of states.
    pub(super) fn states(&self) -> f64 {
        let of_season = |season: &Season| 2.0 * (2.0 + 3.2 / self.shape_of(season).least);
        let seasons: f64 = self.seasons.iter().map(of_season).sum();
        6.0 + seasons
    }
}

/// The path of a parameter of a term among several. A sum of n terms is ((t₀ + t₁) + t₂) + …
fn path_of(terms: usize, index: usize, start: &Start) -> String {
    let last = terms - 1;
    let outer = "first.".repeat(last - index.max(1).min(last));
    let own = match (last, index) {
        (0, _) => "",
        (_, 0) => "first.",
        _ => "second.",
    };
    format!("kernel.{outer}{own}{}", start.path)
}

/// The shape of a season within its period.
#[derive(Clone, Copy)]
struct Shape {
    period: f64,
    /// The median of the lengthscale.
    median: f64,
    /// The shortest lengthscale.
    least: f64,
}

/// The median of the lengthscale of a season, in periods.
const LENGTHSCALE: f64 = 0.5;
/// The same of a season that contains a shorter one, whose pattern differs from one short period to the next.
const LENGTHSCALE_OF_PERIODS: f64 = 0.1;
/// The median is at least this many times the shortest lengthscale, from where training can go both ways.
const ABOVE_LEAST: f64 = 1.25;
/// The shortest lengthscale of a season within a longer one, which has what changes faster.
const LEAST_WITHIN: f64 = 0.25;
/// The shortest lengthscale of a season that contains another: forty harmonics.
const LEAST_AROUND: f64 = 0.08;

impl Structure {
    /// Neighboring steps of a period with the shortest lengthscale are almost independent, or it has about fifty
    /// harmonics.
    fn shape_of(&self, season: &Season) -> Shape {
        let period = season.period;
        let contains = |long: f64, short: f64| long > short && (long / short).fract() == 0.0;
        let others = || self.seasons.iter().map(|other| other.period);
        let of_steps = 0.8 * (PI / period).sin();
        let (median, least) = if others().any(|other| contains(other, period)) {
            (LENGTHSCALE, of_steps.max(LEAST_WITHIN))
        } else if others().any(|other| contains(period, other)) {
            (LENGTHSCALE_OF_PERIODS, of_steps.max(LEAST_AROUND))
        } else {
            (
                LENGTHSCALE,
                of_steps.max(if season.is_whole() { 0.06 } else { 0.1 }),
            )
        };
        let least = least.min(0.35);
        Shape {
            period,
            median: median.max(ABOVE_LEAST * least),
            least,
        }
    }
}

fn season_term(index: usize, shape: Shape) -> Term {
    let period = shape.period;
    let pattern = StationaryConfig::rbf().with_ard(false);
    let kernel = KernelConfig::from(pattern).periodic(period);
    let lengthscale = Start {
        least: shape.least,
        ..Start::new("first.base.lengthscale", shape.median, 0.7)
    };
    Term {
        role: Role::Season(index),
        kernel: kernel.times(StationaryConfig::matern12()),
        form: TermForm::Season,
        starts: vec![
            Start::new("first.base.variance", 0.5, 1.5),
            lengthscale,
            Start::fixed("first.period", period),
            Start::fixed("second.variance", 1.0),
            Start::new("second.lengthscale", 8.0 * period, 1.0),
        ],
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};
    use burn_gp_core::{
        kernels::{Kernel, StateSpaceMatrices, StateSpaceNumbers},
        parameter::Parameters,
    };

    use super::*;
    use crate::{forecasting::posterior::terms_at, parts::terms, training::TrainingData};

    /// Structures of all trends, with and without short memory, and some seasons.
    fn structures() -> Vec<Structure> {
        let mut all = Vec::new();
        for trend in Trend::ALL {
            for periods in [vec![], vec![2.0], vec![4.0, 12.0], vec![7.0, 365.25]] {
                for has_memory in [false, true] {
                    let seasons = periods.iter().map(|&period| Season::of_steps(period));
                    all.push(Structure {
                        trend,
                        seasons: seasons.collect(),
                        has_memory,
                    });
                }
            }
        }
        all
    }

    fn data() -> TrainingData {
        let device = Device::default();
        TrainingData::new(&[-2.0, -1.0, 0.0], &[0.5, -1.0, 0.5], &device, DType::F64)
    }

    #[test]
    fn all_settings_name_parameters_of_the_kernel() {
        for structure in structures() {
            let config = structure.config(30.0);
            let model = config.init(&data()).unwrap();
            // Every parameter has a setting, and no other setting exists.
            let mut paths = model.parameter_paths();
            paths.sort();
            let known: Vec<String> = config.parameters.values.keys().cloned().collect();
            assert_eq!(paths, known, "{structure}");
        }
    }

    /// The terms in plain numbers are those of the kernel: `k(τ) = hᵀA(τ)P(t)h`, anywhere with equal matrices, and at
    /// whole steps with fewer states.
    #[test]
    fn terms_in_plain_numbers_are_those_of_the_kernel() {
        for structure in structures() {
            let config = structure.config(30.0);
            let model = config.init(&data()).unwrap();
            let kernels = terms(model.kernel());
            let values = &config.parameters.values;
            let (found, noise) = terms_at(&structure, values, false);
            assert_eq!(noise, 0.05);
            assert_eq!(found.len(), kernels.len(), "{structure}");
            for (found, kernel) in found.iter().zip(&kernels) {
                let expected = kernel.state_space().unwrap().numbers();
                assert_eq!(found.blocks(), expected.blocks(), "{structure}");
                let steps = [0.3, 1.0, 7.0];
                let (found, expected) = (
                    found.matrices(&steps, -5.0),
                    expected.matrices(&steps, -5.0),
                );
                let all = |own: &StateSpaceMatrices| {
                    [&own.transitions[..], &own.process_noise, &own.prior].concat()
                };
                for (found, expected) in all(&found).iter().zip(all(&expected)) {
                    // Parameters are stored as logarithms.
                    assert!(
                        (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                        "{structure}"
                    );
                }
            }
            let (folded, _) = terms_at(&structure, values, true);
            for (folded, found) in folded.iter().zip(&found) {
                for lag in [0.0, 1.0, 2.0, 5.0, 40.0] {
                    let [own, other] = [folded, found].map(|term| covariance(term, lag));
                    assert!(
                        (own - other).abs() < 1e-12 * other.abs().max(1.0),
                        "{structure}, {lag}"
                    );
                }
            }
        }
    }

    /// `hᵀA(τ)Ph`: the sum of the first entries of AP of all blocks.
    fn covariance(term: &StateSpaceNumbers, lag: f64) -> f64 {
        let matrices = term.matrices(&[lag], -5.0);
        let (mut sum, mut place) = (0.0, 0);
        for size in term.blocks() {
            let row = &matrices.transitions[place..][..size];
            let column = matrices.prior[place..].iter().step_by(size);
            sum += row.iter().zip(column).map(|(a, p)| a * p).sum::<f64>();
            place += size * size;
        }
        sum
    }
}
