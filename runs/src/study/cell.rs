//! Cells of a study (a data set with a value of every axis) and the options of their runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::file::{AxisValue, Condition, Patch, Study};
use super::published::{MalformedTable, Row};
use super::request::Request;
use super::template::Template;
use crate::arguments::{RunOptions, ScaleName, name_of};
use crate::failure::Failure;
use crate::file_names::file_name;

/// A cell in the grid of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The data set.
    pub data: String,
    /// The values of the axes, in the order of the axes.
    pub values: Vec<String>,
}

/// The source of the options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSource {
    /// The options that the user asked for.
    Ours,
    /// The options of the paper.
    Papers,
}

/// The value of an axis at cells whose model does not use the option of that axis.
pub const NO_USE: &str = "none";

/// The name of the square root of the number of inputs in option strings.
pub const ROOT_OF_INPUTS: &str = "{sqrt_inputs}";

impl Study {
    /// The index of the axis called `name`.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// The value of an axis at a cell, if the study lists it.
    pub fn listed<'a>(&'a self, cell: &Cell, axis: usize) -> Option<&'a AxisValue> {
        let values = &self.axes[axis].values;
        values.iter().find(|value| value.name == cell.values[axis])
    }

    /// The listed values of all axes at a cell.
    fn all_listed<'a>(&'a self, cell: &'a Cell) -> impl Iterator<Item = &'a AxisValue> {
        (0..self.axes.len()).filter_map(|axis| self.listed(cell, axis))
    }

    /// Looks up a name of a template for a cell: its data, scale, axes, their titles and tags. Other
    /// names are passed to `more`.
    pub fn word(
        &self,
        cell: &Cell,
        scale: ScaleName,
        name: &str,
        more: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        match name {
            "data" => return Some(cell.data.clone()),
            "scale" => return Some(name_of(scale)),
            _ => {}
        }
        for (index, axis) in self.axes.iter().enumerate() {
            if axis.name == name {
                return Some(cell.values[index].clone());
            }
            if name.strip_suffix(".title") == Some(&axis.name) {
                let listed = self.listed(cell, index);
                let title = listed.filter(|value| !value.title.is_empty());
                return Some(
                    title.map_or_else(|| cell.values[index].clone(), |own| own.title.clone()),
                );
            }
        }
        let tag = self.all_listed(cell).find_map(|value| value.tags.get(name));
        match tag {
            Some(tag) => self.fill(cell, scale, tag, more),
            None => more(name),
        }
    }

    /// Fills in a template for a cell; `None` if a name in it has no value.
    pub fn fill(
        &self,
        cell: &Cell,
        scale: ScaleName,
        template: &Template,
        more: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        template.fill(&|name| self.word(cell, scale, name, more))
    }

    /// The folder of a cell below `runs`. A name that the user gives becomes one folder, whatever
    /// characters it has.
    pub fn place(
        &self,
        cell: &Cell,
        scale: ScaleName,
        more: &dyn Fn(&str) -> Option<String>,
    ) -> PathBuf {
        let word = |name: &str| Some(file_name(&self.word(cell, scale, name, more)?));
        self.folder.fill(&word).unwrap_or_default().into()
    }

    /// Whether a cell satisfies `only` and does not satisfy `unless`.
    pub fn holds(
        &self,
        cell: &Cell,
        scale: ScaleName,
        only: &Condition,
        unless: Option<&Condition>,
    ) -> bool {
        let all = |condition: &Condition| {
            condition.0.iter().all(|(name, words)| {
                let word = self.word(cell, scale, name, &|_| None);
                word.is_some_and(|word| words.allow(&word))
            })
        };
        all(only) && !unless.is_some_and(all)
    }

    /// The published values of a cell; `None` if there are none.
    ///
    /// # Errors
    ///
    /// [`MalformedTable`].
    pub fn row(&self, cell: &Cell) -> Result<Option<Row>, MalformedTable> {
        self.published(&|name| self.word(cell, ScaleName::Paper, name, &|_| None))
    }

    /// The options of the runs of a cell, without the seed, for data with `inputs` inputs.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the study file has an unknown option, or if no device is available.
    pub fn options(
        &self,
        cell: &Cell,
        request: &Request,
        whose: OptionSource,
        inputs: usize,
    ) -> Result<RunOptions, Failure> {
        let scale = match whose {
            OptionSource::Ours => request.common.scale,
            OptionSource::Papers => ScaleName::Paper,
        };
        let cell = &match whose {
            OptionSource::Ours => cell.clone(),
            OptionSource::Papers => self.cell_of_paper(cell),
        };
        let (mut fields, kept) = self.of_file(cell, scale)?;
        if whose == OptionSource::Papers {
            apply(&mut fields, &self.in_paper, scale);
        }
        let given = |unscaled: bool| {
            let options = request.choice.options.iter();
            options.filter(move |(option, _)| {
                whose == OptionSource::Ours
                    && option.unscaled == unscaled
                    && self.holds(cell, scale, &option.only, option.unless.as_ref())
            })
        };
        for (option, own) in given(false) {
            option.apply(&mut fields, own);
        }
        self.scale_and_copy(cell, &mut fields);
        for (option, own) in given(true) {
            option.apply(&mut fields, own);
        }
        for value in fields.values_mut() {
            replace_names(value, inputs);
            whole(value);
        }
        let options = RunOptions::from_fields(fields).map_err(|error| self.malformed(&error))?;
        let options = options.used_or_kept(|name| kept.contains(name));
        let place = request.place(self)?;
        Ok(RunOptions {
            data: Some(request.source_of(&cell.data)),
            data_dir: request.common.data_dir(),
            device: Some(place.device),
            dtype: options.dtype.or(Some(place.dtype)),
            ..options
        })
    }

    /// The options that the study file gives to the runs of a cell, and the names of those to keep
    /// whether or not the model uses them.
    fn of_file(
        &self,
        cell: &Cell,
        scale: ScaleName,
    ) -> Result<(Map<String, Value>, BTreeSet<String>), Failure> {
        let mut fields = Map::new();
        // Runs of studies never train on the validation rows, whether or not the model uses them.
        let mut kept = BTreeSet::from(["validation_fraction".to_owned()]);
        apply(&mut fields, &self.run, scale);
        for conditional in &self.conditional {
            if self.holds(cell, scale, &conditional.only, conditional.unless.as_ref()) {
                apply(&mut fields, &conditional.run, scale);
            }
        }
        for (index, axis) in self.axes.iter().enumerate() {
            if let Some(field) = axis.field.as_ref().filter(|_| cell.values[index] != NO_USE) {
                let parsed = RunOptions::parse_field(field, &cell.values[index]);
                fields.extend(parsed.map_err(|error| self.malformed(&error))?);
            }
            if let Some(value) = self.listed(cell, index) {
                apply(&mut fields, &value.run, scale);
                kept.extend(value.run.fields().map(|(name, _)| name.clone()));
            }
        }
        let row = self.row(cell).map_err(|error| self.malformed(&error))?;
        fields.extend(row.map(|row| row.run).unwrap_or_default());
        Ok((fields, kept))
    }

    /// The failure for an error in the study file.
    pub fn malformed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::Arguments(format!("error in the study {}: {error}", self.name))
    }

    /// The paper's cell that a cell is compared with. If an axis accepts any value and the paper does
    /// not have the cell's, it is the paper's first value.
    fn cell_of_paper(&self, cell: &Cell) -> Cell {
        let mut cell = cell.clone();
        for (index, axis) in self.axes.iter().enumerate() {
            if axis.field.is_none() || cell.values[index] == NO_USE {
                continue;
            }
            let of_paper: Vec<&AxisValue> = (axis.values.iter())
                .filter(|value| {
                    self.holds(&cell, ScaleName::Paper, &value.only, value.unless.as_ref())
                })
                .collect();
            let is_own = |value: &&AxisValue| value.name == cell.values[index];
            if let Some(first) = of_paper.first().filter(|_| !of_paper.iter().any(is_own)) {
                cell.values[index] = first.name.clone();
            }
        }
        cell
    }

    /// Applies `same` and `times` of the cell's axis values to the options.
    fn scale_and_copy(&self, cell: &Cell, fields: &mut Map<String, Value>) {
        for value in self.all_listed(cell) {
            for (field, source) in &value.same {
                let source = fields.get(source).cloned();
                fields.extend(source.map(|source| (field.clone(), source)));
            }
            for (field, factor) in &value.times {
                if let Some(number) = fields.get_mut(field) {
                    *number = match (number.as_u64(), number.as_f64()) {
                        (Some(count), _) => ((count as f64 * factor) as u64).into(),
                        (None, Some(own)) => (own * factor).into(),
                        _ => continue,
                    };
                }
            }
        }
    }
}

