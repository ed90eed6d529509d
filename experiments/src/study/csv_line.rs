//! Lines of `results.csv`.

use std::borrow::Cow;

use crate::summary::Summary;

/// A row of a machine-readable table. Numbers are written in full, each in a named column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvLine {
    cells: Vec<(Cow<'static, str>, String)>,
}

impl CsvLine {
    /// Adds a text or a number.
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        self.cells.push((name.into(), value.to_string()));
        self
    }

    /// Adds an optional value; the cell is empty if it is absent.
    pub fn maybe(self, name: impl Into<Cow<'static, str>>, value: Option<impl ToString>) -> Self {
        let text = value.map(|value| value.to_string());
        self.with(name, text.unwrap_or_default())
    }

    /// Adds a mean as `NAME` and its standard error as `NAME_error`.
    pub fn summary(self, name: &'static str, summary: Option<Summary>) -> Self {
        let error = summary.and_then(|summary| summary.standard_error);
        self.pair(name, "error", summary.map(|summary| summary.mean), error)
    }

    fn pair(self, name: &'static str, spread: &str, mean: Option<f64>, of: Option<f64>) -> Self {
        self.maybe(name, mean).maybe(format!("{name}_{spread}"), of)
    }
}

/// Formats the rows as CSV. The first row gives the column names.
///
/// # Errors
///
/// If a row and the first row differ in their number of cells.
pub fn csv(lines: &[CsvLine]) -> std::io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(first) = lines.first() {
        writer.write_record(first.cells.iter().map(|(name, _)| name.as_ref()))?;
    }
    for line in lines {
        writer.write_record(line.cells.iter().map(|(_, text)| text))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[CsvLine]) -> String {
        csv(lines).unwrap()
    }

    #[test]
    fn numbers_are_whole_and_means_stand_beside_their_errors() {
        let nlpd = Summary::of(&[0.1 + 0.2, 1.0 / 3.0]);
        let line = CsvLine::default()
            .with("data", "a, b")
            .maybe("rank", None::<usize>)
            .summary("nlpd", nlpd)
            .summary("rmse", Summary::of(&[0.5]));
        let text = text(&[line]);
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
    }

    #[test]
    fn nothing_is_an_empty_file() {
        assert_eq!(text(&[]), "");
    }
}
