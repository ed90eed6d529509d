//! An output folder that never looks finished when it is not.
//!
//! During training the folder contains only checkpoints. All other files are written to a hidden
//! folder beside it, which replaces it at the end.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{self, OWN_FILES};
use super::lock::FolderLock;
use crate::failure::{Failure, FolderError};
use crate::fitting::Checkpoints;
use crate::replacement::{beside, synchronize};

/// The folder of one run, locked against other processes.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    /// The new folder, before it replaces the old one.
    next: PathBuf,
    /// The old folder, before it is removed.
    previous: PathBuf,
    _lock: FolderLock,
}

/// The suffix of the old folder.
const PREVIOUS: &str = ".previous";

impl OutputFolder {
    fn at(path: &Path) -> Result<Self, Failure> {
        let hidden = |ending| {
            beside(path, ending).ok_or_else(|| FolderError::Nameless {
                path: path.to_owned(),
            })
        };
        Ok(Self {
            path: path.to_owned(),
            next: hidden(".next")?,
            previous: hidden(PREVIOUS)?,
            _lock: FolderLock::acquire(path)?,
        })
    }

    /// Claims a folder for a new run, without writing to it.
    ///
    /// # Errors
    ///
    /// If something at `path` must not or cannot be replaced, or if another process writes there.
    pub fn claim(path: &Path, overwrite: bool) -> Result<Self, Failure> {
        let owned = path.to_owned();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder { path: owned }.into());
        }
        let folder = Self::at(path)?;
        let path = owned;
        let names = names_in(&path);
        if names.is_empty() {
            return Ok(folder);
        }
        if !overwrite {
            let is_finished = path.join(files::METRICS).exists();
            let unfinished = !is_finished && Checkpoints::within(&path).latest().is_some();
            let refusal = match unfinished {
                true => FolderError::Unfinished { path },
                false => FolderError::NotEmpty { path },
            };
            return Err(refusal.into());
        }
        match names
            .into_iter()
            .find(|name| !OWN_FILES.contains(&name.as_str()))
        {
            Some(file) => Err(FolderError::Foreign { path, file }.into()),
            None => Ok(folder),
        }
    }

    /// Claims the folder of an interrupted run.
    ///
    /// # Errors
    ///
    /// If there is no such run, or if another process is running it.
    pub fn resume(path: &Path) -> Result<Self, Failure> {
        let nothing = || FolderError::NothingToResume {
            path: path.to_owned(),
        };
        let previous = beside(path, PREVIOUS).ok_or_else(nothing)?;
        if !path.exists() && !previous.exists() {
            return Err(nothing().into());
        }
        let folder = Self::at(path)?;
        // The interruption may have happened between the two renames at the end of a run.
        if !path.exists() && folder.previous.exists() {
            fs::rename(&folder.previous, path).map_err(|_| nothing())?;
        }
        let path = path.to_owned();
        if path.join(files::METRICS).exists() {
            return Err(FolderError::Finished { path }.into());
        }
        match Checkpoints::within(&path).latest() {
            Some(_) => Ok(folder),
            None => Err(FolderError::NothingToResume { path }.into()),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoints of the run.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::within(&self.path)
    }

    /// Replaces the folder by a new one with the contents that `fill` writes.
    ///
    /// # Errors
    ///
    /// If a file cannot be written; the folder is then unchanged.
    pub fn replace(&self, fill: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
        remove(&self.next)?;
        fs::create_dir_all(&self.next).map_err(Failure::writing(&self.next))?;
        let filled = fill(&self.next)
            .and_then(|()| synchronize(&self.next).map_err(Failure::writing(&self.next)));
        if let Err(failure) = filled {
            remove(&self.next)?;
            return Err(failure);
        }
        if self.path.exists() {
            remove(&self.previous)?;
            fs::rename(&self.path, &self.previous).map_err(Failure::writing(&self.path))?;
        }
        if let Err(error) = fs::rename(&self.next, &self.path) {
            // Report the first error, not one of this rename.
            let _ = fs::rename(&self.previous, &self.path);
            return Err(Failure::writing(&self.path)(error));
        }
        remove(&self.previous)
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Failure::writing(folder))?;
    }
    Ok(())
}

/// The names of the entries of a folder; empty if it does not exist.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `<data>-<what>`, for any name of the data.
pub fn default_folder_name(data: impl AsRef<str>, what: &str) -> String {
    let plain = |letter: char| {
        let kept = letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if kept { letter } else { '-' }
    };
    let name: String = data.as_ref().chars().map(plain).collect();
    format!("{name}-{what}")
}
