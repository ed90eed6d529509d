//! What the user says about a column.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A column and what the user says about it; in text, `COLUMN=VALUE`.
///
/// ```
/// use burn_gp_datasets::RowSelection;
///
/// let rows: RowSelection = "store=Berlin".parse()?;
/// assert_eq!((rows.column.as_str(), rows.value.as_str()), ("store", "Berlin"));
/// # Ok::<(), burn_gp_datasets::ColumnValueError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String", bound = "T: OfColumn")]
pub struct ColumnValue<T> {
    /// The name of the column.
    pub column: String,
    /// The value.
    pub value: T,
}

/// A value that can be given to a column.
pub trait OfColumn: Clone + Display + FromStr<Err: Display> {
    /// The form of the text, with an example.
    const FORM: &'static str;

    /// Divides a text into the name of the column and the value; `None` if it does not have the form.
    fn divided(text: &str) -> Option<(&str, &str)> {
        text.rsplit_once('=')
    }
}

/// The error for a text that gives a column no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnValueError {
    /// The text does not have the form.
    #[error("{text:?} is not of the form {form}")]
    Form {
        /// The text.
        text: String,
        /// The form.
        form: &'static str,
    },
    /// The value is unknown, for this reason.
    #[error("{0}")]
    Value(String),
}

impl<T: OfColumn> FromStr for ColumnValue<T> {
    type Err = ColumnValueError;

    fn from_str(text: &str) -> Result<Self, ColumnValueError> {
        let (column, value) = T::divided(text).ok_or_else(|| ColumnValueError::Form {
            text: text.to_owned(),
            form: T::FORM,
        })?;
        let value = value.parse::<T>();
        Ok(Self {
            column: column.to_owned(),
            value: value.map_err(|error| ColumnValueError::Value(error.to_string()))?,
        })
    }
}

impl<T: OfColumn> TryFrom<String> for ColumnValue<T> {
    type Error = ColumnValueError;

    fn try_from(text: String) -> Result<Self, ColumnValueError> {
        text.parse()
    }
}

impl<T: OfColumn> From<ColumnValue<T>> for String {
    fn from(own: ColumnValue<T>) -> Self {
        own.to_string()
    }
}

impl<T: OfColumn> Display for ColumnValue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.column, self.value)
    }
}
