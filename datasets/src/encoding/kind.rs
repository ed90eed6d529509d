//! The kind of a column, inferred from its cells.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::column_encoding::label;
use super::dates::DateFormat;
use crate::double_precision::{is_failed_calculation, is_infinite};
use crate::raw_column::{Cell, DeclaredType, RawColumn};
use crate::words;

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Two truth values in any spelling, or 0 and 1.
    Boolean,
    /// Labels that each occur in many rows.
    Category,
    /// Dates, times, or both.
    Date,
    /// Too many distinct texts for a category.
    Text,
    /// A different value in (nearly) every row.
    Id,
    /// The number of the row.
    RowNumber,
    /// The same value in every row.
    Constant,
    /// No value in any row.
    Empty,
    /// Numbers in most rows, and texts or infinite numbers in a few.
    Mixed,
    /// Nested or binary values.
    Unreadable,
    /// Degrees of longitude, with a latitude in another column.
    Longitude,
    /// Degrees of latitude, with a longitude in another column.
    Latitude,
    /// A known term of the function.
    Offset,
    /// Positive numbers whose logarithms are known terms of the function.
    Exposure,
}

impl ColumnKind {
    /// The kinds that a user can give a column.
    pub const CHOICES: [Self; 6] = [
        Self::Number,
        Self::Boolean,
        Self::Category,
        Self::Date,
        Self::Longitude,
        Self::Latitude,
    ];

    /// Whether the column is a known term of the function.
    pub(crate) fn is_known_term(self) -> bool {
        matches!(self, Self::Offset | Self::Exposure)
    }

    /// Whether the values are numbers, degrees included.
    pub(crate) fn has_numbers(self) -> bool {
        self.is_known_term() || matches!(self, Self::Number | Self::Longitude | Self::Latitude)
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Category => "category",
            Self::Date => "date",
            Self::Text => "text",
            Self::Id => "id",
            Self::RowNumber => "row number",
            Self::Constant => "constant",
            Self::Empty => "empty",
            Self::Mixed => "mixed",
            Self::Unreadable => "unreadable",
            Self::Longitude => "longitude",
            Self::Latitude => "latitude",
            Self::Offset => "offset",
            Self::Exposure => "exposure",
        })
    }
}

/// The error for a text that is not a kind that a user can give a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a kind of column; choose one of number, boolean, category, date, longitude and latitude"
)]
pub struct UnknownKind(pub String);

impl FromStr for ColumnKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let mut choices = Self::CHOICES.into_iter();
        let found = choices.find(|kind| kind.to_string() == text);
        found.ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// A text column with at most this many levels is a category, however few rows it has.
const FEW_LEVELS: usize = 10;
/// The largest number of levels of a category.
const MOST_LEVELS: usize = 255;
/// The mean number of rows per level from which a text column with more than [`FEW_LEVELS`] is a category.
const ROWS_OF_LEVEL: usize = 5;
/// The share of distinct texts from which a column is an id.
const ID_SHARE: f64 = 0.9;
/// The share of numbers above which texts among them are more likely mistakes than levels.
const MIXED_SHARE: f64 = 0.9;

/// Infers the kind of the column called `name`, the first of its table if `is_first`. Markers of missing
/// values must already be gaps.
pub(crate) fn infer(column: &RawColumn, name: &str, is_first: bool) -> ColumnKind {
    match &column.declared {
        Some(DeclaredType::Unreadable(_)) => return ColumnKind::Unreadable,
        Some(DeclaredType::Date) => return ColumnKind::Date,
        None => {}
    }
    let numbers = column.numbers().count();
    let texts = column.cells().filter(|cell| matches!(cell, Cell::Text(_)));
    match (numbers, texts.count()) {
        (0, 0) => ColumnKind::Empty,
        (1.., _) if are_results(column) => ColumnKind::Mixed,
        (numbers, texts) if column.has_long_wholes() => of_texts(column, numbers + texts),
        (_, 0) => of_numbers(column, name, is_first),
        (0, texts) => of_texts(column, texts),
        (numbers, texts) => {
            let share = numbers as f64 / (numbers + texts) as f64;
            let distinct = distinct(column, FEW_LEVELS + column.texts().len() + 1);
            match share >= MIXED_SHARE && distinct > FEW_LEVELS + column.texts().len() {
                true => ColumnKind::Mixed,
                false => of_texts(column, numbers + texts),
            }
        }
    }
}

