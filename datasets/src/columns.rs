//! The roles of columns (target, inputs, what says something about the rows), and the matching of new data to a model.

mod new_rows;
mod ordered_input;
mod roles;
mod shared_inputs;
mod target_column;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::class_order::{ClassOrder, canonical};
use crate::classes::Classes;
use crate::column_label::ColumnLabel;
use crate::encoding::{ColumnEncoding, InputColumns, InputScale, MissingValues, NumberNotation};
use crate::error::DataError;
use crate::raw_column::Cell;
use crate::row_role::RowRole;
use crate::words::is_marker;
use roles::{prediction_roles, reject_duplicates, training_roles};

pub use crate::companion::{Companion, CompanionColumn};
pub use new_rows::{KeptColumns, NewRows};
pub use ordered_input::OrderedInputError;
pub use shared_inputs::SharedInputs;
pub use target_column::TargetColumn;

/// The roles of the columns of training data; all columns not listed are inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles {
    /// The column to predict.
    pub target: TargetColumn,
    /// The columns that say something about the rows.
    pub rows: BTreeMap<RowRole, TargetColumn>,
    /// The order of the labels, if the target is a label: any text, or numbers without a magnitude.
    pub labels: Option<Labels>,
    /// The other columns and the inputs that they become.
    pub inputs: InputColumns,
    /// Whether all targets may be equal; otherwise that is an error, because there is nothing to learn.
    pub allows_constant_target: bool,
}

impl ColumnRoles {
    /// With this column for a role of rows, if there is one.
    pub fn with(
        mut self,
        role: impl Into<RowRole>,
        column: impl Into<Option<TargetColumn>>,
    ) -> Self {
        self.rows
            .extend(column.into().map(|column| (role.into(), column)));
        self
    }

    /// The column that says more about each target, and what it says.
    pub(crate) fn companion(&self) -> Option<(Companion, &TargetColumn)> {
        self.rows.iter().find_map(|(role, column)| match role {
            RowRole::Companion(kind) => Some((*kind, column)),
            _ => None,
        })
    }
}

/// The order of the classes of labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// Ordered by [`Classes::new`]; the order has no meaning.
    Unordered,
    /// Ordered by the numbers in the labels; other labels are an error,
    /// [`ColumnError::OrderUnknown`](crate::ColumnError::OrderUnknown).
    Ordered,
    /// In the given order.
    InOrder(ClassOrder),
}

/// The names and order of the columns of a data set.
///
/// A saved model stores this to find its inputs in new files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The names of the inputs, in the model's order; `x1`, `x2`, … if the source has no names.
    pub input_names: Vec<String>,
    /// The name of the target; `y` if the source has no names.
    pub target_name: String,
    /// Whether the names come from the source. New data are then matched by name.
    pub named: bool,
    /// The position of the target among all columns of the source, from 0.
    pub target_position: usize,
    /// The columns that become inputs; empty if all are numbers without gaps and none was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<SourceColumn>,
    /// The number of columns of the source; zero if `columns` is empty.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub source_columns: usize,
    /// The column with the noise, the trials or the upper limit of each target, if the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<CompanionColumn>,
    /// The name of the column that names the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The classes, if the target is a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// The only texts and numbers that mark a missing value, if the user gave any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_values: Option<Vec<String>>,
    /// Whether a gap in a column that had none in training is an error, because the user wanted rows with
    /// gaps left out or refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses_gaps: bool,
    /// The notation of the targets, if they are numbers but not plain ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_notation: Option<NumberNotation>,
}

/// A column that becomes inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceColumn {
    /// The position among all columns of the source, from 0.
    pub position: usize,
    /// The inputs.
    #[serde(flatten)]
    pub encoding: ColumnEncoding,
}

/// The columns of a source before roles are assigned.
#[derive(Clone)]
pub(crate) struct Columns {
    /// The names in the header, if there is one.
    pub names: Option<Vec<String>>,
    pub count: usize,
}

/// The role of a column of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input(usize),
    Target,
    Companion(Companion),
    Ignored,
}

/// The role of every column of a source.
pub(crate) struct Layout {
    pub columns: Columns,
    pub roles: Vec<Role>,
    pub inputs: usize,
    /// The columns that become inputs, in the order of their roles.
    pub encoded: Vec<SourceColumn>,
    /// The order of the classes, if the target is a label.
    pub labels: Option<Labels>,
    /// The classes of the labels, if they are already known.
    pub classes: Option<Classes>,
    /// The notation of the targets, if they are numbers but not plain ones.
    pub target_notation: Option<NumberNotation>,
    /// The only texts and numbers that mark a missing value, if the user gave any.
    pub missing_values: Option<Vec<String>>,
    /// The treatment of missing values in training.
    pub missing: MissingValues,
}

/// The columns to read from a source.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// All columns, one of them the target.
    Training(&'a ColumnRoles),
    /// The inputs of a model, and its target if present.
    Prediction(&'a Schema, &'a NewRows),
    /// All columns as coordinates.
    Points,
}

