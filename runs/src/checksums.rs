//! Checksums of the files of a run.

use std::io;
use std::path::Path;

use burn_gp_models::{CheckError, CheckFailure, CheckedFolder};

use crate::regular_file;
pub use crate::regular_file::Links;

/// Reads a text file. If its folder has a checksum of the file, checks it.
///
/// # Errors
///
/// If the file or the checksums of its folder cannot be read, the file has changed since it was written, or it
/// is a link and links are refused.
pub fn read_text(path: &Path, links: Links) -> Result<String, CheckError> {
    let unreadable = |error| CheckError {
        path: path.to_owned(),
        reason: CheckFailure::Unreadable(error),
    };
    let name = path.file_name().and_then(|name| name.to_str());
    if let (Some(folder), Some(name)) = (path.parent(), name) {
        let checked = CheckedFolder::open(folder)?;
        if links == Links::Refused && path.is_symlink() {
            return Err(unreadable(io::Error::other("it is a link")));
        }
        if checked.has(name) {
            return checked.read_text(name);
        }
    }
    regular_file::read_text(path, links).map_err(unreadable)
}

/// Adds the checksums of all files in a folder to its checksum file.
///
/// # Errors
///
/// If a file cannot be read, or the checksums cannot be read or written.
pub fn seal(folder: &Path) -> io::Result<()> {
    let mut checked = CheckedFolder::open(folder).map_err(io::Error::other)?;
    checked.add_files()?;
    checked.seal()
}
