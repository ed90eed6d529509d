//! The finished runs of a cell and their summaries over the seeds.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::cell::{Cell, OptionSource};
use super::departures::{Departure, departures_of_runs};
use super::file::{Column, Study};
use super::published::Row;
use super::request::Request;
use super::template::Template;
use crate::arguments::{CONFIG, read_configuration};
use crate::failure::Failure;
use crate::file_names::text_of;
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
    /// The cell.
    pub cell: Cell,
    /// The folders of the runs.
    pub folders: Vec<PathBuf>,
    /// The metrics of the runs, by seed.
    pub runs: Vec<Metrics>,
    /// The same metrics as JSON fields, with the columns of the learning curve in `curve`.
    pub numbers: Vec<Map<String, Value>>,
    /// The options of the first run.
    pub options: Map<String, Value>,
    /// The published values.
    pub row: Option<Row>,
    /// The departures of the runs from the paper; `None` if there are no published values.
    pub departures: Option<Vec<Departure>>,
}

/// The folders `levels` below `root`, each with the names on its path.
fn below(root: &Path, levels: usize) -> Vec<(PathBuf, Vec<String>)> {
    let mut found = vec![(root.to_owned(), Vec::new())];
    for _ in 0..levels {
        found = (found.into_iter())
            .flat_map(|(folder, names): (PathBuf, Vec<String>)| {
                names_in(&folder).into_iter().map(move |name| {
                    let way = names.iter().cloned().chain([name.clone()]);
                    (folder.join(name), way.collect())
                })
            })
            .collect();
    }
    found
}

impl Study {
    /// The templates of the folders from `runs` down to the folder of a cell.
    fn segments(&self) -> Vec<Template> {
        // Splitting at slashes keeps the brackets of a valid template whole, because they contain no
        // slash.
        let segments = self.folder.source().split('/').map(Template::new);
        segments.filter_map(Result::ok).collect()
    }

