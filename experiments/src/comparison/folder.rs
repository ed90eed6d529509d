//! The folder of a comparison.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::ComparisonPlan;
use crate::arguments::{ModelName, name_of};
use crate::failure::{Failure, FolderError};
use crate::output::{self, FolderLock};

/// A folder with the plan of a comparison, a folder for each model, and at the end the results.
pub(super) struct ComparisonFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl ComparisonFolder {
    /// A folder for a new comparison, with its plan.
    ///
    /// # Errors
    ///
    /// When there is something at `path` that must not, or cannot, be replaced, or another process
    /// writes there.
    pub(super) fn claim(
        path: &Path,
        overwrite: bool,
        plan: &ComparisonPlan,
    ) -> Result<Self, Failure> {
        let path = path.to_owned();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder { path }.into());
        }
        let lock = FolderLock::acquire(&path)?;
        let names = output::names_in(&path);
        if !names.is_empty() && !overwrite {
            return Err(FolderError::NotEmpty { path }.into());
        }
        if let Some(file) = names.iter().find(|name| !is_own(name)) {
            let file = file.clone();
            return Err(FolderError::Foreign { path, file }.into());
        }
        if path.exists() {
            FolderLock::require_none_within(&path)?;
            fs::remove_dir_all(&path).map_err(Failure::writing(&path))?;
        }
        fs::create_dir_all(&path).map_err(Failure::writing(&path))?;
        let text = serde_json::to_string_pretty(plan).map_err(std::io::Error::other);
        let text = text.map_err(Failure::writing(&path))? + "\n";
        output::replace_file(&path.join(output::COMPARISON_PLAN), &text)?;
        Ok(Self { path, _lock: lock })
    }

    /// The folder of an interrupted comparison, and its plan.
    ///
    /// # Errors
    ///
    /// When there is no comparison, nothing left of it to do, or another process makes it.
    pub(super) fn resume(path: &Path) -> Result<(ComparisonPlan, Self), Failure> {
        let path = path.to_owned();
        if !path.exists() {
            return Err(FolderError::NothingToResume { path }.into());
        }
        let lock = FolderLock::acquire(&path)?;
        let file = path.join(output::COMPARISON_PLAN);
        let Ok(text) = fs::read_to_string(&file) else {
            return Err(FolderError::NothingToResume { path }.into());
        };
        let plan: ComparisonPlan =
            serde_json::from_str(&text).map_err(|error| FolderError::DamagedCheckpoint {
                path: file,
                reason: error.to_string(),
            })?;
        // Runs that broke off, by a full disk perhaps, are made again.
        let is_made = |run: PathBuf| run.join(output::METRICS).exists();
        if path.join(output::COMPARISON_JSON).exists() && plan.runs(&path).all(is_made) {
            return Err(FolderError::Finished { path }.into());
        }
        Ok((plan, Self { path, _lock: lock }))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a comparison writes something of that name.
fn is_own(name: &str) -> bool {
    let files = [
        output::COMPARISON_PLAN,
        output::COMPARISON_JSON,
        output::COMPARISON_CSV,
        output::COMPARISON_PICTURE,
    ];
    let models = ModelName::value_variants();
    files.contains(&name) || models.iter().any(|&model| name_of(model) == name)
}
