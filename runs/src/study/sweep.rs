//! `burn-gp sweep` and `burn-gp compare`: grids over options of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn_gp_datasets::nearest;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cell::NO_USE;
use super::data_names::by_name;
use super::definition::Study;
use super::execution::{PlannedCell, are_finished, make, open, planned, show};
use super::options::CommonOptions;
use super::request::{Choice, Request};
use super::sweep_table::study;
use crate::arguments::{DEFAULT_DATA, ModelChoice, RunOptions, model};
use crate::checksums::{Links, read_text};
use crate::failure::{Failure, FolderError};
use crate::option_error::OptionError;
use crate::output::{default_folder_name, replace_file};
use crate::plan::{check, resolve};
use crate::preparation::PreparedData;

/// The file that describes the sweep in a folder, for `--resume`.
pub const SWEEP: &str = "sweep.json";

/// The options of `sweep`.
#[derive(Debug, Args)]
#[command(mut_arg("seed", |argument| argument.hide(true)))]
pub struct SweepArguments {
    /// Option to vary, with its values: model=svgp,sgpr or inducing=64,128 or kernel=rbf,rbf+linear
    ///
    /// Any option of `train` can be swept. Several --grid options run every combination; the values
    /// of an option that a model does not use share one run.
    #[arg(
        long,
        value_name = "OPTION=VALUES",
        required_unless_present = "resume",
        value_parser = swept,
        help_heading = "Grid"
    )]
    grid: Vec<Swept>,
    /// Data sets: registered names or files [default: the value of --data]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "data",
        help_heading = "Grid"
    )]
    data_sets: Vec<String>,
    /// The options that sweeps and comparisons share.
    #[command(flatten)]
    runs: SweptRuns,
}

/// The options of `compare`.
#[derive(Debug, Args)]
#[command(mut_arg("model", |argument| argument.hide(true)), mut_arg("seed", |argument| argument.hide(true)))]
pub struct CompareArguments {
    /// Models, for example svgp,sgpr,exact
    #[arg(
        long,
        value_name = "MODELS",
        value_delimiter = ',',
        required_unless_present = "resume",
        value_parser = model(),
        help_heading = "Model"
    )]
    models: Vec<ModelChoice>,
    /// The options that sweeps and comparisons share.
    #[command(flatten)]
    runs: SweptRuns,
}

/// The options that sweeps and comparisons share.
#[derive(Debug, Args)]
struct SweptRuns {
    /// Seeds, for example 0,1,2; each configuration is run once per seed, with its own split
    /// [default: 0]
    #[arg(
        long,
        value_name = "SEEDS",
        value_delimiter = ',',
        help_heading = "Computation"
    )]
    seeds: Vec<u64>,
    /// The options of all runs.
    #[command(flatten)]
    options: RunOptions,
    /// Folder to write to or continue [default: out/DATA-sweep, out/DATA-comparison]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Replace the folder instead of continuing in it
    #[arg(long, help_heading = "Output")]
    overwrite: bool,
    /// Continue the sweep in this folder
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        conflicts_with_all = ["seeds", "out", "overwrite"]
    )]
    resume: Option<PathBuf>,
    /// Print errors and warnings only
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

/// A swept option with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swept {
    /// The name of the option in configuration files.
    pub field: String,
    /// Its values.
    pub values: Vec<String>,
}

/// The description of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Grid {
    /// The swept options.
    axes: Vec<Swept>,
    /// The data sets, by their names in folder paths.
    data: BTreeMap<String, String>,
    /// The seeds.
    seeds: Vec<u64>,
    /// The options of all runs.
    options: RunOptions,
    /// Whether this is a comparison of models on one data set, with folders named after the models.
    is_comparison: bool,
}

