//! The file format of studies.
//!
//! The format is TOML; [`Study`] describes a whole file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::template::Template;

/// A grid of training runs and the table of their scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The name of the experiment.
    pub name: String,
    /// The first line of the help.
    pub about: String,
    /// The rest of the help.
    #[serde(default)]
    pub help: String,
    /// The protocol of this file, if its command has several.
    #[serde(default)]
    pub protocol: Option<Protocol>,
    /// Whether the paper has figures without published values. Every run is then compared with the
    /// paper's protocol.
    #[serde(default)]
    pub figures: bool,
    /// Whether runs use single precision by default.
    #[serde(default)]
    pub single_precision: bool,
    /// The data sets.
    pub data: DataSets,
    /// The seeds.
    #[serde(default)]
    pub seeds: Seeds,
    /// The other axes of the grid. A cell of the table is a data set with one value of each axis.
    #[serde(default, rename = "axis")]
    pub axes: Vec<Axis>,
    /// The options of every run, named as in configuration files. A run omits the options that its
    /// model does not use.
    #[serde(default)]
    pub run: Patch,
    /// Options of some runs, which override `run`.
    #[serde(default, rename = "when")]
    pub conditional: Vec<Conditional>,
    /// Options that the paper's runs have, but our runs have only on request.
    #[serde(default)]
    pub in_paper: Patch,
    /// Command-line options that set options of the runs.
    #[serde(default, rename = "option")]
    pub options: Vec<StudyOption>,
    /// The folder of a cell below `runs`, which contains the runs of all its seeds. Segments
    /// without an axis separate runs with different options.
    pub folder: Template,
    /// The table.
    pub table: Table,
    /// The published values.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The sizes of the data sets in the paper: a table whose first line has `data` and some of
    /// `training_rows`, `inputs`, `training_images` and `test_images`.
    #[serde(default)]
    pub sizes: String,
    /// The plots.
    #[serde(default, rename = "plot")]
    pub plots: Vec<Plot>,
    /// Sentences under the table.
    #[serde(default, rename = "note")]
    pub notes: Vec<Note>,
}

/// One of several protocols of a command, chosen by `--protocol`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The name on the command line.
    pub name: String,
    /// The description in the help.
    pub help: String,
    /// The study that defines the command and its options. Absent in that study itself, which is the
    /// default protocol.
    #[serde(default)]
    pub of: Option<String>,
}

/// The data sets of a study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSets {
    /// The name of the option.
    #[serde(default = "data_sets")]
    pub option: String,
    /// The data sets of the paper, in its order.
    pub names: Vec<String>,
    /// The paper's data set, if the default is another. All other data sets then count as departures.
    #[serde(default)]
    pub of_paper: Option<String>,
    /// The data sets at quick scale, if not all.
    #[serde(default)]
    pub quick: Vec<String>,
    /// The data sets at paper scale, if not all.
    #[serde(default)]
    pub paper: Vec<String>,
    /// Whether the user cannot choose other data sets.
    #[serde(default)]
    pub fixed: bool,
}

fn data_sets() -> String {
    "data-sets".into()
}

/// The number of seeds of each cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seeds {
    /// The name of the option.
    pub option: String,
    /// The help of the option, without the default.
    pub help: String,
    /// The number of seeds at quick scale.
    pub quick: u64,
    /// The number of seeds in the paper.
    pub paper: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        Self {
            option: "seeds".into(),
            help: "Number of seeds, counting up from --seed".into(),
            quick: 1,
            paper: 5,
        }
    }
}

