//! Table and plots of Cox processes.

use std::path::Path;

use burn_gp_runs::{
    failure::Failure,
    plots::{
        self, Bands, Caption, FitPanel, MapPanel, PlotError, Points, PredictedCurve,
        ProbabilityGrid, Quantity,
    },
    study::{ExperimentFolder, ResultRow, table},
};
use serde_json::json;

use super::cox::{Fit, NAME, Rule};
use super::cox_data::Events;
use super::cox_problem::{GRID, lattice};

const BANDS: Bands<'static> = Bands {
    text: "2 standard deviations",
    deviations: 2.0,
};

/// The spacing of the marks of the true intensity, in grid points.
const RINGS_APART: usize = 5;

/// The number of fits for each set of events.
const FITS: usize = 4;

/// Writes the table, the files and the plots.
pub(super) fn report(
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
    let mut lines = vec![format!("{NAME}: {steps} steps")];
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
