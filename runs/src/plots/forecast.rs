//! A series and its future.

use std::path::Path;

use super::fits::{Words, draw_fits};
use super::{Caption, FitPanel, PlotError, Points, Quantity};

const WORDS: Words = Words {
    plot: ["Forecast", "Forecasts"],
    line: "median",
    points: "history",
};

/// Draws medians and bands after the history of a series. `bands` are the texts of the legend, widest band first.
///
/// # Errors
///
/// As for [`fits`](super::fits).
pub fn forecast(
    path: &Path,
    caption: Caption<'_>,
    bands: &[&str],
    history: Points<'_>,
    quantities: (Quantity<'_>, Quantity<'_>),
    future: FitPanel<'_>,
) -> Result<(), PlotError> {
    let points = (history, Points::default());
    draw_fits(path, WORDS, caption, bands, points, quantities, &[future])
}
