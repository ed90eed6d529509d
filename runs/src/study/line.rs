//! Lines of results: on the terminal, in `results.csv` and in `results.json`.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::published::with_spread;
use crate::summary::Summary;
use crate::text_table::aligned;

/// The name of a value.
type Key = Cow<'static, str>;

/// A value of a line.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// An absent value.
    Nothing,
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A mean with its standard error.
    Summary(Summary),
    /// A count, or anything else that has one form everywhere.
    Other(Value),
}

impl Entry {
    /// The value for the terminal; a dash if it is absent.
    pub fn text(&self, digits: usize) -> String {
        match self {
            Self::Nothing => "-".into(),
            Self::Text(text) => text.clone(),
            Self::Number(number) => format!("{number:.digits$}"),
            Self::Summary(summary) => with_spread(summary.mean, summary.standard_error, digits),
            Self::Other(value) => value.to_string(),
        }
    }

    /// The value for files, with all digits.
    fn in_full(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Summary(summary) => summary.mean.to_string(),
            Self::Other(value) => value.to_string(),
        }
    }
}

impl From<f64> for Entry {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Summary> for Entry {
    fn from(summary: Summary) -> Self {
        Self::Summary(summary)
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Entry {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Entry {
    fn from(count: usize) -> Self {
        Self::Other(count.into())
    }
}

impl From<u64> for Entry {
    fn from(count: u64) -> Self {
        Self::Other(count.into())
    }
}

impl From<Value> for Entry {
    fn from(value: Value) -> Self {
        Self::Other(value)
    }
}

impl<T: Into<Entry>> From<Option<T>> for Entry {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// A line of a table. The terminal shows rounded values below titles; files have all digits, by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRow {
    /// The values in files.
    kept: Vec<(Key, Entry)>,
    /// The texts on the terminal.
    shown: Vec<(Key, String)>,
}

impl ResultRow {
    /// Adds a value to files only.
    pub fn with(mut self, key: impl Into<Key>, value: impl Into<Entry>) -> Self {
        self.kept.push((key.into(), value.into()));
        self
    }

    /// Adds a text to the terminal only.
    pub fn shown(mut self, title: impl Into<Key>, text: impl ToString) -> Self {
        self.shown.push((title.into(), text.to_string()));
        self
    }

    /// Adds a value to files and the terminal, which shows this many decimal digits.
    pub fn column(
        self,
        title: impl Into<Key>,
        key: impl Into<Key>,
        value: impl Into<Entry>,
        digits: usize,
    ) -> Self {
        let value = value.into();
        self.shown(title, value.text(digits)).with(key, value)
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        let mut kept = self.kept.iter();
        kept.find(|(name, _)| name == key).map(|(_, entry)| entry)
    }

    /// The number or the mean called `key`, if there is one.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.entry(key)? {
            Entry::Number(number) => Some(*number),
            Entry::Summary(summary) => Some(summary.mean),
            Entry::Other(value) => value.as_f64(),
            Entry::Nothing | Entry::Text(_) => None,
        }
    }

    /// The value called `key` for the terminal, with this many decimal digits.
    pub fn text(&self, key: &str, digits: usize) -> String {
        self.entry(key).unwrap_or(&Entry::Nothing).text(digits)
    }

    /// The cells of the CSV file with their names. A mean is followed by its standard error.
    fn cells(&self) -> impl Iterator<Item = (Key, String)> {
        self.kept.iter().flat_map(|(key, entry)| {
            let error = match entry {
                Entry::Summary(summary) => Some(summary.standard_error),
                _ => None,
            };
            let error = error.map(|error| (format!("{key}_error"), Entry::from(error).in_full()));
            let error = error.map(|(key, text)| (Cow::from(key), text));
            [(key.clone(), entry.in_full())].into_iter().chain(error)
        })
    }
}

impl Serialize for ResultRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.kept.iter().map(|(key, entry)| (key, entry)))
    }
}

/// The table for the terminal, titles first.
pub fn table<'a>(lines: impl IntoIterator<Item = &'a ResultRow>) -> Vec<String> {
    let lines: Vec<&ResultRow> = lines.into_iter().collect();
    let titles = lines.first().map(|line| {
        let titles = line.shown.iter().map(|(title, _)| title.to_string());
        titles.collect()
    });
    let rows = lines.iter().map(|line| {
        let texts = line.shown.iter().map(|(_, text)| text.clone());
        texts.collect()
    });
    aligned(&titles.into_iter().chain(rows).collect::<Vec<Vec<String>>>())
}

/// The points of a curve: the values called `y` against those called `x`.
pub fn points<'a>(
    lines: impl IntoIterator<Item = &'a ResultRow>,
    x: &str,
    y: &str,
) -> Vec<(f64, f64)> {
    let point = |line: &ResultRow| Some((line.number(x)?, line.number(y)?));
    lines.into_iter().filter_map(point).collect()
}

/// Formats the lines as CSV. The first line gives the column names.
///
/// # Errors
///
/// If a line and the first line differ in their number of cells.
pub fn csv(lines: &[ResultRow]) -> std::io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(first) = lines.first() {
        writer.write_record(first.cells().map(|(name, _)| name.into_owned()))?;
    }
    for line in lines {
        writer.write_record(line.cells().map(|(_, text)| text))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_means_stand_beside_their_errors() {
        let nlpd = Summary::of([0.1 + 0.2, 1.0 / 3.0]);
        let line = ResultRow::default()
            .with("data", "a, b")
            .with("rank", None::<usize>)
            .column("NLPD", "nlpd", nlpd, 2)
            .column("RMSE", "rmse", Summary::of([0.5]), 1);
        let text = csv(std::slice::from_ref(&line)).unwrap();
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("data,rank,nlpd,nlpd_error,rmse,rmse_error")
        );
        let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(cells[..3], ["\"a", " b\"", ""]);
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        let summary = nlpd.unwrap();
        assert_eq!(number(cells[3]), summary.mean);
        assert_eq!(Some(number(cells[4])), summary.standard_error);
        assert_eq!(cells[5..], ["0.5", ""]);
        assert_eq!(line.number("rmse"), Some(0.5));
        let record = serde_json::to_value(&line).unwrap();
        assert_eq!(record["rank"], Value::Null);
        assert_eq!(record["nlpd"]["mean"], summary.mean);
    }

    #[test]
    fn titles_stand_over_rounded_numbers() {
        let line = |model: &str| {
            let line = ResultRow::default()
                .shown("model", model)
                .with("seeds", 2usize);
            line.column("RMSE", "rmse", 0.126, 2)
        };
        let rows = table(&[line("svgp"), line("gp")]);
        assert_eq!(rows, ["model   RMSE", "svgp    0.13", "gp      0.13"]);
    }

    #[test]
    fn nothing_is_an_empty_file() {
        assert_eq!(csv(&[]).unwrap(), "");
        assert!(table(&[]).is_empty());
    }
}
