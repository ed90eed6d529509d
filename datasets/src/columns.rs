//! Which column is the target, which are inputs, and how new data are matched to a model.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::class_order::ClassOrder;
use crate::classes::Classes;
use crate::column_label::ColumnLabel;
use crate::error::DataError;
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
    /// Where the column is; `purpose` is what it is for.
    fn position(
        &self,
        purpose: &'static str,
        source: &str,
        columns: &Columns,
    ) -> Result<usize, DataError> {
        match self {
            Self::Last => Ok(columns.count - 1),
            Self::Number(number) => numbered(*number, purpose, source, columns.count),
            Self::Name(name) => named(name, purpose, source, columns),
        }
    }

    /// Where the column is among `count`, if that follows without names.
    fn position_without_names(&self, count: usize) -> Option<usize> {
        match self {
            Self::Last => count.checked_sub(1),
            Self::Number(number) => at_number(*number, count),
            Self::Name(name) if name == "last" => count.checked_sub(1),
            Self::Name(name) => at_number(name.parse().ok()?, count),
        }
    }
}

/// The position of a column's number, which counts from 1 or, negative, from the end.
fn at_number(number: i64, count: usize) -> Option<usize> {
    let position = match number {
        1.. => usize::try_from(number - 1).ok(),
        0 => None,
        ..0 => usize::try_from(number.unsigned_abs())
            .ok()
            .and_then(|from_end| count.checked_sub(from_end)),
    };
    position.filter(|&position| position < count)
}

fn numbered(
    number: i64,
    purpose: &'static str,
    source: &str,
    count: usize,
) -> Result<usize, DataError> {
    at_number(number, count).ok_or_else(|| DataError::TargetNumber {
        source_name: source.to_owned(),
        purpose,
        number,
        count,
    })
}

fn named(
    name: &str,
    purpose: &'static str,
    source: &str,
    columns: &Columns,
) -> Result<usize, DataError> {
    let names = columns.names.as_deref().unwrap_or_default();
    if let Some(position) = names.iter().position(|column| column == name) {
        return Ok(position);
    }
    if name == "last" {
        return Ok(columns.count - 1);
    }
    if let Ok(number) = name.parse() {
        return numbered(number, purpose, source, columns.count);
    }
    if columns.names.is_none() {
        return Err(DataError::TargetUnnamed {
            source_name: source.to_owned(),
            purpose,
            name: name.to_owned(),
            count: columns.count,
        });
    }
    Err(DataError::TargetMissing {
        source_name: source.to_owned(),
        purpose,
        name: name.to_owned(),
        columns: names.to_vec(),
        nearest: nearest(name, names.iter().map(String::as_str)),
    })
}

/// What the columns of training data are; all others are inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRoles {
    /// The column to predict.
    pub target: TargetColumn,
    /// The column of the standard deviations of each target's noise, if they are known.
    pub noise: Option<TargetColumn>,
    /// What the target is, if it is a label: any text, or numbers without size.
    pub labels: Option<Labels>,
}

/// How the classes of labels are ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// As [`Classes::new`] orders them; their order means nothing.
    Unordered,
    /// As the numbers in them say; other labels are an error, [`DataError::OrderUnknown`].
    Ordered,
    /// As given.
    InOrder(ClassOrder),
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
    /// The column of the noise, if the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseColumn>,
    /// The classes, if the target is a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
}

/// The column of the standard deviations of each target's noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseColumn {
    /// Its name; `noise` when the source had no names.
    pub name: String,
    /// Its position among all columns of the source, from 0.
    pub position: usize,
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
    Noise,
    Ignored,
}

/// The role of every column of a source.
pub(crate) struct Layout {
    pub columns: Columns,
    pub roles: Vec<Role>,
    pub inputs: usize,
    /// How the classes are ordered, if the target is a label.
    pub labels: Option<Labels>,
    /// The classes of the labels, if they are known already.
    pub classes: Option<Classes>,
}

