//! A table of training runs as its file describes it.
//!
//! The format is TOML; [`Study`] is the whole of a file.

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
    /// The first line of its help.
    pub about: String,
    /// The rest of its help.
    #[serde(default)]
    pub help: String,
    /// Whether runs are in single precision unless told otherwise.
    #[serde(default)]
    pub single_precision: bool,
    /// The data sets.
    pub data: DataSets,
    /// The seeds.
    #[serde(default)]
    pub seeds: Seeds,
    /// The other dimensions of the grid. A cell of the table is a data set with a value of each.
    #[serde(default, rename = "axis")]
    pub axes: Vec<Axis>,
    /// The options of every run, under their names in configuration files. An option that a model has
    /// no use for is left out of its runs.
    #[serde(default)]
    pub run: Patch,
    /// Options of some runs, over those before.
    #[serde(default, rename = "when")]
    pub conditional: Vec<Conditional>,
    /// Options that the paper's runs have and runs here have only if they are asked for.
    #[serde(default)]
    pub in_paper: Patch,
    /// Options of the command line that set options of the runs.
    #[serde(default, rename = "option")]
    pub options: Vec<StudyOption>,
    /// The folder of a cell below `runs`; the runs of its seeds are in it. Segments without an axis
    /// tell runs with other options apart.
    pub folder: Template,
    /// The table.
    pub table: Table,
    /// The paper's numbers.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The paper's sizes of the data sets: a table with `data` and some of `training_rows`, `inputs`,
    /// `training_images` and `test_images` in its first line.
    #[serde(default)]
    pub sizes: String,
    /// The plots.
    #[serde(default, rename = "plot")]
    pub plots: Vec<Plot>,
    /// Sentences under the table.
    #[serde(default, rename = "note")]
    pub notes: Vec<Note>,
}

/// Which data sets the runs are on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSets {
    /// Those of the paper, in its order.
    pub names: Vec<String>,
    /// Those of a quick look, if not all.
    #[serde(default)]
    pub quick: Vec<String>,
    /// Those of the paper's scale, if not all.
    #[serde(default)]
    pub paper: Vec<String>,
    /// Whether no others can be asked for.
    #[serde(default)]
    pub fixed: bool,
}

/// How often each cell is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seeds {
    /// The name of the option.
    pub option: String,
    /// Its help without the default.
    pub help: String,
    /// How many there are at quick scale …
    pub quick: u64,
    /// … and in the paper.
    pub paper: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        Self {
            option: "seeds".into(),
            help: "Seeds, the first one and those after it".into(),
            quick: 1,
            paper: 5,
        }
    }
}

/// A dimension of the grid.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in files and templates.
    pub name: String,
    /// The option that chooses among its values, if there is one.
    pub option: Option<String>,
    /// The help of that option without the default.
    #[serde(default)]
    pub help: String,
    /// The option of a run that a value is, if it is one. Any of that option's values can then be asked
    /// for, otherwise those that are listed.
    pub field: Option<String>,
    /// The default as the help tells it, where a list of names would be too long.
    pub default: Option<String>,
    /// Its values, in the order of the table.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisValue {
    /// Its name on the command line and in files.
    pub name: String,
    /// Its sentence in the help.
    #[serde(default)]
    pub help: String,
    /// Its name for people, `{AXIS.title}` in templates; the name if empty.
    #[serde(default)]
    pub title: String,
    /// Words that conditions and templates see beside the axes.
    #[serde(default)]
    pub tags: BTreeMap<String, Template>,
    /// Options of its runs.
    #[serde(default)]
    pub run: Patch,
    /// Numbers by which options of its runs are multiplied after options of the command line.
    #[serde(default)]
    pub times: BTreeMap<String, f64>,
    /// Options that have the values of others after the command line: `orthogonal = "inducing"`.
    #[serde(default)]
    pub same: BTreeMap<String, String>,
    /// Where it is among those run by default; everywhere if empty.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// Where it is not.
    #[serde(default)]
    pub unless: Option<Condition>,
}

/// Options of runs, under their names in configuration files.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Patch {
    /// At quick scale.
    #[serde(default)]
    pub quick: Map<String, Value>,
    /// At the scale of the paper.
    #[serde(default)]
    pub paper: Map<String, Value>,
    /// Options that are taken away.
    #[serde(default)]
    pub without: Vec<String>,
    /// At both scales.
    #[serde(flatten)]
    pub always: Map<String, Value>,
}

/// Options of the runs under a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// Which runs have them.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// Which have not.
    #[serde(default)]
    pub unless: Option<Condition>,
    /// The options.
    pub run: Patch,
}

