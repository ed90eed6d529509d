//! Departures of a run from the protocol of its paper.
//!
//! A run of any experiment is comparable with the paper if all its options have the values of the
//! paper's protocol.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use burn_gp_datasets::DataSource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::{CONFIG, Property, RunOptions, read_configuration};
use crate::failure::Failure;
use crate::plan::check;

/// The relative tolerance for comparing values, one of which was written to a file and read back.
const ROUNDING: f64 = 1e-12;

/// The relative tolerance for numbers of rows. Fractions of the rows are rounded in different ways,
/// and rows with equal inputs stay together.
const ROUNDED_ROWS: f64 = 1e-3;

/// A setting in which a run differs from the paper's protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// The option, or a property of the data.
    pub what: String,
    /// Its value here; null if absent.
    pub here: Value,
    /// Its value in the paper.
    pub paper: Value,
}

impl Departure {
    /// Compares numbers of rows, with the tolerance of `ROUNDED_ROWS`.
    pub fn of_rows(what: &str, here: usize, paper: usize) -> Option<Self> {
        let rounded = (ROUNDED_ROWS * paper as f64).max(2.0);
        Self::of(what, here, paper).filter(|_| here.abs_diff(paper) as f64 > rounded)
    }

    /// Compares two values; numbers may differ by `ROUNDING`.
    pub fn of(what: &str, here: impl Into<Value>, paper: impl Into<Value>) -> Option<Self> {
        let (here, paper) = (here.into(), paper.into());
        (!is_same(&here, &paper)).then(|| Self {
            what: what.to_owned(),
            here,
            paper,
        })
    }
}

impl Display for Departure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { what, here, paper } = self;
        write!(
            formatter,
            "{what} {} instead of {}",
            text(here),
            text(paper)
        )
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn is_same(here: &Value, paper: &Value) -> bool {
    match (here.as_f64(), paper.as_f64()) {
        (Some(here), Some(paper)) => (here - paper).abs() <= ROUNDING * paper.abs(),
        _ => here == paper,
    }
}

/// The options in which `here` departs from `paper`. Both must have their defaults filled in.
pub fn departures(here: &RunOptions, paper: &RunOptions) -> Vec<Departure> {
    let (here, paper) = (here.fields(), paper.fields());
    let names = here
        .keys()
        .chain(paper.keys().filter(|&name| !here.contains_key(name)));
    names
        .filter(|name| !RunOptions::has(name, Property::IgnoredInComparison))
        .filter(|name| {
            paper.contains_key(*name) || !RunOptions::has(name, Property::DataDependentDefault)
        })
        .filter_map(|name| {
            let value = |options: &serde_json::Map<String, Value>| {
                options.get(name).cloned().unwrap_or_default()
            };
            Departure::of(&name.replace('_', "-"), value(&here), value(&paper))
        })
        .collect()
}

/// The departures of a finished run from the options of the paper. Missing data and missing
/// options of the run count as a departure.
pub fn departures_of(here: Option<&RunOptions>, paper: RunOptions) -> Vec<Departure> {
    let unknown = || Departure {
        what: "options".into(),
        here: "unknown".into(),
        paper: "those of its protocol".into(),
    };
    let source = || {
        let name = paper.data.as_deref().unwrap_or_default();
        DataSource::resolve(name, paper.data_dir.as_deref()).ok()
    };
    let Some((here, source)) = here.zip(source()) else {
        return vec![unknown()];
    };
    match check(&paper, &source) {
        Ok(paper) => departures(here, &paper),
        Err(_) => vec![unknown()],
    }
}

/// The departures of all finished runs in `folders`, which differ only in the seed.
///
/// # Errors
///
/// If a file cannot be read.
pub fn departures_of_runs(
    folders: &[PathBuf],
    paper: &RunOptions,
) -> Result<Vec<Departure>, Failure> {
    let mut all = Vec::new();
    for folder in folders {
        let here = read_configuration(&folder.join(CONFIG))?;
        for departure in departures_of(Some(&here), paper.clone()) {
            if !all.contains(&departure) {
                all.push(departure);
            }
        }
    }
    Ok(all)
}

/// Whether a table can be compared with the paper: it has published values, and no cell with one
/// departs from the protocol.
pub fn are_comparable<'a>(cells: impl IntoIterator<Item = &'a Option<Vec<Departure>>>) -> bool {
    let mut beside = cells.into_iter().flatten().peekable();
    beside.peek().is_some() && beside.all(Vec::is_empty)
}

/// The departures joined into one text, for a cell of a file.
pub fn joined(departures: &[Departure]) -> String {
    let all: Vec<String> = departures.iter().map(Departure::to_string).collect();
    all.join("; ")
}

