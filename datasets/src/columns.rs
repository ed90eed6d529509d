//! Which column is the target, which are inputs, and how new data are matched to a model.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{ColumnLabel, DataError};
use crate::names::nearest;

/// The column to predict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetColumn {
    /// The last column.
    #[default]
    Last,
    /// Column number from 1; negative numbers count from the end, -1 being the last.
    Number(i64),
    /// The column with this name. When no column has it, the text is tried as `last` and then as
    /// a number, so that what a person types is found either way.
    Name(String),
}

impl FromStr for TargetColumn {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::Name(text.to_owned()))
    }
}

impl fmt::Display for TargetColumn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => formatter.write_str("last"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Name(name) => formatter.write_str(name),
        }
    }
}

impl TargetColumn {
    fn position(&self, source: &str, columns: &Columns) -> Result<usize, DataError> {
        match self {
            Self::Last => Ok(columns.count - 1),
            Self::Number(number) => numbered(*number, source, columns.count),
            Self::Name(name) => named(name, source, columns),
        }
    }
}

fn numbered(number: i64, source: &str, count: usize) -> Result<usize, DataError> {
    let position = match number {
        1.. => usize::try_from(number - 1).ok(),
        0 => None,
        ..0 => usize::try_from(number.unsigned_abs())
            .ok()
            .and_then(|from_end| count.checked_sub(from_end)),
    };
    position
        .filter(|&position| position < count)
        .ok_or_else(|| DataError::TargetNumber {
            source_name: source.to_owned(),
            number,
            count,
        })
}

fn named(name: &str, source: &str, columns: &Columns) -> Result<usize, DataError> {
    let names = columns.names.as_deref().unwrap_or_default();
    if let Some(position) = names.iter().position(|column| column == name) {
        return Ok(position);
    }
    if name == "last" {
        return Ok(columns.count - 1);
    }
    if let Ok(number) = name.parse() {
        return numbered(number, source, columns.count);
    }
    if columns.names.is_none() {
        return Err(DataError::TargetUnnamed {
            source_name: source.to_owned(),
            name: name.to_owned(),
            count: columns.count,
        });
    }
    Err(DataError::TargetMissing {
        source_name: source.to_owned(),
        name: name.to_owned(),
        columns: names.to_vec(),
        nearest: nearest(name, names.iter().map(String::as_str)),
    })
}

/// How the columns of a data set are named and ordered.
///
/// A saved model keeps this to find its inputs in new files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// Names of the inputs, in the model's order; `x1`, `x2`, … when the source had no names.
    pub input_names: Vec<String>,
    /// Name of the target; `y` when the source had no names.
    pub target_name: String,
    /// Whether the names come from the source: new data are then matched by name.
    pub named: bool,
    /// Position of the target among all columns of the source, from 0.
    pub target_position: usize,
}

/// The columns of a source before any has a role.
pub(crate) struct Columns {
    /// The names in the header, if there is a header.
    pub names: Option<Vec<String>>,
    pub count: usize,
}

/// What a column of a source is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input(usize),
    Target,
    Ignored,
}

/// The role of every column of a source.
pub(crate) struct Layout {
    pub columns: Columns,
    pub roles: Vec<Role>,
    pub inputs: usize,
}

/// What is wanted from a source.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// All columns, one of them the target.
    Training(&'a TargetColumn),
    /// The inputs of a model, and its target if it is there.
    Prediction(&'a Schema),
}

impl Request<'_> {
    /// Gives every column its role.
    pub fn layout(&self, source: &str, columns: Columns) -> Result<Layout, DataError> {
        if let Some(names) = &columns.names {
            reject_duplicates(source, names)?;
        }
        let (roles, inputs) = match self {
            Self::Training(target) => {
                (training_roles(target, source, &columns)?, columns.count - 1)
            }
            Self::Prediction(schema) => (
                prediction_roles(schema, source, &columns)?,
                schema.input_names.len(),
            ),
        };
        Ok(Layout {
            columns,
            roles,
            inputs,
        })
    }
}

fn reject_duplicates(source: &str, names: &[String]) -> Result<(), DataError> {
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = names[..second].iter().position(|earlier| earlier == name) {
            return Err(DataError::DuplicateColumn {
                source_name: source.to_owned(),
                name: name.clone(),
                first: first + 1,
                second: second + 1,
            });
        }
    }
    Ok(())
}

fn training_roles(
    target: &TargetColumn,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let position = target.position(source, columns)?;
    if columns.count < 2 {
        return Err(DataError::NoInputs {
            source_name: source.to_owned(),
        });
    }
    Ok(positional_roles(columns.count, Some(position)))
}

/// Inputs in the order of the columns, the target at `target`.
fn positional_roles(count: usize, target: Option<usize>) -> Vec<Role> {
    let mut next = 0;
    (0..count)
        .map(|column| {
            if Some(column) == target {
                return Role::Target;
            }
            next += 1;
            Role::Input(next - 1)
        })
        .collect()
}

fn prediction_roles(
    schema: &Schema,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let inputs = schema.input_names.len();
    let names = match &columns.names {
        Some(names) if schema.named => names,
        _ if columns.count == inputs => return Ok(positional_roles(inputs, None)),
        _ if columns.count == inputs + 1 => {
            return Ok(positional_roles(inputs + 1, Some(schema.target_position)));
        }
        _ => {
            return Err(DataError::InputCount {
                source_name: source.to_owned(),
                found: columns.count,
                inputs,
            });
        }
    };
    let mut roles = vec![Role::Ignored; columns.count];
    for (input, name) in schema.input_names.iter().enumerate() {
        let position = names.iter().position(|column| column == name);
        let Some(position) = position else {
            return Err(DataError::InputMissing {
                source_name: source.to_owned(),
                name: name.clone(),
                nearest: nearest(name, names.iter().map(String::as_str)),
            });
        };
        roles[position] = Role::Input(input);
    }
    if let Some(position) = names.iter().position(|name| *name == schema.target_name) {
        roles[position] = Role::Target;
    }
    Ok(roles)
}

impl Layout {
    /// The column at `position` (from 0) as messages name it.
    pub fn label(&self, position: usize) -> ColumnLabel {
        ColumnLabel {
            number: position + 1,
            name: self
                .columns
                .names
                .as_ref()
                .map(|names| names[position].clone()),
        }
    }

    /// Position of the target among the columns, from 0.
    pub fn target(&self) -> Option<usize> {
        self.roles.iter().position(|role| *role == Role::Target)
    }

    /// Names of the columns without a role.
    pub fn ignored(&self) -> Vec<String> {
        let names = self.columns.names.as_deref().unwrap_or_default();
        let unused = names.iter().zip(&self.roles);
        unused
            .filter(|(_, role)| **role == Role::Ignored)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The schema of a training layout, whose target is at `target`.
    pub fn schema(&self, target: usize) -> Schema {
        match &self.columns.names {
            Some(names) => Schema {
                input_names: names
                    .iter()
                    .enumerate()
                    .filter(|(position, _)| *position != target)
                    .map(|(_, name)| name.clone())
                    .collect(),
                target_name: names[target].clone(),
                named: true,
                target_position: target,
            },
            None => Schema {
                input_names: (1..=self.inputs).map(|input| format!("x{input}")).collect(),
                target_name: "y".into(),
                named: false,
                target_position: target,
            },
        }
    }
}
