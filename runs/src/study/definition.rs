//! The definition of a study.

use std::sync::LazyLock;

use serde_json::Value;

use super::details::CellDetails;
use super::finished::FinishedCell;
use super::plots::Plot;
use super::published::Row;
use super::run_request::RunRequest;
use super::table_definition::Table;
use crate::arguments::ScaleName;

/// A grid of training runs and the table of their scores.
#[derive(Debug)]
pub struct Study {
    /// The name of the experiment.
    pub name: &'static str,
    /// The first line of the help.
    pub about: &'static str,
    /// The rest of the help.
    pub help: &'static str,
    /// The protocol of this study, if its command has several.
    pub protocol: Option<Protocol>,
    /// Whether the paper has figures without published values. Every run is then compared with the
    /// paper's protocol.
    pub figures: bool,
    /// Whether runs use single precision by default.
    pub single_precision: bool,
    /// The data sets.
    pub data: DataSets,
    /// The seeds.
    pub seeds: Seeds,
    /// The other axes of the grid. A cell of the table is a data set with one value of each axis.
    pub axes: Vec<Axis>,
    /// Command-line options that change the runs.
    pub options: Vec<StudyOption>,
    /// The options of the runs of a cell: a JSON object with names as in configuration files. A run
    /// omits nulls and the options that its model does not use.
    pub run: fn(&RunRequest<'_>) -> Value,
    /// Whether `run` depends on the number of inputs.
    pub needs_inputs: bool,
    /// The folders from that of the data set down to that of a cell, which contains the runs of all its
    /// seeds.
    pub folder: fn(&CellDetails<'_>) -> Vec<String>,
    /// Whether runs at quick and at paper scale always have different folders.
    pub scale_in_folder: bool,
    /// The table.
    pub table: Table,
    /// The published values.
    pub published: Vec<Row>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Sentences under the table.
    pub notes: Vec<Note>,
    /// Lines between the table and its notes.
    pub findings: fn(&[FinishedCell]) -> Vec<String>,
}

impl Default for Study {
    /// A grid with the options that the user gives, in a folder for each value of an axis.
    fn default() -> Self {
        Self {
            name: "",
            about: "",
            help: "",
            protocol: None,
            figures: false,
            single_precision: false,
            data: DataSets::default(),
            seeds: Seeds::default(),
            axes: Vec::new(),
            options: Vec::new(),
            run: |request| Value::Object(request.given.clone()),
            needs_inputs: false,
            folder: |cell| cell.cell.values.clone(),
            scale_in_folder: false,
            table: Table::default(),
            published: Vec::new(),
            plots: Vec::new(),
            notes: Vec::new(),
            findings: |_| Vec::new(),
        }
    }
}

/// A study that is part of the program:
/// `inventory::submit! { RegisteredStudy(study) }` in the file of a paper's table.
#[derive(Debug)]
pub struct RegisteredStudy(pub fn() -> Study);

inventory::collect!(RegisteredStudy);

static STUDIES: LazyLock<Vec<Study>> = LazyLock::new(|| {
    let registered = inventory::iter::<RegisteredStudy>.into_iter();
    let mut studies: Vec<Study> = registered.map(|study| (study.0)()).collect();
    studies.sort_by_key(|study| study.name);
    studies
});

/// The registered studies, by name.
pub fn all() -> &'static [Study] {
    &STUDIES
}

/// The registered study with this name.
///
/// # Panics
///
/// If there is no such study.
pub fn named(name: &str) -> &'static Study {
    let found = all().iter().find(|study| study.name == name);
    found.unwrap_or_else(|| panic!("there is no study {name}"))
}

/// One of several protocols of a command, chosen by `--protocol`.
#[derive(Debug)]
pub struct Protocol {
    /// The name on the command line.
    pub name: &'static str,
    /// The description in the help.
    pub help: &'static str,
    /// The study that defines the command and its options. Absent in that study itself, which is the
    /// default protocol.
    pub of: Option<&'static str>,
}

