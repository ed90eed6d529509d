//! The plots of Figures 1 and 3.

use std::path::Path;

use clap::ValueEnum;

use super::synthetic::{LOOKED_AT, OneDimensional, Run};
use crate::plots::{self, Bands, Caption, CurveName, CurvePanel, FitPanel, Points, Quantity, Span};

/// The number of rows of the drawn posteriors.
const DRAWN: usize = 1000;

/// The half-width of a band, in standard deviations.
const DEVIATIONS: f64 = 2.0;

const NOTHING: Points<'static> = Points { x: &[], y: &[] };

/// Draws errors, densities and times against the number of rows.
pub(super) fn draw_cost(path: &Path, runs: &[Run]) {
    let names: Vec<CurveName> = (OneDimensional::value_variants().iter())
        .map(|method| method.title().into())
        .collect();
    let panel = |title: &'static str, unit, number: fn(&Run) -> f64| CurvePanel {
        title,
        value: Quantity { name: title, unit },
        curves: (OneDimensional::value_variants().iter())
            .map(|&method| curve(runs, method, number))
            .collect(),
        span: Span::Values,
    };
    let panels = [
        panel("MAE", None, |run| run.mae),
        panel("RMSE", None, |run| run.rmse),
        panel("NLPD", None, |run| run.nlpd),
        panel("log10 ms a step", None, |run| {
            (1e3 * run.seconds_per_step).log10()
        }),
    ];
    let caption = Caption {
        data: "levels",
        model: "held-out rows, means over the seeds",
    };
    let along = Quantity::of("log10 rows");
    plots::warn_undrawn(plots::curves(path, "Cost", caption, &names, along, &panels));
}

/// A number of a model against log n, averaged over the seeds.
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
pub(super) fn draw_kernels(path: &Path, runs: &[Run]) {
    let shown = shown(runs);
    let names: Vec<CurveName> = (LOOKED_AT.iter())
        .map(|place| format!("x* = {place}").into())
        .collect();
    let panels: Vec<CurvePanel<'_>> = (shown.iter())
        .filter(|run| !run.slices.is_empty())
        .map(|run| CurvePanel {
            title: run.method.title(),
            value: Quantity::of("k(x*, x)"),
            curves: (run.slices.iter())
                .map(|slice| run.x.iter().copied().zip(slice.iter().copied()).collect())
                .collect(),
            span: Span::Values,
        })
        .collect();
    if panels.is_empty() {
        return;
    }
    let caption = Caption {
        data: "levels",
        model: "trained kernels",
    };
    let along = Quantity::of("x");
    plots::warn_undrawn(plots::curves(
        path, "Kernels", caption, &names, along, &panels,
    ));
}

/// Draws the posteriors of [`shown`] runs.
pub(super) fn draw_posteriors(path: &Path, runs: &[Run]) {
    let shown = shown(runs);
    let Some(rows) = shown.first().map(|run| run.rows) else {
        return;
    };
    let panels: Vec<FitPanel<'_>> = shown
        .into_iter()
        .map(|run| FitPanel {
            title: run.method.title(),
            x: &run.x,
            mean: &run.mean,
            deviation: &run.deviation,
            inducing: &[],
            orthogonal: &[],
        })
        .collect();
    let model = format!("n = {rows}, trained on [-1, 1]");
    let caption = Caption {
        data: "levels",
        model: &model,
    };
    plots::warn_undrawn(plots::fits(
        path,
        caption,
        Bands {
            text: "2 standard deviations of targets",
            deviations: DEVIATIONS,
        },
        (NOTHING, NOTHING),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    ));
}
