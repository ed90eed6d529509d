//! The plots of a study.

use std::path::Path;

use super::file::{Column, Plot, Study};
use super::finished::FinishedCell;
use super::folder::ExperimentFolder;
use super::request::Request;
use super::template::Template;
use crate::fitting::{LogEntry, TrainingLog};
use crate::output::TRAINING_LOG;
use crate::plots::{self, Caption, ComparedScore, CurveName, CurvePanel, Quantity, Span};

/// The approximate number of points in a loss curve.
const POINTS: usize = 100;

/// Draws the plots of every data set.
pub fn draw(
    study: &'static Study,
    request: &Request,
    cells: &[FinishedCell],
    folder: &ExperimentFolder,
) {
    for cells in cells.chunk_by(|a, b| a.cell.data == b.cell.data) {
        let data = &cells[0].cell.data;
        for plot in &study.plots {
            match plot {
                Plot::Comparison { scores } => {
                    let path = folder.path().join(format!("{data}.svg"));
                    compare(study, request, scores, cells, &path);
                }
                Plot::Losses {
                    panels,
                    title,
                    dashed,
                } => {
                    let name = if study.data.fixed { "loss" } else { data };
                    let path = folder.path().join(format!("{name}.svg"));
                    let axis = study.axes.iter().position(|axis| axis.name == *panels);
                    let shown = Losses {
                        study,
                        request,
                        axis,
                        title,
                        dashed,
                    };
                    shown.draw(&path, data, cells);
                }
            }
        }
    }
}

/// Names of cells that are different for different cells.
fn names(study: &Study, request: &Request, cells: &[FinishedCell]) -> Vec<String> {
    let name = |cell: &FinishedCell| {
        let mut name = cell.title(study, request);
        let mut same: Vec<&FinishedCell> = cells
            .iter()
            .filter(|other| other.title(study, request) == name)
            .collect();
        for difference in &study.table.distinguish {
            let of = |cell: &FinishedCell| cell.text(study, request, difference);
            let before = same.len();
            same.retain(|other| of(other) == of(cell));
            if same.len() < before {
                name.extend(of(cell));
            }
        }
        name
    };
    cells.iter().map(name).collect()
}

/// The numbers of a cell in the unit for people.
fn shown(cell: &FinishedCell, column: &Column) -> Vec<f64> {
    let unit = column.unit.unwrap_or(1.0);
    let values = cell.values(column).unwrap_or_default().into_iter();
    values.map(|value| unit * value).collect()
}

/// Plots the scores of the cells of a data set side by side.
fn compare(
    study: &'static Study,
    request: &Request,
    scores: &[String],
    cells: &[FinishedCell],
    path: &Path,
) {
    let columns = study
        .table
        .columns
        .iter()
        .filter(|column| scores.contains(&column.key));
    let panels: Vec<ComparedScore> = columns
        .map(|column| ComparedScore {
            name: if column.title.is_empty() {
                &column.key
            } else {
                &column.title
            },
            unit: None,
            values: cells.iter().map(|cell| shown(cell, column)).collect(),
        })
        .collect();
    let names = names(study, request, cells);
    plots::warn_undrawn(plots::comparison(
        path,
        &cells[0].cell.data,
        &names,
        &panels,
    ));
}

/// The training loss, with one panel for each value of an axis.
struct Losses<'a> {
    study: &'static Study,
    request: &'a Request,
    axis: Option<usize>,
    title: &'a Template,
    dashed: &'a [String],
}

impl Losses<'_> {
    fn draw(&self, path: &Path, data: &str, cells: &[FinishedCell]) {
        let panel_of = |cell: &FinishedCell| self.axis.map(|axis| cell.cell.values[axis].clone());
        let name = |cell: &FinishedCell| CurveName {
            text: cell.title(self.study, self.request),
            // Dashes let a curve underneath show through.
            dashed: cell
                .cell
                .values
                .iter()
                .any(|value| self.dashed.contains(value)),
        };
        let mut names: Vec<CurveName> = Vec::new();
        for name in cells.iter().map(name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let groups: Vec<&[FinishedCell]> =
            cells.chunk_by(|a, b| panel_of(a) == panel_of(b)).collect();
        let title = |cells: &&[FinishedCell]| {
            cells[0]
                .text(self.study, self.request, self.title)
                .unwrap_or_default()
        };
        let titles: Vec<String> = groups.iter().map(title).collect();
        let curve = |cells: &[FinishedCell], name: &CurveName| {
            let own = |cell: &&FinishedCell| cell.title(self.study, self.request) == name.text;
            cells.iter().find(own).map_or_else(Vec::new, losses)
        };
        let panels: Vec<CurvePanel<'_>> = (groups.iter().zip(&titles))
            .map(|(cells, title)| CurvePanel {
                title,
                value: Quantity {
                    name: "loss per row",
                    unit: Some("nats"),
                },
                curves: names.iter().map(|name| curve(cells, name)).collect(),
                span: Span::Values,
            })
            .collect();
        let caption = Caption {
            data,
            model: "negative bound of the mini-batches, means over steps and seeds",
        };
        let steps = Quantity::of("step");
        plots::warn_undrawn(plots::curves(
            path, "Training", caption, &names, steps, &panels,
        ));
    }
}

/// The training loss, averaged over the runs.
fn losses(cell: &FinishedCell) -> Vec<(f64, f64)> {
    let curves: Vec<Vec<(f64, f64)>> = cell
        .folders
        .iter()
        .map(|folder| losses_of(folder))
        .collect();
    let count = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |point: usize| {
        let sum: f64 = curves.iter().map(|curve| curve[point].1).sum();
        (curves[0][point].0, sum / curves.len() as f64)
    };
    (0..count).map(mean).collect()
}

/// Means of the loss of a run over blocks of steps, each at the last step of its block; empty if
/// the log cannot be read.
fn losses_of(folder: &Path) -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(folder.join(TRAINING_LOG));
    let log = text.ok().and_then(|text| TrainingLog::from_csv(&text));
    let entries = log.map(|log| log.entries).unwrap_or_default();
    let blocks = entries.chunks(entries.len().div_ceil(POINTS).max(1));
    let mean = |block: &[LogEntry]| {
        let sum: f64 = block.iter().map(|entry| entry.report.loss).sum();
        let last = block.last().map_or(0, |entry| entry.report.step);
        (last as f64, sum / block.len() as f64)
    };
    blocks.map(mean).collect()
}
