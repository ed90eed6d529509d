//! A selection of rows by the value in a column.

use crate::column_value::{ColumnValue, OfColumn};
use crate::error::{ColumnError, DataError};
use crate::interpretation::check_names;
use crate::natural_order::compare;
use crate::raw_column::{Cell, RawColumn};
use crate::raw_table::RawTable;

/// The rows that have a value in a column, `store=Berlin`. Equal numbers match however they are written. An empty
/// value selects the rows whose cell is empty.
pub type RowSelection = ColumnValue<String>;

impl OfColumn for String {
    const FORM: &'static str = "COLUMN=VALUE, such as store=Berlin";

    fn divided(text: &str) -> Option<(&str, &str)> {
        let (column, value) = text.split_once('=')?;
        let value = value.trim();
        (!column.is_empty() && !value.is_empty()).then_some((column, value))
    }
}

impl RowSelection {
    /// The positions of the rows.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`], and [`ColumnError::NoSuchValue`] if no row has the value.
    pub(crate) fn rows_of(&self, raw: &RawTable) -> Result<Vec<usize>, DataError> {
        let column = column(raw, "--rows", &self.column)?;
        let number = self.value.parse::<f64>().ok();
        let matches = |row: &usize| match column.cell(*row) {
            Cell::Number(value) => number == Some(value),
            Cell::Text(text) => text == self.value,
            Cell::Missing => self.value.is_empty(),
        };
        let rows: Vec<usize> = (0..raw.rows()).filter(matches).collect();
        match rows.is_empty() {
            false => Ok(rows),
            true => Err(DataError::Column(ColumnError::NoSuchValue {
                source_name: raw.origin.source().to_owned(),
                column: self.column.clone(),
                value: self.value.clone(),
                values: (RowsByValue::of(column).values.into_iter())
                    .map(|(value, _)| value)
                    .collect(),
            })),
        }
    }
}

/// The rows of a source by their value in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsByValue {
    /// The values in natural order, each with the positions of its rows.
    pub values: Vec<(String, Vec<usize>)>,
    /// The positions of the rows without a value.
    pub missing: Vec<usize>,
}

impl RowsByValue {
    /// The rows of a table by the column called `name`, which the option `option` names.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`].
    pub(crate) fn in_table(
        raw: &RawTable,
        option: &'static str,
        name: &str,
    ) -> Result<Self, DataError> {
        Ok(Self::of(column(raw, option, name)?))
    }

    fn of(column: &RawColumn) -> Self {
        let mut found = Self::default();
        let mut positions = std::collections::HashMap::new();
        for (row, cell) in column.cells().enumerate() {
            if cell == Cell::Missing {
                found.missing.push(row);
                continue;
            }
            let place = *(positions.entry(cell.to_string())).or_insert_with_key(|value| {
                found.values.push((value.clone(), Vec::new()));
                found.values.len() - 1
            });
            found.values[place].1.push(row);
        }
        found.values.sort_by(|one, other| compare(&one.0, &other.0));
        found
    }
}

fn column<'a>(
    raw: &'a RawTable,
    option: &'static str,
    name: &str,
) -> Result<&'a RawColumn, DataError> {
    check_names(raw, [(option, name)].into_iter())?;
    let position = (0..raw.columns.count).find(|&position| raw.columns.name(position) == name);
    Ok(&raw.cells[position.unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_are_a_column_and_a_value() {
        let own: RowSelection = "size= a=b ".parse().unwrap();
        assert_eq!((own.column.as_str(), own.value.as_str()), ("size", "a=b"));
        assert_eq!(own.to_string(), "size=a=b");
        for text in ["store", "=Berlin", "store=", "store= "] {
            let error = text.parse::<RowSelection>().unwrap_err().to_string();
            assert!(error.contains("COLUMN=VALUE"), "{error}");
        }
    }

    #[test]
    fn rows_come_by_their_values_in_natural_order() {
        let mut column = RawColumn::default();
        for field in ["store 10", "store 9", "", "store 10", "2.0", "2"] {
            column.push_field(field.as_bytes()).unwrap();
        }
        let found = RowsByValue::of(&column);
        let expected = [
            ("2", vec![4, 5]),
            ("store 9", vec![1]),
            ("store 10", vec![0, 3]),
        ];
        let expected = expected.map(|(value, rows)| (value.to_owned(), rows));
        assert_eq!(found.values, expected);
        assert_eq!(found.missing, [2]);
    }
}
