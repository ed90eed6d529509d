//! A column as it appears in its source: numbers, texts and gaps.

use std::collections::HashMap;
use std::fmt;
use std::str;

use crate::double_precision;

/// A cell of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    /// An empty cell.
    Missing,
    /// A finite number.
    Number(f64),
    /// A whole number that may be inexact in double precision, or any other text, without spaces around it.
    Text(&'a str),
}

impl Cell<'_> {
    /// The number in the cell, rounded if it is a whole number without an exact double-precision value.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::Text(text) => double_precision::long_whole(text)?.parse().ok(),
            Self::Missing => None,
        }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// A column type that the source declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeclaredType {
    /// Numbers are days since the beginning of 1970.
    Date,
    /// The values cannot be read; the text names their type.
    Unreadable(String),
}

/// The cells of a column. Equal texts are stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RawColumn {
    /// NaN where a cell is not a number, `[N]`.
    numbers: Vec<f64>,
    /// The position of the cell's text plus one, or zero if it is not a text, `[N]`; empty if the
    /// column has no text.
    codes: Vec<u32>,
    texts: Vec<String>,
    positions: HashMap<String, u32>,
    /// The memory that the texts take, in bytes.
    text_memory: u64,
    /// The column type that the source declares.
    pub declared: Option<DeclaredType>,
}

/// Bytes that are not UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotUtf8;

impl RawColumn {
    /// A column of finite numbers.
    pub fn of_numbers(numbers: Vec<f64>) -> Self {
        Self {
            numbers,
            ..Self::default()
        }
    }

    /// A column of `rows` gaps.
    #[cfg(feature = "parquet")]
    pub fn of_gaps(rows: usize) -> Self {
        Self::of_numbers(vec![f64::NAN; rows])
    }

    /// The number of cells, N.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The memory that the column takes, in bytes.
    pub fn memory(&self) -> u64 {
        let rows = size_of::<f64>() * self.numbers.len() + size_of::<u32>() * self.codes.len();
        self.text_memory + (size_of::<Self>() + rows) as u64
    }

    /// The memory that the texts of the column take, in bytes.
    pub fn text_memory(&self) -> u64 {
        self.text_memory
    }

    /// Adds the cell with this text. Whole numbers that may be inexact in double precision stay texts.
    pub fn push_field(&mut self, field: &[u8]) -> Result<(), NotUtf8> {
        let text = str::from_utf8(field).map_err(|_| NotUtf8)?.trim();
        match text.parse::<f64>() {
            Ok(value) if double_precision::is_inexact(value) => {
                match double_precision::long_whole(text) {
                    Some(digits) => self.push_text(&digits),
                    None => self.push(value),
                }
            }
            Ok(value) if value.is_finite() => self.push(value),
            _ if text.is_empty() => self.push(f64::NAN),
            _ => self.push_text(text),
        }
        Ok(())
    }

    /// Adds a number, or a gap for NaN. Infinite numbers are kept as text.
    pub fn push_number(&mut self, value: f64) {
        match value.is_infinite() {
            true => self.push_text(&value.to_string()),
            false => self.push(value),
        }
    }

    /// Adds a whole number, as a text if it may be inexact in double precision.
    pub fn push_whole(&mut self, value: i128) {
        match double_precision::is_inexact(value as f64) {
            true => self.push_text(&value.to_string()),
            false => self.push(value as f64),
        }
    }

    /// Adds a gap.
    pub fn push_missing(&mut self) {
        self.push(f64::NAN);
    }

    /// Adds a text that is not a number.
    pub fn push_text(&mut self, text: &str) {
        if self.codes.is_empty() {
            self.codes = vec![0; self.numbers.len()];
        }
        let code = match self.positions.get(text) {
            Some(&position) => position + 1,
            None => {
                let position = self.texts.len() as u32;
                self.positions.insert(text.to_owned(), position);
                self.texts.push(text.to_owned());
                // It is stored twice, each time with a length and a slot in a hash table with free slots.
                self.text_memory += 2 * (text.len() + 3 * size_of::<String>()) as u64;
                position + 1
            }
        };
        self.numbers.push(f64::NAN);
        self.codes.push(code);
    }

    /// Adds a text; a blank one is a gap.
    pub fn push_label(&mut self, text: &str) {
        match text.trim() {
            "" => self.push_missing(),
            text => self
                .push_text(&double_precision::long_whole(text).unwrap_or_else(|| text.to_owned())),
        }
    }

    fn push(&mut self, value: f64) {
        self.numbers.push(value);
        if !self.codes.is_empty() {
            self.codes.push(0);
        }
    }

