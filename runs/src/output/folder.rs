//! The output folder of a run, which never looks finished before it is.
//!
//! During training, the folder contains only checkpoints. At the end, all other files are written to a hidden
//! folder beside it, which then replaces it. A run that replaces a finished run keeps its checkpoints in
//! another hidden folder until then.

use std::fs;
use std::path::{Path, PathBuf};

use burn_gp_models::MODEL_FILE;

use super::files::{self, OWN_FILES};
use super::lock::FolderLock;
use crate::failure::{Failure, FolderError};
use crate::fitting::Checkpoints;
use crate::replacement::{beside, is_temporary, parent_of, synchronize, synchronize_names};
use crate::standard_error::warn;

/// The folder of one run, locked against other processes.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    /// The folder with the checkpoints: `path`, or `next` if `path` contains a finished run.
    work: PathBuf,
    hidden: Hidden,
    _lock: FolderLock,
}

/// The hidden folders beside the folder of a run.
#[derive(Debug)]
struct Hidden {
    /// The unfinished run that will replace a finished one.
    next: PathBuf,
    /// A new folder, before it replaces the old one.
    partial: PathBuf,
    /// The old folder, before it is removed.
    previous: PathBuf,
}

impl Hidden {
    fn beside(path: &Path) -> Result<Self, FolderError> {
        let hidden =
            |ending| beside(path, ending).ok_or_else(|| FolderError::Nameless(path.to_owned()));
        Ok(Self {
            next: hidden(".next")?,
            partial: hidden(".partial")?,
            previous: hidden(".previous")?,
        })
    }

    /// Requires that this program made the hidden folders that exist.
    fn require_own(&self) -> Result<(), FolderError> {
        let all = [&self.next, &self.partial, &self.previous];
        all.into_iter()
            .try_for_each(|path| require_own(path, is_own))
    }
}

impl OutputFolder {
    fn at(path: &Path) -> Result<Self, Failure> {
        let hidden = Hidden::beside(path)?;
        let lock = FolderLock::acquire(path)?;
        hidden.require_own()?;
        take_back(&hidden.previous, path)?;
        Ok(Self {
            path: path.to_owned(),
            work: path.to_owned(),
            hidden,
            _lock: lock,
        })
    }

    /// Claims a folder for a new run without writing to it. With `overwrite`, a finished run in it is kept
    /// until the new run has its results.
    ///
    /// # Errors
    ///
    /// If `path` must not or cannot be replaced, or another process writes there.
    pub fn claim(path: &Path, overwrite: bool) -> Result<Self, Failure> {
        let owned = path.to_owned();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder(owned).into());
        }
        let mut folder = Self::at(path)?;
        let path = owned;
        let names = names_in(&path);
        if !overwrite {
            let is_finished = path.join(files::METRICS).exists();
            let unfinished = !is_finished && Checkpoints::within(&path).latest().is_some();
            return match unfinished || folder.replaces_finished() {
                true => Err(FolderError::Unfinished(path).into()),
                false if names.is_empty() => Ok(folder),
                false => Err(FolderError::NotEmpty(path).into()),
            };
        }
        if let Some(file) = names.into_iter().find(|name| !is_own(name)) {
            return Err(match path.join(files::EXPERIMENT).exists() {
                true => FolderError::OtherKind {
                    path,
                    found: "several runs",
                },
                false => FolderError::Foreign { path, file },
            }
            .into());
        }
        if [files::METRICS, MODEL_FILE]
            .iter()
            .any(|name| path.join(name).exists())
        {
            folder.work.clone_from(&folder.hidden.next);
        }
        Ok(folder)
    }

    /// Claims the folder of an interrupted run.
    ///
    /// # Errors
    ///
    /// If there is no such run, or another process is running it.
    pub fn resume(path: &Path) -> Result<Self, Failure> {
        let nothing = || FolderError::NothingToResume(path.to_owned());
        let hidden = Hidden::beside(path).map_err(|_| nothing())?;
        if [path, &hidden.previous, &hidden.next]
            .iter()
            .all(|path| !path.exists())
        {
            return Err(nothing().into());
        }
        let mut folder = Self::at(path)?;
        if folder.replaces_finished() {
            folder.work.clone_from(&folder.hidden.next);
        } else if path.join(files::METRICS).exists() {
            let path = path.to_owned();
            return Err(FolderError::Finished(path).into());
        }
        match folder.checkpoints().latest() {
            Some(_) => Ok(folder),
            None => Err(nothing().into()),
        }
    }

    /// Whether an unfinished run will replace the contents of the folder.
    fn replaces_finished(&self) -> bool {
        Checkpoints::within(&self.hidden.next).latest().is_some()
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoints of the run.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::of_run(&self.path, &self.work)
    }

    /// Makes the folder of the run with the first checkpoint, which `fill` writes. An unfinished run in its
    /// place is replaced; a finished run is not.
    ///
    /// # Errors
    ///
    /// If a file cannot be written; the folder is then unchanged.
    pub fn begin(&self, fill: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
        self.replace(&self.work, fill)
    }

    /// Replaces the folder by a new one with the results of the run, which `fill` writes.
    ///
    /// # Errors
    ///
    /// If a file cannot be written; the folder is then unchanged.
    pub fn finish(&self, fill: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
        self.replace(&self.path, fill)?;
        if self.work != self.path {
            remove_leftover(&self.work);
        }
        Ok(())
    }

    fn replace(
        &self,
        target: &Path,
        fill: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Hidden {
            partial, previous, ..
        } = &self.hidden;
        remove(partial)?;
        // `create_dir` makes a new folder or fails; it does not follow a link.
        fs::create_dir(partial).map_err(Failure::writing(partial))?;
        let filled =
            fill(partial).and_then(|()| synchronize(partial).map_err(Failure::writing(partial)));
        if let Err(failure) = filled {
            remove(partial)?;
            return Err(failure);
        }
        if target.exists() {
            remove(previous)?;
            fs::rename(target, previous).map_err(Failure::writing(target))?;
        }
        if let Err(error) = fs::rename(partial, target) {
            // Report the first error, not an error of this rename.
            let _ = fs::rename(previous, target);
            return Err(Failure::writing(target)(error));
        }
        synchronize_names(parent_of(target)).map_err(Failure::writing(target))?;
        remove_leftover(previous);
        Ok(())
    }
}

/// Restores the name of a folder if the program ended between two renames.
pub(crate) fn take_back(previous: &Path, path: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(path).is_err() && previous.exists() {
        true => fs::rename(previous, path).map_err(Failure::writing(path)),
        false => Ok(()),
    }
}

/// Requires that `path` does not exist, or is a folder that only contains files of this program.
pub(crate) fn require_own(path: &Path, is_own: impl Fn(&str) -> bool) -> Result<(), FolderError> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() && names_in(path).iter().all(|name| is_own(name)) => Ok(()),
        Ok(_) => Err(FolderError::InTheWay(path.to_owned())),
    }
}

/// Whether a run writes a file with this name.
fn is_own(name: &str) -> bool {
    OWN_FILES.contains(&name) || is_temporary(name)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(folder) {
        Ok(_) => fs::remove_dir_all(folder).map_err(Failure::writing(folder)),
        Err(_) => Ok(()),
    }
}

/// Removes a folder that new results have replaced. A failure gives a warning, because the results are
/// complete.
pub(crate) fn remove_leftover(folder: &Path) {
    if let Err(failure) = remove(folder) {
        warn(failure);
    }
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
