//! The origin of each row of a data set, so that messages can name its file and line.

use std::fmt;
use std::path::Path;

/// What the numbers of an [`Origin`] count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Line,
    Row,
}

/// Line or row numbers. In nearly all files they are consecutive.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Numbers {
    Consecutive { first: u64, count: u64 },
    Listed(Vec<u64>),
}

/// The source of a table, and the 1-based line (text files) or row (all other sources) of each
/// table row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    source: String,
    unit: Unit,
    numbers: Numbers,
}

/// A location in a source: `file:line` for text files, `source, row n` for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    source: String,
    unit: Unit,
    number: u64,
}

impl Origin {
    /// The origin of a text file; [`push_line`](Self::push_line) adds its rows.
    pub(crate) fn text(path: &Path) -> Self {
        Self {
            source: path.display().to_string(),
            unit: Unit::Line,
            numbers: Numbers::Consecutive { first: 0, count: 0 },
        }
    }

    /// An origin without line numbers: rows 1 to `count` of `source`.
    pub(crate) fn rows(source: impl Into<String>, count: usize) -> Self {
        Self {
            source: source.into(),
            unit: Unit::Row,
            numbers: Numbers::Consecutive {
                first: 1,
                count: count as u64,
            },
        }
    }

    /// An origin without line numbers: the rows of `source` with these numbers, counted from 0.
    #[cfg(feature = "parquet")]
    pub(crate) fn numbered_rows(
        source: impl Into<String>,
        numbers: impl Iterator<Item = usize>,
    ) -> Self {
        let mut origin = Self::rows(source, 0);
        numbers.for_each(|number| origin.push_line(number as u64 + 1));
        origin
    }

    /// Adds the line number of the next row.
    pub(crate) fn push_line(&mut self, line: u64) {
        match &mut self.numbers {
            Numbers::Consecutive { first, count } if *count == 0 => {
                *first = line;
                *count = 1;
            }
            Numbers::Consecutive { first, count } if *first + *count == line => *count += 1,
            Numbers::Consecutive { first, count } => {
                let mut lines: Vec<u64> = (*first..*first + *count).collect();
                lines.push(line);
                self.numbers = Numbers::Listed(lines);
            }
            Numbers::Listed(lines) => lines.push(line),
        }
    }

    /// Adds the next row of a source without line numbers.
    pub(crate) fn push_row(&mut self) {
        let next = match &self.numbers {
            Numbers::Consecutive { count, .. } => count + 1,
            Numbers::Listed(rows) => rows.len() as u64 + 1,
        };
        self.push_line(next);
    }

    /// The path of the file or the name of the set.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The location of row `index` (from 0).
    ///
    /// # Panics
    /// When there is no such row.
    pub fn location(&self, index: usize) -> Location {
        Location {
            source: self.source.clone(),
            unit: self.unit,
            number: self.number(index),
        }
    }

    /// The origin of the rows with the given `indices`.
    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        Self {
            source: self.source.clone(),
            unit: self.unit,
            numbers: Numbers::Listed(indices.iter().map(|&index| self.number(index)).collect()),
        }
    }

    fn number(&self, index: usize) -> u64 {
        match &self.numbers {
            Numbers::Consecutive { first, count } => {
                assert!(
                    (index as u64) < *count,
                    "row {index} of a table of {count} rows"
                );
                first + index as u64
            }
            Numbers::Listed(lines) => lines[index],
        }
    }
}

impl Location {
    /// Line `line` (from 1) of a text file.
    pub(crate) fn line(path: &Path, line: u64) -> Self {
        Self {
            source: path.display().to_string(),
            unit: Unit::Line,
            number: line,
        }
    }

    /// The place within its source: `line 3` or `row 3`.
    pub(crate) fn in_source(&self) -> String {
        let unit = match self.unit {
            Unit::Line => "line",
            Unit::Row => "row",
        };
        format!("{unit} {}", self.number)
    }

    /// The 1-based line or row number.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(formatter, "{}:{}", self.source, self.number),
            Unit::Row => write!(formatter, "{}, row {}", self.source, self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_the_lines_is_kept() {
        let mut origin = Origin::text(Path::new("a.csv"));
        for line in [2, 3, 6, 7] {
            origin.push_line(line);
        }
        let places: Vec<String> = (0..4).map(|row| origin.location(row).to_string()).collect();
        assert_eq!(places, ["a.csv:2", "a.csv:3", "a.csv:6", "a.csv:7"]);
        let chosen = origin.select(&[2, 0]);
        assert_eq!(chosen.location(0).to_string(), "a.csv:6");
        assert_eq!(chosen.location(1).to_string(), "a.csv:2");
    }

    #[test]
    fn a_source_without_lines_counts_rows() {
        let origin = Origin::rows("winequality", 3);
        assert_eq!(origin.location(2).to_string(), "winequality, row 3");
    }
}
