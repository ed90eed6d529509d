//! An output folder that never looks finished when it is not.
//!
//! While a run trains, its folder holds nothing but checkpoints. Everything else is written into a
//! hidden folder beside it, which takes its place at the end.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{self, OWN_FILES};
use super::lock::FolderLock;
use super::replacement::{beside, synchronize};
use crate::failure::{Failure, FolderError};
use crate::fitting::Checkpoints;

/// The folder of one run, which no other process writes.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    /// What is to take the folder's place.
    next: PathBuf,
    /// What was in the folder's place, until it is removed.
    previous: PathBuf,
    _lock: FolderLock,
}

/// The ending of what was in the folder's place.
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

    /// A folder for a new run; nothing is written yet.
    ///
    /// # Errors
    ///
    /// When there is something at `path` that must not, or cannot, be replaced, or another process
    /// writes there.
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

    /// The folder of an interrupted run.
    ///
    /// # Errors
    ///
    /// When there is no such run, or another process makes it.
    pub fn resume(path: &Path) -> Result<Self, Failure> {
        let nothing = || FolderError::NothingToResume {
            path: path.to_owned(),
        };
        let previous = beside(path, PREVIOUS).ok_or_else(nothing)?;
        if !path.exists() && !previous.exists() {
            return Err(nothing().into());
        }
        let folder = Self::at(path)?;
        // A run can also be interrupted between the two moves at its end.
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
            // The failure to tell is the first.
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

/// The names of what is in a folder; none if it does not exist.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `<data>-<what>`, whatever the data's name is made of.
pub fn default_folder_name(data: impl AsRef<str>, what: &str) -> String {
    let plain = |letter: char| {
        let kept = letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if kept { letter } else { '-' }
    };
    let name: String = data.as_ref().chars().map(plain).collect();
    format!("{name}-{what}")
}
