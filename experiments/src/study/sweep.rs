//! `burn-gp sweep`: a grid over any options of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use super::file::{
    Axis, AxisValue, Column, DataSets, OneOrMany, Patch, Plot, Seeds, Spread, Study, Table,
};
use super::options::CommonOptions;
use super::request::{Choice, Request};
use super::template::Template;
use super::{execute, planned};
use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::settings::{self, SettingError};
use crate::train::{default_folder_name, from_the_root};

/// What `sweep` takes.
#[derive(Debug, Args)]
#[command(mut_arg("data", |argument| argument.hide(true)), mut_arg("seed", |argument| argument.hide(true)))]
pub struct SweepArguments {
    /// Values of an option: model=svgp,sgpr or inducing=64,128 or kernel=rbf,rbf+linear
    ///
    /// Any option of `train` can be swept. Given several times, every combination is run; a
    /// combination in which a model has no use for an option is run once.
    #[arg(long, value_name = "OPTION=VALUES", required = true, value_parser = swept, help_heading = "Grid")]
    pub grid: Vec<Swept>,
    /// Data sets: registered names or files [default: winequality]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Grid")]
    pub data_sets: Vec<String>,
    /// Seeds, such as 0,1,2: a run of every combination for each, with a split of its own [default: 0]
    #[arg(long, value_name = "SEEDS", value_delimiter = ',', help_heading = "Grid")]
    pub seeds: Vec<u64>,
    /// The options that all runs have.
    #[command(flatten)]
    pub options: RunOptions,
    /// Folder to write, or to go on in [default: out/DATA-sweep]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the folder instead of going on in it
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// Print errors and warnings only
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// An option with the values that it has in a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// The option's name in configuration files.
    field: String,
    /// Its values.
    values: Vec<String>,
}

/// Reads `inducing=64,128`. Commas within parentheses and brackets belong to a value.
fn swept(text: &str) -> Result<Swept, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or("an option and its values have = between them, such as inducing=64,128")?;
    let field = name.trim_start_matches('-').replace('-', "_");
    let fields = RunOptions::names();
    if ["data", "seed", "data_dir"].contains(&field.as_str()) || !fields.contains(&field) {
        let similar = fields.iter().max_by(|a, b| {
            strsim::jaro(a, &field).total_cmp(&strsim::jaro(b, &field))
        });
        let similar = similar.map_or_else(String::new, |name| name.replace('_', "-"));
        return Err(format!("there is no option {name} to sweep; did you mean {similar}?"));
    }
    let mut depth = 0_i32;
    let mut split: Vec<String> = vec![String::new()];
    for letter in values.chars() {
        depth += match letter {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        };
        match split.last_mut() {
            Some(last) if letter != ',' || depth > 0 => last.push(letter),
            _ => split.push(String::new()),
        }
    }
    for value in &split {
        RunOptions::parse_field(&field, value).map_err(|_| {
            format!("{name} cannot be {value:?}; see train --help for its values")
        })?;
    }
    Ok(Swept { field, values: split })
}

/// Runs `burn-gp sweep`.
///
/// # Errors
///
/// [`Failure`]. Runs that break off are named and left out of the table.
pub fn sweep(arguments: SweepArguments) -> Result<(), Failure> {
    let mut options = from_the_root(arguments.options);
    if options.seed.is_some() {
        return Err(SettingError::Plural { option: "seed" }.into());
    }
    let given = options.data.take();
    let data: Vec<String> = match (arguments.data_sets.as_slice(), given) {
        ([], given) => vec![given.unwrap_or_else(|| settings::DEFAULT_DATA.to_owned())],
        (names, None) => names.to_vec(),
        (_, Some(_)) => return Err(SettingError::Plural { option: "data" }.into()),
    };
    let files: BTreeMap<String, String> = (data.iter())
        .map(|data| {
            let run = from_the_root(RunOptions {
                data: Some(data.clone()),
                ..RunOptions::default()
            });
            (folder_name(data), run.data.unwrap_or_default())
        })
        .collect();
    let names: Vec<String> = data.iter().map(|data| folder_name(data)).collect();
    let out = arguments.out.unwrap_or_else(|| {
        PathBuf::from("out").join(default_folder_name(names.join("-"), "sweep"))
    });
    let request = Request {
        common: CommonOptions::of_run(&options, out, arguments.overwrite, arguments.quiet),
        choice: Choice {
            seed_list: match arguments.seeds.as_slice() {
                [] => vec![0],
                seeds => seeds.to_vec(),
            },
            ..Choice::default()
        },
        files,
    };
    let fields = run_fields(&options);
    // A program makes one sweep: its description lives as long as those of the papers.
    let study: &'static Study = Box::leak(Box::new(study(&arguments.grid, names.clone(), fields)));
    require_use(study, &planned(study, &request, &names)?)?;
    execute(study, &request, None)
}

/// What a data set is called in folders: a file by its name.
fn folder_name(data: &str) -> String {
    let path = std::path::Path::new(data);
    match path.file_stem().filter(|_| path.is_file()) {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => data.to_owned(),
    }
}

