//! Why a picture could not be made.

use std::path::PathBuf;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// No value was given, or none was finite.
    #[error("the {picture} picture has nothing to show: {given} values were given, none usable")]
    NothingToShow {
        /// Which picture.
        picture: &'static str,
        /// How many values the caller passed.
        given: usize,
    },
    /// Slices that describe the same rows have different lengths.
    #[error("the {picture} picture got {found} values of {what} for {expected} rows")]
    LengthMismatch {
        /// Which picture.
        picture: &'static str,
        /// The slice that does not fit.
        what: &'static str,
        /// Length of the first slice.
        expected: usize,
        /// Length of this one.
        found: usize,
    },
    /// A probability grid too small to draw, or over an empty domain.
    #[error(
        "the decision map needs at least 2 columns and 2 rows over a domain of finite, \
         increasing ranges; got {columns} by {rows}"
    )]
    Grid {
        /// Columns given.
        columns: usize,
        /// Rows given.
        rows: usize,
    },
    /// The drawing library refused an element.
    #[error("the {picture} picture could not be drawn: {reason}")]
    Draw {
        /// Which picture.
        picture: &'static str,
        /// The library's message.
        reason: String,
    },
    /// The file could not be written.
    #[error("cannot write the picture {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Tells of a picture that could not be drawn: the numbers it shows are written without it.
pub fn warn_undrawn(drawn: Result<(), PictureError>) {
    if let Err(error) = drawn {
        eprintln!("warning: {error}");
    }
}