/// An axis of the grid.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The name in files and templates.
    pub name: String,
    /// The option that chooses among the values, if there is one.
    pub option: Option<String>,
    /// The help of that option, without the default.
    #[serde(default)]
    pub help: String,
    /// The run option that this axis sets, if any. The user can then choose any value of that option;
    /// otherwise only the listed values.
    pub field: Option<String>,
    /// The default to show in the help, if a list of names would be too long.
    pub default: Option<String>,
    /// The values, in the order of the table.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisValue {
    /// The name on the command line and in files.
    pub name: String,
    /// The description in the help.
    #[serde(default)]
    pub help: String,
    /// The display name, `{AXIS.title}` in templates; the same as `name` if empty.
    #[serde(default)]
    pub title: String,
    /// Additional names for conditions and templates, with their texts.
    #[serde(default)]
    pub tags: BTreeMap<String, Template>,
    /// Options of the runs with this value.
    #[serde(default)]
    pub run: Patch,
    /// Options that copy other options, after the command line is applied:
    /// `orthogonal = "inducing"`.
    #[serde(default)]
    pub same: BTreeMap<String, String>,
    /// Factors that multiply options of the runs, after `same`.
    #[serde(default)]
    pub times: BTreeMap<String, f64>,
    /// The cells where this value runs by default; all if empty.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// The cells where this value does not run by default.
    #[serde(default)]
    pub unless: Option<Condition>,
}

/// Options of runs, named as in configuration files.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Patch {
    /// Options at quick scale.
    #[serde(default)]
    pub quick: Map<String, Value>,
    /// Options at paper scale.
    #[serde(default)]
    pub paper: Map<String, Value>,
    /// Options to remove.
    #[serde(default)]
    pub without: Vec<String>,
    /// Options at both scales.
    #[serde(flatten)]
    pub always: Map<String, Value>,
}

/// Options of the runs under a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// The runs that have these options.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// The runs that do not have them.
    #[serde(default)]
    pub unless: Option<Condition>,
    /// The options.
    pub run: Patch,
}

/// Allowed words for each of `data`, `scale` (`quick` or `paper`), axis names, and tags; `256..`
/// allows all whole numbers from 256 on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Condition(pub BTreeMap<String, OneOrMany>);

/// One word or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One word.
    One(String),
    /// Several words.
    Many(Vec<String>),
}

impl OneOrMany {
    /// The words.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }

    /// Whether `word` is one of them or lies in a range such as `256..`.
    pub fn allow(&self, word: &str) -> bool {
        let is_at_least = |allowed: &String| {
            let least = allowed
                .strip_suffix("..")
                .and_then(|least| least.parse().ok());
            least
                .zip(word.parse().ok())
                .is_some_and(|(least, word): (u64, u64)| word >= least)
        };
        (self.all().iter()).any(|allowed| allowed == word || is_at_least(allowed))
    }
}

/// A command-line option that sets options of the runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyOption {
    /// The name. The option accepts the values of the first of its `fields`.
    pub name: String,
    /// The run options to set, where the model uses them.
    pub fields: Vec<String>,
    /// The help, with the default.
    pub help: String,
    /// The runs that this option applies to.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// The runs that it does not apply to.
    #[serde(default)]
    pub unless: Option<Condition>,
    /// The smallest whole number that it accepts.
    #[serde(default)]
    pub least: Option<u32>,
    /// Whether the factors `times` of the axes leave it unchanged.
    #[serde(default)]
    pub unscaled: bool,
    /// Options to remove from the runs for a value of this option: `softmax = ["fix"]`.
    #[serde(default)]
    pub without: BTreeMap<String, Vec<String>>,
}

impl StudyOption {
    /// Overwrites the options of a run with the values from the command line.
    pub fn apply(&self, fields: &mut Map<String, Value>, given: &Map<String, Value>) {
        let words = given.values().filter_map(Value::as_str);
        for name in words.filter_map(|word| self.without.get(word)).flatten() {
            fields.remove(name);
        }
        fields.extend(given.clone());
    }
}

/// The layout of the table on the terminal and in files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The name of a cell among the cells of its data set.
    pub title: Template,
    /// The name of a cell in messages.
    pub name: Template,
    /// Texts to append to the titles in plots, one after the other, until the titles differ.
    #[serde(default)]
    pub distinguish: Vec<Template>,
    /// The line above the table of each data set, filled in from the first cell that has a value for
    /// every name. Without it, all data sets share one table.
    #[serde(default)]
    pub heading: Option<Template>,
    /// Whether files have only the columns listed here; otherwise they begin with the data set, its
    /// sizes and the axes.
    #[serde(default)]
    pub bare: bool,
    /// The points of the learning curves to show as rows on the terminal, as fractions of a curve.
    /// The files then have a line for every point of every run, without standard errors, and the
    /// values come from the columns of the curves. If empty, each row shows the final values.
    #[serde(default)]
    pub snapshots: Vec<f64>,
    /// The uncertainty that follows a mean.
    #[serde(default)]
    pub spread: Spread,
    /// Decimal digits of scores.
    #[serde(default = "three")]
    pub digits: usize,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
}