/// Words, each with those among which it must be: `data`, `scale` (`quick` or `paper`), axes by their
/// names, and tags.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Condition(pub BTreeMap<String, OneOrMany>);

/// A word, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
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
}

/// An option of the command line that sets options of the runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyOption {
    /// Its name; it takes what the first of its options takes.
    pub name: String,
    /// The options of a run, of which each takes the value where its model has a use for it.
    pub fields: Vec<String>,
    /// Its help, with the default.
    pub help: String,
    /// Which runs it is for.
    #[serde(default, rename = "where")]
    pub only: Condition,
    /// Which it is not for.
    #[serde(default)]
    pub unless: Option<Condition>,
    /// Whether `times` of axes does not apply to it.
    #[serde(default)]
    pub unscaled: bool,
    /// Options of the runs that are taken away where it has a value: `softmax = ["fix"]`.
    #[serde(default)]
    pub without: BTreeMap<String, Vec<String>>,
}

impl StudyOption {
    /// Lays what the command line gives over the options of a run.
    pub fn apply(&self, fields: &mut Map<String, Value>, given: &Map<String, Value>) {
        let words = given.values().filter_map(Value::as_str);
        for name in words.filter_map(|word| self.without.get(word)).flatten() {
            fields.remove(name);
        }
        fields.extend(given.clone());
    }
}

/// How the terminal and the files show the cells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The name of a cell among those of its data.
    pub title: Template,
    /// Its name in sentences and on the way.
    pub name: Template,
    /// What is added to the title in plots, one after the other, where others have the same.
    #[serde(default)]
    pub distinguish: Vec<Template>,
    /// The line above the table of each data set; one table of all if absent.
    #[serde(default)]
    pub heading: Option<Template>,
    /// What stands behind a mean.
    #[serde(default)]
    pub spread: Spread,
    /// Digits of scores behind the point.
    #[serde(default = "three")]
    pub digits: usize,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
}

fn three() -> usize {
    3
}

/// What stands behind a mean over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Its standard error.
    #[default]
    Error,
    /// The standard deviation of the runs.
    Deviation,
}

/// A column of the table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Column {
    /// Its name in files; not in files if empty.
    pub key: String,
    /// Its title on the terminal; not there if empty.
    pub title: String,
    /// A text; else the column is a score.
    pub text: Option<Template>,
    /// The number of a run, or several names of which the first that is there counts, with a minus sign
    /// before it for the negative; the key if absent.
    pub value: Option<OneOrMany>,
    /// What the number is multiplied by …
    pub scale: Option<f64>,
    /// … and what is added then.
    pub offset: f64,
    /// The number by which the terminal and the plots multiply it, and files do not.
    pub unit: Option<f64>,
    /// Digits behind the point.
    pub digits: Option<usize>,
    /// Whether the terminal shows the mean alone.
    pub mean_only: bool,
    /// Whether it is written with a power of ten.
    pub scientific: bool,
    /// Whether the paper's number stands beside it.
    pub paper: bool,
    /// Digits of the paper's number.
    pub paper_digits: Option<usize>,
    /// The cell by whose mean that of this one is divided: the values of its axes that are others.
    pub over: BTreeMap<String, String>,
    /// Whether the terminal leaves it out where no run has such a number.
    pub optional: bool,
    /// The terminal leaves it out where runs have a number of this name.
    pub instead: Option<String>,
    /// The column has the titles of the scores that are worse than the paper's by at most so many of
    /// its spreads.
    pub within: Option<f64>,
    /// Those scores, by their keys.
    pub of: Vec<String>,
}

/// Numbers of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Lines of words between spaces. The first line names the columns: `data`, axes, `run.OPTION` for an
    /// option that the paper's run has and ours by default, keys of scores, and `_` for what is not
    /// used. A score is `0.1`, `0.094(3)` or `-3.645±.002`, a time `1h02m03s`; a dash is none.
    pub table: String,
    /// The score that all columns have which are named by values of the axis `across`.
    pub score: Option<String>,
    /// That axis.
    pub across: Option<String>,
}

/// A plot of the cells of each data set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Plot {
    /// Scores of the cells side by side.
    Comparison {
        /// The keys of the scores.
        scores: Vec<String>,
    },
    /// The losses in the course of training, a panel for each value of an axis.
    Losses {
        /// The axis.
        panels: String,
        /// The title of a panel.
        title: Template,
        /// The values of the other axes whose curves are dashed.
        #[serde(default)]
        dashed: Vec<String>,
    },
}

/// A sentence under the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// It is said if a run has this option, …
    #[serde(default)]
    pub option: Option<String>,
    /// … or if one departs from the paper in this.
    #[serde(default)]
    pub departure: Option<String>,
}