/// Whether the texts among numbers are results that are no finite numbers.
fn are_results(column: &RawColumn) -> bool {
    let is_result = |text: &String| is_infinite(text) || is_failed_calculation(text);
    !column.texts().is_empty() && column.texts().iter().all(is_result)
}

fn of_numbers(column: &RawColumn, name: &str, is_first: bool) -> ColumnKind {
    let is_whole = column.numbers().all(|value| value.fract() == 0.0);
    match distinct(column, 3) {
        1 => return ColumnKind::Constant,
        2 if column.numbers().all(|value| value == 0.0 || value == 1.0) => {
            return ColumnKind::Boolean;
        }
        _ => {}
    }
    if !is_whole {
        return ColumnKind::Number;
    }
    let rows = column.len();
    let is_complete = column.numbers().count() == rows;
    if is_complete && counts_rows(column) && (is_index_name(name) || is_first && !is_time(name)) {
        ColumnKind::RowNumber
    } else if is_complete && is_id_name(name) && distinct(column, rows) == rows {
        ColumnKind::Id
    } else if are_mostly_dates(column) {
        ColumnKind::Date
    } else {
        ColumnKind::Number
    }
}

fn of_texts(column: &RawColumn, count: usize) -> ColumnKind {
    let is_text_alone = column.numbers().next().is_none();
    if is_text_alone && words::truth_values(column.texts()).is_some() {
        return ColumnKind::Boolean;
    }
    let distinct = distinct(column, usize::MAX);
    if distinct == 1 && count == column.len() {
        return ColumnKind::Constant;
    }
    if is_text_alone && are_mostly_date_texts(column) {
        ColumnKind::Date
    } else if distinct <= FEW_LEVELS {
        ColumnKind::Category
    } else if distinct as f64 >= ID_SHARE * count as f64 {
        ColumnKind::Id
    } else if distinct <= MOST_LEVELS && distinct * ROWS_OF_LEVEL <= count {
        ColumnKind::Category
    } else {
        ColumnKind::Text
    }
}

/// Whether whole numbers are dates such as 20210301, except for a few mistakes.
fn are_mostly_dates(column: &RawColumn) -> bool {
    let share = DateFormat::of_most_numbers(column.numbers()).map_or(0.0, |(_, share)| share);
    share == 1.0 || share >= MIXED_SHARE && distinct(column, FEW_LEVELS + 1) > FEW_LEVELS
}

/// Whether texts are dates or times in one notation, except for some mistakes: few, or fewer than half of
/// many distinct texts.
fn are_mostly_date_texts(column: &RawColumn) -> bool {
    let texts = column.texts();
    let Some((format, count)) = DateFormat::best(texts, None) else {
        return false;
    };
    if count == texts.len() {
        return true;
    }
    let cells = column.cells().filter(|cell| *cell != Cell::Missing).count();
    let dates = column
        .cells()
        .filter(|cell| format.days_in(*cell).is_some())
        .count();
    let share = dates as f64 / cells as f64;
    share >= MIXED_SHARE || share >= 0.5 && count > FEW_LEVELS
}

/// The number of distinct cells that are not gaps, up to `most`.
pub(crate) fn distinct(column: &RawColumn, most: usize) -> usize {
    let mut seen = HashSet::new();
    for value in column.numbers() {
        seen.insert((value + 0.0).to_bits());
        if seen.len() >= most {
            break;
        }
    }
    (seen.len() + column.texts().len()).min(most)
}

/// The labels of the column with the number of rows of each, in order of first appearance.
pub(super) fn levels(column: &RawColumn) -> Vec<(String, usize)> {
    let mut levels: indexmap::IndexMap<String, usize> = indexmap::IndexMap::new();
    for cell in column.cells().filter(|cell| *cell != Cell::Missing) {
        *levels.entry(label(cell)).or_default() += 1;
    }
    levels.into_iter().collect()
}

/// Whether the numbers are 0, 1, 2, … or 1, 2, 3, ….
fn counts_rows(column: &RawColumn) -> bool {
    let first = column.numbers().next();
    let Some(first) = first.filter(|&first| first == 0.0 || first == 1.0) else {
        return false;
    };
    let mut rows = column.numbers().enumerate();
    rows.all(|(row, value)| value == first + row as f64)
}

