//! Kernels as they are typed: `rbf + linear[1,3]`, `periodic(matern32, period=0.5) * rbf`.
//!
//! ```text
//! sum     = product { "+" product }
//! product = factor { "*" factor }
//! factor  = ( name [ "(" argument { "," argument } ")" ] | "(" sum ")" ) { "[" number { "," number } "]" }
//! argument = sum | option "=" number
//! ```
//!
//! Square brackets restrict a kernel to some inputs, counted from 1.

mod arguments;
mod error;
mod kernels;
mod parser;
mod tokens;

use std::{
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use burn_gp::kernels::KernelConfig;
use serde::{Deserialize, Serialize};

pub use error::KernelExpressionError;

/// A kernel as it was typed, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KernelExpression {
    text: String,
    config: KernelConfig,
}

impl FromStr for KernelExpression {
    type Err = KernelExpressionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self {
            config: parser::parse(text)?,
            text: text.trim().to_owned(),
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
    /// The kernel's configuration; `isotropic` with one parameter for all inputs where it would
    /// have one each.
    pub fn config(&self, isotropic: bool) -> KernelConfig {
        if isotropic {
            self.config.clone().isotropic()
        } else {
            self.config.clone()
        }
    }
}

impl Default for KernelExpression {
    /// `matern52`.
    fn default() -> Self {
        Self {
            text: "matern52".into(),
            config: burn_gp::ops::Stationary::Matern52.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_what_its_text_says() {
        let default = KernelExpression::default();
        assert_eq!(default.text.parse(), Ok(default));
    }
}