/// The lines under a table that list the departures of each cell from the paper's protocol.
pub fn lines(cells: &[(String, &Option<Vec<Departure>>)]) -> Vec<String> {
    let beside: Vec<(&String, String)> = (cells.iter())
        .filter_map(|(name, departures)| Some((name, joined(departures.as_ref()?))))
        .collect();
    let mut kinds: Vec<&String> = Vec::new();
    for (_, departures) in &beside {
        if !departures.is_empty() && !kinds.contains(&departures) {
            kinds.push(departures);
        }
    }
    let line = |departures: &&String| {
        let own = beside.iter().filter(|(_, other)| other == *departures);
        let names: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
        let whose = match names.len() == beside.len() {
            true => String::new(),
            false => format!("{}: ", names.join(", ")),
        };
        format!("not comparable with the paper: {whose}{departures}")
    };
    match kinds.is_empty() {
        true if beside.is_empty() => Vec::new(),
        true => vec!["all options of the runs match the protocol named above".into()],
        false => kinds.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::arguments::{ModelChoice, ModelFields, PolicyName};
    use crate::plan::resolve;
    use crate::preparation::PreparedData;

    fn texts(here: &RunOptions, paper: &RunOptions) -> Vec<String> {
        let departures = departures(here, paper);
        departures.iter().map(Departure::to_string).collect()
    }

    #[test]
    fn every_option_counts_but_data_seed_and_device() {
        let paper = RunOptions {
            epochs: Some(2000),
            learning_rate: Some(0.1 + 0.2),
            inducing: Some(128),
            ..RunOptions::default()
        };
        let here = RunOptions {
            data: Some("pol".into()),
            seed: Some(4),
            learning_rate: Some(0.3),
            ..paper.clone()
        };
        assert_eq!(texts(&here, &paper), [""; 0]);
        let here = RunOptions {
            epochs: Some(1),
            inducing: Some(64),
            cached_variances: Some(8),
            learning_rate: None,
            ..here
        };
        let mut found = texts(&here, &paper);
        found.sort();
        let expected = [
            "cached-variances 8 instead of none",
            "epochs 1 instead of 2000",
            "inducing 64 instead of 128",
            "learning-rate none instead of 0.30000000000000004",
        ];
        assert_eq!(found, expected);
    }

    /// A run without options has no departures from another run without options, although some
    /// options depend on the data. An option that is set is a departure.
    #[test]
    fn options_from_the_data_are_no_departures() {
        let data = "synthetic:sines?n=40&noise=0.1&seed=1";
        for model in ModelChoice::named() {
            let fields = ModelFields::new(model, &RunOptions::default());
            if fields.has_images() {
                continue;
            }
            let told = RunOptions {
                model: Some(model),
                data: Some(data.into()),
                policy: fields.has("actions.rule").then_some(PolicyName::Unit),
                ..RunOptions::default()
            };
            let source = DataSource::resolve(data, None).unwrap();
            let run = |options: RunOptions| {
                let data = PreparedData::load(&source, &options).unwrap();
                resolve(&options, &data).unwrap().0
            };
            let found = departures_of(Some(&run(told.clone())), told.clone());
            assert_eq!(found, [], "{}", model.name());
            let shorter = RunOptions {
                steps: Some(3),
                ..told.clone()
            };
            let longer = RunOptions {
                steps: Some(4),
                ..told
            };
            let found = departures_of(Some(&run(shorter)), longer);
            assert_eq!(joined(&found), "steps 3 instead of 4", "{}", model.name());
        }
    }

    #[test]
    fn what_is_not_known_is_not_comparable() {
        let paper = RunOptions {
            data: Some("kin40k".into()),
            data_dir: Some("/nowhere".into()),
            ..RunOptions::default()
        };
        for here in [None, Some(&RunOptions::default())] {
            let found = departures_of(here, paper.clone());
            assert_eq!(
                joined(&found),
                "options unknown instead of those of its protocol"
            );
        }
    }

    #[test]
    fn cells_that_depart_alike_are_named_together() {
        let epochs = Departure::of("epochs", 1, 100);
        let rate = Departure::of("learning-rate", 0.1, 0.01);
        let one = Some(epochs.iter().cloned().collect::<Vec<_>>());
        let both = Some(epochs.into_iter().chain(rate).collect::<Vec<_>>());
        let (none, absent) = (Some(Vec::new()), None);
        let name = |text: &str| text.to_owned();
        let cells = [(name("A"), &one), (name("B"), &both), (name("C"), &one)];
        assert_eq!(
            lines(&cells),
            [
                "not comparable with the paper: A, C: epochs 1 instead of 100",
                "not comparable with the paper: B: epochs 1 instead of 100; learning-rate 0.1 \
                 instead of 0.01"
            ]
        );
        assert_eq!(
            lines(&[(name("A"), &one), (name("D"), &absent)]),
            ["not comparable with the paper: epochs 1 instead of 100"]
        );
        assert_eq!(lines(&[(name("D"), &absent)]), [""; 0]);
        assert_eq!(lines(&[(name("E"), &none)]).len(), 1);
        assert!(are_comparable([&none, &absent]));
        assert!(!are_comparable([&none, &one]) && !are_comparable([&absent]));
        assert_eq!(Departure::of("rows", 3, 3.0), None);
        assert_eq!(Departure::of_rows("rows", 32_020, 32_011), None);
        assert!(Departure::of_rows("rows", 175, 178).is_some());
    }
}