/// What is wanted from a source.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// All columns, one of them the target.
    Training(&'a ColumnRoles),
    /// The inputs of a model, and its target if it is there.
    Prediction(&'a Schema),
    /// All columns, which are coordinates.
    Points,
}

impl Request<'_> {
    /// Gives every column its role.
    pub fn layout(&self, source: &str, columns: Columns) -> Result<Layout, DataError> {
        if let Some(names) = &columns.names {
            reject_duplicates(source, names)?;
        }
        let roles = match self {
            Self::Training(wanted) => training_roles(wanted, source, &columns)?,
            Self::Prediction(schema) => prediction_roles(schema, source, &columns)?,
            Self::Points => (0..columns.count).map(Role::Input).collect(),
        };
        let is_input = |role: &&Role| matches!(role, Role::Input(_));
        Ok(Layout {
            inputs: roles.iter().filter(is_input).count(),
            columns,
            roles,
            labels: self.labels(),
            classes: match self {
                Self::Training(_) | Self::Points => None,
                Self::Prediction(schema) => schema.classes.clone(),
            },
        })
    }

    fn labels(&self) -> Option<Labels> {
        match self {
            Self::Training(wanted) => wanted.labels.clone(),
            Self::Prediction(schema) => schema.classes.as_ref().map(|_| Labels::Unordered),
            Self::Points => None,
        }
    }

    /// The column of `count` that holds labels, if that follows without names: text there says
    /// nothing about whether a line is a header.
    pub fn label_position(&self, count: usize) -> Option<usize> {
        match self {
            _ if self.labels().is_none() => None,
            Self::Training(wanted) => wanted.target.position_without_names(count),
            Self::Prediction(schema) => {
                let is_complete = !schema.named && count > schema.input_names.len();
                is_complete.then_some(schema.target_position)
            }
            Self::Points => None,
        }
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
    wanted: &ColumnRoles,
    source: &str,
    columns: &Columns,
) -> Result<Vec<Role>, DataError> {
    let target = wanted.target.position("target", source, columns)?;
    let noise = (wanted.noise.as_ref())
        .map(|noise| noise.position("noise", source, columns))
        .transpose()?;
    if noise == Some(target) {
        return Err(DataError::NoiseIsTarget {
            source_name: source.to_owned(),
            column: columns.label(target),
        });
    }
    if columns.count < 2 + usize::from(noise.is_some()) {
        return Err(DataError::NoInputs {
            source_name: source.to_owned(),
        });
    }
    Ok(positional_roles(columns.count, Some(target), noise))
}

/// Inputs in the order of the columns, the target at `target`, its noise at `noise`.
fn positional_roles(count: usize, target: Option<usize>, noise: Option<usize>) -> Vec<Role> {
    let mut next = 0;
    (0..count)
        .map(|column| {
            if Some(column) == target {
                return Role::Target;
            }
            if Some(column) == noise {
                return Role::Noise;
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
        _ if columns.count == inputs => return Ok(positional_roles(inputs, None, None)),
        _ if columns.count == inputs + 1 && schema.noise.is_none() => {
            let target = Some(schema.target_position);
            return Ok(positional_roles(columns.count, target, None));
        }
        _ if columns.count == inputs + 2 && schema.noise.is_some() => {
            let noise = schema.noise.as_ref().map(|noise| noise.position);
            let target = Some(schema.target_position);
            return Ok(positional_roles(columns.count, target, noise));
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
    if let Some(noise) = &schema.noise
        && let Some(position) = names.iter().position(|name| *name == noise.name)
    {
        roles[position] = Role::Noise;
    }
    Ok(roles)
}

impl Columns {
    /// The column at `position` (from 0) as messages name it.
    fn label(&self, position: usize) -> ColumnLabel {
        ColumnLabel {
            number: position + 1,
            name: self.names.as_ref().map(|names| names[position].clone()),
        }
    }
}

impl Layout {
    /// The column at `position` (from 0) as messages name it.
    pub fn label(&self, position: usize) -> ColumnLabel {
        self.columns.label(position)
    }

    /// Position of the target among the columns, from 0.
    pub fn target(&self) -> Option<usize> {
        self.roles.iter().position(|role| *role == Role::Target)
    }

    /// Position of the noise among the columns, from 0.
    pub fn noise(&self) -> Option<usize> {
        self.roles.iter().position(|role| *role == Role::Noise)
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

    /// The schema of a training layout, whose target is at `target` and has these classes, if any.
    pub fn schema(&self, target: usize, classes: Option<Classes>) -> Schema {
        let name = |position: usize, otherwise: String| match &self.columns.names {
            Some(names) => names[position].clone(),
            None => otherwise,
        };
        let inputs = self
            .roles
            .iter()
            .enumerate()
            .filter_map(|(position, role)| {
                let Role::Input(input) = role else {
                    return None;
                };
                Some(name(position, format!("x{}", input + 1)))
            });
        Schema {
            input_names: inputs.collect(),
            target_name: name(target, "y".into()),
            named: self.columns.names.is_some(),
            target_position: target,
            noise: self.noise().map(|position| NoiseColumn {
                name: name(position, "noise".into()),
                position,
            }),
            classes,
        }
    }
}