    /// The cell whose runs are in the folder with these names, if any.
    pub fn cell_at(&self, names: &[String]) -> Option<Cell> {
        let is_axis = |name: &str| name == "data" || self.axes.iter().any(|axis| axis.name == name);
        let mut found = Vec::new();
        for (segment, name) in self.segments().iter().zip(names) {
            if segment.names().into_iter().all(is_axis) {
                for (name, value) in segment.read(name)? {
                    found.push((name, text_of(&value)?));
                }
            }
        }
        let value = |name: &str| {
            found
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value.clone())
        };
        let cell = Cell {
            data: value("data").or_else(|| self.data.names.first().cloned())?,
            values: self
                .axes
                .iter()
                .map(|axis| value(&axis.name))
                .collect::<Option<_>>()?,
        };
        let is_known =
            |index: usize| self.axes[index].field.is_some() || self.listed(&cell, index).is_some();
        (0..self.axes.len()).all(is_known).then_some(cell)
    }

    /// The cells with finished runs in the folder `runs`, in the order of the study. Among equal
    /// cells, those with the most steps come first.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn finished(&self, runs: &Path, request: &Request) -> Result<Vec<FinishedCell>, Failure> {
        let mut cells = Vec::new();
        for (folder, names) in below(runs, self.segments().len()) {
            if let Some(cell) = self.cell_at(&names) {
                cells.extend(self.finished_in(cell, &folder, request)?);
            }
        }
        cells.sort_by_cached_key(|cell| self.order(cell, request));
        Ok(cells)
    }

    /// The finished runs of a cell in a folder; `None` if there are none.
    fn finished_in(
        &self,
        cell: Cell,
        folder: &Path,
        request: &Request,
    ) -> Result<Option<FinishedCell>, Failure> {
        let (folders, runs): (Vec<PathBuf>, Vec<Metrics>) =
            TrainingRun::places_finished(folder)?.into_iter().unzip();
        let Some((first, run)) = folders.first().zip(runs.first()) else {
            return Ok(None);
        };
        let malformed = |error| self.malformed(&error);
        let row = self.row(&cell).map_err(malformed)?;
        let departures = match row.is_some() || self.figures {
            false => None,
            true => {
                let paper = self.options(&cell, request, OptionSource::Papers, run.d)?;
                let mut departures = departures_of_runs(&folders, &paper)?;
                for (name, size) in self.sizes_of(&cell.data).map_err(malformed)? {
                    departures.extend(departure_in_size(&name, size, run));
                }
                let data = self.data.of_paper.as_deref();
                departures.extend(data.and_then(|paper| Departure::of("data", &*cell.data, paper)));
                Some(departures)
            }
        };
        let numbers = (folders.iter().zip(&runs)).map(|(folder, run)| numbers_of(folder, run));
        Ok(Some(FinishedCell {
            numbers: numbers.collect::<Result<_, _>>()?,
            options: read_configuration(&first.join(CONFIG))?.fields(),
            cell,
            folders,
            runs,
            row,
            departures,
        }))
    }

    /// The sort key of a cell in the table: data, axis values, title, then decreasing inducing
    /// points, actions and steps.
    fn order(&self, finished: &FinishedCell, request: &Request) -> impl Ord + use<> {
        let place = |mut names: Box<dyn Iterator<Item = &String> + '_>, own: &String| {
            let listed = names.position(|name| name == own).unwrap_or(usize::MAX);
            (listed, own.parse::<u64>().unwrap_or(u64::MAX), own.clone())
        };
        let cell = &finished.cell;
        let data = place(Box::new(self.data.names.iter()), &cell.data);
        let values = self.axes.iter().zip(&cell.values).map(|(axis, value)| {
            let (listed, number, name) =
                place(Box::new(axis.values.iter().map(|value| &value.name)), value);
            // Sort numbers by size, whether listed or not.
            if axis.field.is_some() && number != u64::MAX {
                (0, number, name)
            } else {
                (listed, number, name)
            }
        });
        let first = &finished.runs[0];
        let size = (first.inducing, first.actions, finished.steps());
        let title = finished.title(self, request);
        (
            data,
            values.collect::<Vec<_>>(),
            title,
            Reverse(size),
            finished.folders[0].clone(),
        )
    }
}

/// The metrics of a run as JSON fields, with the columns of its learning curve, if it has one, in
/// `curve`.
fn numbers_of(folder: &Path, run: &Metrics) -> Result<Map<String, Value>, Failure> {
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
    Ok(numbers)
}

/// The departure if a data size differs from the paper's by more than the rounding of fractions.
fn departure_in_size(name: &str, paper: usize, run: &Metrics) -> Option<Departure> {
    let title = name.replace('_', " ");
    match name {
        "training_rows" => Departure::of_rows(&title, run.n_train, paper),
        "training_images" => Departure::of(&title, run.n_train, paper),
        "test_images" => Departure::of(&title, run.n_test, paper),
        "inputs" => Departure::of(&title, run.d, paper),
        _ => None,
    }
}

impl FinishedCell {
    /// The largest number of steps of any run.
    pub fn steps(&self) -> usize {
        self.runs
            .iter()
            .map(|run| run.training.steps)
            .max()
            .unwrap_or(0)
    }

    /// Whether there are published values and the runs do not depart from the paper's protocol.
    pub fn is_as_in_paper(&self) -> bool {
        self.departures.as_ref().is_some_and(Vec::is_empty)
    }

    /// The name of the cell among the cells of its data set.
    pub fn title(&self, study: &Study, request: &Request) -> String {
        self.text(study, request, &study.table.title)
            .unwrap_or_default()
    }

    /// The name of the cell in messages.
    pub fn name(&self, study: &Study, request: &Request) -> String {
        self.text(study, request, &study.table.name)
            .unwrap_or_default()
    }