impl Request<'_> {
    /// Assigns a role to every column.
    pub fn layout(&self, source: &str, columns: Columns) -> Result<Layout, DataError> {
        if let Some(names) = &columns.names {
            reject_duplicates(source, names)?;
        }
        let roles = match self {
            Self::Training(wanted) => training_roles(wanted, source, &columns)?,
            Self::Prediction(schema, _) => prediction_roles(schema, source, &columns)?,
            Self::Points => (0..columns.count).map(Role::Input).collect(),
        };
        let encoded = match self {
            Self::Prediction(schema, _) if !schema.columns.is_empty() => schema.columns.clone(),
            _ => numbers(&roles, &columns),
        };
        Ok(Layout {
            inputs: encoded.iter().map(|column| column.encoding.inputs()).sum(),
            columns,
            roles,
            encoded,
            labels: self.labels(),
            classes: match self {
                Self::Training(_) | Self::Points => None,
                Self::Prediction(schema, _) => schema.classes.clone(),
            },
            target_notation: match self {
                Self::Training(_) | Self::Points => None,
                Self::Prediction(schema, _) => schema.target_notation.clone(),
            },
            missing_values: match self {
                Self::Training(wanted) => wanted.inputs.missing_values.clone(),
                Self::Prediction(schema, _) => schema.missing_values.clone(),
                Self::Points => None,
            },
            missing: match self {
                Self::Training(wanted) => wanted.inputs.missing,
                Self::Prediction(..) | Self::Points => MissingValues::default(),
            },
        })
    }

    /// Whether all columns except the target and its companion become inputs unchanged.
    pub fn takes_all_columns(&self) -> bool {
        match self {
            Self::Training(wanted) => {
                let is_read_at_once =
                    |role: &RowRole| matches!(role, RowRole::Companion(_) | RowRole::Weights);
                wanted.inputs.is_strict() && wanted.rows.keys().all(is_read_at_once)
            }
            Self::Prediction(..) | Self::Points => true,
        }
    }

    /// The positions of the columns whose texts are kept unchanged.
    pub fn kept(&self, columns: &Columns) -> Vec<usize> {
        match self {
            Self::Training(wanted) => {
                let texts = wanted.rows.iter().filter(|(role, _)| role.is_text());
                let kept = texts.filter_map(|(_, kept)| kept.position("", "", columns).ok());
                let kept: BTreeSet<usize> = kept.collect();
                kept.into_iter().collect()
            }
            Self::Prediction(schema, rows) => {
                let is_kept = |position: &usize| {
                    let name = columns.name(*position);
                    let is_id = schema.id.as_ref() == Some(&name);
                    is_id || rows.keep.takes(&name)
                };
                (0..columns.count).filter(is_kept).collect()
            }
            Self::Points => Vec::new(),
        }
    }

    /// Whether the first line is a header, if the user specified it.
    pub fn header(&self) -> Option<bool> {
        match self {
            Self::Training(wanted) => wanted.inputs.header,
            Self::Prediction(_, rows) => rows.header,
            Self::Points => None,
        }
    }

    fn labels(&self) -> Option<Labels> {
        match self {
            Self::Training(wanted) => wanted.labels.clone(),
            Self::Prediction(schema, _) => schema.classes.as_ref().map(|_| Labels::Unordered),
            Self::Points => None,
        }
    }

    /// The position of the label column among `count` columns, if it can be determined without
    /// names. Text in that column does not make a line a header.
    pub fn label_position(&self, count: usize) -> Option<usize> {
        match self {
            _ if self.labels().is_none() => None,
            Self::Training(wanted) => wanted.target.position_without_names(count),
            Self::Prediction(schema, _) => {
                let is_complete = !schema.named && count > schema.source_names().len();
                is_complete.then_some(schema.target_position)
            }
            Self::Points => None,
        }
    }
}

/// The input columns, encoded as numbers without gaps.
fn numbers(roles: &[Role], columns: &Columns) -> Vec<SourceColumn> {
    let mut inputs: Vec<(usize, usize)> = (roles.iter().enumerate())
        .filter_map(|(position, role)| match role {
            Role::Input(input) => Some((*input, position)),
            _ => None,
        })
        .collect();
    inputs.sort_unstable();
    let column = |(input, position): (usize, usize)| SourceColumn {
        position,
        encoding: ColumnEncoding::number(match &columns.names {
            Some(names) => names[position].clone(),
            None => format!("x{}", input + 1),
        }),
    };
    inputs.into_iter().map(column).collect()
}

impl Schema {
    /// The names of the columns that become inputs.
    pub fn source_names(&self) -> Vec<&str> {
        match self.columns.is_empty() {
            true => self.input_names.iter().map(String::as_str).collect(),
            false => (self.columns.iter())
                .map(|column| column.encoding.name.as_str())
                .collect(),
        }
    }

