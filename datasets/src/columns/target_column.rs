//! The column to predict, and its place among the columns of a source.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Columns;
use crate::error::{ColumnError, DataError};
use crate::names::nearest;

/// The column to predict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetColumn {
    /// The last column.
    #[default]
    Last,
    /// The column with this number, from 1; negative numbers count from the end, with -1 the last.
    Number(i64),
    /// The column with this name. If there is none, the text is interpreted as `last` or as a
    /// number.
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
    /// The position of the column; `purpose` is used in error messages.
    pub(crate) fn position(
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

    /// The position of the column among `count` columns, if it can be determined without names.
    pub(super) fn position_without_names(&self, count: usize) -> Option<usize> {
        match self {
            Self::Last => count.checked_sub(1),
            Self::Number(number) => at_number(*number, count),
            Self::Name(name) if name == "last" => count.checked_sub(1),
            Self::Name(name) => at_number(name.parse().ok()?, count),
        }
    }
}

/// The position for a column number, which counts from 1 or, if negative, from the end.
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
    at_number(number, count).ok_or_else(|| {
        DataError::Column(ColumnError::TargetNumber {
            source_name: source.to_owned(),
            purpose,
            number,
            count,
        })
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
        return Err(DataError::Column(ColumnError::TargetUnnamed {
            source_name: source.to_owned(),
            purpose,
            name: name.to_owned(),
            count: columns.count,
        }));
    }
    Err(DataError::Column(ColumnError::TargetMissing {
        source_name: source.to_owned(),
        purpose,
        name: name.to_owned(),
        columns: names.into(),
        nearest: nearest(name, names.iter().map(String::as_str)),
    }))
}
