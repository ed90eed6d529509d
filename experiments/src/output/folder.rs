//! An output folder that never looks finished when it is not.
//!
//! While a run trains, its folder holds nothing but checkpoints. Everything else is written into a
//! hidden folder beside it, which takes its place at the end.

use std::fs;
use std::path::{Path, PathBuf};

use burn_gp_models::{MODEL_FILE, WEIGHTS_FILE};

use super::files;
use super::replacement::beside;
use crate::failure::{Failure, FolderError};
use crate::fitting::{CHECKPOINT_FOLDER, Checkpoints};

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct OutputFolder {
    path: PathBuf,
    /// What is to take the folder's place.
    next: PathBuf,
    /// What was in the folder's place, until it is removed.
    previous: PathBuf,
}

/// Everything that a run writes.
const OWN_FILES: [&str; 16] = [
    files::METRICS,
    files::PREDICTIONS,
    files::CONFIG,
    files::TRAINING_LOG,
    files::LOSS,
    files::PREDICTED_OBSERVED,
    files::CALIBRATION,
    files::FIT,
    files::RELIABILITY,
    files::DECISION_MAP,
    files::CONFUSION,
    files::PATCHES,
    files::MAPS,
    MODEL_FILE,
    WEIGHTS_FILE,
    CHECKPOINT_FOLDER,
];

impl OutputFolder {
    fn at(path: &Path) -> Result<Self, FolderError> {
        let hidden = |ending| {
            beside(path, ending).ok_or_else(|| FolderError::Nameless {
                path: path.to_owned(),
            })
        };
        Ok(Self {
            path: path.to_owned(),
            next: hidden(".next")?,
            previous: hidden(".previous")?,
        })
    }

    /// A folder for a new run; nothing is written yet.
    ///
    /// # Errors
    ///
    /// When there is something at `path` that must not, or cannot, be replaced.
    pub fn claim(path: &Path, overwrite: bool) -> Result<Self, FolderError> {
        let folder = Self::at(path)?;
        let path = path.to_owned();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder { path });
        }
        let names = names_in(&path);
        if names.is_empty() {
            return Ok(folder);
        }
        if !overwrite {
            let is_finished = path.join(files::METRICS).exists();
            let unfinished = !is_finished && Checkpoints::within(&path).latest().is_some();
            return Err(if unfinished {
                FolderError::Unfinished { path }
            } else {
                FolderError::NotEmpty { path }
            });
        }
        match names
            .into_iter()
            .find(|name| !OWN_FILES.contains(&name.as_str()))
        {
            Some(file) => Err(FolderError::Foreign { path, file }),
            None => Ok(folder),
        }
    }

    /// The folder of an interrupted run.
    ///
    /// # Errors
    ///
    /// When there is no such run.
    pub fn resume(path: &Path) -> Result<Self, FolderError> {
        let folder = Self::at(path)?;
        // A run can also be interrupted between the two moves at its end.
        if !path.exists() && folder.previous.exists() {
            fs::rename(&folder.previous, path).map_err(|_| FolderError::NothingToResume {
                path: path.to_owned(),
            })?;
        }
        let path = path.to_owned();
        if path.join(files::METRICS).exists() {
            return Err(FolderError::Finished { path });
        }
        match Checkpoints::within(&path).latest() {
            Some(_) => Ok(folder),
            None => Err(FolderError::NothingToResume { path }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::within(&self.path)
    }

    /// Replaces the folder by one that `fill` fills.
    ///
    /// # Errors
    ///
    /// When something cannot be written; the folder is then as before.
    pub fn replace(&self, fill: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
        remove(&self.next)?;
        fs::create_dir_all(&self.next).map_err(Failure::writing(&self.next))?;
        if let Err(failure) = fill(&self.next) {
            remove(&self.next)?;
            return Err(failure);
        }
        if self.path.exists() {
            remove(&self.previous)?;
            fs::rename(&self.path, &self.previous).map_err(Failure::writing(&self.path))?;
        }
        fs::rename(&self.next, &self.path).map_err(Failure::writing(&self.path))?;
        remove(&self.previous)
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Failure::writing(folder))?;
    }
    Ok(())
}

/// The names of what is in a folder; none if it does not exist.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
