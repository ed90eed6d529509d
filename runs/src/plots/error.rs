//! Errors of plots.

use std::path::PathBuf;

use burn_gp_datasets::counted;

use crate::standard_error::warn;

/// A reason why a plot could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// There was no finite value.
    #[error("the {plot} plot has nothing to show: none of {given} values can be drawn")]
    NothingToShow {
        /// The plot.
        plot: &'static str,
        /// The number of values passed.
        given: usize,
    },
    /// Slices that describe the same rows have different lengths.
    #[error("the {plot} plot needs {} of {what}, but got {found}", counted(*.expected, "value"))]
    LengthMismatch {
        /// The plot.
        plot: &'static str,
        /// The slice with the wrong length.
        what: &'static str,
        /// The length of the first slice.
        expected: usize,
        /// The length of this slice.
        found: usize,
    },
    /// A grid too small to draw, or over an empty domain.
    #[error(
        "a map needs at least 2 columns and 2 rows over a domain of finite, \
         increasing ranges; got {columns} by {rows}"
    )]
    Grid {
        /// The given number of columns.
        columns: usize,
        /// The given number of rows.
        rows: usize,
    },
    /// The file could not be written.
    #[error("cannot write the plot {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl PlotError {
    /// None of the `given` values can be drawn.
    pub(super) fn nothing(plot: &'static str, given: usize) -> Self {
        Self::NothingToShow { plot, given }
    }
}

/// Warns about a plot that could not be drawn. The program continues, because other files hold the
/// same values.
pub fn warn_undrawn(drawn: Result<(), PlotError>) {
    if let Err(error) = drawn {
        warn(error);
    }
}
