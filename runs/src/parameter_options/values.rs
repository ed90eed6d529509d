//! `--set PATH=VALUE,…`.

use super::{ParameterOptionError, assignment, number};

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
