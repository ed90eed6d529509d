//! Table and plot of the models where data are missing.

use std::path::Path;

use burn_gp_runs::{
    failure::Failure,
    plots::{self, Bands, Caption, FitPanel, PlotError, Points, PredictedCurve, Quantity},
    study::{ExperimentFolder, ResultRow, table},
};

use super::toy::{Fit, INDUCING, NAME, NOISE, Problem};

const BANDS: Bands<'static> = Bands {
    text: "±2 standard deviations",
    deviations: 2.0,
};

/// The standard deviation at the drawn input nearest to the first inducing point.
fn in_the_gap(fit: &Fit, deviation: &[f64]) -> f64 {
    let distances = fit.curve.x.iter().map(|x| (x - INDUCING[0]).abs());
    let pairs = distances.zip(deviation);
    let nearest = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(f64::NAN, |(_, deviation)| *deviation)
}

fn line(fit: &Fit) -> ResultRow {
    let here = in_the_gap(fit, &fit.curve.deviation);
    let exact = fit.mathematical.as_ref();
    let exact = exact.map(|part| in_the_gap(fit, part));
    ResultRow::default()
        .column("model", "model", &fit.title, 0)
        .column("noise deviation", "noise_deviation", fit.noise.sqrt(), 3)
        .column("lengthscale", "lengthscale", fit.lengthscale, 3)
        .column("deviation in the gap", "deviation", here, 3)
        .column("of the exact posterior", "exact_deviation", exact, 3)
}

/// Writes the table, the files and the plot.
pub(super) fn report(
    folder: &ExperimentFolder,
    problem: &Problem<'_>,
    fits: &[Fit],
    steps: usize,
) -> Result<(), Failure> {
    let rows: Vec<ResultRow> = fits.iter().map(line).collect();
    folder.write_results(&fits, &rows)?;
    folder.draw("fits.svg", |path| draw(path, problem, fits));
    let mut lines = vec![format!(
        "{NAME}: at most {steps} steps; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&rows));
    lines.push(format!(
        "\nstandard deviations of the function, without noise, at the inducing point {} in a gap of the data; \
         the exact posterior\nhas the same hyperparameters, so the difference is computational. The paper \
         (arXiv:2411.01036, Figure 1) has no numbers:\nSVGP is certain at its inducing points and explains \
         variation as noise, CaGP does neither.",
        INDUCING[0]
    ));
    folder.print(lines);
    Ok(())
}

/// Draws one panel for each model, and one more for the mathematical part of each model that has
/// one.
fn draw(path: &Path, problem: &Problem<'_>, fits: &[Fit]) -> Result<(), PlotError> {
    let wholes = (fits.iter()).map(|fit| (fit, fit.title.clone(), fit.curve.clone()));
    let parts = fits.iter().filter_map(|fit| {
        let curve = PredictedCurve {
            deviation: fit.mathematical.clone()?,
            ..fit.curve.clone()
        };
        Some((fit, format!("{}, mathematical", fit.title), curve))
    });
    let shown: Vec<(&Fit, String, PredictedCurve)> = wholes.chain(parts).collect();
    let panels: Vec<FitPanel<'_>> = (shown.iter())
        .map(|(fit, title, curve)| FitPanel {
            inducing: &fit.inducing,
            ..FitPanel::new(title, curve, BANDS)
        })
        .collect();
    let train = Points {
        x: &problem.inputs,
        y: &problem.targets,
    };
    plots::fits(
        path,
        Caption::new("five runs of data", "the function, without noise"),
        &[BANDS.text],
        (train, Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
