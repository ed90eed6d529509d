//! Published values and their text formats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::file::{Published, Study};

/// A published value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reported {
    /// The mean.
    pub mean: f64,
    /// The number that the paper prints after the mean: a standard error or a standard deviation.
    pub spread: Option<f64>,
}

impl Reported {
    /// Parses `0.094`, `0.094(3)` (an error of 3 in units of the last digit), `-3.645±.002`, or a
    /// time such as `2h07m37s`, in seconds.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((mean, spread)) = text.split_once('±') {
            return Some(Self {
                mean: mean.parse().ok()?,
                spread: Some(spread.parse().ok()?),
            });
        }
        if let Some((mean, error)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            let decimals = mean.split_once('.').map_or(0, |(_, digits)| digits.len());
            let units: f64 = error.parse().ok()?;
            return Some(Self {
                mean: mean.parse().ok()?,
                spread: Some(units / 10f64.powi(i32::try_from(decimals).ok()?)),
            });
        }
        let mean = text.parse().ok().or_else(|| seconds(text))?;
        Some(Self { mean, spread: None })
    }
}

/// A mean with its uncertainty, `0.094 (0.003)`.
pub fn with_spread(mean: f64, spread: Option<f64>, digits: usize) -> String {
    match spread {
        Some(spread) => format!("{mean:.digits$} ({spread:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

/// Parses a time such as `2h07m37s`.
fn seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let unit = match &rest[end..=end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            _ => return None,
        };
        total += unit * rest[..end].parse::<f64>().ok()?;
        rest = &rest[end + 1..];
    }
    Some(total)
}

/// The published values of a cell.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The data set and the axis values, by name.
    pub place: BTreeMap<String, String>,
    /// Options of the paper's run.
    pub run: Map<String, Value>,
    /// The scores, by key.
    pub scores: BTreeMap<String, Reported>,
}

/// An error in a table of published values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedTable(String);

impl MalformedTable {
    fn no_number(word: &str) -> Self {
        Self(format!("{word:?} in a table is not a number"))
    }
}

/// The words of a table, line by line, each with its column title.
fn words(table: &str) -> Result<Vec<Vec<(&str, &str)>>, MalformedTable> {
    let mut lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let titles: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let mut rows = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() != titles.len() {
            return Err(MalformedTable(format!(
                "the table line {line:?} has {} words, but the header has {}",
                words.len(),
                titles.len()
            )));
        }
        rows.push(titles.iter().copied().zip(words).collect());
    }
    Ok(rows)
}

fn number(word: &str) -> Result<Option<Reported>, MalformedTable> {
    match word {
        "-" => Ok(None),
        word => match Reported::parse(word) {
            None => Err(MalformedTable::no_number(word)),
            found => Ok(found),
        },
    }
}

impl Published {
    fn rows(&self, study: &Study) -> Result<Vec<Row>, MalformedTable> {
        let is_axis =
            |title: &str| title == "data" || study.axes.iter().any(|axis| axis.name == title);
        let mut rows = Vec::new();
        for line in words(&self.table)? {
            let place: BTreeMap<String, String> = (line.iter())
                .filter(|(title, _)| is_axis(title))
                .map(|&(title, word)| (title.to_owned(), word.to_owned()))
                .collect();
            let others = line.iter().filter(|(title, _)| !is_axis(title));
            let others = others.filter(|(title, _)| !title.starts_with('_'));
            if let Some((score, across)) = self.score.as_ref().zip(self.across.as_ref()) {
                for &(title, word) in others {
                    let mut place = place.clone();
                    place.insert(across.clone(), title.to_owned());
                    let scores = number(word)?.map(|found| (score.clone(), found));
                    rows.push(Row {
                        place,
                        scores: scores.into_iter().collect(),
                        ..Row::default()
                    });
                }
                continue;
            }
            let mut row = Row {
                place,
                ..Row::default()
            };
            for &(title, word) in others {
                let found = number(word)?;
                match title.strip_prefix("run.") {
                    Some(option) => {
                        let value = found.map(|found| found.mean.into());
                        row.run
                            .extend(value.map(|value| (option.to_owned(), value)));
                    }
                    None => row
                        .scores
                        .extend(found.map(|found| (title.to_owned(), found))),
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

impl Study {
    /// All published values of a cell; `None` if there are none. `place` gives the data set and the
    /// axis values of the cell by name.
    ///
    /// # Errors
    ///
    /// [`MalformedTable`].
    pub fn published(
        &self,
        place: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Row>, MalformedTable> {
        let mut found: Option<Row> = None;
        for row in self.published_rows()? {
            let is_own = |(name, word): (&String, &String)| place(name).as_ref() == Some(word);
            if row.place.iter().all(is_own) {
                let own = found.get_or_insert_default();
                own.run.extend(row.run);
                own.scores.extend(row.scores);
            }
        }
        Ok(found.filter(|row| !row.scores.is_empty()))
    }

    /// All rows of the published tables.
    ///
    /// # Errors
    ///
    /// [`MalformedTable`].
    pub fn published_rows(&self) -> Result<Vec<Row>, MalformedTable> {
        let rows: Result<Vec<Vec<Row>>, _> = self
            .published
            .iter()
            .map(|table| table.rows(self))
            .collect();
        Ok(rows?.concat())
    }

    /// The sizes of a data set in the paper, by name; empty if there are none.
    ///
    /// # Errors
    ///
    /// [`MalformedTable`].
    pub fn sizes_of(&self, data: &str) -> Result<Vec<(String, usize)>, MalformedTable> {
        for line in words(&self.sizes)? {
            if line.contains(&("data", data)) {
                let sizes = line
                    .into_iter()
                    .filter(|&(title, word)| title != "data" && word != "-");
                let size = |(title, word): (&str, &str)| {
                    let size = word.parse().map_err(|_| MalformedTable::no_number(word));
                    Ok((title.to_owned(), size?))
                };
                return sizes.map(size).collect();
            }
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_papers_print_them() {
        let read = |text| Reported::parse(text).map(|found| (found.mean, found.spread));
        assert_eq!(read("0.094(3)"), Some((0.094, Some(0.003))));
        assert_eq!(read("-3.645±.002"), Some((-3.645, Some(0.002))));
        assert_eq!(read("-0.199(67)"), Some((-0.199, Some(0.067))));
        assert_eq!(read("2h07m37s"), Some((7657.0, None)));
        assert_eq!(read("27.5s"), Some((27.5, None)));
        assert_eq!(read(".5"), Some((0.5, None)));
        assert_eq!([read("x"), read("0.3(x)"), read("3d")], [None; 3]);
    }

    #[test]
    fn a_line_of_another_length_is_refused() {
        assert!(words("data a b\nbike 1").is_err());
        assert_eq!(
            words("data a\nbike 1").unwrap(),
            [[("data", "bike"), ("a", "1")]]
        );
    }
}
