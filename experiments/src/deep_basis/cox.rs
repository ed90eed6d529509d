//! Cox processes with a deep basis kernel and with a stationary kernel (appendix A.5).
//!
//! The model is `log λ ~ GP`. The bound contains the integral of the expected intensity, computed
//! by Gauss–Legendre quadrature or by new draws in every step. The paper describes the model but
//! reports no experiment, so the events here are drawn from known intensities or come from a file.
//! The deep basis is a perceptron with 32 outputs and no variance correction, as in A.5. The
//! stationary kernel is squared exponential with inducing points on a lattice. Both have a trained
//! constant mean and are trained by Adam.

use std::path::PathBuf;

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    ranges::at_least_one,
    study::{CommonOptions, Experiment},
};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cox_data::{Events, Intensity, ranges};
use super::cox_problem::Problem;
use super::cox_report::report;

/// The name of the experiment.
pub(super) const NAME: &str = "dbk-cox";

/// The options of `experiment dbk-cox`.
#[derive(Args, Clone, Debug)]
pub struct DbkCoxOptions {
    /// Known intensities [default: all; none with --events]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    intensities: Vec<Intensity>,
    /// CSV file of events with one or two columns of coordinates
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Region that can contain events, such as 1851.2..1962.2 or 0..1,0..2 [default: from the first
    /// to the last event]
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    domain: Option<String>,
    /// Optimizer steps [default: 10000; quick: 1000]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// The prior of the log intensity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Prior {
    DeepBasis,
    Stationary,
}

/// How training computes the integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    Quadrature,
    MonteCarlo,
}

/// A fitted intensity on the grid, in the units of the events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fit {
    pub prior: Prior,
    pub rule: Rule,
    /// The mean of the intensity of all events.
    pub mean: Vec<f64>,
    /// The standard deviation of the intensity of all events.
    pub deviation: Vec<f64>,
    /// The expected number of all events.
    pub events: f64,
    /// The root mean square error of the mean, relative to the mean of the true intensity.
    pub error: Option<f64>,
    /// The share of the grid points where the truth is within the 95 % interval.
    pub coverage: Option<f64>,
    /// The expected log-likelihood for each held-out event.
    pub log_likelihood: f64,
    pub seconds: f64,
}

/// Runs `burn-gp experiment dbk-cox`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(crate) fn cox(options: &DbkCoxOptions) -> Result<(), Failure> {
    let common = &options.common;
    at_least_one("--steps", options.steps)?;
    let place = common.place()?;
    place.open()?;
    let problems = options.problems()?;
    let steps = options.steps.unwrap_or(common.by_scale(1000, 10_000));
    let settings = json!({
        "steps": steps,
        "seed": common.seed,
        "events": options.events,
        "domain": options.domain,
    });
    let experiment = Experiment::open(NAME, common, place, settings)?;
    let mut fits = Vec::new();
    for events in &problems {
        for prior in [Prior::DeepBasis, Prior::Stationary] {
            for rule in [Rule::Quadrature, Rule::MonteCarlo] {
                let names = [events.name.clone(), name_of(prior), name_of(rule)];
                fits.push(experiment.load_or_compute(
                    &names.join("-"),
                    &names.join(", "),
                    || Problem::new(events, &experiment, (steps, common.seed))?.fit(prior, rule),
                )?);
            }
        }
    }
    report(&experiment.folder, &problems, &fits, steps)
}

impl DbkCoxOptions {
    fn problems(&self) -> Result<Vec<Events>, Failure> {
        let seed = self.common.seed;
        let intensities = match (self.intensities.as_slice(), &self.events) {
            ([], None) => Intensity::value_variants(),
            (intensities, _) => intensities,
        };
        let drawn = |&intensity| Events::drawn(intensity, name_of(intensity), seed);
        let mut problems: Vec<Events> = intensities.iter().map(drawn).collect::<Result<_, _>>()?;
        let sides = self.domain.as_deref().map(ranges).transpose()?;
        match (&self.events, sides) {
            (Some(path), sides) => problems.push(Events::read(path, sides.as_deref(), seed)?),
            (None, Some(_)) => {
                return Err(Failure::Arguments(
                    "--domain only applies to the events of a file; give the file with --events"
                        .into(),
                ));
            }
            (None, None) => {}
        }
        Ok(problems)
    }
}

impl Prior {
    pub fn title(self) -> &'static str {
        match self {
            Self::DeepBasis => "deep basis",
            Self::Stationary => "stationary",
        }
    }
}

impl Rule {
    pub fn title(self) -> &'static str {
        match self {
            Self::Quadrature => "quadrature",
            Self::MonteCarlo => "Monte Carlo",
        }
    }
}
