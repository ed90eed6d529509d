//! The loss in the course of training, a panel for each depth.

use std::path::Path;

use super::cells::Cell;
use crate::pictures::{self, Caption, CurveName, CurvePanel, Quantity, Span};

/// Draws the cells of a data set, which come depth by depth.
pub(super) fn draw(path: &Path, data: &str, cells: &[Cell]) {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        if !names.contains(&cell.title()) {
            names.push(cell.title());
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
    let steps = Quantity {
        name: "step",
        unit: None,
    };
    let names: Vec<CurveName> = names.into_iter().map(CurveName::from).collect();
    let drawn = pictures::curves(path, "Training", caption, &names, steps, &panels);
    if let Err(error) = drawn {
        eprintln!("warning: {error}");
    }
}

/// The posteriors at a depth, in the order of `names`.
fn panel<'a>(cells: &[Cell], title: &'a str, names: &[String]) -> CurvePanel<'a> {
    let curve = |name: &String| {
        let cell = cells.iter().find(|cell| cell.title() == *name);
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