/// The data sets of a study.
#[derive(Default, Debug)]
pub struct DataSets {
    /// The name of the option that chooses others; absent if the user cannot.
    pub option: Option<&'static str>,
    /// The data sets of the paper, in its order.
    pub names: Vec<String>,
    /// The paper's data set, if the default is another. All other data sets then count as departures.
    pub of_paper: Option<&'static str>,
    /// The data sets at quick scale, if not all.
    pub quick: &'static [&'static str],
    /// The data sets at paper scale, if not all.
    pub paper: &'static [&'static str],
    /// The sizes of data sets in the paper.
    pub sizes: Vec<(&'static str, PaperSizes)>,
    /// The folder, in that of the data sets, with the files `NAME.train.csv.gz` and `NAME.test.csv.gz` of each data set.
    /// Absent if the data sets are registered.
    pub files_in: Option<&'static str>,
    /// Whether each data set has its own folder below `runs`.
    pub in_folder: bool,
}

impl DataSets {
    /// These data sets by default; the option `--data-sets` chooses others.
    pub fn new(names: &[&str]) -> Self {
        Self {
            option: Some("data-sets"),
            in_folder: true,
            ..Self::fixed(names)
        }
    }

    /// These data sets only.
    pub fn fixed(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(ToString::to_string).collect(),
            ..Self::default()
        }
    }

    /// The sizes of a data set in the paper.
    pub fn sizes_of(&self, data: &str) -> PaperSizes {
        let found = self.sizes.iter().find(|(name, _)| *name == data);
        found.map_or_else(PaperSizes::default, |(_, sizes)| *sizes)
    }
}

/// The sizes of a data set in the paper, as far as it tells them.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaperSizes {
    /// Training rows.
    pub training_rows: Option<usize>,
    /// Inputs.
    pub inputs: Option<usize>,
    /// Training images and test images.
    pub images: Option<[usize; 2]>,
}

impl PaperSizes {
    /// This number of training rows.
    pub fn rows(rows: usize) -> Self {
        Self {
            training_rows: Some(rows),
            ..Self::default()
        }
    }

    /// These numbers of training rows and inputs.
    pub fn rows_and_inputs(rows: usize, inputs: usize) -> Self {
        Self {
            inputs: Some(inputs),
            ..Self::rows(rows)
        }
    }

    /// These numbers of training and test images.
    pub fn images(training: usize, test: usize) -> Self {
        Self {
            images: Some([training, test]),
            ..Self::default()
        }
    }
}

/// The number of seeds of each cell.
#[derive(Debug)]
pub struct Seeds {
    /// The name of the option.
    pub option: &'static str,
    /// The help of the option, without the default.
    pub help: &'static str,
    /// The number of seeds at quick scale.
    pub quick: u64,
    /// The number of seeds in the paper.
    pub paper: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        Self {
            option: "seeds",
            help: "Number of seeds, counting up from --seed",
            quick: 1,
            paper: 5,
        }
    }
}

/// An axis of the grid.
#[derive(Debug)]
pub struct Axis {
    /// The name in files.
    pub name: String,
    /// The option that chooses among the values, if there is one.
    pub option: Option<&'static str>,
    /// The help of that option, without the default.
    pub help: &'static str,
    /// The run option that this axis sets, if any. The user can then choose any value of that option;
    /// otherwise only the listed values.
    pub field: Option<String>,
    /// The default to show in the help, if a list of names would be too long.
    pub default: Option<&'static str>,
    /// The values, in the order of the table.
    pub values: Vec<AxisValue>,
    /// Whether a value runs on a data set at a scale by default.
    pub by_default: fn(&str, &str, ScaleName) -> bool,
}

impl Axis {
    /// An axis with these values.
    pub fn new(name: &str, values: impl IntoIterator<Item = AxisValue>) -> Self {
        Self {
            name: name.to_owned(),
            option: None,
            help: "",
            field: None,
            default: None,
            values: values.into_iter().collect(),
            by_default: |_, _, _| true,
        }
    }

