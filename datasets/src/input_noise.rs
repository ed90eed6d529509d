//! Errors of inputs.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::column_value::{ColumnValue, OfColumn};

/// The standard deviation of the errors of a column, in its units: a finite number that is not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardDeviation(f64);

impl StandardDeviation {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The error for a text that is not a standard deviation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a standard deviation; give zero or a positive number")]
pub struct NoStandardDeviation(String);

impl FromStr for StandardDeviation {
    type Err = NoStandardDeviation;

    fn from_str(text: &str) -> Result<Self, NoStandardDeviation> {
        let number = text.trim().parse().ok();
        number
            .filter(|value: &f64| value.is_finite() && *value >= 0.0)
            .map(Self)
            .ok_or_else(|| NoStandardDeviation(text.to_owned()))
    }
}

impl Display for StandardDeviation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The standard deviation of the errors of a column, `depth=0.5`.
pub type NoiseOfInput = ColumnValue<StandardDeviation>;

impl OfColumn for StandardDeviation {
    const FORM: &'static str = "COLUMN=SD, such as depth=0.5";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_deviations_of_columns() {
        let own: NoiseOfInput = "a=b=0.5".parse().unwrap();
        assert_eq!((own.column.as_str(), own.value.get()), ("a=b", 0.5));
        assert_eq!(own.to_string(), "a=b=0.5");
        assert_eq!("depth=0".parse::<NoiseOfInput>().unwrap().value.get(), 0.0);
        let error = |text: &str| text.parse::<NoiseOfInput>().unwrap_err().to_string();
        for wrong in ["-1", "inf", "NaN", "wide", ""] {
            assert_eq!(
                error(&format!("depth={wrong}")),
                format!("{wrong:?} is not a standard deviation; give zero or a positive number")
            );
        }
        assert!(error("depth").contains("COLUMN=SD"));
    }
}
