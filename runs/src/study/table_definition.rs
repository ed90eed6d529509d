//! The definition of a table.

use super::details::{CellDetails, CellText};
use super::finished::RunNumbers;

/// The layout of a table on the terminal and in files.
#[derive(Debug)]
pub struct Table {
    /// The name of a cell among the cells of its data set.
    pub title: fn(&CellDetails<'_>) -> String,
    /// The name of a cell in messages.
    pub name: fn(&CellDetails<'_>) -> String,
    /// Texts to append to the titles in plots, one after the other, until the titles differ.
    pub distinguish: &'static [CellText],
    /// The line above the table of each data set, from the first cell that has it. Without it, all data
    /// sets share one table.
    pub heading: Option<CellText>,
    /// Whether files have only the columns listed here; otherwise they begin with the data set, its
    /// sizes and the axes.
    pub bare: bool,
    /// The points of the learning curves to show as rows on the terminal, as fractions of a curve.
    /// The files then have a line for every point of every run, without standard errors, and the
    /// values come from the columns of the curves. If empty, each row shows the final values.
    pub snapshots: &'static [f64],
    /// The uncertainty that follows a mean.
    pub spread: Spread,
    /// Decimal digits of scores.
    pub digits: usize,
    /// The columns.
    pub columns: Vec<Column>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            title: |cell| {
                let axes = cell.study.axes.iter();
                let titles: Vec<&str> = axes.map(|axis| cell.title_of(&axis.name)).collect();
                titles.join(", ")
            },
            name: |cell| cell.title(),
            distinguish: &[],
            heading: None,
            bare: false,
            snapshots: &[],
            spread: Spread::default(),
            digits: 3,
            columns: Vec::new(),
        }
    }
}

/// The uncertainty that follows a mean over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// The standard error of the mean.
    #[default]
    Error,
    /// The standard deviation over the runs.
    Deviation,
}

/// A column of the table.
#[derive(Debug)]
pub struct Column {
    /// The name in files; empty to leave the column out of them.
    pub key: &'static str,
    /// The title on the terminal; empty to leave the column out there.
    pub title: String,
    /// The values.
    pub content: Content,
    /// A factor that applies to the terminal and the plots, but not to files.
    pub unit: f64,
    /// Decimal digits; those of the table if absent.
    pub digits: Option<usize>,
    /// Whether the terminal shows only the mean.
    pub mean_only: bool,
    /// Whether to use scientific notation.
    pub scientific: bool,
    /// Whether to show the published value beside it.
    pub paper: bool,
    /// Decimal digits of the published value; as of ours if absent.
    pub paper_digits: Option<usize>,
    /// Whether the terminal omits the column if no run has this value.
    pub optional: bool,
    /// The terminal omits the column if runs have a metric with this name.
    pub instead: Option<&'static str>,
}

/// The values of a column.
#[derive(Debug)]
pub enum Content {
    /// The value of an axis.
    Axis(String),
    /// A text.
    Text(CellText),
    /// A metric of the runs.
    Metric(&'static str),
    /// A number from the metrics of a run; `None` if it has none.
    Score(fn(&RunNumbers) -> Option<f64>),
    /// The mean of a metric, divided by the mean of the cell with this value of this axis and the same
    /// values of the others.
    Ratio(&'static str, (&'static str, &'static str)),
    /// The titles of those of the scores with these keys that exceed the published value by at most this
    /// many times the paper's uncertainty.
    Within(f64, &'static [&'static str]),
}

impl Column {
    fn new(key: &'static str, title: impl Into<String>, content: Content) -> Self {
        Self {
            key,
            title: title.into(),
            content,
            unit: 1.0,
            digits: None,
            mean_only: false,
            scientific: false,
            paper: false,
            paper_digits: None,
            optional: false,
            instead: None,
        }
    }

    /// A text. An empty key or title leaves the column out of files or off the terminal.
    pub fn text(key: &'static str, title: impl Into<String>, text: CellText) -> Self {
        Self::new(key, title, Content::Text(text))
    }

    /// The value of an axis, named by the key or left out of files.
    pub fn axis(key: &'static str, title: impl Into<String>, axis: &str) -> Self {
        Self::new(key, title, Content::Axis(axis.to_owned()))
    }

    /// A metric of the runs, named by the key.
    pub fn metric(key: &'static str, title: impl Into<String>) -> Self {
        Self::new(key, title, Content::Metric(key))
    }

    /// A number from the metrics of a run.
    pub fn score(
        key: &'static str,
        title: impl Into<String>,
        value: fn(&RunNumbers) -> Option<f64>,
    ) -> Self {
        Self::new(key, title, Content::Score(value))
    }

    /// A metric, divided by that of the cell with this value of this axis.
    pub fn ratio(
        key: &'static str,
        title: &str,
        metric: &'static str,
        over: (&'static str, &'static str),
    ) -> Self {
        Self::new(key, title, Content::Ratio(metric, over)).digits(2)
    }

    /// The scores with these keys that are at most `spreads` times the paper's uncertainty behind it.
    pub fn within(title: &str, spreads: f64, keys: &'static [&'static str]) -> Self {
        Self::new("", title, Content::Within(spreads, keys))
    }

    /// Milliseconds of a step.
    pub fn milliseconds(key: &'static str) -> Self {
        let value = |run: &RunNumbers| Some(1000.0 * run.get("seconds_per_step")?);
        Self::score(key, "ms a step", value).digits(1)
    }

    /// The number of seeds.
    pub fn seeds(key: &'static str, title: &str) -> Self {
        Self::text(key, title, |cell| Some(cell.seeds()))
    }

    /// This number of decimal digits.
    pub fn digits(self, digits: usize) -> Self {
        Self {
            digits: Some(digits),
            ..self
        }
    }

    /// The published value beside ours.
    pub fn with_paper(self) -> Self {
        Self {
            paper: true,
            ..self
        }
    }

    /// The published value beside ours, with this number of decimal digits.
    pub fn with_paper_digits(self, digits: usize) -> Self {
        Self {
            paper_digits: Some(digits),
            ..self.with_paper()
        }
    }

    /// Only the mean on the terminal.
    pub fn mean_only(self) -> Self {
        Self {
            mean_only: true,
            ..self
        }
    }

    /// Scientific notation.
    pub fn scientific(self) -> Self {
        Self {
            scientific: true,
            ..self
        }
    }
}