/// The options that all runs have, but for those that the engine sets.
fn run_fields(options: &RunOptions) -> Map<String, Value> {
    let mut fields = options.fields();
    fields.retain(|name, _| !["data", "data_dir", "device", "dtype"].contains(&name.as_str()));
    fields
}

/// Every option must be of use for one of the runs.
fn require_use(
    study: &Study,
    planned: &[(super::Cell, RunOptions)],
) -> Result<(), Failure> {
    let used: Vec<Map<String, Value>> = planned.iter().map(|(_, run)| run.fields()).collect();
    let swept = study.axes.iter().filter_map(|axis| axis.field.as_ref());
    let unused = swept.chain(study.run.always.keys()).find(|&name| {
        used.iter().all(|fields| !fields.contains_key(name))
    });
    match unused {
        None => Ok(()),
        Some(name) => Err(Failure::Arguments(format!(
            "none of the runs has a use for --{}",
            name.replace('_', "-")
        ))),
    }
}

/// The study of a grid.
fn study(grid: &[Swept], data: Vec<String>, run: Map<String, Value>) -> Study {
    let template = |text: &str| match Template::new(text) {
        Ok(template) => template,
        Err(error) => unreachable!("names of options have no braces: {error}"),
    };
    let names: Vec<&str> = grid.iter().map(|swept| swept.field.as_str()).collect();
    let title: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
    let folder: Vec<String> = names.iter().map(|name| format!("{name}-{{{name}}}")).collect();
    let text = |name: &&str| Column {
        title: name.replace('_', " "),
        text: Some(template(&format!("{{{name}}}"))),
        ..Column::default()
    };
    let columns = names.iter().map(text).chain(scores()).chain([Column {
        key: "seeds".into(),
        title: "seeds".into(),
        text: Some(template("{seeds}")),
        ..Column::default()
    }]);
    Study {
        name: "sweep".into(),
        about: String::new(),
        help: String::new(),
        single_precision: false,
        data: DataSets {
            names: data,
            quick: Vec::new(),
            paper: Vec::new(),
            fixed: true,
        },
        seeds: Seeds::default(),
        axes: grid.iter().map(Swept::axis).collect(),
        run: Patch {
            always: run,
            ..Patch::default()
        },
        conditional: Vec::new(),
        in_paper: Patch::default(),
        options: Vec::new(),
        folder: template(&format!("{{data}}/{}", folder.join("/"))),
        table: Table {
            title: template(&title.join(", ")),
            name: template(&title.join(", ")),
            distinguish: Vec::new(),
            heading: Some(template("{sizes}")),
            spread: Spread::Error,
            digits: 4,
            columns: columns.collect(),
        },
        published: Vec::new(),
        sizes: String::new(),
        plots: vec![Plot::Comparison {
            scores: ["error", "rmse", "nlpd", "train_seconds"].map(str::to_owned).to_vec(),
        }],
        notes: vec![super::file::Note {
            text: "mean (standard error) over the seeds, in standardized units; s: the seconds of the \
                   optimizer's steps alone"
                .into(),
            option: None,
            departure: None,
        }],
    }
}

impl Swept {
    fn axis(&self) -> Axis {
        let value = |name: &String| AxisValue {
            name: name.clone(),
            ..AxisValue::default()
        };
        Axis {
            name: self.field.clone(),
            option: None,
            help: String::new(),
            field: Some(self.field.clone()),
            default: None,
            values: self.values.iter().map(value).collect(),
        }
    }
}

/// The scores of a sweep; those that no run has are left out.
fn scores() -> impl Iterator<Item = Column> {
    let score = |key: &str, title: &str, digits: usize, scale: f64| Column {
        key: key.into(),
        title: title.into(),
        value: Some(OneOrMany::One(key.into())),
        scale: Some(scale),
        digits: Some(digits),
        optional: true,
        ..Column::default()
    };
    [
        score("error", "error %", 2, 100.0),
        score("rmse", "RMSE", 4, 1.0),
        score("mae", "MAE", 4, 1.0),
        score("nlpd", "NLPD", 4, 1.0),
        score("coverage95", "coverage %", 1, 100.0),
        score("ece", "ECE", 4, 1.0),
        score("train_seconds", "s", 1, 1.0),
        score("peak_memory", "MB", 0, 1e-6),
    ]
    .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_at_commas_outside_of_parentheses() {
        let swept = |text| swept(text).map(|swept| swept.values.join("; "));
        assert_eq!(swept("inducing=64,128").as_deref(), Ok("64; 128"));
        let kernels = "kernel=rbf,periodic(rbf, period=12),rbf[1,3]";
        assert_eq!(swept(kernels).as_deref(), Ok("rbf; periodic(rbf, period=12); rbf[1,3]"));
        assert!(swept("batch-size=32").is_ok());
        let refused = [("inducing", "have ="), ("inducing=x", "cannot be"), ("inducin=3", "inducing")];
        for (text, sentence) in refused {
            let message = swept(text).unwrap_err();
            assert!(message.contains(sentence), "{message}");
        }
    }
}
