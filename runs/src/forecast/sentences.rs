//! Sentences about a series.

use burn_gp_models::forecasting::{Calendar, ForecastError};

/// A sentence about a series.
pub fn of_series(name: &str, sentence: &str) -> String {
    match name {
        "" => sentence.to_owned(),
        _ => format!("{name}: {sentence}"),
    }
}

/// An error about a series, with the time as in the table.
pub fn of_error(series: &str, error: &ForecastError, calendar: &Calendar) -> String {
    let text = match error {
        ForecastError::TwoValues { covariate, time } => {
            format!("{covariate} has two values at {}", calendar.text(*time))
        }
        ForecastError::Unknown { covariate, time } => format!(
            "{covariate} has no value at {}; the forecast needs it, in a row of --future or of the data",
            calendar.text(*time)
        ),
        other => other.to_string(),
    };
    of_series(series, &text)
}
