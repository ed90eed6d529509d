//! The plots of a study.

use std::path::Path;

use super::definition::Study;
use super::details::{CellDetails, CellText};
use super::finished::{FinishedCell, first_text};
use super::folder::ExperimentFolder;
use super::size_plots;
use super::table_definition::Column;
use crate::checksums::{Links, read_text};
use crate::fitting::{LogEntry, TrainingLog};
use crate::output::TRAINING_LOG;
use crate::plots::{
    self, Caption, ComparedScore, CurveName, CurvePanel, PlotError, Quantity, Span,
};
use crate::summary::mean_curve;

/// A plot of the cells of each data set.
#[derive(Debug)]
pub enum Plot {
    /// Scores of the cells, side by side, by their keys.
    Comparison(&'static [&'static str]),
    /// Scores against the values of each axis with at least three numeric values, by their keys.
    Sizes(&'static [&'static str]),
    /// The training loss.
    Losses {
        /// The axis whose values have a panel each.
        panels: &'static str,
        /// The values of the other axes whose curves are dashed.
        dashed: &'static [&'static str],
    },
    /// Columns of the runs' learning curves, averaged over the seeds.
    Curves(Curves),
}

/// A plot of learning curves.
#[derive(Debug)]
pub struct Curves {
    /// The column on the horizontal axis.
    pub over: Along,
    /// The line under the title, from the first cell that has it.
    pub caption: CellText,
    /// The name of a curve.
    pub curve: fn(&CellDetails<'_>) -> String,
    /// The axis whose values have separate panels, if any.
    pub panels: Option<&'static str>,
    /// The panels.
    pub shown: Vec<Panel>,
}

/// The horizontal axis of learning curves.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// The training time.
    Seconds,
    /// The number of steps.
    Step,
}

/// A panel of a plot of learning curves.
#[derive(Debug)]
pub struct Panel {
    /// The title.
    pub title: fn(&CellDetails<'_>) -> String,
    /// The column.
    pub column: &'static str,
    /// A factor of its values.
    pub sign: f64,
    /// The label of the vertical axis.
    pub name: &'static str,
}

/// The approximate number of points in a loss curve.
const POINTS: usize = 100;

/// Draws the plots of every data set.
pub fn draw(study: &'static Study, cells: &[FinishedCell], folder: &ExperimentFolder) {
    for cells in cells.chunk_by(|a, b| a.cell.data == b.cell.data) {
        let data = &cells[0].cell.data;
        // A study whose data sets cannot be chosen has one data set.
        let named = |fixed: &str| match study.data.option {
            None => format!("{fixed}.svg"),
            Some(_) => format!("{data}.svg"),
        };
        for plot in &study.plots {
            match plot {
                Plot::Sizes(scores) => size_plots::draw(study, scores, cells, folder),
                Plot::Comparison(scores) => folder.draw(&format!("{data}.svg"), |path| {
                    compare(study, scores, cells, path)
                }),
                Plot::Losses { panels, dashed } => folder.draw(&named("loss"), |path| {
                    training_losses(study, panels, dashed, cells, path)
                }),
                Plot::Curves(plot) => folder.draw(&named("curves"), |path| {
                    learning_curves(study, plot, cells, path)
                }),
            }
        }
    }
}

/// Distinct names of the cells.
fn names(study: &Study, cells: &[FinishedCell]) -> Vec<String> {
    let name = |cell: &FinishedCell| {
        let mut name = cell.title();
        let mut same: Vec<&FinishedCell> =
            cells.iter().filter(|other| other.title() == name).collect();
        for difference in study.table.distinguish {
            let of = |cell: &FinishedCell| difference(&cell.details());
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

/// The values of a cell in the unit of the terminal and the plots.
pub(super) fn shown(cell: &FinishedCell, column: &Column) -> Vec<f64> {
    let values = cell.values(column).unwrap_or_default().into_iter();
    values.map(|value| column.unit * value).collect()
}

/// Plots the scores of the cells of a data set side by side.
fn compare(
    study: &'static Study,
    scores: &[&str],
    cells: &[FinishedCell],
    path: &Path,
) -> Result<(), PlotError> {
    let columns = study
        .table
        .columns
        .iter()
        .filter(|column| scores.contains(&column.key));
    let panels: Vec<ComparedScore> = columns
        .map(|column| ComparedScore {
            name: match column.title.as_str() {
                "" => column.key,
                title => title,
            },
            unit: None,
            values: cells.iter().map(|cell| shown(cell, column)).collect(),
        })
        .collect();
    let names = names(study, cells);
    plots::comparison(path, &cells[0].cell.data, &names, &panels)
}

/// Panels of curves of the cells of a data set.
struct Panels<'a> {
    /// The axis whose values have separate panels, if any.
    axis: Option<usize>,
    /// The name of the curve of a cell.
    name: &'a dyn Fn(&FinishedCell) -> CurveName,
    /// The panels of each group of cells.
    shown: &'a [Shown<'a>],
}

/// The curve of a cell.
type CurveOf<'a> = Box<dyn Fn(&FinishedCell) -> Vec<(f64, f64)> + 'a>;

/// A panel.
struct Shown<'a> {
    title: &'a dyn Fn(&CellDetails<'_>) -> String,
    value: Quantity<'a>,
    /// The curve of a cell.
    points: CurveOf<'a>,
}

