//! Plots of scores against the numeric values of an option.

use super::definition::{Axis, Study};
use super::finished::FinishedCell;
use super::folder::ExperimentFolder;
use super::plots::shown;
use super::table_definition::Column;
use crate::plots::{self, Caption, CurveName, CurvePanel, Quantity, Span};

/// The smallest number of values that make a curve.
const FEWEST: usize = 3;

/// Plots the scores of the cells of a data set against each axis with enough numeric values, with a
/// curve for each combination of the values of the other axes.
pub fn draw(
    study: &'static Study,
    scores: &[&str],
    cells: &[FinishedCell],
    folder: &ExperimentFolder,
) {
    let data = &cells[0].cell.data;
    for (index, axis) in study.axes.iter().enumerate() {
        let mut sizes: Vec<f64> = cells.iter().filter_map(|cell| size(cell, index)).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        if sizes.len() < FEWEST {
            continue;
        }
        let curves = Curve::all(index, cells);
        let columns = study.table.columns.iter();
        let scored = columns.filter(|column| scores.contains(&column.key));
        let panels: Vec<CurvePanel<'_>> =
            scored.filter_map(|column| panel(column, &curves)).collect();
        let caption = Caption::new(data, "means of the runs; lower is better in every panel");
        let along = axis.name.replace('_', " ");
        folder.draw(&format!("{data}-{}.svg", axis.name), |path| {
            plots::curves(
                path,
                "Scores",
                caption,
                &names(study, index, &curves),
                Quantity::of(&along),
                &panels,
            )
        });
    }
}

/// The value of a cell on an axis, if it is a number.
fn size(cell: &FinishedCell, axis: usize) -> Option<f64> {
    cell.cell.values[axis].parse().ok()
}

/// The values of a cell on the other axes; numbers come with the names of their axes.
fn name(study: &Study, axis: usize, cell: &FinishedCell) -> String {
    let all = study.axes.iter().zip(&cell.cell.values).enumerate();
    let others = all.filter(|&(index, _)| index != axis);
    let named = |(_, (axis, value)): (usize, (&Axis, &String))| match value.parse::<f64>() {
        Ok(_) => format!("{} {value}", axis.name.replace('_', " ")),
        Err(_) => value.clone(),
    };
    let names: Vec<String> = others.map(named).collect();
    match names.is_empty() {
        true => "mean of the runs".to_owned(),
        false => names.join(", "),
    }
}

/// The cells with the same values on the other axes, by their sizes.
struct Curve<'a> {
    others: Vec<String>,
    cells: Vec<(f64, &'a FinishedCell)>,
}

impl<'a> Curve<'a> {
    /// The curves over an axis. Cells without a numeric value on it are left out.
    fn all(axis: usize, cells: &'a [FinishedCell]) -> Vec<Self> {
        let mut curves: Vec<Self> = Vec::new();
        for cell in cells {
            let Some(size) = size(cell, axis) else {
                continue;
            };
            let mut others = cell.cell.values.clone();
            others.remove(axis);
            match curves.iter_mut().find(|curve| curve.others == others) {
                Some(curve) => curve.cells.push((size, cell)),
                None => curves.push(Self {
                    others,
                    cells: vec![(size, cell)],
                }),
            }
        }
        for curve in &mut curves {
            curve.cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        curves
    }

    /// The mean of a score over the runs, for each size.
    fn means(&self, column: &Column) -> Vec<(f64, f64)> {
        let mean = |&(size, cell): &(f64, &FinishedCell)| {
            let values = shown(cell, column);
            (size, values.iter().sum::<f64>() / values.len() as f64)
        };
        self.cells.iter().map(mean).collect()
    }
}

/// The names of the curves. Whenever the colors start again, curves change between solid and dashed.
fn names(study: &Study, axis: usize, curves: &[Curve<'_>]) -> Vec<CurveName> {
    let named = |(number, curve): (usize, &Curve<'_>)| {
        let is_dashed = number / plots::COLORS % 2 == 1;
        CurveName::dashed_if(is_dashed, name(study, axis, curve.cells[0].1))
    };
    curves.iter().enumerate().map(named).collect()
}

/// The panel of a score; `None` if no run has it.
fn panel(column: &'static Column, curves: &[Curve<'_>]) -> Option<CurvePanel<'static>> {
    let points: Vec<Vec<(f64, f64)>> = curves.iter().map(|curve| curve.means(column)).collect();
    let has_values = points.iter().flatten().any(|point| point.1.is_finite());
    has_values.then(|| CurvePanel {
        title: "",
        ..CurvePanel::new(&column.title, Span::Values, points)
    })
}
