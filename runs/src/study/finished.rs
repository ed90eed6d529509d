//! The finished runs of a cell and their summaries over the seeds.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::cell::Cell;
use super::definition::Study;
use super::departures::{Departure, departures_of_runs};
use super::details::{CellDetails, CellText, steps};
use super::published::Row;
use super::request::Request;
use super::run_request::OptionSource;
use super::table_definition::{Column, Content};
use crate::arguments::{CONFIG, read_configuration};
use crate::failure::Failure;
use crate::fitting::LearningCurve;
use crate::output::{LEARNING_CURVE, names_in};
use crate::report::Metrics;
use crate::summary::Summary;
use crate::training_run::TrainingRun;

/// The name of the learning curve among the metrics of a run.
const CURVE: &str = "curve";

/// The finished runs of a cell with the same options, one for each seed; at least one.
#[derive(Clone, Debug)]
pub struct FinishedCell {
    /// The study.
    pub study: &'static Study,
    /// The cell.
    pub cell: Cell,
    /// The folders of the runs.
    pub folders: Vec<PathBuf>,
    /// The metrics of the runs, by seed.
    pub runs: Vec<Metrics>,
    /// The same metrics as JSON fields, with the columns of the learning curve.
    pub numbers: Vec<RunNumbers>,
    /// The options of the first run.
    pub options: Map<String, Value>,
    /// The published values.
    pub row: Option<Row>,
    /// The departures of the runs from the paper; `None` if there are no published values.
    pub departures: Option<Vec<Departure>>,
}

/// The metrics of a run as JSON fields, with the columns of its learning curve, if it has one, in
/// `curve`.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[serde(transparent)]
pub struct RunNumbers(pub Map<String, Value>);

/// The folders of cells in `folder`, at any depth, with their cells.
fn cells_below(folder: &Path) -> Result<Vec<(PathBuf, Cell)>, Failure> {
    if let Some(cell) = Cell::of_folder(folder)? {
        return Ok(vec![(folder.to_owned(), cell)]);
    }
    let mut cells = Vec::new();
    for name in names_in(folder) {
        cells.extend(cells_below(&folder.join(name))?);
    }
    Ok(cells)
}

impl Study {
    /// The cells with finished runs in the folder `runs`, in the order of the study. Among equal
    /// cells, those with the most steps come first.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn finished(
        &'static self,
        runs: &Path,
        request: &Request,
    ) -> Result<Vec<FinishedCell>, Failure> {
        let mut cells = Vec::new();
        for (folder, cell) in cells_below(runs)? {
            cells.extend(self.finished_in(cell, &folder, request)?);
        }
        cells.sort_by_cached_key(FinishedCell::order);
        Ok(cells)
    }

    /// The finished runs of a cell in a folder; `None` if there are none.
    fn finished_in(
        &'static self,
        cell: Cell,
        folder: &Path,
        request: &Request,
    ) -> Result<Option<FinishedCell>, Failure> {
        let (folders, runs): (Vec<PathBuf>, Vec<Metrics>) =
            TrainingRun::places_finished(folder)?.into_iter().unzip();
        let Some((first, run)) = folders.first().zip(runs.first()) else {
            return Ok(None);
        };
        let row = self.row(&cell);
        let departures = match row.is_some() || self.figures {
            false => None,
            true => {
                let paper = self.options(&cell, request, OptionSource::Papers, run.d)?;
                let mut departures = departures_of_runs(&folders, &paper)?;
                departures.extend(self.departures_of_data(&cell.data, run));
                Some(departures)
            }
        };
        let numbers = folders.iter().zip(&runs);
        let numbers = numbers.map(|(folder, run)| RunNumbers::new(folder, run));
        Ok(Some(FinishedCell {
            study: self,
            numbers: numbers.collect::<Result<_, _>>()?,
            options: read_configuration(&first.join(CONFIG))?.fields(),
            cell,
            folders,
            runs,
            row,
            departures,
        }))
    }

    /// The departures of the data of a run from the paper's: in the data set, and in sizes by more than
    /// the rounding of fractions.
    fn departures_of_data(&self, data: &str, run: &Metrics) -> impl Iterator<Item = Departure> {
        let sizes = self.data.sizes_of(data);
        let rows = |paper| Departure::of_rows("training rows", run.n_train, paper);
        let images = |[training, test]: [usize; 2]| {
            let training = Departure::of("training images", run.n_train, training);
            [training, Departure::of("test images", run.n_test, test)]
        };
        let others = [
            sizes.training_rows.and_then(rows),
            sizes
                .inputs
                .and_then(|paper| Departure::of("inputs", run.d, paper)),
            self.data
                .of_paper
                .and_then(|paper| Departure::of("data", data, paper)),
        ];
        let images = sizes.images.map(images).into_iter().flatten();
        images.chain(others).flatten()
    }
}

impl RunNumbers {
    fn new(folder: &Path, run: &Metrics) -> Result<Self, Failure> {
        let mut numbers = match serde_json::to_value(run) {
            Ok(Value::Object(numbers)) => numbers,
            _ => Map::new(),
        };
        let path = folder.join(LEARNING_CURVE);
        if path.exists() {
            let curve = LearningCurve::read(&path)?;
            let columns = (curve.columns()).map(|(name, column)| (name.to_owned(), column.into()));
            numbers.insert(CURVE.into(), Value::Object(columns.collect()));
        }
        Ok(Self(numbers))
    }

