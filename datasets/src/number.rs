//! Parses the text of a field as a finite number.

use std::str;

use crate::column_label::ColumnLabel;
use crate::error::{CellError, DataError};
use crate::origin::Location;
use crate::words;

/// The reason why a field is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FieldError {
    Missing,
    NotFinite,
    NotANumber,
    NotUtf8,
}

/// Parses the number in a field; surrounding spaces are allowed.
fn parse(field: &[u8]) -> Result<f64, FieldError> {
    let text = str::from_utf8(field)
        .map_err(|_| FieldError::NotUtf8)?
        .trim();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(refused(text)),
    }
}

/// The reason why a trimmed text is not a finite number.
pub(crate) fn refused(text: &str) -> FieldError {
    match text.parse::<f64>() {
        _ if is_missing(text) => FieldError::Missing,
        Ok(_) => FieldError::NotFinite,
        Err(_) => FieldError::NotANumber,
    }
}

/// Whether a field can occur in a data row: a number, or a marker for a missing number. A first
/// line with any other field is a header.
pub(crate) fn may_be_data(field: &[u8]) -> bool {
    !matches!(
        parse(field),
        Err(FieldError::NotANumber | FieldError::NotUtf8)
    )
}

fn is_missing(text: &str) -> bool {
    text.is_empty() || words::is_missing(text)
}

impl FieldError {
    /// Converts the error to a data error with its location and the offending text.
    pub fn at(
        self,
        location: Location,
        column: ColumnLabel,
        is_target: bool,
        field: &[u8],
    ) -> DataError {
        let text = shortened(field);
        match self {
            Self::Missing => DataError::Cell(CellError::MissingValue { location, column }),
            Self::NotUtf8 => DataError::Cell(CellError::NotUtf8 { location, column }),
            Self::NotFinite => DataError::Cell(CellError::NotFinite {
                location,
                column,
                text,
            }),
            Self::NotANumber => DataError::Cell(CellError::NotANumber {
                advice: advice(&text, is_target),
                location,
                column,
                text,
            }),
        }
    }
}

fn advice(text: &str, is_target: bool) -> &'static str {
    let with_point = text.replacen(',', ".", 1);
    if with_point != text && with_point.parse::<f64>().is_ok() {
        "write decimal numbers with a point"
    } else if is_target {
        "correct it, or choose a classification likelihood such as softmax"
    } else {
        "correct it, or remove the row or the column"
    }
}

/// The text of a field, shortened so that messages stay on one readable line.
fn shortened(field: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(field);
    let text = text.trim();
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_usual_form_are_read() {
        for (text, value) in [
            ("1", 1.0),
            (" -2.5 ", -2.5),
            ("+3", 3.0),
            ("1e-3", 1e-3),
            ("6.1556E+05", 615_560.0),
            (".5", 0.5),
            ("5.", 5.0),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(value));
        }
    }

    #[test]
    fn everything_else_is_told_apart() {
        for text in ["", "  ", "NA", "n/a", "null", "None", "?", "nan", "NaN"] {
            assert_eq!(parse(text.as_bytes()), Err(FieldError::Missing), "{text}");
        }
        for text in ["inf", "-Infinity", "1e999"] {
            assert_eq!(parse(text.as_bytes()), Err(FieldError::NotFinite), "{text}");
        }
        for text in ["abc", "1.2.3", "0x10", "1,5", "12 cm"] {
            assert_eq!(
                parse(text.as_bytes()),
                Err(FieldError::NotANumber),
                "{text}"
            );
        }
        assert_eq!(parse(&[0xff, 0x31]), Err(FieldError::NotUtf8));
    }

    #[test]
    fn long_text_is_cut() {
        let text = "a".repeat(100);
        assert_eq!(shortened(text.as_bytes()), format!("{}…", "a".repeat(40)));
    }
}
