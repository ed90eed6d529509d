//! `--set PATH=VALUE,…`.

use super::{NumberUnits, ParameterOptionError, assignment, number};

assignment! {
    /// The initial values of a parameter: one per entry, or one for all.
    ValuesOption, values: Vec<f64>, "PATH=VALUE, such as kernel.lengthscale=0.5", parse, write
}

fn parse(text: &str) -> Result<Vec<f64>, ParameterOptionError> {
    text.split(',').map(number).collect()
}

fn write(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(f64::to_string).collect();
    values.join(",")
}

impl ValuesOption {
    /// Initial values in standardized units, rounded to five digits, which are enough for a start and easy to read.
    pub fn rounded(path: String, values: Vec<f64>) -> Self {
        let rounded = |value: f64| format!("{value:.4e}").parse().unwrap_or(value);
        Self {
            path,
            values: values.into_iter().map(rounded).collect(),
            units: NumberUnits::Standardized,
        }
    }
}
