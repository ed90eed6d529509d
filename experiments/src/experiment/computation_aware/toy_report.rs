//! Table and plot of the models where data are missing.

use super::toy::{Fit, INDUCING, NAME, NOISE, Problem};
use crate::plots::{self, Bands, Caption, FitPanel, PlotError, Points, Quantity};
use crate::study::{CsvLine, ExperimentFolder};
use crate::text_table::aligned;

/// The half-width of a band, in standard deviations.
const DEVIATIONS: f64 = 2.0;

/// The standard deviation at the drawn input nearest to the first inducing point.
fn in_the_gap(fit: &Fit, deviation: &[f64]) -> f64 {
    let distances = fit.x.iter().map(|x| (x - INDUCING[0]).abs());
    let pairs = distances.zip(deviation);
    let nearest = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(f64::NAN, |(_, deviation)| *deviation)
}

/// The table.
pub(super) fn text(fits: &[Fit], steps: usize, folder: &ExperimentFolder) -> String {
    let titles = [
        "model",
        "noise deviation",
        "lengthscale",
        "deviation in the gap",
        "of the exact posterior",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(fits.iter().map(|fit| {
        let exact = fit.mathematical.as_ref();
        vec![
            fit.title.clone(),
            format!("{:.3}", fit.noise.sqrt()),
            format!("{:.3}", fit.lengthscale),
            format!("{:.3}", in_the_gap(fit, &fit.deviation)),
            exact.map_or_else(
                || "-".into(),
                |part| format!("{:.3}", in_the_gap(fit, part)),
            ),
        ]
    }));
    let mut lines = vec![format!(
        "{NAME}: at most {steps} steps; the data's noise deviation is {NOISE}"
    )];
    lines.extend(aligned(&rows));
    lines.push(format!(
        "\ndeviations of the function, without noise, at the inducing point {} in a gap of the data; that \
         of the exact\nposterior is with the same hyperparameters: the rest is computational. The paper \
         (arXiv:2411.01036, Figure 1)\nhas no numbers: SVGP is sure where it has an inducing point and \
         calls deviations noise, CaGP is not.",
        INDUCING[0]
    ));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// A line of the CSV file.
pub(super) fn line(fit: &Fit) -> CsvLine {
    let exact = fit.mathematical.as_ref();
    CsvLine::default()
        .with("model", &fit.title)
        .with("noise_deviation", fit.noise.sqrt())
        .with("lengthscale", fit.lengthscale)
        .with("deviation", in_the_gap(fit, &fit.deviation))
        .maybe("exact_deviation", exact.map(|part| in_the_gap(fit, part)))
}

/// Draws one panel for each model, and one more for the mathematical part of each model that has
/// one.
///
/// # Errors
///
/// If the plot cannot be drawn or written.
pub(super) fn draw(
    folder: &ExperimentFolder,
    problem: &Problem,
    fits: &[Fit],
) -> Result<(), PlotError> {
    let wholes = (fits.iter()).map(|fit| (fit, fit.title.clone(), &fit.deviation));
    let parts = fits.iter().filter_map(|fit| {
        let part = fit.mathematical.as_ref()?;
        Some((fit, format!("{}, mathematical", fit.title), part))
    });
    let bands: Vec<(&Fit, String, &Vec<f64>)> = wholes.chain(parts).collect();
    let panels: Vec<FitPanel<'_>> = (bands.iter())
        .map(|(fit, title, deviation)| FitPanel {
            title,
            x: &fit.x,
            mean: &fit.mean,
            deviation,
            inducing: &fit.inducing,
            orthogonal: &[],
        })
        .collect();
    let (inputs, targets) = (&problem.inputs, &problem.targets);
    plots::fits(
        &folder.path().join("fits.svg"),
        Caption {
            data: "five runs of data",
            model: "the function, without noise",
        },
        Bands {
            text: "±2 deviations",
            deviations: DEVIATIONS,
        },
        (
            Points {
                x: inputs,
                y: targets,
            },
            Points { x: &[], y: &[] },
        ),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