impl Panels<'_> {
    fn draw(
        &self,
        path: &Path,
        caption: Caption<'_>,
        along: Quantity<'_>,
        cells: &[FinishedCell],
    ) -> Result<(), PlotError> {
        let group_of = |cell: &FinishedCell| self.axis.map(|axis| cell.cell.values[axis].clone());
        let mut names: Vec<CurveName> = Vec::new();
        for name in cells.iter().map(self.name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let groups = cells.chunk_by(|a, b| group_of(a) == group_of(b));
        let all: Vec<(String, &Shown<'_>, &[FinishedCell])> = groups
            .flat_map(|cells| {
                let title = |shown: &Shown<'_>| (shown.title)(&cells[0].details());
                let titled = move |shown| (title(shown), shown, cells);
                self.shown.iter().map(titled)
            })
            .collect();
        let curve = |shown: &Shown<'_>, cells: &[FinishedCell], name: &CurveName| {
            let own = cells.iter().find(|cell| (self.name)(cell) == *name);
            own.map_or_else(Vec::new, &shown.points)
        };
        let panels: Vec<CurvePanel<'_>> = (all.iter())
            .map(|(title, shown, cells)| CurvePanel {
                title,
                value: shown.value,
                curves: (names.iter())
                    .map(|name| curve(shown, cells, name))
                    .collect(),
                span: Span::Values,
                along: None,
            })
            .collect();
        plots::curves(path, "Training", caption, &names, along, &panels)
    }
}

/// Plots the training loss, with one panel for each value of an axis.
fn training_losses(
    study: &'static Study,
    axis: &str,
    dashed: &[&str],
    cells: &[FinishedCell],
    path: &Path,
) -> Result<(), PlotError> {
    let name = |cell: &FinishedCell| {
        // Dashes let a curve underneath show through.
        let mut values = cell.cell.values.iter();
        let is_dashed = values.any(|value| dashed.contains(&value.as_str()));
        CurveName::dashed_if(is_dashed, cell.title())
    };
    let value = Quantity {
        name: "loss per row",
        unit: Some("nats"),
    };
    let panels = Panels {
        axis: Some(study.axis(axis)),
        name: &name,
        shown: &[Shown {
            title: &|cell| cell.title_of(axis).to_owned(),
            value,
            points: Box::new(losses),
        }],
    };
    let caption = Caption::new(
        &cells[0].cell.data,
        "negative bound on mini-batches, averaged over steps and seeds",
    );
    panels.draw(path, caption, Quantity::of("step"), cells)
}

/// Plots columns of the learning curves of the cells of a data set.
fn learning_curves(
    study: &'static Study,
    plot: &'static Curves,
    cells: &[FinishedCell],
    path: &Path,
) -> Result<(), PlotError> {
    let name = |cell: &FinishedCell| CurveName::from((plot.curve)(&cell.details()));
    let (column, along) = match plot.over {
        Along::Step => ("step", Quantity::of("step")),
        Along::Seconds => {
            let (name, unit) = ("training time", Some("s"));
            ("seconds", Quantity { name, unit })
        }
    };
    let points = |panel: &'static Panel| {
        move |cell: &FinishedCell| -> Vec<(f64, f64)> {
            let values = cell.curve(panel.column).into_iter();
            let values = values.map(|value| panel.sign * value);
            cell.curve(column).into_iter().zip(values).collect()
        }
    };
    let shown: Vec<Shown<'_>> = (plot.shown.iter())
        .map(|panel| Shown {
            title: &panel.title,
            value: Quantity::of(panel.name),
            points: Box::new(points(panel)),
        })
        .collect();
    let panels = Panels {
        axis: plot.panels.map(|name| study.axis(name)),
        name: &name,
        shown: &shown,
    };
    let model = first_text(plot.caption, cells);
    let caption = Caption::new(&cells[0].cell.data, &model);
    panels.draw(path, caption, along, cells)
}

/// The training loss, averaged over the runs.
fn losses(cell: &FinishedCell) -> Vec<(f64, f64)> {
    let curves: Vec<Vec<(f64, f64)>> = cell
        .folders
        .iter()
        .map(|folder| losses_of(folder))
        .collect();
    mean_curve(&curves)
}

/// Means of the loss of a run over blocks of steps, each at the last step of its block; empty if
/// the log cannot be read.
fn losses_of(folder: &Path) -> Vec<(f64, f64)> {
    let text = read_text(&folder.join(TRAINING_LOG), Links::Followed);
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
