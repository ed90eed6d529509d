//! Files and folders that appear whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A hidden path beside `path`, for something that is not ready; `None` when `path` has no name.
pub(super) fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(ending);
    Some(path.with_file_name(name))
}

/// Has the system bring the files of a folder to the disk: a full one may be noticed only then.
///
/// # Errors
///
/// When that fails.
pub fn synchronize(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

/// Writes `text` to a new file at `path`, whole or not at all.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] when there is something at `path`, which stays as it is; and
/// when the file cannot be written.
pub(super) fn create_file(path: &Path, text: &str) -> io::Result<()> {
    let partial = beside(path, ".partial")
        .ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let created = fs::write(&partial, text).and_then(|()| match fs::hard_link(&partial, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no links; there a file can come into being between these two.
        Err(_) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(&partial, path),
        Ok(()) => Ok(()),
    });
    // After a rename it is not there any more.
    let _ = fs::remove_file(&partial);
    created
}

/// Writes `text` to a file beside `path` and moves it there.
///
/// # Errors
///
/// When the file cannot be written; what was at `path` is then as before.
pub fn replace_file(path: &Path, text: &str) -> Result<(), Failure> {
    let Some(partial) = beside(path, ".partial") else {
        let source = std::io::Error::other("the path does not name a file");
        return Err(Failure::writing(path)(source));
    };
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|source| {
            // The first failure is the one to tell.
            let _ = fs::remove_file(&partial);
            Failure::writing(path)(source)
        })
}
