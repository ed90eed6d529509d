//! Files and folders that appear whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A hidden path beside `path`, for something that is not ready; `None` when `path` has no name.
pub(super) fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(ending);
    Some(path.with_file_name(name))
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