    /// The cell in row `row`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        let value = self.numbers[row];
        if !value.is_nan() {
            return Cell::Number(value);
        }
        match self.codes.get(row) {
            Some(&code) if code > 0 => Cell::Text(&self.texts[code as usize - 1]),
            _ => Cell::Missing,
        }
    }

    /// All cells, `[N]`.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        (0..self.len()).map(|row| self.cell(row))
    }

    /// The finite numbers of the column.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.numbers.iter().copied().filter(|value| !value.is_nan())
    }

    /// The distinct texts, in order of first appearance.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether the texts are whole numbers that may be inexact in double precision, and the other cells are
    /// whole numbers too, such as account or patient numbers.
    pub fn has_long_wholes(&self) -> bool {
        let is_long = |text: &String| double_precision::long_whole(text).is_some();
        let is_whole = |value: f64| value.fract() == 0.0;
        !self.texts.is_empty() && self.texts.iter().all(is_long) && self.numbers().all(is_whole)
    }

    /// The cells in these rows, in their order.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut column = Self::default();
        for &row in rows {
            match self.cell(row) {
                Cell::Number(value) => column.push(value),
                Cell::Text(text) => column.push_text(text),
                Cell::Missing => column.push_missing(),
            }
        }
        column.declared = self.declared.clone();
        column
    }

    /// The column with numbers in place of the texts that `parse` accepts.
    pub fn with_numbers(&self, parse: impl Fn(&str) -> Option<f64>) -> Self {
        let mut column = Self::default();
        for cell in self.cells() {
            match cell {
                Cell::Number(value) => column.push(value),
                Cell::Missing => column.push_missing(),
                Cell::Text(text) => match parse(text) {
                    Some(value) => column.push(value),
                    None => column.push_text(text),
                },
            }
        }
        column.declared = self.declared.clone();
        column
    }

    /// Replaces texts by the spellings that `spelling` returns for them.
    pub fn respell(&mut self, spelling: impl Fn(&[String], &str) -> Option<String>) {
        let spelled = |text: &String| spelling(&self.texts, text).unwrap_or_else(|| text.clone());
        let texts: Vec<String> = self.texts.iter().map(spelled).collect();
        if texts == self.texts {
            return;
        }
        let mut respelled = Self::default();
        for row in 0..self.len() {
            match (self.cell(row), self.codes.get(row)) {
                (Cell::Text(_), Some(&code)) => respelled.push_text(&texts[code as usize - 1]),
                _ => respelled.push(self.numbers[row]),
            }
        }
        respelled.declared = self.declared.take();
        *self = respelled;
    }

    /// Turns the cells that `is_gap` accepts into gaps, and returns their distinct texts.
    pub fn clear(&mut self, is_gap: impl Fn(Cell<'_>) -> bool) -> Vec<String> {
        let texts = self.texts.iter().filter(|text| is_gap(Cell::Text(text)));
        let mut found: Vec<String> = texts.cloned().collect();
        for value in self.numbers.iter_mut().filter(|value| !value.is_nan()) {
            if is_gap(Cell::Number(*value)) {
                let text = value.to_string();
                found.extend((!found.contains(&text)).then_some(text));
                *value = f64::NAN;
            }
        }
        if !self.texts.iter().any(|text| is_gap(Cell::Text(text))) {
            return found;
        }
        let mut cleared = Self::default();
        for cell in self.cells() {
            match cell {
                Cell::Number(value) => cleared.push(value),
                Cell::Text(text) if !is_gap(cell) => cleared.push_text(text),
                Cell::Text(_) | Cell::Missing => cleared.push_missing(),
            }
        }
        cleared.declared = self.declared.take();
        *self = cleared;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(fields: &[&str]) -> RawColumn {
        let mut column = RawColumn::default();
        for field in fields {
            column.push_field(field.as_bytes()).unwrap();
        }
        column
    }

    #[test]
    fn cells_are_numbers_texts_or_gaps() {
        let column = column(&["1", "", " a ", "2.5", "inf", "a"]);
        let cells: Vec<Cell<'_>> = column.cells().collect();
        let expected = [
            Cell::Number(1.0),
            Cell::Missing,
            Cell::Text("a"),
            Cell::Number(2.5),
            Cell::Text("inf"),
            Cell::Text("a"),
        ];
        assert_eq!(cells, expected);
        assert_eq!(column.texts(), ["a", "inf"]);
        assert_eq!(column.numbers().collect::<Vec<_>>(), [1.0, 2.5]);
        assert_eq!(RawColumn::default().push_field(&[0xff]), Err(NotUtf8));
    }

    #[test]
    fn cleared_texts_are_gaps() {
        let mut column = column(&["NA", "b", "3", "NA"]);
        assert_eq!(column.clear(|cell| cell == Cell::Text("NA")), ["NA"]);
        let cells: Vec<Cell<'_>> = column.cells().collect();
        let (gap, three) = (Cell::Missing, Cell::Number(3.0));
        assert_eq!(cells, [gap, Cell::Text("b"), three, gap]);
        assert_eq!(column.texts(), ["b"]);
    }
}
