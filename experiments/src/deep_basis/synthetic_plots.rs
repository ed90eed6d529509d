//! The plots of Figures 1 and 3.

use std::path::Path;

use burn_gp_runs::plots::{
    self, Bands, Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, Quantity, Span,
};
use clap::ValueEnum;

use super::synthetic::{LOOKED_AT, OneDimensional, Run};

/// The number of rows of the drawn posteriors.
const DRAWN: usize = 1000;

const BANDS: Bands<'static> = Bands {
    text: "2 standard deviations of targets",
    deviations: 2.0,
};

/// Draws errors, densities and times against the number of rows.
pub(super) fn draw_cost(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let methods = OneDimensional::value_variants().iter();
    let names: Vec<CurveName> = (methods.clone())
        .map(|method| method.title().into())
        .collect();
    let panel = |title: &'static str, number: fn(&Run) -> f64| {
        let curves = methods.clone().map(|&method| curve(runs, method, number));
        CurvePanel::new(title, Span::Values, curves.collect())
    };
    let panels = [
        panel("MAE", |run| run.mae),
        panel("RMSE", |run| run.rmse),
        panel("NLPD", |run| run.nlpd),
        panel("log10 ms a step", |run| {
            (1e3 * run.seconds_per_step).log10()
        }),
    ];
    let caption = Caption::new("levels", "held-out rows, means over the seeds");
    let along = Quantity::of("log10 rows");
    plots::curves(path, "Cost", caption, &names, along, &panels)
}

/// A value of a model against log n, averaged over the seeds.
fn curve(runs: &[Run], method: OneDimensional, number: fn(&Run) -> f64) -> Vec<(f64, f64)> {
    let own: Vec<&Run> = runs.iter().filter(|run| run.method == method).collect();
    let sizes = own.chunk_by(|a, b| a.rows == b.rows);
    sizes
        .map(|runs| {
            let sum: f64 = runs.iter().map(|run| number(run)).sum();
            ((runs[0].rows as f64).log10(), sum / runs.len() as f64)
        })
        .collect()
}

/// The runs of the first seed with 1000 rows, or the largest smaller number of rows.
fn shown(runs: &[Run]) -> Vec<&Run> {
    let sizes = runs.iter().map(|run| run.rows);
    let rows = sizes.filter(|&rows| rows <= DRAWN).max();
    let of_size = || runs.iter().filter(|run| Some(run.rows) == rows);
    let seed = of_size().map(|run| run.seed).min();
    of_size().filter(|run| Some(run.seed) == seed).collect()
}

/// Draws the kernels `k(x*, ·)` at the inputs in [`LOOKED_AT`].
pub(super) fn draw_kernels(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let names = LOOKED_AT.map(|place| CurveName::from(format!("x* = {place}")));
    let panel = |run: &Run| {
        let slice = |slice: &Vec<f64>| {
            let x = run.curve.x.iter().copied();
            x.zip(slice.iter().copied()).collect()
        };
        CurvePanel {
            title: run.method.title(),
            ..CurvePanel::new(
                "k(x*, x)",
                Span::Values,
                run.slices.iter().map(slice).collect(),
            )
        }
    };
    let shown = shown(runs).into_iter().filter(|run| !run.slices.is_empty());
    let panels: Vec<CurvePanel<'_>> = shown.map(panel).collect();
    if panels.is_empty() {
        return Ok(());
    }
    let caption = Caption::new("levels", "trained kernels");
    let along = Quantity::of("x");
    plots::curves(path, "Kernels", caption, &names, along, &panels)
}

/// Draws the posteriors of [`shown`] runs.
pub(super) fn draw_posteriors(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let shown = shown(runs);
    let Some(rows) = shown.first().map(|run| run.rows) else {
        return Ok(());
    };
    let panels: Vec<FitPanel<'_>> = (shown.iter())
        .map(|run| FitPanel::new(run.method.title(), &run.curve, BANDS))
        .collect();
    let model = format!("n = {rows}, trained on [-1, 1]");
    plots::fits(
        path,
        Caption::new("levels", &model),
        &[BANDS.text],
        (Points::default(), Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
