//! Atomic writing of files and folders.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A hidden temporary path beside `path`; `None` if `path` has no name.
pub fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(ending);
    Some(path.with_file_name(name))
}

/// Flushes the files of a folder to disk, because some systems report a full disk only then.
///
/// # Errors
///
/// If the flush fails.
pub fn synchronize(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

/// Writes `text` to a new file at `path`, atomically.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] if `path` exists, which is then unchanged; another error if the
/// file cannot be written.
pub fn create_file(path: &Path, text: &str) -> io::Result<()> {
    let partial = beside(path, ".partial")
        .ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let created = fs::write(&partial, text).and_then(|()| match fs::hard_link(&partial, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links. Another process can create the file between the
        // check and the rename there.
        Err(_) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(&partial, path),
        Ok(()) => Ok(()),
    });
    // The file no longer exists after a rename.
    let _ = fs::remove_file(&partial);
    created
}

/// Writes `text` to a temporary file and renames it to `path`.
///
/// # Errors
///
/// If the file cannot be written; `path` is then unchanged.
pub fn replace_file(path: &Path, text: &str) -> Result<(), Failure> {
    let Some(partial) = beside(path, ".partial") else {
        let source = std::io::Error::other("the path does not name a file");
        return Err(Failure::writing(path)(source));
    };
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|source| {
            // Report the first error.
            let _ = fs::remove_file(&partial);
            Failure::writing(path)(source)
        })
}
