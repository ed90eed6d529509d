//! Output files that must not overwrite the input.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use burn_gp_datasets::DataSource;
use same_file::is_same_file;

use super::files::{OWN_FILES, replace_file};
use super::names_in;
use crate::arguments::TrainedModelOptions;
use crate::failure::{DestinationError, Failure};
use crate::replacement::{create_file, parent_of};

/// The destination of a result.
#[derive(Clone, Debug)]
pub struct Destination {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The path does not exist.
    New,
    /// The path is a file to replace.
    Old,
    /// The path is a device or a pipe, which is written to directly.
    Stream,
}

impl Destination {
    /// Claims the file at `path`. It must not be `input`, a file in the folder `input`, or a file of the run in
    /// `model`. Links are followed. An existing file is only replaced with `overwrite`.
    ///
    /// # Errors
    ///
    /// [`DestinationError`].
    pub fn claim(
        path: &Path,
        overwrite: bool,
        input: Option<&Path>,
        model: &Path,
    ) -> Result<Self, DestinationError> {
        let path = path.to_owned();
        if is_of_run(&path, model) {
            let folder = model.to_owned();
            return Err(DestinationError::OfModel { path, folder });
        }
        let Ok(found) = fs::metadata(&path) else {
            // A broken link counts as existing.
            let kind = match fs::symlink_metadata(&path) {
                Ok(_) if !overwrite => return Err(DestinationError::Exists(path)),
                Ok(_) => Kind::Old,
                Err(_) => Kind::New,
            };
            return Ok(Self { path, kind });
        };
        if found.is_dir() {
            return Err(DestinationError::Folder(path));
        }
        let is_input = |input: &Path| files_of(input).iter().any(|file| same(file, &path));
        if input.is_some_and(is_input) {
            return Err(DestinationError::Input(path));
        }
        if !found.is_file() {
            let kind = Kind::Stream;
            return Ok(Self { path, kind });
        }
        if !overwrite {
            return Err(DestinationError::Exists(path));
        }
        Ok(Self {
            // Replace the target of a link, not the link.
            path: fs::canonicalize(&path).unwrap_or(path),
            kind: Kind::Old,
        })
    }

    /// The source of `--data`, and the destination of `--out` if it is not the standard output, of a command that
    /// uses the model in the folder `model`.
    ///
    /// # Errors
    ///
    /// If there is no such source, and the errors of [`claim`](Self::claim).
    pub fn with_source(
        data: &str,
        out: Option<&PathBuf>,
        shared: &TrainedModelOptions,
        model: &Path,
    ) -> Result<(DataSource, Option<Self>), Failure> {
        let source = DataSource::resolve(data, shared.data_directory.path().as_deref())?;
        let file = out.filter(|path| path.as_os_str() != "-");
        let claim = |path: &PathBuf| Self::claim(path, shared.overwrite, source.path(), model);
        let destination = file.map(claim).transpose()?;
        Ok((source, destination))
    }

    /// Writes the file atomically, or to the device.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or was created after it was claimed.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        match self.kind {
            Kind::Stream => self.stream(text).map_err(Failure::writing(&self.path)),
            Kind::Old => replace_file(&self.path, text),
            Kind::New => create_file(&self.path, text).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    let path = self.path.clone();
                    DestinationError::Exists(path).into()
                }
                _ => Failure::writing(&self.path)(error),
            }),
        }
    }

    /// Writes to the device. If it has vanished, no file is created.
    fn stream(&self, text: &str) -> io::Result<()> {
        let mut device = OpenOptions::new().write(true).open(&self.path)?;
        device.write_all(text.as_bytes())
    }
}

/// Whether `path` is, or would be, a file of the run in the folder `run`.
fn is_of_run(path: &Path, run: &Path) -> bool {
    let parent = parent_of(path);
    let is_own = |name: &str| OWN_FILES.contains(&name);
    let name = path.file_name().and_then(|name| name.to_str());
    let is_it = |name: &String| is_own(name) && same(&run.join(name), path);
    name.is_some_and(is_own) && same(parent, run) || names_in(run).iter().any(is_it)
}

/// The file, or all files in the folder.
fn files_of(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => names_in(path).iter().map(|name| path.join(name)).collect(),
        false => vec![path.to_owned()],
    }
}

/// Whether both paths lead to the same file. Links are followed.
fn same(a: &Path, b: &Path) -> bool {
    // The comparison opens both, and opening a pipe would wait for a writer.
    let is_at_rest = |path| fs::metadata(path).is_ok_and(|found| found.is_file() || found.is_dir());
    is_at_rest(a) && is_at_rest(b) && is_same_file(a, b).unwrap_or(false)
}
