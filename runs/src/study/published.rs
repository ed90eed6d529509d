//! Published values and their text formats.

use std::collections::BTreeMap;

use serde::Serialize;

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

    /// Parses a word of a table; `None` for a dash.
    ///
    /// # Panics
    ///
    /// If the word is not a number.
    fn of_word(word: &str) -> Option<Self> {
        let read =
            || Self::parse(word).unwrap_or_else(|| panic!("{word:?} in a table is not a number"));
        (word != "-").then(read)
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

/// The published values of a cell, or of several.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The data set and the axis values, by name. Every cell with these has the scores.
    pub place: BTreeMap<String, String>,
    /// The scores, by key.
    pub scores: BTreeMap<String, Reported>,
}

impl Row {
    /// The rows of a table: lines of words separated by spaces. The first line names the columns: those
    /// in `places` are `data` and axes, `_` begins the name of an unused column, and all others are keys
    /// of scores. A score is `0.1`, `0.094(3)` or `-3.645±.002`, a time is `1h02m03s`, and a dash means no
    /// value.
    ///
    /// # Panics
    ///
    /// If a line and the first line differ in their number of words, or a score is not a number.
    pub fn table(places: &[&str], table: &str) -> Vec<Self> {
        let row = |line: Vec<(&str, &str)>| {
            let (place, scores) = split(places, line);
            let scores = scores
                .into_iter()
                .filter(|(title, _)| !title.starts_with('_'));
            let scores =
                scores.filter_map(|(key, word)| Some((key.to_owned(), Reported::of_word(word)?)));
            Self {
                place,
                scores: scores.collect(),
            }
        };
        words(table).into_iter().map(row).collect()
    }

    /// The rows of a table of one score. Columns that are not in `places` are named after values of
    /// `axis`.
    ///
    /// # Panics
    ///
    /// See [`table`](Self::table).
    pub fn across(places: &[&str], axis: &str, score: &str, table: &str) -> Vec<Self> {
        let mut rows = Vec::new();
        for line in words(table) {
            let (place, others) = split(places, line);
            rows.extend(others.into_iter().filter_map(|(value, word)| {
                let mut place = place.clone();
                place.insert(axis.to_owned(), value.to_owned());
                let reported = Reported::of_word(word)?;
                Some(Self {
                    place,
                    scores: BTreeMap::from([(score.to_owned(), reported)]),
                })
            }));
        }
        rows
    }
}

/// The words of a line with their titles, those in `places` and the others.
fn split<'a>(
    places: &[&str],
    line: Vec<(&'a str, &'a str)>,
) -> (BTreeMap<String, String>, Vec<(&'a str, &'a str)>) {
    let (place, others): (Vec<_>, Vec<_>) =
        (line.into_iter()).partition(|(title, _)| places.contains(title));
    let owned = |(title, word): (&str, &str)| (title.to_owned(), word.to_owned());
    (place.into_iter().map(owned).collect(), others)
}

/// The words of a table, line by line, each with its column title.
fn words(table: &str) -> Vec<Vec<(&str, &str)>> {
    let mut lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let titles: Vec<&str> = (lines.next().into_iter())
        .flat_map(str::split_whitespace)
        .collect();
    let mut rows = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            words.len(),
            titles.len(),
            "words in the table line {line:?}"
        );
        rows.push(titles.iter().copied().zip(words).collect());
    }
    rows
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
    fn a_row_has_its_place_and_its_scores() {
        let rows = Row::table(&["data"], "data rmse _epoch nlpd\nbike 0.1(1) 3 -");
        assert_eq!(rows.len(), 1);
        assert_eq!(
            rows[0].place,
            BTreeMap::from([("data".into(), "bike".into())])
        );
        let keys: Vec<&String> = rows[0].scores.keys().collect();
        assert_eq!(keys, ["rmse"]);
    }

    #[test]
    fn columns_of_values_make_a_row_each() {
        let rows = Row::across(&["data"], "method", "rmse", "data a b c\nbike 1 2 -");
        let methods: Vec<&String> = rows.iter().map(|row| &row.place["method"]).collect();
        assert_eq!(methods, ["a", "b"]);
        assert_eq!(rows[1].scores["rmse"].mean, 2.0);
    }

    #[test]
    #[should_panic(expected = "data a b")]
    fn a_line_of_another_length_is_refused() {
        Row::table(&["data"], "data a\ndata a b");
    }
}
