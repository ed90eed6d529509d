//! Cox processes with a deep basis kernel and with a stationary kernel (appendix A.5).
//!
//! The model is `log λ ~ GP`. The bound contains the integral of the expected intensity, computed
//! by Gauss–Legendre quadrature or by new draws in every step. The paper describes the model but
//! reports no experiment, so the events here are drawn from known intensities or come from a file.
//! The deep basis is a perceptron with 32 outputs and no variance correction, as in A.5. The
//! stationary kernel is squared exponential with inducing points on a lattice. Both have a trained
//! constant mean and are trained by Adam.

use std::path::{Path, PathBuf};

use burn_gp_datasets::counted;
use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    plots::{
        self, Bands, Caption, FitPanel, MapPanel, PlotError, Points, PredictedCurve,
        ProbabilityGrid, Quantity,
    },
    ranges::at_least_one,
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, table},
};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::cox_data::{Events, Intensity, ranges};
use super::cox_problem::{Fit, GRID, Prior, Problem, Rule, lattice};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "dbk-cox";

/// Cox processes with a deep basis and a stationary kernel (arXiv:2505.18526, appendix A.5)
///
/// Intensities of events with known intensities in one and two dimensions, or of the events of
/// a file, with the integral of the bound by quadrature and by draws: error, coverage, expected
/// log-likelihood of held-out events, and plots. For example, coal-mining disasters: --events
/// disasters.csv --domain 1851.2..1962.2.
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

inventory::submit! { Registration::of::<DbkCoxOptions>(NAME) }

impl Figure for DbkCoxOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        at_least_one("--steps", self.steps)?;
        let place = common.place()?;
        place.open()?;
        let problems = self.problems()?;
        let steps = self.steps.unwrap_or(common.by_scale(1000, 10_000));
        let settings = json!({
            "steps": steps,
            "seed": common.seed,
            "events": self.events,
            "domain": self.domain,
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
                        || {
                            Problem::new(events, &experiment, (steps, common.seed))?
                                .fit(prior, rule)
                        },
                    )?);
                }
            }
        }
        report(&experiment.folder, &problems, &fits, steps)
    }
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

const BANDS: Bands<'static> = Bands {
    text: "2 standard deviations",
    deviations: 2.0,
};

/// The spacing of the marks of the true intensity, in grid points.
const RINGS_APART: usize = 5;

/// The number of fits for each set of events.
const FITS: usize = 4;

/// Writes the table, the files and the plots.
fn report(
    folder: &ExperimentFolder,
    problems: &[Events],
    fits: &[Fit],
    steps: usize,
) -> Result<(), Failure> {
    let parts: Vec<(&Events, &[Fit])> = problems.iter().zip(fits.chunks(FITS)).collect();
    let record: Vec<_> = (parts.iter())
        .map(|(events, fits)| json!({ "events": events.name, "fits": fits }))
        .collect();
    let rows: Vec<ResultRow> = parts.iter().flat_map(lines).collect();
    folder.write_results(&record, &rows)?;
    for (events, fits) in &parts {
        folder.draw(&format!("{}.svg", events.name), |path| {
            match events.dimensions() {
                1 => draw_line(path, events, fits),
                _ => draw_plane(path, events, fits),
            }
        });
    }
    let mut lines = vec![format!("{NAME}: {}", counted(steps, "step"))];
    lines.extend(table(&rows));
    lines.push(
        "\nerror: root mean square error of the intensity over the mean of the true one; within 95 %: share of \
         grid points whose\ninterval contains the truth; log-likelihood: expected, per held-out event (a second \
         draw; for a file, a fifth of its\nevents). The paper (arXiv:2505.18526, A.5) has the model but no experiment."
            .into(),
    );
    folder.print(lines);
    Ok(())
}

/// The number of events; for a file, held-out events included.
fn number_of(events: &Events) -> usize {
    let dimensions = events.dimensions();
    let number = events.train.len() / dimensions;
    match events.truth {
        Some(_) => number,
        None => number + events.held_out.len() / dimensions,
    }
}

/// One line for each fit, and one for the truth if it is known.
fn lines((events, fits): &(&Events, &[Fit])) -> Vec<ResultRow> {
    let of_fit = |fit: &Fit| {
        ResultRow::default()
            .column("events", "events", &events.name, 0)
            .column("prior", "prior", fit.prior.title(), 0)
            .column("integral", "integral", fit.rule.title(), 0)
            .column("number", "number", number_of(events), 0)
            .column("expected", "expected", fit.events, 1)
            .column("error", "error", fit.error, 3)
            .column("within 95 %", "within_95", fit.coverage, 3)
            .column("log-likelihood", "log_likelihood", fit.log_likelihood, 4)
            .column("seconds", "seconds", fit.seconds, 1)
    };
    let truth = true_log_likelihood(events).map(|(expected, log_likelihood)| {
        ResultRow::default()
            .column("events", "events", &events.name, 0)
            .column("prior", "prior", "the truth", 0)
            .shown("integral", "-")
            .with("integral", "")
            .column("number", "number", number_of(events), 0)
            .column("expected", "expected", expected, 1)
            .column("error", "error", 0.0, 0)
            .column("within 95 %", "within_95", 1.0, 0)
            .column("log-likelihood", "log_likelihood", log_likelihood, 4)
            .column("seconds", "seconds", None::<f64>, 1)
    });
    fits.iter().map(of_fit).chain(truth).collect()
}

