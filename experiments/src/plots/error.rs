//! Why a plot could not be made.

use std::path::PathBuf;

/// Why a plot could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// No value was given, or none was finite.
    #[error("the {plot} plot has nothing to show: {given} values were given, none usable")]
    NothingToShow {
        /// Which plot.
        plot: &'static str,
        /// How many values the caller passed.
        given: usize,
    },
    /// Slices that describe the same rows have different lengths.
    #[error("the {plot} plot got {found} values of {what} for {expected} rows")]
    LengthMismatch {
        /// Which plot.
        plot: &'static str,
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
    #[error("the {plot} plot could not be drawn: {reason}")]
    Draw {
        /// Which plot.
        plot: &'static str,
        /// The library's message.
        reason: String,
    },
    /// The file could not be written.
    #[error("cannot write the plot {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Tells of a plot that could not be drawn: the numbers it shows are written without it.
pub fn warn_undrawn(drawn: Result<(), PlotError>) {
    if let Err(error) = drawn {
        eprintln!("warning: {error}");
    }
}
