//! Table and plots of Cox processes.

use std::path::Path;

use serde_json::json;

use super::cox::{Fit, NAME, Rule};
use super::cox_data::Events;
use super::cox_problem::{GRID, lattice};
use crate::failure::Failure;
use crate::plots::{
    self, Bands, Caption, FitPanel, MapPanel, PlotError, Points, ProbabilityGrid, Quantity,
};
use crate::standard_output::print;
use crate::study::{CsvLine, ExperimentFolder};
use crate::text_table::aligned;

/// The half-width of a band, in standard deviations.
const DEVIATIONS: f64 = 2.0;

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
    let rows: Vec<Vec<String>> = parts.iter().flat_map(rows).collect();
    let record: Vec<_> = (parts.iter())
        .map(|(events, fits)| json!({ "events": events.name, "fits": fits }))
        .collect();
    let titles = TITLES.map(str::to_owned).to_vec();
    let csv: Vec<CsvLine> = parts.iter().flat_map(csv_lines).collect();
    folder.write_results(&record, &csv)?;
    for (events, fits) in &parts {
        let path = folder.path().join(format!("{}.svg", events.name));
        let drawn = match events.dimensions() {
            1 => draw_line(&path, events, fits),
            _ => draw_plane(&path, events, fits),
        };
        plots::warn_undrawn(drawn);
    }
    let mut lines = vec![format!("{NAME}: {steps} steps")];
    lines.extend(aligned(&[vec![titles], rows].concat()));
    lines.push(
        "\nerror: root mean square of the intensity's over the mean of the true one; within 95 %: part of the \
         places where\nthe truth is; log-likelihood: expected, of each held-out event (a second draw; of a \
         file a fifth of the events). The\npaper (arXiv:2505.18526, A.5) has the model and no experiment."
            .into(),
    );
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}

const TITLES: [&str; 9] = [
    "events",
    "prior",
    "integral",
    "number",
    "expected",
    "error",
    "within 95 %",
    "log-likelihood",
    "seconds",
];

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
fn csv_lines((events, fits): &(&Events, &[Fit])) -> Vec<CsvLine> {
    let line = |prior: &str, rule: &str| {
        CsvLine::default()
            .with("events", &events.name)
            .with("prior", prior)
            .with("integral", rule)
            .with("number", number_of(events))
    };
    let of_fit = |fit: &Fit| {
        line(fit.prior.title(), fit.rule.title())
            .with("expected", fit.events)
            .maybe("error", fit.error)
            .maybe("within_95", fit.coverage)
            .with("log_likelihood", fit.log_likelihood)
            .maybe("seconds", Some(fit.seconds))
    };
    let truth = true_log_likelihood(events).map(|(expected, log_likelihood)| {
        line("the truth", "")
            .with("expected", expected)
            .maybe("error", Some(0.0))
            .maybe("within_95", Some(1.0))
            .with("log_likelihood", log_likelihood)
            .maybe("seconds", None::<f64>)
    });
    fits.iter().map(of_fit).chain(truth).collect()
}

fn rows((events, fits): &(&Events, &[Fit])) -> Vec<Vec<String>> {
    let number = number_of(events);
    let text = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
    };
    let mut rows: Vec<Vec<String>> = (fits.iter())
        .map(|fit| {
            vec![
                events.name.clone(),
                fit.prior.title().into(),
                fit.rule.title().into(),
                number.to_string(),
                format!("{:.1}", fit.events),
                text(fit.error, 3),
                text(fit.coverage, 3),
                format!("{:.4}", fit.log_likelihood),
                format!("{:.1}", fit.seconds),
            ]
        })
        .collect();
    if let Some(best) = true_log_likelihood(events) {
        let mut row = vec![events.name.clone(), "the truth".into(), "-".into()];
        row.push(number.to_string());
        row.extend([text(best.0.into(), 1), "0".into(), "1".into()]);
        row.extend([text(best.1.into(), 4), "-".into()]);
        rows.push(row);
    }
    rows
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

fn title(fit: &Fit) -> String {
    format!("{}, {}", fit.prior.title(), fit.rule.title())
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
    let titles: Vec<String> = fits.iter().map(title).collect();
    let panels: Vec<FitPanel<'_>> = (fits.iter().zip(&titles))
        .map(|(fit, title)| FitPanel {
            title,
            x: &x,
            mean: &fit.mean,
            deviation: &fit.deviation,
            inducing: &[],
            orthogonal: &[],
        })
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
    plots::fits(
        path,
        Caption {
            data: &events.name,
            model,
        },
        Bands {
            text: "2 standard deviations",
            deviations: DEVIATIONS,
        },
        (
            Points {
                x: &events.train,
                y: &vec![0.0; events.train.len()],
            },
            Points {
                x: &rings,
                y: &truth,
            },
        ),
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
            title: fit.prior.title(),
            values: &fit.mean,
            points: &points,
            crosses: &[],
        })
        .collect();
    if let Some(truth) = &truth {
        panels.push(MapPanel {
            title: "true intensity",
            values: truth,
            points: &[],
            crosses: &[],
        });
    }
    plots::number_maps(
        path,
        Caption {
            data: &events.name,
            model: "expected intensity",
        },
        ("event", ""),
        (&grid, [Quantity::of("x1"), Quantity::of("x2")]),
        &panels,
    )
}