/// The expected number of events under the true intensity, and the log-likelihood per held-out
/// event.
fn true_log_likelihood(events: &Events) -> Option<(f64, f64)> {
    const STEPS: usize = 400;
    let intensity = events.truth?;
    let dimensions = events.dimensions();
    let cells = STEPS.pow(dimensions as u32);
    let middle = |cell: usize| -> Vec<f64> {
        let sides = events.sides.iter().enumerate();
        sides
            .map(|(side, (low, high))| {
                let step = cell / STEPS.pow(side as u32) % STEPS;
                low + (high - low) * (step as f64 + 0.5) / STEPS as f64
            })
            .collect()
    };
    let sum: f64 = (0..cells).map(|cell| intensity.at(&middle(cell))).sum();
    let total = sum / cells as f64 * events.volume();
    let places = events.held_out.chunks(dimensions);
    let logarithms: f64 = places.map(|place| intensity.at(place).ln()).sum();
    let count = events.held_out.len() / dimensions;
    Some((total, (logarithms - total) / count.max(1) as f64))
}

/// The grid in the units of the events, row-major.
fn places(events: &Events) -> Vec<f64> {
    let dimensions = events.dimensions();
    let grid = lattice(GRID[dimensions - 1], dimensions);
    let ends = events.sides.iter().cycle();
    (grid.iter().zip(ends))
        .map(|(x, (low, high))| low + 0.5 * (x + 1.0) * (high - low))
        .collect()
}

/// Draws one panel for each fit: the expected intensity, its band, and the events along the axis.
fn draw_line(path: &Path, events: &Events, fits: &[Fit]) -> Result<(), PlotError> {
    let x = places(events);
    let shown: Vec<(String, PredictedCurve)> = (fits.iter())
        .map(|fit| {
            let title = format!("{}, {}", fit.prior.title(), fit.rule.title());
            let curve = PredictedCurve {
                x: x.clone(),
                mean: fit.mean.clone(),
                deviation: fit.deviation.clone(),
            };
            (title, curve)
        })
        .collect();
    let panels: Vec<FitPanel<'_>> = (shown.iter())
        .map(|(title, curve)| FitPanel::new(title, curve, BANDS))
        .collect();
    let rings: Vec<f64> = match events.truth {
        Some(_) => x.iter().copied().step_by(RINGS_APART).collect(),
        None => Vec::new(),
    };
    let truth: Vec<f64> = (events.truth.iter())
        .flat_map(|intensity| rings.iter().map(|&x| intensity.at(&[x])))
        .collect();
    let model = match events.truth {
        Some(_) => "intensity; dots: events; orange, held out: the true intensity",
        None => "intensity; dots: events",
    };
    let on_axis = vec![0.0; events.train.len()];
    let points = |x, y| Points { x, y };
    plots::fits(
        path,
        Caption::new(&events.name, model),
        &[BANDS.text],
        (points(&events.train, &on_axis), points(&rings, &truth)),
        (Quantity::of("x"), Quantity::of("intensity")),
        &panels,
    )
}

/// Draws maps of the expected intensities by quadrature and of the true intensity, with the events.
fn draw_plane(path: &Path, events: &Events, fits: &[Fit]) -> Result<(), PlotError> {
    let [first, second] = [events.sides[0], events.sides[1]];
    let grid = ProbabilityGrid::new(first.0..=first.1, second.0..=second.1, GRID[1], GRID[1])?;
    let points: Vec<[f64; 2]> = events.train.chunks(2).map(|x| [x[0], x[1]]).collect();
    let truth: Option<Vec<f64>> = events.truth.map(|intensity| {
        let nodes = grid.nodes();
        nodes.iter().map(|place| intensity.at(place)).collect()
    });
    let shown: Vec<&Fit> = (fits.iter())
        .filter(|fit| fit.rule == Rule::Quadrature)
        .collect();
    let mut panels: Vec<MapPanel<'_>> = (shown.iter())
        .map(|fit| MapPanel {
            points: &points,
            ..MapPanel::new(fit.prior.title(), &fit.mean)
        })
        .collect();
    let truth = truth.as_ref();
    panels.extend(truth.map(|truth| MapPanel::new("true intensity", truth)));
    plots::number_maps(
        path,
        Caption::new(&events.name, "expected intensity"),
        ("event", ""),
        (&grid, [Quantity::of("x1"), Quantity::of("x2")]),
        &panels,
    )
}