/// Parses `inducing=64,128`. Commas within parentheses and brackets belong to a value.
fn swept(text: &str) -> Result<Swept, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or("expected OPTION=VALUES, for example inducing=64,128")?;
    let field = name.trim_start_matches('-').replace('-', "_");
    let is_swept = |field: &&&str| !["data", "seed", "data_dir"].contains(*field);
    let fields = RunOptions::NAMES.iter().filter(is_swept);
    if !fields.clone().any(|own| *own == field) {
        let similar = nearest(&field, fields.copied());
        let tip = similar.map_or_else(String::new, |similar| {
            format!("; did you mean '{}'?", similar.replace('_', "-"))
        });
        return Err(format!("'{name}' is not an option that can be swept{tip}"));
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
    let mut values = Vec::new();
    for value in split {
        if value == NO_USE {
            return Err(format!(
                "{name} cannot be '{value}' in a sweep; the table shows that for models without the option"
            ));
        }
        RunOptions::parse_field(&field, &value)
            .map_err(|_| format!("'{value}' is not a valid value for {name}; see train --help"))?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(Swept { field, values })
}

/// Runs `burn-gp sweep`.
///
/// # Errors
///
/// [`Failure`]. Failed runs are reported and left out of the table.
pub fn sweep(arguments: SweepArguments) -> Result<(), Failure> {
    arguments
        .runs
        .execute(arguments.grid, arguments.data_sets, false)
}

/// Runs `burn-gp compare`: a sweep over models.
///
/// # Errors
///
/// See [`sweep`].
pub fn compare(arguments: CompareArguments) -> Result<(), Failure> {
    if arguments.runs.options.model.is_some() {
        return Err(OptionError::Plural("model").into());
    }
    let models = distinct(arguments.models).into_iter();
    let model = Swept {
        field: "model".into(),
        values: models.map(String::from).collect(),
    };
    arguments.runs.execute(vec![model], Vec::new(), true)
}

impl SweptRuns {
    /// Runs a grid, or resumes the sweep in a folder.
    fn execute(
        self,
        axes: Vec<Swept>,
        data_sets: Vec<String>,
        is_comparison: bool,
    ) -> Result<(), Failure> {
        if let Some(folder) = self.resume {
            if self.options != RunOptions::default() {
                return Err(OptionError::FixedOnResume("the options of the runs".into()).into());
            }
            let grid = read(&folder)?;
            return grid.execute(folder, false, self.quiet, true);
        }
        let mut options = self.options.with_absolute_paths();
        if options.seed.is_some() {
            return Err(OptionError::Plural("seed").into());
        }
        let given = options.data.take();
        let data = match data_sets.as_slice() {
            [] => vec![given.unwrap_or_else(|| DEFAULT_DATA.to_owned())],
            names => names.to_vec(),
        };
        require_once(&axes, &options)?;
        let grid = Grid {
            axes,
            data: by_name(data).map_err(Failure::Arguments)?,
            seeds: match distinct(self.seeds) {
                seeds if seeds.is_empty() => vec![0],
                seeds => seeds,
            },
            options,
            is_comparison,
        };
        let what = if is_comparison { "comparison" } else { "sweep" };
        let names: Vec<&str> = grid.data.keys().map(String::as_str).collect();
        let default = || PathBuf::from("out").join(default_folder_name(names.join("-"), what));
        let out = self.out.unwrap_or_else(default);
        grid.execute(out, self.overwrite, self.quiet, false)
    }
}

/// Checks that the values of each option are given only once.
fn require_once(axes: &[Swept], options: &RunOptions) -> Result<(), Failure> {
    let given = options.fields();
    for (index, Swept { field, .. }) in axes.iter().enumerate() {
        let name = field.replace('_', "-");
        if axes[..index].iter().any(|other| other.field == *field) {
            return Err(Failure::Arguments(format!(
                "--grid {name} is given twice; list all its values in one --grid"
            )));
        }
        if given.contains_key(field) {
            return Err(Failure::Arguments(format!(
                "--grid {name} and --{name} cannot be used together; remove one of them"
            )));
        }
    }
    Ok(())
}

/// Removes duplicates and keeps the order.
fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Reads the grid of the sweep in a folder.
fn read(folder: &Path) -> Result<Grid, Failure> {
    let path = folder.join(SWEEP);
    let Ok(text) = read_text(&path, Links::Followed) else {
        let path = folder.to_owned();
        return Err(FolderError::NothingToResume(path).into());
    };
    serde_json::from_str(&text).map_err(|error| {
        let reason = error.to_string();
        FolderError::DamagedCheckpoint { path, reason }.into()
    })
}

impl Grid {
    fn execute(
        &self,
        out: PathBuf,
        overwrite: bool,
        quiet: bool,
        is_resumed: bool,
    ) -> Result<(), Failure> {
        let request = Request {
            common: CommonOptions::of_run(&self.options, out, overwrite, quiet),
            choice: Choice {
                files: self.data.clone(),
                seed_list: self.seeds.clone(),
                given: self.run_fields(),
                ..Choice::default()
            },
        };
        let names: Vec<String> = self.data.keys().cloned().collect();
        // Studies are `'static` because those of papers are embedded. The leak is small: the program
        // runs one sweep.
        let study: &'static Study = Box::leak(Box::new(study(
            &self.axes,
            names.clone(),
            self.is_comparison,
        )));
        let data_sets = request.data_sets(study)?;
        let planned = planned(study, &request, &data_sets)?;
        self.require_use(&planned)?;
        for (_, options) in &planned {
            self.check(options)?;
        }
        let folder = open(study, &request)?;
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other);
        let path = folder.path().join(SWEEP);
        replace_file(&path, &(text.map_err(Failure::writing(&path))? + "\n"))?;
        if is_resumed && folder.is_reported() && are_finished(study, &request, &planned, &folder) {
            let path = folder.path().to_owned();
            return Err(FolderError::Finished(path).into());
        }
        let broken = make(study, &request, &planned, &folder)?;
        show(study, &request, &folder)?;
        super::all_made(broken)
    }

    /// The options of all runs, except those that the study sets.
    fn run_fields(&self) -> Map<String, Value> {
        let mut fields = self.options.fields();
        fields.retain(|name, _| !["data", "data_dir", "device", "dtype"].contains(&name.as_str()));
        fields
    }

    /// Checks everything that can be checked before the first run.
    fn check(&self, options: &RunOptions) -> Result<(), Failure> {
        let options = RunOptions {
            seed: self.seeds.first().copied(),
            ..options.clone()
        };
        if options.test_fraction == Some(0.0) {
            return Err(OptionError::NoTestRows("a comparison").into());
        }
        let source = options.source()?;
        let options = check(&options.with_inferred_likelihood(&source)?, &source)?;
        let data = PreparedData::load(&source, &options)?;
        resolve(&options, &data)?;
        Ok(())
    }

    /// Requires that at least one run uses each option.
    fn require_use(&self, planned: &[PlannedCell]) -> Result<(), Failure> {
        let used: Vec<Map<String, Value>> = planned.iter().map(|(_, run)| run.fields()).collect();
        let given = self.run_fields();
        let swept = self.axes.iter().map(|axis| &axis.field);
        let mut all = swept.chain(given.keys());
        match all.find(|&name| used.iter().all(|fields| !fields.contains_key(name))) {
            None => Ok(()),
            Some(name) => Err(Failure::Arguments(format!(
                "--{} does not apply to these models; remove it",
                name.replace('_', "-")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_at_commas_outside_of_parentheses() {
        let swept = |text| swept(text).map(|swept| swept.values.join("; "));
        assert_eq!(swept("inducing=64,128,64").as_deref(), Ok("64; 128"));
        let kernels = "kernel=rbf,periodic(rbf, period=12),rbf[1,3]";
        let expected = "rbf; periodic(rbf, period=12); rbf[1,3]";
        assert_eq!(swept(kernels).as_deref(), Ok(expected));
        assert!(swept("batch-size=32").is_ok());
        for (text, sentence) in [
            ("inducing", "expected OPTION=VALUES"),
            ("inducing=x", "'x' is not a valid value for inducing"),
            ("inducin=3", "did you mean 'inducing'?"),
            ("seed=3", "'seed' is not an option that can be swept"),
            ("target=none,y", "in a sweep"),
        ] {
            let message = swept(text).unwrap_err();
            assert!(message.contains(sentence), "{message}");
        }
    }
}
