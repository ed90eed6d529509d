//! The titles and texts of a cell.

use serde_json::{Map, Value};

use super::cell::Cell;
use super::definition::Study;
use crate::report::{Metrics, sizes};

/// A text about a cell; `None` if a part of it has no value.
pub type CellText = fn(&CellDetails<'_>) -> Option<String>;

/// A cell with the options of its runs, from which titles, folders and the texts of a table are made.
#[derive(Clone, Copy, Debug)]
pub struct CellDetails<'a> {
    /// The study.
    pub study: &'a Study,
    /// The cell.
    pub cell: &'a Cell,
    /// The options of its first run.
    pub options: &'a Map<String, Value>,
    /// The metrics of its finished runs; empty before they are made.
    pub runs: &'a [Metrics],
    /// The metrics of the first of them as JSON fields.
    pub numbers: Option<&'a Map<String, Value>>,
}

impl<'a> CellDetails<'a> {
    /// The data set.
    pub fn data(&self) -> &'a str {
        &self.cell.data
    }

    /// The value of an axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    pub fn value(&self, axis: &str) -> &'a str {
        &self.cell.values[self.study.axis(axis)]
    }

    /// The title of the value of an axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    pub fn title_of(&self, axis: &str) -> &'a str {
        let axis = self.study.axis(axis);
        let listed = self.study.listed(self.cell, axis);
        listed.map_or(&self.cell.values[axis], |value| &value.title)
    }

    /// An option of the runs, or else a number in the metrics of the first; `steps` are those made, if
    /// they are not an option.
    pub fn get(&self, name: &str) -> Option<String> {
        let metric = || match name {
            "steps" if !self.runs.is_empty() => Some(steps(self.runs).to_string()),
            _ => word(self.numbers?.get(name)),
        };
        word(self.options.get(name)).or_else(metric)
    }

    /// The same as [`get`](Self::get), empty if there is no value.
    pub fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default()
    }

    /// The first of these options and numbers that has a value.
    pub fn first_of(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The name of the cell among the cells of its data set.
    pub fn title(&self) -> String {
        (self.study.table.title)(self)
    }

    /// The name of the cell in messages.
    pub fn name(&self) -> String {
        (self.study.table.name)(self)
    }

    /// The number of finished runs, one for each seed.
    pub fn seeds(&self) -> String {
        self.runs.len().to_string()
    }

    /// The data set and its numbers of rows and inputs.
    pub fn sizes(&self) -> Option<String> {
        self.runs.first().map(sizes)
    }

    /// The folders from that of the data set down to that of the cell.
    pub fn folders(&self) -> Vec<String> {
        let data = self.study.data.in_folder.then(|| self.cell.data.clone());
        let own = (self.study.folder)(self);
        data.into_iter().chain(own).collect()
    }
}

/// The largest number of steps of any run.
pub fn steps(runs: &[Metrics]) -> usize {
    let steps = runs.iter().map(|run| run.training.steps);
    steps.max().unwrap_or(0)
}

/// A value as text; `None` for null.
fn word(value: Option<&Value>) -> Option<String> {
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
