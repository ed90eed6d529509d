//! A split that comes with the data and cannot be used.

use std::path::PathBuf;

use crate::{counted::counted, origin::Location};

/// A split that comes with the data and cannot be used. The message is one sentence that says where the
/// problem is and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    /// The test mask belongs to another data set.
    #[error("{}: the test mask has {} where the data have {expected}; use the mask that belongs to the data", path.display(), counted(*.found, "row"))]
    MaskRows {
        /// The mask's file.
        path: PathBuf,
        /// The number of rows of the mask.
        found: usize,
        /// The number of rows of the data.
        expected: usize,
    },
    /// A mask entry is neither 0 nor 1.
    #[error(
        "{location}: column {column} holds {text:?}, but a test mask holds 0 and 1 only; correct it or use --test-fraction instead of --split"
    )]
    MaskValue {
        /// The row.
        location: Location,
        /// The column, from 1.
        column: usize,
        /// The offending text.
        text: String,
    },
    /// The collection does not have the requested split.
    #[error("{source_name}: there is no split {index}; the splits are numbered 0 to {}", count.saturating_sub(1))]
    SplitIndex {
        /// The mask's file.
        source_name: String,
        /// The requested split, from 0.
        index: usize,
        /// The number of splits.
        count: usize,
    },
    /// The data do not come with splits.
    #[error("the data set {0} has no splits of its own; use a test fraction and a seed")]
    NoMask(String),
    /// The test or training part of a split is empty.
    #[error("{source_name}: split {index} leaves no {part} rows; use another split")]
    EmptySplit {
        /// The mask's file.
        source_name: String,
        /// The split, from 0.
        index: usize,
        /// `test` or `training`.
        part: &'static str,
    },
}
