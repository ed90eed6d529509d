//! One process writes a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

use super::replacement::beside;
use crate::failure::{Failure, FolderError};

/// The ending of lock files.
const ENDING: &str = ".lock";

/// How often a lock file is made again that another process removes at the same time.
const ATTEMPTS: usize = 100;

/// The right to write a folder, as long as this value lives.
///
/// It is the operating system's lock on a hidden file beside the folder, `.NAME.lock`, because the
/// folder itself is replaced at the end of a run. A process that is killed leaves at most the file,
/// which locks nothing.
#[derive(Debug)]
pub struct FolderLock {
    /// The locked files, and where they are.
    held: Vec<(PathBuf, File)>,
    /// The folders that were made for them, the outermost first.
    made: Vec<PathBuf>,
}

impl FolderLock {
    /// Locks the folder at `path`, which need not exist. A link to a folder is locked in both places.
    ///
    /// # Errors
    ///
    /// [`FolderError::InUse`] when another process has the lock, [`FolderError::Nameless`], and what
    /// the system says when the lock file cannot be made.
    pub fn acquire(path: &Path) -> Result<Self, Failure> {
        let nameless = || FolderError::Nameless {
            path: path.to_owned(),
        };
        let name = path.file_name().ok_or_else(nameless)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let made = missing_folders(parent);
        let mut lock = Self {
            held: Vec::new(),
            made,
        };
        fs::create_dir_all(parent).map_err(Failure::writing(parent))?;
        let mut places = vec![
            fs::canonicalize(parent)
                .map_err(Failure::writing(parent))?
                .join(name),
        ];
        places.extend(fs::canonicalize(path));
        places.dedup();
        for place in places {
            let file = beside(&place, ENDING).ok_or_else(nameless)?;
            match hold(&file) {
                Ok(held) => lock.held.push((file, held)),
                Err(TryLockError::WouldBlock) => {
                    let path = path.to_owned();
                    return Err(FolderError::InUse { path }.into());
                }
                Err(TryLockError::Error(error)) => return Err(Failure::writing(&file)(error)),
            }
        }
        Ok(lock)
    }

    /// Fails when a process has the lock of a folder within `path`, at any depth.
    ///
    /// # Errors
    ///
    /// [`FolderError::InUse`].
    pub fn require_none_within(path: &Path) -> Result<(), FolderError> {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let found = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                Self::require_none_within(&found)?;
            } else if let Some(folder) = locked_folder(&found)
                && let Ok(file) = File::open(&found)
                && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
            {
                return Err(FolderError::InUse { path: folder });
            }
        }
        Ok(())
    }
}

/// Removes the lock files while they are still locked, and the folders made for them if nothing else
/// is in them. What cannot be removed locks nothing.
impl Drop for FolderLock {
    fn drop(&mut self) {
        for (path, file) in self.held.drain(..) {
            let _ = fs::remove_file(path);
            drop(file);
        }
        for folder in self.made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The folders on the way to `path` that do not exist, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().take_while(|folder| {
        let is_named = !folder.as_os_str().is_empty();
        is_named && !folder.exists()
    });
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// The folder whose lock file `file` is, if it is one.
fn locked_folder(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let folder = name.strip_prefix('.')?.strip_suffix(ENDING)?;
    Some(file.with_file_name(folder))
}

/// A locked file at `path`, new or not.
fn hold(path: &Path) -> Result<File, TryLockError> {
    for _ in 0..ATTEMPTS {
        let mut options = OpenOptions::new();
        let file = match options.write(true).create(true).truncate(false).open(path) {
            Ok(file) => file,
            // Another process has removed the folder that it had made for a lock.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().unwrap_or(Path::new("."));
                fs::create_dir_all(parent).map_err(TryLockError::Error)?;
                continue;
            }
            Err(error) => return Err(TryLockError::Error(error)),
        };
        match file.try_lock() {
            Err(TryLockError::Error(error)) => {
                let place = path.display();
                eprintln!(
                    "warning: {place} cannot be locked ({error}); see that no other run writes the same folder"
                );
                return Ok(file);
            }
            locked => locked?,
        }
        // The process that had the lock may have removed the file in the meantime.
        let locked = file.try_clone().and_then(Handle::from_file);
        if locked.is_ok_and(|locked| Handle::from_path(path).is_ok_and(|there| there == locked)) {
            return Ok(file);
        }
    }
    Err(TryLockError::WouldBlock)
}
