//! Errors in data, each described by one sentence.

mod cell;
mod column;
mod file;
mod mask;
mod phrases;
mod set;
mod split;
mod transform;

pub use cell::CellError;
pub use column::ColumnError;
pub use file::FileError;
pub use mask::MaskError;
pub(crate) use phrases::listed;
pub use set::SetError;
pub use split::SplitError;
pub use transform::TransformError;

/// An error in a data source, a split or a target.
///
/// Every message is one sentence that says where the problem is and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file cannot be read as a table.
    #[error(transparent)]
    File(#[from] FileError),
    /// A row or a value cannot be used.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// Columns cannot be used.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// The split that comes with the data cannot be used.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// The rows cannot be divided.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A column cannot be transformed.
    #[error(transparent)]
    Transform(#[from] TransformError),
    /// A named data set is not available.
    #[error(transparent)]
    Set(#[from] SetError),
}