fn three() -> usize {
    3
}

/// The uncertainty that follows a mean over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The standard error of the mean.
    #[default]
    Error,
    /// The standard deviation over the runs.
    Deviation,
}

/// A column of the table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Column {
    /// The name in files; empty to leave the column out of them.
    pub key: String,
    /// The title on the terminal; empty to leave the column out there.
    pub title: String,
    /// A text; without it the column is a score.
    pub text: Option<Template>,
    /// The name of a metric of a run, or several names in order of preference. A leading minus sign
    /// negates the value. `curve.loss` is the last value in the column `loss` of its learning curve.
    /// The default is `key`.
    pub value: Option<OneOrMany>,
    /// A factor for the value.
    pub scale: Option<f64>,
    /// An offset, added after `scale` is applied.
    pub offset: f64,
    /// A factor that applies to the terminal and the plots, but not to files.
    pub unit: Option<f64>,
    /// Decimal digits.
    pub digits: Option<usize>,
    /// Whether the terminal shows only the mean.
    pub mean_only: bool,
    /// Whether to use scientific notation.
    pub scientific: bool,
    /// Whether to show the published value beside it.
    pub paper: bool,
    /// Decimal digits of the published value.
    pub paper_digits: Option<usize>,
    /// The axis values of the cell whose mean divides the mean of this cell. Other axes keep their
    /// values.
    pub over: BTreeMap<String, String>,
    /// Whether the terminal omits the column if no run has this value.
    pub optional: bool,
    /// The terminal omits the column if runs have a metric with this name.
    pub instead: Option<String>,
    /// The column lists the titles of the scores that exceed the published value by at most this many
    /// times the paper's uncertainty.
    pub within: Option<f64>,
    /// The keys of those scores.
    pub of: Vec<String>,
}

/// Published values of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Lines of words separated by spaces. The first line names the columns: `data`, axes,
    /// `run.OPTION` for an option of the paper's run, which is also our default, keys of scores, and
    /// `_` for unused columns. A score is `0.1`, `0.094(3)` or `-3.645±.002`, a time is `1h02m03s`,
    /// and a dash means no value.
    pub table: String,
    /// The score in the columns that are named after values of the axis `across`.
    pub score: Option<String>,
    /// The axis whose values name columns.
    pub across: Option<String>,
}

/// A plot of the cells of each data set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Plot {
    /// Scores of the cells, side by side.
    Comparison {
        /// The keys of the scores.
        scores: Vec<String>,
    },
    /// Scores against the values of each axis with at least three numeric values.
    Sizes {
        /// The keys of the scores.
        scores: Vec<String>,
    },
    /// The training loss, with one panel for each value of an axis.
    Losses {
        /// The axis.
        panels: String,
        /// The title of a panel.
        title: Template,
        /// The values of the other axes whose curves are dashed.
        #[serde(default)]
        dashed: Vec<String>,
    },
    /// Columns of the runs' learning curves, averaged over the seeds.
    Curves(Curves),
}

/// A plot of learning curves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// The column on the horizontal axis.
    pub over: Along,
    /// The line under the title.
    pub caption: Template,
    /// The name of a curve.
    pub curve: Template,
    /// The axis whose values have separate panels, if any.
    #[serde(default)]
    pub panels: Option<String>,
    /// The panels.
    #[serde(rename = "panel")]
    pub shown: Vec<Panel>,
}

/// The horizontal axis of learning curves.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    /// The training time.
    Seconds,
    /// The number of steps.
    Step,
}

/// A panel of a plot of learning curves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// The title.
    pub title: Template,
    /// The column; a leading minus sign negates its values.
    pub value: String,
    /// The label of the vertical axis.
    pub name: String,
}

/// A sentence under the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// Show the note if a run has this option.
    #[serde(default)]
    pub option: Option<String>,
    /// Show the note if a run departs from the paper in this option.
    #[serde(default)]
    pub departure: Option<String>,
}
