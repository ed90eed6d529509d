//! Columns as people name them.

use std::fmt;

/// A column as a person counts it, from 1, with its name when it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLabel {
    /// Number of the column in its file, from 1.
    pub number: usize,
    /// The name in the header, if there is a header.
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
