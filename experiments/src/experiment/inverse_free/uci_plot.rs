//! NLPD against seconds, with one panel for each number of inducing points.

use clap::ValueEnum;

use super::cells::Cell;
use super::method::Method;
use super::table::{against_seconds, by_data};
use crate::plots::{self, Caption, CurveName, CurvePanel, Quantity, Span};
use crate::study::ExperimentFolder;

/// Draws one plot for each data set.
pub(super) fn draw(folder: &ExperimentFolder, cells: &[Cell]) {
    let names: Vec<CurveName> = (Method::value_variants().iter())
        .map(|method| method.title().into())
        .collect();
    for cells in by_data(cells) {
        let data = &cells[0].first().data;
        let sizes: Vec<&[Cell]> = cells
            .chunk_by(|a, b| a.first().inducing == b.first().inducing)
            .collect();
        let titles: Vec<String> = (sizes.iter())
            .map(|cells| format!("M = {}", cells[0].first().inducing))
            .collect();
        let panels: Vec<CurvePanel<'_>> = (sizes.iter().zip(&titles))
            .map(|(cells, title)| panel(cells, title))
            .collect();
        let caption = Caption {
            data,
            model: "test rows, means over the seeds",
        };
        let seconds = Quantity {
            name: "training",
            unit: Some("s"),
        };
        let path = folder.path().join(format!("{data}.svg"));
        let drawn = plots::curves(&path, "Training", caption, &names, seconds, &panels);
        plots::warn_undrawn(drawn);
    }
}

/// The models of one size, in the order of their names.
fn panel<'a>(cells: &[Cell], title: &'a str) -> CurvePanel<'a> {
    let curve = |method: &Method| {
        let cell = cells.iter().find(|cell| cell.first().method == *method);
        cell.map_or_else(Vec::new, |cell| against_seconds(cell, |look| look.nlpd))
    };
    CurvePanel {
        title,
        value: Quantity::of("NLPD"),
        curves: Method::value_variants().iter().map(curve).collect(),
        span: Span::Values,
    }
}
