//! The folder of an experiment. Finished parts are kept and not computed again.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::checksums::{Links, read_text};
use crate::failure::{Failure, FolderError};
use crate::file_names::file_name;
use crate::output::{
    self, EXPERIMENT, FolderLock, RUNS, remove_leftover, replace_file, require_own, take_back,
};
use crate::plots::{PlotError, warn_undrawn};
use crate::replacement::{beside, is_temporary};
use crate::standard_error::tell;
use crate::standard_output::inform;

use super::{
    CommonOptions,
    line::{ResultRow, csv},
    sweep::SWEEP,
};

/// The results, in machine-readable form.
const RESULTS_JSON: &str = "results.json";
/// The results, one line for each cell.
const RESULTS_CSV: &str = "results.csv";

/// The folder of one experiment.
pub struct ExperimentFolder {
    path: PathBuf,
    /// The earlier results, which stay until the new ones are complete.
    previous: PathBuf,
    /// Whether a run is missing from the results.
    has_gaps: Rc<Cell<bool>>,
    _lock: FolderLock,
}

impl ExperimentFolder {
    /// Opens the folder of the experiment called `name`, which may be new or contain finished
    /// parts. All parts in a folder have the same `settings`.
    ///
    /// # Errors
    ///
    /// If the path holds something else that must not or cannot be replaced, or if another process
    /// writes to the folder.
    pub fn open(name: &str, options: &CommonOptions, settings: &Value) -> Result<Self, Failure> {
        let path = options.folder(name);
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder(path).into());
        }
        let nameless = || FolderError::Nameless(path.clone());
        let previous = beside(&path, ".previous").ok_or_else(nameless)?;
        let lock = FolderLock::acquire(&path)?;
        require_own(&previous, is_own)?;
        take_back(&previous, &path)?;
        let names = output::names_in(&path);
        let file = path.join(EXPERIMENT);
        let experiment = json!({ "experiment": name, "settings": settings });
        let folder = Self {
            path: path.clone(),
            previous,
            has_gaps: Rc::default(),
            _lock: lock,
        };
        if !names.is_empty() && !options.overwrite {
            let text = read_text(&file, Links::Followed);
            return match text.map(|text| serde_json::from_str::<Value>(&text)) {
                Ok(Ok(found)) if experiment == found => Ok(folder),
                Ok(_) => Err(FolderError::OtherExperiment(path).into()),
                Err(_) => Err(FolderError::NotEmpty(path).into()),
            };
        }
        if let Some(file) = names.into_iter().find(|file| !is_own(file)) {
            return Err(match path.join(output::METRICS).exists() {
                true => FolderError::OtherKind {
                    path,
                    found: "a single run",
                },
                false => FolderError::Foreign { path, file },
            }
            .into());
        }
        if path.exists() {
            FolderLock::require_none_within(&path)?;
            folder.put_aside(options.quiet)?;
        }
        fs::create_dir_all(&path).map_err(Failure::writing(&path))?;
        folder.write_json(EXPERIMENT, &experiment)?;
        Ok(folder)
    }

    /// Renames earlier results, or removes the folder if it has none, or if those that it should have replaced are still
    /// there because runs failed.
    fn put_aside(&self, quiet: bool) -> Result<(), Failure> {
        match self.is_reported() && !self.previous.exists() {
            true => fs::rename(&self.path, &self.previous).map_err(Failure::writing(&self.path))?,
            false => fs::remove_dir_all(&self.path).map_err(Failure::writing(&self.path))?,
        }
        if !quiet && self.previous.exists() {
            let place = self.previous.display();
            tell(&format!(
                "the earlier results are kept in {place} until the new ones are complete"
            ));
        }
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a run is missing from the results; set by the code that performs the runs.
    pub fn has_gaps(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.has_gaps)
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
    pub fn load_or_compute<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let path = self.runs().join(file_name(&format!("{name}.json")));
        if let Ok(text) = read_text(&path, Links::Followed) {
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
    pub fn load_all<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        let names = output::names_in(&self.runs()).into_iter();
        let files = names.filter(|name| name.ends_with(".json"));
        let read = |name: String| {
            let path = self.runs().join(name);
            let text = read_text(&path, Links::Followed).map_err(|error| damaged(&path, &error))?;
            parse(&path, &text)
        };
        files.map(read).collect()
    }

    /// Writes the results. If they are complete, removes the earlier ones.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write_results(
        &self,
        record: &impl Serialize,
        lines: &[ResultRow],
    ) -> Result<(), Failure> {
        self.write_json(RESULTS_JSON, record)?;
        let path = self.path.join(RESULTS_CSV);
        let text = csv(lines).map_err(Failure::writing(&path))?;
        replace_file(&path, &text)?;
        if !self.has_gaps.get() {
            remove_leftover(&self.previous);
        }
        Ok(())
    }

    /// Draws a plot into the file called `name`. Prints a warning if it cannot be drawn.
    pub fn draw(&self, name: &str, draw: impl FnOnce(&Path) -> Result<(), PlotError>) {
        warn_undrawn(draw(&self.path.join(file_name(name))));
    }

    /// Prints a report and the path of the folder.
    pub fn print(&self, mut lines: Vec<String>) {
        lines.push(format!("results written to {}\n", self.path.display()));
        inform(&lines.join("\n"));
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
    let is_result = [EXPERIMENT, SWEEP, RESULTS_JSON, RESULTS_CSV, RUNS].contains(&name);
    is_result || name.ends_with(".svg") || is_temporary(name)
}
