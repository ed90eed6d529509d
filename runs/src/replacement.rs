//! Atomic writing of files and folders.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The start of the names of temporary files.
const START: &str = ".burn-gp-";
/// The end of the names of temporary files.
const END: &str = ".partial";

/// A hidden path beside `path`; `None` if `path` has no name.
pub fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(ending);
    Some(path.with_file_name(name))
}

/// The folder that a path is in.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Flushes a folder and its contents to disk. Some systems report a full disk only then, and after a power
/// failure a file that was not flushed may be empty.
///
/// # Errors
///
/// If the flush fails.
pub fn synchronize(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            synchronize(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    synchronize_names(folder)
}

/// Flushes the names of the entries of a folder to disk, which is needed after a rename.
///
/// # Errors
///
/// If the flush fails.
pub fn synchronize_names(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        // Other systems cannot open a folder like a file.
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some file systems have nothing to flush.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        flushed => flushed,
    }
}

/// Writes `text` to a new file at `path`, atomically.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] if `path` exists, which is then unchanged; another error if the file cannot
/// be written.
pub fn create_file(path: &Path, text: &str) -> io::Result<()> {
    match written_beside(path, text)?.persist_noclobber(path) {
        Ok(_) => {}
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(refused.error);
        }
        // Some file systems can only rename. On these, another process can create the file between the check
        // and the rename.
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Err(refused) => {
            refused.file.persist(path)?;
        }
    }
    synchronize_names(parent_of(path))
}

/// Writes `text` to a temporary file and renames it to `path`. The permissions of a replaced file are kept.
///
/// # Errors
///
/// If the file cannot be written; `path` is then unchanged.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let file = written_beside(path, text)?;
    if let Ok(earlier) = fs::symlink_metadata(path)
        && earlier.is_file()
    {
        file.as_file().set_permissions(earlier.permissions())?;
    }
    file.persist(path)?;
    synchronize_names(parent_of(path))
}

/// Whether this is the name of a temporary file, which a killed program can leave behind.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(START) && name.ends_with(END)
}

/// Writes the text to a new file in the folder of `path` and flushes it. The name is random, and no existing
/// file is opened. The file is removed when it is dropped.
fn written_beside(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    if path.file_name().is_none() {
        return Err(io::Error::other("the path does not name a file"));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(START).suffix(END);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's mask reduces the permissions, as for any other file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(parent_of(path)).map_err(without_path)?;
    file.as_file_mut().write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The error of the system without the path of the temporary file, which the user does not know.
fn without_path(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|error| error.source());
    match source.map(ToString::to_string) {
        Some(reason) => io::Error::new(error.kind(), reason),
        None => error,
    }
}