impl Patch {
    /// All options in this patch.
    pub fn fields(&self) -> impl Iterator<Item = (&String, &Value)> {
        let all = [&self.always, &self.quick, &self.paper];
        all.into_iter().flatten()
    }
}

/// Overwrites `fields` with the options of `patch`.
pub fn apply(fields: &mut Map<String, Value>, patch: &Patch, scale: ScaleName) {
    fields.retain(|name, _| !patch.without.contains(name));
    fields.extend(patch.always.clone());
    fields.extend(match scale {
        ScaleName::Quick => patch.quick.clone(),
        ScaleName::Paper => patch.paper.clone(),
    });
}

/// Replaces [`ROOT_OF_INPUTS`] in strings by its value.
fn replace_names(value: &mut Value, inputs: usize) {
    match value {
        Value::String(text) if text.contains(ROOT_OF_INPUTS) => {
            *text = text.replace(ROOT_OF_INPUTS, &(inputs as f64).sqrt().to_string());
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| replace_names(value, inputs)),
        _ => {}
    }
}

/// Turns whole floats into integers, because a TOML file may contain either.
fn whole(value: &mut Value) {
    let exact = 2f64.powi(53);
    let number = value
        .as_f64()
        .filter(|number| number.fract() == 0.0 && number.abs() < exact);
    if let Some(number) = number {
        *value = (number as i64).into();
    }
}