/// Names that programs give to row numbers.
fn is_index_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "index",
        "id",
        "row",
        "rowid",
        "row_id",
        "rownames",
        "rowname",
        "rownumber",
        "no",
        "no.",
        "nr",
        "nr.",
        "obs",
        "observation",
        "case",
        "x",
        "number",
        "#",
    ];
    words.contains(&name.as_str()) || name.starts_with("unnamed") || name.starts_with("column ")
}

fn is_id_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower == "id"
        || ["_id", " id", "-id", ".id"]
            .iter()
            .any(|end| lower.ends_with(end))
        || name.ends_with("Id")
        || (name.ends_with("ID") && name != name.to_uppercase())
}

/// Whether a name stands for a time, whose values are often consecutive numbers.
fn is_time(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "time", "year", "month", "week", "day", "date", "hour", "minute", "second", "step",
        "period", "quarter", "age",
    ];
    name == "t" || words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(fields: impl IntoIterator<Item = impl ToString>) -> RawColumn {
        let mut column = RawColumn::default();
        for field in fields {
            column.push_field(field.to_string().as_bytes()).unwrap();
        }
        column
    }

    fn kind(fields: impl IntoIterator<Item = impl ToString>) -> ColumnKind {
        infer(&column(fields), "c", false)
    }

    #[test]
    fn numbers_are_told_from_other_kinds() {
        assert_eq!(kind([1.5, 2.0, 3.0]), ColumnKind::Number);
        assert_eq!(kind([0, 1, 1]), ColumnKind::Boolean);
        assert_eq!(kind([7, 7, 7]), ColumnKind::Constant);
        assert_eq!(kind(["", "", ""]), ColumnKind::Empty);
        assert_eq!(kind([19_580_329, 19_580_405, 19_580_412]), ColumnKind::Date);
        assert_eq!(kind([1700, 1701, 1702]), ColumnKind::Number);
    }

    #[test]
    fn row_numbers_and_ids_are_told_by_name_and_place() {
        let rows = || column(1..=30);
        assert_eq!(infer(&rows(), "rownames", false), ColumnKind::RowNumber);
        assert_eq!(infer(&rows(), "thing", true), ColumnKind::RowNumber);
        assert_eq!(infer(&rows(), "thing", false), ColumnKind::Number);
        assert_eq!(infer(&rows(), "day", true), ColumnKind::Number);
        let ids = column((0..30).map(|row| 1000 + 7 * row));
        assert_eq!(infer(&ids, "PassengerId", false), ColumnKind::Id);
        assert_eq!(infer(&ids, "user_id", false), ColumnKind::Id);
        assert_eq!(infer(&ids, "price", false), ColumnKind::Number);
        assert_eq!(infer(&ids, "RAPID", false), ColumnKind::Number);
    }

    #[test]
    fn texts_are_categories_ids_or_texts() {
        assert_eq!(kind(["a", "b", "a"]), ColumnKind::Category);
        assert_eq!(kind(["Yes", "No", "No"]), ColumnKind::Boolean);
        assert_eq!(kind(["only", "only"]), ColumnKind::Constant);
        assert_eq!(kind(["2020-01-01", "2020-02-01"]), ColumnKind::Date);
        let text = |row: usize, levels: usize| format!("text {}", row % levels);
        assert_eq!(kind((0..100).map(|row| text(row, 100))), ColumnKind::Id);
        assert_eq!(kind((0..100).map(|row| text(row, 50))), ColumnKind::Text);
        assert_eq!(
            kind((0..100).map(|row| text(row, 20))),
            ColumnKind::Category
        );
    }

    #[test]
    fn a_few_texts_among_numbers_are_mistakes() {
        let fields = |mistakes: usize| {
            (0..100).map(move |row| match row < mistakes {
                true => "about 5".to_owned(),
                false => row.to_string(),
            })
        };
        assert_eq!(kind(fields(3)), ColumnKind::Mixed);
        assert_eq!(kind(fields(40)), ColumnKind::Text);
    }

    #[test]
    fn kinds_have_names() {
        for kind in ColumnKind::CHOICES {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("id".parse::<ColumnKind>().is_err());
    }
}
