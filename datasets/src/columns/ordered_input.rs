//! Values of columns that have an order.

use super::{Schema, SourceColumn};
use crate::encoding::{ColumnEncoding, DateFormat, Encoding, InputScale};
use crate::raw_column::Cell;

/// The reason why a text is not a value of a column with an order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderedInputError {
    /// The model has no such column.
    #[error("the model has no input column {column:?}; it has {}", columns.join(", "))]
    NoColumn {
        /// The name.
        column: String,
        /// The names of the model's columns.
        columns: Vec<String>,
    },
    /// The column has neither numbers nor dates.
    #[error("the column {column:?} has neither numbers nor dates, so no value is before another")]
    NoOrder {
        /// The name of the column.
        column: String,
    },
    /// The text is not a value of the column.
    #[error("{text:?} is not a {kind}, as the column {column:?} has")]
    NoValue {
        /// The name of the column.
        column: String,
        /// The text.
        text: String,
        /// `number` or `date`.
        kind: &'static str,
    },
}

impl Schema {
    /// The position among the inputs of a column of numbers or dates, and the value of that input for a text: the number
    /// itself, or days since the beginning of 1970. Dates are in the notation of the training data, or begin with the year.
    ///
    /// # Errors
    ///
    /// If there is no such column, or the text is not one of its values.
    pub fn ordered_input(
        &self,
        column: &str,
        text: &str,
    ) -> Result<(usize, f64), OrderedInputError> {
        let plain: Vec<ColumnEncoding> = (self.input_names.iter())
            .filter(|_| self.columns.is_empty())
            .map(|name| ColumnEncoding::number(name.clone()))
            .collect();
        let encoded = self.columns.iter().map(|column| &column.encoding);
        let mut first = 0;
        for encoding in plain.iter().chain(encoded) {
            if encoding.name == column {
                return Ok((first, encoding.ordered(text)?));
            }
            first += encoding.inputs();
        }
        Err(OrderedInputError::NoColumn {
            column: column.to_owned(),
            columns: self.source_names().into_iter().map(str::to_owned).collect(),
        })
    }
}

impl Schema {
    /// The position among the inputs of a column whose value is the input: plain numbers, not dates, categories or places.
    pub fn number_input(&self, column: &str) -> Option<usize> {
        let is_other = |own: &SourceColumn| {
            own.encoding.name == column && own.encoding.encoding != Encoding::Number
        };
        let input = self.input_names.iter().position(|name| name == column)?;
        let is_number = self.input_scales()[input] == InputScale::Deviation;
        (is_number && !self.columns.iter().any(is_other)).then_some(input)
    }
}

impl ColumnEncoding {
    /// The first input for a text, if the column has numbers or dates.
    fn ordered(&self, text: &str) -> Result<f64, OrderedInputError> {
        let column = || self.name.clone();
        let text = text.trim();
        let number = || text.parse().ok().filter(|value: &f64| value.is_finite());
        let (value, kind) = match &self.encoding {
            Encoding::Number => {
                let own = self.number_in(Cell::Text(text));
                (own.or_else(number), "number")
            }
            Encoding::Date { format, .. } => {
                let own = format
                    .days_of(text)
                    .or_else(|| number().and_then(|value| format.number(value)));
                let usual = || {
                    let format = DateFormat::of([text].into_iter(), None).ok().flatten()?;
                    format
                        .has_year_in_front()
                        .then(|| format.days_of(text))
                        .flatten()
                };
                (own.or_else(usual), "date")
            }
            _ => return Err(OrderedInputError::NoOrder { column: column() }),
        };
        value.ok_or_else(|| OrderedInputError::NoValue {
            column: column(),
            text: text.to_owned(),
            kind,
        })
    }
}