    /// The names of the columns with the inputs, the target, its companion and the names of the rows.
    #[cfg(feature = "parquet")]
    pub(crate) fn needed(&self) -> BTreeSet<&str> {
        let companion = (self.companion.as_ref()).map(|companion| companion.name.as_str());
        let others = [
            Some(self.target_name.as_str()),
            companion,
            self.id.as_deref(),
        ];
        let others = others.into_iter().flatten();
        self.source_names().into_iter().chain(others).collect()
    }

    /// The scale of each input.
    pub(crate) fn input_scales(&self) -> Vec<InputScale> {
        match self.columns.is_empty() {
            true => vec![InputScale::Deviation; self.input_names.len()],
            false => (self.columns.iter())
                .flat_map(|column| column.encoding.scales())
                .collect(),
        }
    }
}

impl Columns {
    /// The name of the column at `position`; `x1`, `x2`, … if the source has no names.
    pub fn name(&self, position: usize) -> String {
        match &self.names {
            Some(names) => names[position].clone(),
            None => format!("x{}", position + 1),
        }
    }

    /// The label of the column at `position` (from 0) for messages.
    pub fn label(&self, position: usize) -> ColumnLabel {
        ColumnLabel {
            number: position + 1,
            name: self.names.as_ref().map(|names| names[position].clone()),
        }
    }
}

impl Layout {
    /// The label of the column at `position` (from 0) for messages.
    pub fn label(&self, position: usize) -> ColumnLabel {
        self.columns.label(position)
    }

    /// The position of the target among the columns, from 0.
    pub fn target(&self) -> Option<usize> {
        self.roles.iter().position(|role| *role == Role::Target)
    }

    /// Whether the target is the lower limit of an interval.
    pub fn has_intervals(&self) -> bool {
        matches!(self.companion(), Some((_, Companion::Upper)))
    }

    /// The position of the column that says more about each target, from 0, and what it says.
    pub fn companion(&self) -> Option<(usize, Companion)> {
        let mut roles = self.roles.iter().enumerate();
        roles.find_map(|(position, role)| match role {
            Role::Companion(kind) => Some((position, *kind)),
            _ => None,
        })
    }

    /// The number in a cell of the target, in its notation.
    pub fn number_of_target(&self, cell: Cell<'_>) -> Option<f64> {
        let notation = self.target_notation.as_ref();
        let own = match cell {
            Cell::Text(text) => notation.and_then(|notation| notation.parse(text)),
            _ => None,
        };
        own.or(cell.number())
    }

    /// Whether a non-empty cell in the column at `position` of new rows is a gap.
    pub fn is_gap(&self, position: usize, cell: Cell<'_>) -> bool {
        let is_own = match self.roles[position] {
            // `none` among labels is an unknown label here; in training it would be a class.
            Role::Target if self.missing_values.is_none() && is_none(cell) => true,
            Role::Input(input) => self.encoded[input].encoding.is_level(cell),
            Role::Target => {
                let classes = self.classes.as_ref();
                classes.is_some_and(|own| own.names().contains(&canonical(&cell.to_string())))
            }
            Role::Companion(_) | Role::Ignored => false,
        };
        !is_own && is_marker(cell, self.missing_values.as_deref())
    }

    /// The names of the columns without a role.
    pub fn ignored(&self) -> Vec<String> {
        let names = self.columns.names.as_deref().unwrap_or_default();
        let unused = names.iter().zip(&self.roles);
        unused
            .filter(|(_, role)| **role == Role::Ignored)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The schema of a training layout with the target at `target`, the given classes, if any, and
    /// the name of the column that names the rows.
    pub fn schema(&self, target: usize, classes: Option<Classes>, id: Option<String>) -> Schema {
        let name = |position: usize, otherwise: String| match &self.columns.names {
            Some(names) => names[position].clone(),
            None => otherwise,
        };
        let inputs = self.encoded.iter();
        let names = inputs.flat_map(|column| column.encoding.input_names());
        let besides = 1 + usize::from(self.companion().is_some());
        let is_plain = (self.encoded.iter()).all(|column| column.encoding.is_plain())
            && self.encoded.len() + besides == self.columns.count;
        Schema {
            input_names: names.collect(),
            target_name: name(target, "y".into()),
            named: self.columns.names.is_some(),
            target_position: target,
            source_columns: if is_plain { 0 } else { self.columns.count },
            columns: match is_plain {
                true => Vec::new(),
                false => self.encoded.clone(),
            },
            companion: self.companion().map(|(position, kind)| CompanionColumn {
                kind,
                name: name(position, kind.name().into()),
                position,
            }),
            id,
            classes,
            missing_values: self.missing_values.clone(),
            refuses_gaps: matches!(self.missing, MissingValues::Drop | MissingValues::Refuse),
            target_notation: self.target_notation.clone(),
        }
    }
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Whether a cell is the word `none`.
fn is_none(cell: Cell<'_>) -> bool {
    matches!(cell, Cell::Text(text) if text.eq_ignore_ascii_case("none"))
}
