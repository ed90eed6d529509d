//! Checksums of the files of a run.

use std::io;
use std::path::Path;

use burn_gp_models::{CheckError, CheckFailure, CheckedFolder};

use crate::regular_file::{self, Links};

/// Reads a text file, and checks it if its folder has its checksum.
///
/// # Errors
///
/// If the file or the checksums of its folder cannot be read, or the file has changed since it was
/// written.
pub fn read_text(path: &Path) -> Result<String, CheckError> {
    let name = path.file_name().and_then(|name| name.to_str());
    if let (Some(folder), Some(name)) = (path.parent(), name) {
        let checked = CheckedFolder::open(folder)?;
        if checked.has(name) {
            return checked.read_text(name);
        }
    }
    regular_file::read_text(path, Links::Followed).map_err(|error| CheckError {
        path: path.to_owned(),
        reason: CheckFailure::Unreadable(error),
    })
}

/// Adds the checksums of all files in a folder to those that it has.
///
/// # Errors
///
/// If a file cannot be read, or the checksums cannot be read or written.
pub fn seal(folder: &Path) -> io::Result<()> {
    let mut checked = CheckedFolder::open(folder).map_err(io::Error::other)?;
    checked.add_files()?;
    checked.seal()
}
