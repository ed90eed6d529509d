//! The loss in the course of training, a panel for each depth.

use std::path::Path;

use super::cells::Cell;
use crate::arguments::PosteriorName;
use crate::plots::{self, Caption, CurveName, CurvePanel, Quantity, Span};

/// Draws the cells of a data set, which come depth by depth.
pub(super) fn draw(path: &Path, data: &str, cells: &[Cell]) {
    let mut names: Vec<CurveName> = Vec::new();
    for cell in cells {
        let name = CurveName {
            text: cell.title(),
            // With an inverse that has converged it lies on that of L-SVGP.
            dashed: cell.first().posterior == PosteriorName::InverseFree,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let depths: Vec<&[Cell]> = cells
        .chunk_by(|a, b| a.first().depth == b.first().depth)
        .collect();
    let titles: Vec<String> = (depths.iter())
        .map(|cells| match cells[0].first().depth {
            1 => "1 layer".into(),
            depth => format!("{depth} layers"),
        })
        .collect();
    let panels: Vec<CurvePanel<'_>> = (depths.iter().zip(&titles))
        .map(|(cells, title)| panel(cells, title, &names))
        .collect();
    let caption = Caption {
        data,
        model: "negative bound of the mini-batches, means over steps and seeds",
    };
    let steps = Quantity::of("step");
    let drawn = plots::curves(path, "Training", caption, &names, steps, &panels);
    plots::warn_undrawn(drawn);
}

/// The posteriors at a depth, in the order of `names`.
fn panel<'a>(cells: &[Cell], title: &'a str, names: &[CurveName]) -> CurvePanel<'a> {
    let curve = |name: &CurveName| {
        let cell = cells.iter().find(|cell| cell.title() == name.text);
        cell.map_or_else(Vec::new, Cell::losses)
    };
    CurvePanel {
        title,
        value: Quantity {
            name: "loss per row",
            unit: Some("nats"),
        },
        curves: names.iter().map(curve).collect(),
        span: Span::Values,
    }
}
