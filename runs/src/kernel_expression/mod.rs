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

use burn_gp_core::{
    kernels::{KernelConfig, StationaryConfig},
    ops::Stationary,
};
use serde::{Deserialize, Serialize};

pub use error::KernelExpressionError;

/// A kernel expression: its text and its configuration.
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
    /// The configuration of the kernel; `isotropic` makes all inputs share parameters that
    /// otherwise exist for each input.
    pub fn config(&self, isotropic: bool) -> KernelConfig {
        if isotropic {
            self.config.clone().isotropic()
        } else {
            self.config.clone()
        }
    }

    /// A stationary kernel with initial lengthscales of one, as in many papers.
    pub fn of_unit_lengthscale(kind: Stationary) -> Self {
        let config = StationaryConfig::new(kind).with_lengthscale(1.0);
        let name = Self::from(kind);
        Self {
            text: format!("{name}(lengthscale=1)"),
            config: config.into(),
        }
    }

    /// A stationary kernel with these initial values.
    pub fn starting_at(kind: Stationary, lengthscale: f64, variance: f64) -> Self {
        let config = StationaryConfig::new(kind)
            .with_lengthscale(lengthscale)
            .with_variance(variance);
        let name = Self::from(kind);
        Self {
            text: format!("{name}(lengthscale={lengthscale}, variance={variance})"),
            config: config.into(),
        }
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
            let expression = KernelExpression::of_unit_lengthscale(kind);
            assert_eq!(expression.text.parse(), Ok(expression));
            let expression = KernelExpression::starting_at(kind, 2.5, 5.0);
            assert_eq!(expression.text.parse(), Ok(expression));
        }
    }
}
