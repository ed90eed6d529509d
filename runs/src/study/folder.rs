//! The folder of an experiment. Finished parts are kept and not computed again.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::failure::{Failure, FolderError};
use crate::output::{self, FolderLock, replace_file};
use crate::plots::{PlotError, warn_undrawn};
use crate::standard_output::print;

use super::{
    CommonOptions,
    line::{Line, csv},
    sweep::SWEEP,
};

/// The identity of the experiment.
const EXPERIMENT: &str = "experiment.json";
/// The results, for programs.
const RESULTS_JSON: &str = "results.json";
/// The results, one line for each cell.
const RESULTS_CSV: &str = "results.csv";
/// The finished parts.
const RUNS: &str = "runs";

/// The folder of one experiment.
pub struct ExperimentFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl ExperimentFolder {
    /// Opens the folder of the experiment called `name`, which may be new or contain finished
    /// parts. All parts in a folder have the same `settings`.
    ///
    /// # Errors
    ///
    /// If something else is in its place and must not or cannot be replaced, or if another process
    /// writes there.
    pub fn open(name: &str, options: &CommonOptions, settings: &Value) -> Result<Self, Failure> {
        let path = options.folder(name);
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder { path }.into());
        }
        let lock = FolderLock::acquire(&path)?;
        let names = output::names_in(&path);
        let file = path.join(EXPERIMENT);
        let experiment = json!({ "experiment": name, "settings": settings });
        if !names.is_empty() && !options.overwrite {
            return match fs::read_to_string(&file).map(|text| serde_json::from_str::<Value>(&text))
            {
                Ok(Ok(found)) if experiment == found => Ok(Self { path, _lock: lock }),
                Ok(_) => Err(FolderError::OtherExperiment { path }.into()),
                Err(_) => Err(FolderError::NotEmpty { path }.into()),
            };
        }
        if let Some(file) = names.into_iter().find(|file| !is_own(file)) {
            return Err(FolderError::Foreign { path, file }.into());
        }
        if path.exists() {
            FolderLock::require_none_within(&path)?;
            fs::remove_dir_all(&path).map_err(Failure::writing(&path))?;
        }
        fs::create_dir_all(&path).map_err(Failure::writing(&path))?;
        let folder = Self { path, _lock: lock };
        folder.write_json(EXPERIMENT, &experiment)?;
        Ok(folder)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder has results.
    pub fn is_reported(&self) -> bool {
        self.path.join(RESULTS_JSON).exists()
    }

    /// The folder of the parts.
    pub fn runs(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    /// Reads the part called `name` if it exists; otherwise computes and saves it.
    ///
    /// # Errors
    ///
    /// If the part cannot be computed, read or written.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let path = self.runs().join(format!("{name}.json"));
        if let Ok(text) = fs::read_to_string(&path) {
            return parse(&path, &text);
        }
        let made = make()?;
        fs::create_dir_all(self.runs()).map_err(Failure::writing(&self.runs()))?;
        replace_file(&path, &text(&made, &path)?)?;
        Ok(made)
    }

    /// All parts that exist, by name.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn made<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        let names = output::names_in(&self.runs()).into_iter();
        let files = names.filter(|name| name.ends_with(".json"));
        let read = |name: String| {
            let path = self.runs().join(name);
            let text = fs::read_to_string(&path).map_err(|error| damaged(&path, &error))?;
            parse(&path, &text)
        };
        files.map(read).collect()
    }

    /// Writes the results.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write_results(&self, record: &impl Serialize, lines: &[Line]) -> Result<(), Failure> {
        self.write_json(RESULTS_JSON, record)?;
        let path = self.path.join(RESULTS_CSV);
        let text = csv(lines).map_err(Failure::writing(&path))?;
        replace_file(&path, &text)
    }

    /// Draws a plot into the file called `name`. Prints a warning if it cannot be drawn.
    pub fn draw(&self, name: &str, draw: impl FnOnce(&Path) -> Result<(), PlotError>) {
        warn_undrawn(draw(&self.path.join(name)));
    }

    /// Prints a report and the path of the folder.
    ///
    /// # Errors
    ///
    /// If the standard output cannot be written.
    pub fn print(&self, mut lines: Vec<String>) -> Result<(), Failure> {
        lines.push(format!("all of it in {}\n", self.path.display()));
        print(&lines.join("\n"))
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let path = self.path.join(name);
        replace_file(&path, &text(value, &path)?)
    }
}

/// Parses the file of a part.
fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Failure> {
    Ok(serde_json::from_str(text).map_err(|error| damaged(path, &error))?)
}

fn damaged(path: &Path, reason: &impl ToString) -> FolderError {
    FolderError::DamagedCheckpoint {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Formats a value as indented JSON.
fn text(value: &impl Serialize, path: &Path) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::other);
    Ok(text.map_err(Failure::writing(path))? + "\n")
}

/// Whether an experiment writes a file with this name.
fn is_own(name: &str) -> bool {
    [EXPERIMENT, SWEEP, RESULTS_JSON, RESULTS_CSV, RUNS].contains(&name) || name.ends_with(".svg")
}
