//! Columns as shown to users.

use std::fmt;

/// A column number, counted from 1, with the column's name if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLabel {
    /// The number of the column in its file, from 1.
    pub number: usize,
    /// The name in the header, if there is one.
    pub name: Option<String>,
}

impl fmt::Display for ColumnLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "column {} ({name:?})", self.number),
            None => write!(formatter, "column {}", self.number),
        }
    }
}
