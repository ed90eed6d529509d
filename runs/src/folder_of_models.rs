//! The folder of `train --by`: a model for each value of a column.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::checksums::{Links, read_text};
use crate::failure::FolderError;
use crate::file_names::file_name;
use crate::output::{EXPERIMENT, RUNS};

/// The name of this kind of experiment in its folder.
pub const NAME: &str = "models by column";

/// A folder with a model for each value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderOfModels {
    /// The folder.
    pub path: PathBuf,
    /// The column.
    pub column: String,
}

impl FolderOfModels {
    /// The settings by which the folder is known, for models by `column`.
    pub fn settings(column: &str, options: Value) -> Value {
        json!({ "by": column, "options": options })
    }

    /// The folder at this path, if it is one.
    pub fn at(path: &Path) -> Option<Self> {
        let text = read_text(&path.join(EXPERIMENT), Links::Followed).ok()?;
        let found: Value = serde_json::from_str(&text).ok()?;
        let column = found["settings"]["by"].as_str()?.to_owned();
        (found["experiment"] == NAME).then(|| Self {
            path: path.to_owned(),
            column,
        })
    }

    /// Refuses such a folder where a single model is needed.
    ///
    /// # Errors
    ///
    /// [`FolderError::OfModels`].
    pub fn refuse(path: &Path) -> Result<(), FolderError> {
        let Some(found) = Self::at(path) else {
            return Ok(());
        };
        let first = found.folders().into_iter().next();
        Err(FolderError::OfModels {
            example: first.unwrap_or_else(|| path.join(RUNS)),
            column: found.column,
            path: found.path,
        })
    }

    /// Refuses a folder of which all runs failed.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoModels`].
    pub fn require_some(&self) -> Result<(), FolderError> {
        match self.folders().is_empty() {
            true => Err(FolderError::NoModels(self.path.clone())),
            false => Ok(()),
        }
    }

    /// The folders of all models, sorted.
    fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path.join(RUNS));
        let entries = entries.into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
        folders
    }

    /// The folder of the model for `value`, which may be absent.
    pub fn model(&self, value: &str) -> PathBuf {
        self.path.join(RUNS).join(file_name(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_folders_are_none() {
        let folder = temp_dir::TempDir::new().expect("temporary folder");
        let path = folder.path();
        assert_eq!(FolderOfModels::at(path), None);
        let write = |experiment: &str| {
            let settings = FolderOfModels::settings("store", Value::Null);
            let text = json!({ "experiment": experiment, "settings": settings }).to_string();
            std::fs::write(path.join(EXPERIMENT), text).expect("a file");
        };
        write("cross-validation");
        assert_eq!(FolderOfModels::at(path), None);
        write(NAME);
        let found = FolderOfModels::at(path).expect("a folder of models");
        assert_eq!(found.column, "store");
        assert_eq!(found.model("a/b"), path.join("runs/a%2Fb"));
    }
}