    /// A metric by name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// The value of a hyperparameter that is a single number.
    pub fn hyperparameter(&self, path: &str) -> Option<f64> {
        self.0.get("hyperparameters")?.get(path)?.get(0)?.as_f64()
    }

    /// A column of the learning curve.
    pub fn curve(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.0.get(CURVE)?.get(name)?.as_array()?;
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        Some(column.iter().map(number).collect())
    }

    /// The numbers with the values at one point of the learning curve instead of the final values.
    fn at(&self, snapshot: usize) -> Self {
        let mut numbers = self.clone();
        if let Some(Value::Object(columns)) = numbers.0.remove(CURVE) {
            let at_snapshot =
                |(name, column): (String, Value)| Some((name, column.get(snapshot)?.clone()));
            numbers
                .0
                .extend(columns.into_iter().filter_map(at_snapshot));
        }
        let [seconds, step] = ["seconds", "step"].map(|name| numbers.get(name));
        let speed = seconds.zip(step).map(|(seconds, step)| seconds / step);
        (numbers.0).extend(speed.map(|speed| ("seconds_per_step".to_owned(), speed.into())));
        numbers
    }
}

impl FinishedCell {
    /// The titles and texts of the cell.
    pub fn details(&self) -> CellDetails<'_> {
        CellDetails {
            study: self.study,
            cell: &self.cell,
            options: &self.options,
            runs: &self.runs,
            numbers: self.numbers.first().map(|numbers| &numbers.0),
        }
    }

    /// The name of the cell among the cells of its data set.
    pub fn title(&self) -> String {
        self.details().title()
    }

    /// The largest number of steps of any run.
    pub fn steps(&self) -> usize {
        steps(&self.runs)
    }

    /// Whether there are published values and the runs do not depart from the paper's protocol.
    pub fn is_as_in_paper(&self) -> bool {
        self.departures.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the runs depart from the paper in this option or property of the data.
    pub fn departs_in(&self, what: &str) -> bool {
        let mut all = self.departures.iter().flatten();
        all.any(|departure| departure.what == what)
    }

    /// The sort key of the cell in the table: data, axis values, title, then decreasing inducing
    /// points, actions and steps.
    fn order(&self) -> impl Ord + use<> {
        let place = |mut names: Box<dyn Iterator<Item = &String> + '_>, own: &String| {
            let listed = names.position(|name| name == own).unwrap_or(usize::MAX);
            (listed, own.parse::<u64>().unwrap_or(u64::MAX), own.clone())
        };
        let data = place(Box::new(self.study.data.names.iter()), &self.cell.data);
        let axes = self.study.axes.iter().zip(&self.cell.values);
        let values = axes.map(|(axis, value)| {
            let (listed, number, name) =
                place(Box::new(axis.values.iter().map(|value| &value.name)), value);
            // Sort numbers by size, whether listed or not.
            if axis.field.is_some() && number != u64::MAX {
                (0, number, name)
            } else {
                (listed, number, name)
            }
        });
        let first = &self.runs[0];
        let size = (first.inducing, first.actions, self.steps());
        (
            data,
            values.collect::<Vec<_>>(),
            self.title(),
            Reverse(size),
            self.folders[0].clone(),
        )
    }

    /// The values of the runs in a column; `None` if a run has none, or the column has no values of its
    /// own.
    pub fn values(&self, column: &Column) -> Option<Vec<f64>> {
        let value = |numbers: &RunNumbers| match &column.content {
            Content::Metric(name) | Content::Ratio(name, _) => numbers.get(name),
            Content::Score(value) => value(numbers),
            Content::Axis(_) | Content::Text(_) | Content::Within(..) => None,
        };
        self.numbers.iter().map(value).collect()
    }

    /// The summary over the runs in a column.
    pub fn summary(&self, column: &Column) -> Option<Summary> {
        Summary::of(self.values(column)?)
    }

    /// A column of the learning curves, averaged over the runs.
    pub fn curve(&self, name: &str) -> Vec<f64> {
        let columns: Vec<Vec<f64>> = (self.numbers.iter())
            .map(|numbers| numbers.curve(name).unwrap_or_default())
            .collect();
        let count = columns.iter().map(Vec::len).min().unwrap_or(0);
        let mean = |snapshot: usize| {
            let sum: f64 = columns.iter().map(|column| column[snapshot]).sum();
            sum / columns.len() as f64
        };
        (0..count).map(mean).collect()
    }

    /// The cell with the values at one point of each run's learning curve instead of the final
    /// values.
    pub fn at(&self, snapshot: usize) -> Self {
        let numbers = self.numbers.iter().map(|numbers| numbers.at(snapshot));
        Self {
            numbers: numbers.collect(),
            ..self.clone()
        }
    }

    /// Every point of every run's learning curve, each as a cell with one run.
    pub fn snapshots(&self) -> Vec<Self> {
        let of_run = |run: usize| {
            let alone = Self {
                folders: vec![self.folders[run].clone()],
                runs: vec![self.runs[run].clone()],
                numbers: vec![self.numbers[run].clone()],
                ..self.clone()
            };
            let count = alone.curve("step").len();
            (0..count).map(move |snapshot| alone.at(snapshot))
        };
        (0..self.runs.len()).flat_map(of_run).collect()
    }
}

/// The text of the first cell that has it; empty if no cell does.
pub fn first_text(text: CellText, cells: &[FinishedCell]) -> String {
    let text = |cell: &FinishedCell| text(&cell.details());
    cells.iter().find_map(text).unwrap_or_default()
}
