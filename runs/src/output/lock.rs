//! Locks that allow only one process to write a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::failure::{Failure, FolderError};
use crate::replacement::{beside, parent_of};
use crate::standard_error::warn;

/// The suffix of lock files.
const ENDING: &str = ".lock";

/// The maximum number of attempts to create a lock file while another process removes it.
const ATTEMPTS: usize = 100;

/// The exclusive right to write to a folder, held until this value is dropped.
///
/// The lock is an operating-system lock on the hidden file `.NAME.lock` beside the folder, because the end of a
/// run replaces the folder itself. A killed process may leave the file behind, but not the lock.
#[derive(Debug)]
pub struct FolderLock {
    /// The locked files and their paths.
    held: Vec<(PathBuf, File)>,
    /// The folders that were created for the lock files, outermost first.
    made: Vec<PathBuf>,
}

impl FolderLock {
    /// Locks the folder at `path`, which need not exist. For a link to a folder, both the link and its target
    /// are locked.
    ///
    /// # Errors
    ///
    /// [`FolderError::InUse`] if another process has the lock, [`FolderError::Nameless`], or an
    /// error of the operating system if the lock file cannot be created.
    pub fn acquire(path: &Path) -> Result<Self, Failure> {
        let nameless = || FolderError::Nameless(path.to_owned());
        let name = path.file_name().ok_or_else(nameless)?;
        let parent = parent_of(path);
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
            let held = hold(&file, path)?;
            lock.held.push((file, held));
        }
        Ok(lock)
    }

    /// Fails if another process has locked a folder within `path`, at any depth.
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
                && entry.file_type().is_ok_and(|kind| kind.is_file())
                && let Ok(file) = open(&found)
                && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
            {
                return Err(FolderError::InUse(folder));
            }
        }
        Ok(())
    }
}

/// Removes the lock files before it unlocks them, and the folders created for them if they are
/// empty. Errors are ignored, because a leftover file is not locked.
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

/// The folders on the path to `path` that do not exist, outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().take_while(|folder| {
        let is_named = !folder.as_os_str().is_empty();
        is_named && !folder.exists()
    });
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// The folder that belongs to the lock file `file`; `None` for other files.
fn locked_folder(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let folder = name.strip_prefix('.')?.strip_suffix(ENDING)?;
    Some(file.with_file_name(folder))
}

/// Opens or creates the lock file at `path`. Does not follow links.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening a pipe would wait for a reader.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}

/// Opens or creates the lock file of `folder` at `path` and locks it.
fn hold(path: &Path, folder: &Path) -> Result<File, Failure> {
    let in_the_way = || FolderError::InTheWay(path.to_owned());
    let in_use = || FolderError::InUse(folder.to_owned());
    for _ in 0..ATTEMPTS {
        let found = fs::symlink_metadata(path);
        if found.is_ok_and(|found| !found.is_file()) {
            return Err(in_the_way().into());
        }
        let file = match open(path) {
            Ok(file) => file,
            // Another process removed the folder that it had created for a lock.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = parent_of(path);
                fs::create_dir_all(parent).map_err(Failure::writing(parent))?;
                continue;
            }
            Err(error) => return Err(Failure::writing(path)(error)),
        };
        let opened = file.metadata().map_err(Failure::writing(path))?;
        // A file with contents is not a lock file of this program, and must not be removed at the end.
        if !opened.is_file() || opened.len() > 0 {
            return Err(in_the_way().into());
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use().into()),
            Err(TryLockError::Error(error)) => {
                let place = path.display();
                warn(format!(
                    "{place} cannot be locked ({error}); make sure that no other run writes to this folder"
                ));
                return Ok(file);
            }
        }
        // The previous owner of the lock may have removed the file in the meantime.
        let locked = file.try_clone().and_then(Handle::from_file);
        if locked.is_ok_and(|locked| Handle::from_path(path).is_ok_and(|there| there == locked)) {
            return Ok(file);
        }
    }
    Err(in_use().into())
}
