//! Numbers with their spread, as text.

use super::Reported;

/// A mean with its spread, `0.094 (0.003)`.
pub fn with_spread(mean: f64, spread: Option<f64>, digits: usize) -> String {
    match spread {
        Some(spread) => format!("{mean:.digits$} ({spread:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

/// A published value with its spread, or a dash.
pub fn reported_text(reported: Option<Reported>, digits: usize) -> String {
    reported.map_or_else(
        || "-".into(),
        |reported| with_spread(reported.mean, reported.spread, digits),
    )
}
