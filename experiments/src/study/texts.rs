//! Numbers with their spread, as text.

use super::Reported;
use crate::summary::Summary;

/// A mean with its spread, `0.094 (0.003)`.
pub fn with_spread(mean: f64, spread: Option<f64>, digits: usize) -> String {
    match spread {
        Some(spread) => format!("{mean:.digits$} ({spread:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

/// A mean with its standard error, or a dash.
pub fn summary_text(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(
        || "-".into(),
        |summary| with_spread(summary.mean, summary.standard_error, digits),
    )
}

/// A published value with its spread, or a dash.
pub fn reported_text(reported: Option<Reported>, digits: usize) -> String {
    reported.map_or_else(
        || "-".into(),
        |reported| with_spread(reported.mean, reported.spread, digits),
    )
}
