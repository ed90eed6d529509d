//! The options of the runs of a cell.

use serde_json::{Map, Value};

use super::cell::{Cell, NO_USE};
use super::definition::Study;
use super::request::Request;
use crate::arguments::{RunOptions, ScaleName};
use crate::failure::Failure;

/// The source of the options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSource {
    /// The options that the user asked for.
    Ours,
    /// The options of the paper.
    Papers,
}

/// The cell whose run options are wanted, and what they depend on.
#[derive(Debug)]
pub struct RunRequest<'a> {
    study: &'a Study,
    cell: &'a Cell,
    scale: ScaleName,
    /// The values of the study's options that the user gave, by name; none for the paper's run.
    pub given: &'a Map<String, Value>,
    /// The number of inputs.
    pub inputs: usize,
    /// Whether this is the run of the paper.
    pub is_of_paper: bool,
}

impl<'a> RunRequest<'a> {
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

    /// Chooses a value by the scale.
    pub fn by_scale<T>(&self, quick: T, paper: T) -> T {
        match self.scale {
            ScaleName::Quick => quick,
            ScaleName::Paper => paper,
        }
    }

    /// The user's value of an option; null if there is none.
    pub fn given(&self, option: &str) -> Value {
        self.given.get(option).cloned().unwrap_or_default()
    }

    /// The user's value of an option, or the default of the scale.
    pub fn given_or(
        &self,
        option: &str,
        quick: impl Into<Value>,
        paper: impl Into<Value>,
    ) -> Value {
        let default = || self.by_scale(quick.into(), paper.into());
        self.given.get(option).cloned().unwrap_or_else(default)
    }

    /// The user's value of an option that is a count, or the default of the scale.
    pub fn count(&self, option: &str, quick: u64, paper: u64) -> u64 {
        let given = self.given.get(option).and_then(Value::as_u64);
        given.unwrap_or_else(|| self.by_scale(quick, paper))
    }

    /// A published value of the cell.
    pub fn published(&self, key: &str) -> Option<f64> {
        let row = self.study.row(self.cell)?;
        row.scores.get(key).map(|reported| reported.mean)
    }
}

/// The fields of two JSON objects; those of the second replace those of the first.
pub fn merged(mut first: Value, second: Value) -> Value {
    if let (Value::Object(fields), Value::Object(others)) = (&mut first, second) {
        fields.extend(others);
    }
    first
}

impl Study {
    /// The options of the runs of a cell, without the seed, for data with `inputs` inputs.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the study has an unknown option, or if no device is available.
    pub fn options(
        &self,
        cell: &Cell,
        request: &Request,
        whose: OptionSource,
        inputs: usize,
    ) -> Result<RunOptions, Failure> {
        let is_of_paper = whose == OptionSource::Papers;
        let (cell, scale, given) = match whose {
            OptionSource::Ours => (
                cell.clone(),
                request.common.scale,
                request.choice.given.clone(),
            ),
            OptionSource::Papers => (self.cell_of_paper(cell), ScaleName::Paper, Map::new()),
        };
        let of_cell = RunRequest {
            study: self,
            cell: &cell,
            scale,
            given: &given,
            inputs,
            is_of_paper,
        };
        let options = self.read(&(self.run)(&of_cell), &cell);
        let options = options.map_err(|error| {
            Failure::Arguments(format!("error in the study {}: {error}", self.name))
        })?;
        let options = options.applicable();
        let place = request.place(self)?;
        Ok(RunOptions {
            data: Some(request.source_of(self, &cell.data)),
            test: request.test_of(self, &cell.data),
            data_dir: request.common.data_dir(),
            device: Some(place.device),
            dtype: options.dtype.or(Some(place.dtype)),
            ..options
        })
    }

    /// Reads the options of `run`, and those that the axes set.
    fn read(&self, run: &Value, cell: &Cell) -> Result<RunOptions, Box<dyn std::error::Error>> {
        let given = run.as_object().into_iter().flatten();
        let given = given.filter(|(_, value)| !value.is_null());
        let mut fields: Map<String, Value> = given
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (axis, value) in self.axes.iter().zip(&cell.values) {
            if let Some(field) = axis.field.as_ref().filter(|_| value != NO_USE) {
                fields.extend(RunOptions::parse_field(field, value)?);
            }
        }
        Ok(RunOptions::from_fields(fields)?)
    }

    /// The paper's cell that a cell is compared with. If an axis accepts any value and the paper does
    /// not have the cell's, it is the paper's first value.
    fn cell_of_paper(&self, cell: &Cell) -> Cell {
        let mut cell = cell.clone();
        for (axis, own) in self.axes.iter().zip(&mut cell.values) {
            if axis.field.is_none() || own == NO_USE {
                continue;
            }
            let of_paper: Vec<&String> = (axis.values.iter())
                .map(|value| &value.name)
                .filter(|name| (axis.by_default)(name, &cell.data, ScaleName::Paper))
                .collect();
            if let Some(&first) = of_paper.first().filter(|_| !of_paper.contains(&&*own)) {
                own.clone_from(first);
            }
        }
        cell
    }
}
