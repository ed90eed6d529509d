//! Numbers as papers print them.

use std::str::FromStr;

use serde::Serialize;

use crate::summary::Summary;

/// A mean with its standard error as a paper reports it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Reported {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Text that is no such number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text:?} is no number with its standard error in parentheses, such as 0.094(3)")]
pub(super) struct NotReported {
    text: String,
}

impl FromStr for Reported {
    type Err = NotReported;

    /// From a text such as `0.094(3)`: 0.094 with a standard error of 3 in units of the last digit.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = || {
            let (mean, error) = text.strip_suffix(')')?.split_once('(')?;
            let decimals = mean.split_once('.').map_or(0, |(_, digits)| digits.len());
            let units: f64 = error.parse().ok()?;
            Some(Self {
                mean: mean.parse().ok()?,
                standard_error: units / 10f64.powi(decimals as i32),
            })
        };
        parts().ok_or_else(|| NotReported {
            text: text.to_owned(),
        })
    }
}

/// Mean and standard error for people, `0.094 (0.003)`.
pub(super) fn with_error(mean: f64, standard_error: Option<f64>, digits: usize) -> String {
    match standard_error {
        Some(error) => format!("{mean:.digits$} ({error:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

/// [`with_error`] of a summary, or a dash.
pub(super) fn summary_text(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(
        || "-".into(),
        |summary| with_error(summary.mean, summary.standard_error, digits),
    )
}

/// [`with_error`] of a paper's number, or a dash.
pub(super) fn reported_text(reported: Option<Reported>, digits: usize) -> String {
    reported.map_or_else(
        || "-".into(),
        |reported| with_error(reported.mean, Some(reported.standard_error), digits),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_counts_in_units_of_the_last_digit() {
        let read = |text: &str| text.parse::<Reported>();
        let expected = Reported {
            mean: -0.963,
            standard_error: 0.006,
        };
        assert_eq!(read("-0.963(6)"), Ok(expected));
        assert_eq!(read("-0.199(67)").unwrap().standard_error, 0.067);
        assert!(read("0.3").is_err() && read("0.3(x)").is_err());
        assert_eq!(reported_text(read("0.094(3)").ok(), 3), "0.094 (0.003)");
    }
}
