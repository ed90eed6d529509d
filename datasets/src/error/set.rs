//! A data set that was requested by name and is not available.

use std::path::PathBuf;

use super::phrases::{looked_for, suggestions};
use crate::counted::counted;

/// A data set that was requested by name and is not available. The message is one sentence that says how to
/// fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// There is no data set with this name.
    #[error(
        "there is no data set and no file named {name:?}{}; `datasets list` shows the known names",
        suggestions(near)
    )]
    UnknownName {
        /// The given name.
        name: String,
        /// Similar names.
        near: Vec<String>,
    },
    /// The files of a registered set are missing.
    #[error("the data set {name} is not on disk: {}; {how}", looked_for(paths))]
    NotOnDisk {
        /// The set.
        name: String,
        /// The files that were searched for.
        paths: Vec<PathBuf>,
        /// Instructions for getting the files.
        how: String,
    },
    /// The program was compiled without the feature `embedded`.
    #[error("the data set {0} is not in this program; build it with the feature `embedded`")]
    NotEmbedded(String),
    /// The description of a synthetic set is invalid.
    #[error(
        "{text:?} does not describe a synthetic set: {reason}; write for example synthetic:sines?n=1000&noise=0.1&seed=1"
    )]
    Synthetic {
        /// The description.
        text: String,
        /// The problem.
        reason: String,
    },
    /// There is not enough memory for a synthetic set.
    #[error("not enough memory for the {rows} rows of {} of {name}; ask for fewer", counted(*.columns, "input"))]
    SyntheticSize {
        /// The description.
        name: String,
        /// The number of rows.
        rows: usize,
        /// The number of inputs.
        columns: usize,
    },
}
