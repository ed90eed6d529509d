//! Kernels as they are typed: `rbf + linear[1,3]`, `periodic(matern32, period=0.5) * rbf`.
//!
//! ```text
//! sum     = product { "+" product }
//! product = factor { "*" factor }
//! factor  = ( name [ "(" argument { "," argument } ")" ] | "(" sum ")" ) { "[" number { "," number } "]" }
//! argument = sum | option "=" number [ "std" | "data" ]
//! ```
//!
//! Square brackets restrict a kernel to some inputs, counted from 1. Numbers are in the units of the data. With
//! `std` they are in standardized units: standard deviations of the input for a lengthscale, the variance of
//! the target for a variance. Numbers without units, such as those of a kernel on the outputs of a network, are
//! not converted.

mod arguments;
mod error;
mod given_number;
mod help;
mod kernels;
mod options;
mod parser;
mod tokens;

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use burn_gp_core::{kernels::KernelConfig, ops::Stationary};
use serde::{Deserialize, Serialize};

pub use error::KernelExpressionError;
pub use given_number::GivenNumber;
pub use help::help;

/// A kernel expression: its text and its configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KernelExpression {
    text: String,
    config: KernelConfig,
    numbers: Vec<GivenNumber>,
}

impl FromStr for KernelExpression {
    type Err = KernelExpressionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Places are those in the text that is kept.
        let text = text.trim();
        let (config, numbers) = parser::parse(text, &BTreeMap::new())?;
        Ok(Self {
            text: text.to_owned(),
            config,
            numbers,
        })
    }
}

impl TryFrom<String> for KernelExpression {
    type Error = KernelExpressionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<KernelExpression> for String {
    fn from(expression: KernelExpression) -> Self {
        expression.text
    }
}

impl Display for KernelExpression {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl KernelExpression {
    /// The configuration of the kernel with the numbers as typed, without conversion. `isotropic` makes all
    /// inputs share parameters that otherwise exist for each input.
    pub fn config(&self, isotropic: bool) -> KernelConfig {
        if isotropic {
            self.config.clone().isotropic()
        } else {
            self.config.clone()
        }
    }

    /// The numbers in the expression.
    pub fn numbers(&self) -> &[GivenNumber] {
        &self.numbers
    }

    /// The expression with `values`, in standardized units, for the numbers at these places. The text does not
    /// change.
    ///
    /// # Errors
    ///
    /// If a value is out of range.
    pub fn standardized(
        &self,
        values: &BTreeMap<usize, f64>,
    ) -> Result<Self, KernelExpressionError> {
        let (config, numbers) = parser::parse(&self.text, values)?;
        Ok(Self {
            text: self.text.clone(),
            config,
            numbers,
        })
    }
}

impl From<Stationary> for KernelExpression {
    fn from(kind: Stationary) -> Self {
        let text = match kind {
            Stationary::SquaredExponential => "rbf",
            Stationary::Matern12 => "matern12",
            Stationary::Matern32 => "matern32",
            Stationary::Matern52 => "matern52",
        };
        Self {
            text: text.into(),
            config: kind.into(),
            numbers: Vec::new(),
        }
    }
}

impl Default for KernelExpression {
    /// `matern52`.
    fn default() -> Self {
        Stationary::Matern52.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stationary_kernels_are_what_their_texts_say() {
        for kind in [
            Stationary::SquaredExponential,
            Stationary::Matern12,
            Stationary::Matern32,
            Stationary::Matern52,
        ] {
            let expression = KernelExpression::from(kind);
            assert_eq!(expression.text.parse(), Ok(expression));
        }
    }

    #[test]
    fn an_expression_between_blanks_is_that_without_them() {
        for text in ["rbf(lengthscale=2)", "periodic(matern32, period=0.5) * rbf"] {
            let plain = text.parse::<KernelExpression>();
            for (before, after) in [("\t", ""), ("  ", "\n"), ("", " ")] {
                assert_eq!(format!("{before}{text}{after}").parse(), plain, "{text}");
            }
        }
    }
}