    /// Lets an option with this help choose among the values.
    pub fn chosen_by(self, option: &'static str, help: &'static str) -> Self {
        Self {
            option: Some(option),
            help,
            ..self
        }
    }

    /// Sets this option of the runs to the value.
    pub fn setting(self, field: &str) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..self
        }
    }

    /// Runs a value by default only where `by_default` is true, for a value, a data set and a scale.
    pub fn only(self, by_default: fn(&str, &str, ScaleName) -> bool) -> Self {
        Self { by_default, ..self }
    }

    /// Shows this default in the help.
    pub fn with_default(self, default: &'static str) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }
}

/// A value of an axis.
#[derive(Debug)]
pub struct AxisValue {
    /// The name on the command line and in files.
    pub name: String,
    /// The name in tables.
    pub title: String,
    /// The description in the help.
    pub help: &'static str,
}

impl AxisValue {
    /// A value with the same name everywhere.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            help: "",
        }
    }

    /// Values with a line each: the name, the name in tables and the description in the help, separated
    /// by `|`. The description may be missing.
    pub fn list(lines: &'static str) -> Vec<Self> {
        let value = |[name, title, help]: [&'static str; 3]| Self {
            title: title.to_owned(),
            help,
            ..Self::new(name)
        };
        fields(lines).map(value).collect()
    }
}

/// A command-line option that changes the runs.
#[derive(Debug)]
pub struct StudyOption {
    /// The name.
    pub name: &'static str,
    /// The run option with the same values.
    pub field: &'static str,
    /// The help, with the default.
    pub help: &'static str,
    /// The smallest whole number that it accepts.
    pub least: Option<u32>,
    /// Whether runs with different values have different folders.
    pub in_folder: bool,
}

impl StudyOption {
    /// Options with a line each: the name, the run option with the same values, and the help with the
    /// default, separated by `|`.
    pub fn list(lines: &'static str) -> Vec<Self> {
        let option = |[name, field, help]: [&'static str; 3]| Self {
            name,
            field,
            help,
            least: None,
            in_folder: false,
        };
        fields(lines).map(option).collect()
    }

    /// The same options, where runs with different values have different folders.
    pub fn in_folders(lines: &'static str) -> Vec<Self> {
        let mut options = Self::list(lines);
        options
            .iter_mut()
            .for_each(|option| option.in_folder = true);
        options
    }
}

/// The three fields of each line, which are separated by `|`; the last ones may be missing.
fn fields(lines: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| {
        let mut fields = line.splitn(3, '|').map(str::trim);
        std::array::from_fn(|_| fields.next().unwrap_or_default())
    })
}

/// A sentence under the table.
#[derive(Debug)]
pub struct Note {
    /// The sentence.
    pub text: &'static str,
    /// The cells that it is about. The table has the note if there is one of them.
    pub about: Option<fn(&FinishedCell) -> bool>,
}

impl Note {
    /// A sentence about the whole table.
    pub fn new(text: &'static str) -> Self {
        Self { text, about: None }
    }

    /// A sentence about some cells.
    pub fn about(text: &'static str, cells: fn(&FinishedCell) -> bool) -> Self {
        Self {
            text,
            about: Some(cells),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_a_line_for_each_entry() {
        let values = AxisValue::list(
            "
            svgp | SVGP | Variational
            gp | GP
            ",
        );
        let fields: Vec<[&str; 3]> = (values.iter())
            .map(|value| [value.name.as_str(), value.title.as_str(), value.help])
            .collect();
        assert_eq!(fields, [["svgp", "SVGP", "Variational"], ["gp", "GP", ""]]);
        let options = StudyOption::in_folders("passes | epochs | Passes [default: 1 | 2]");
        let [option] = options.as_slice() else {
            panic!("one option")
        };
        assert_eq!([option.name, option.field], ["passes", "epochs"]);
        assert_eq!(option.help, "Passes [default: 1 | 2]");
        assert!(option.in_folder);
    }
}