    /// Fills in a template for the cell; `None` if a name in it has no value.
    pub fn text(&self, study: &Study, request: &Request, template: &Template) -> Option<String> {
        study.fill(
            &self.cell,
            request.common.scale,
            template,
            &|name| match name {
                "title" => Some(self.title(study, request)),
                "seeds" => Some(self.runs.len().to_string()),
                _ => match name.strip_prefix("paper.") {
                    Some(size) => {
                        let sizes = study.sizes_of(&self.cell.data).ok()?;
                        let found = sizes.iter().find(|(name, _)| name == size);
                        found.map(|(_, size)| size.to_string())
                    }
                    None => word(self.options.get(name)).or_else(|| match name {
                        "steps" => Some(self.steps().to_string()),
                        _ => word(self.numbers[0].get(name)),
                    }),
                },
            },
        )
    }

    /// The values of the runs in a score column; `None` if a run has none.
    pub fn values(&self, column: &Column) -> Option<Vec<f64>> {
        let names = match &column.value {
            Some(names) => names.all(),
            None => std::slice::from_ref(&column.key),
        };
        let value = |numbers: &Map<String, Value>| {
            let own = names.iter().find_map(|name| number(numbers, name))?;
            Some(column.scale.map_or(own, |scale| scale * own) + column.offset)
        };
        self.numbers.iter().map(value).collect()
    }

    /// A column of the learning curves, averaged over the runs; a leading minus sign negates it.
    pub fn curve(&self, name: &str) -> Vec<f64> {
        let columns: Vec<Vec<f64>> = (self.numbers.iter())
            .map(|numbers| column(numbers, name).unwrap_or_default())
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
        let numbers = self.numbers.iter().map(|numbers| at(numbers, snapshot));
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

    /// The summary over the runs in a score column.
    pub fn summary(&self, column: &Column) -> Option<Summary> {
        Summary::of(self.values(column)?)
    }
}

/// A metric of a run by name; a leading minus sign negates it.
fn number(numbers: &Map<String, Value>, name: &str) -> Option<f64> {
    if let Some(name) = name.strip_prefix('-') {
        return number(numbers, name).map(|number| -number);
    }
    if let Some(name) = name.strip_prefix("curve.") {
        return column(numbers, name)?.last().copied();
    }
    if let Some(path) = name.strip_prefix("hyperparameters.") {
        return numbers.get("hyperparameters")?.get(path)?.get(0)?.as_f64();
    }
    numbers.get(name)?.as_f64()
}

/// A column of the learning curve of a run; a leading minus sign negates it.
fn column(numbers: &Map<String, Value>, name: &str) -> Option<Vec<f64>> {
    if let Some(name) = name.strip_prefix('-') {
        return Some(
            column(numbers, name)?
                .iter()
                .map(|number| -number)
                .collect(),
        );
    }
    let column = numbers.get(CURVE)?.get(name)?.as_array()?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    Some(column.iter().map(number).collect())
}

/// The metrics of a run with the values at one point of its learning curve instead of the final
/// values.
fn at(numbers: &Map<String, Value>, snapshot: usize) -> Map<String, Value> {
    let mut numbers = numbers.clone();
    if let Some(Value::Object(columns)) = numbers.remove(CURVE) {
        let at_snapshot =
            |(name, column): (String, Value)| Some((name, column.get(snapshot)?.clone()));
        numbers.extend(columns.into_iter().filter_map(at_snapshot));
    }
    let [seconds, step] = ["seconds", "step"].map(|name| number(&numbers, name));
    let speed = seconds.zip(step).map(|(seconds, step)| seconds / step);
    numbers.extend(speed.map(|speed| ("seconds_per_step".to_owned(), speed.into())));
    numbers
}

/// The template filled in from the first cell that has a value for every name; empty if no cell does.
pub fn first_text(
    study: &Study,
    request: &Request,
    template: &Template,
    cells: &[FinishedCell],
) -> String {
    let text = |cell: &FinishedCell| cell.text(study, request, template);
    cells.iter().find_map(text).unwrap_or_default()
}

/// A value as text; `None` for null.
pub fn word(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_u64() {
            Some(count) => count.to_string(),
            None => number.as_f64()?.to_string(),
        }),
        value => Some(value.to_string()),
    }
}
