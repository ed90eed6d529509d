//! The names of transformations.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransformName {
    /// None: the column stays as it is, whatever a program would choose.
    None,
    /// The logarithm.
    Log,
    /// Box-Cox, with the power of the highest likelihood.
    BoxCox,
    /// Yeo-Johnson, with the power of the highest likelihood.
    YeoJohnson,
    /// Shares of the training rows.
    Quantile,
}

impl TransformName {
    /// All names.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Log,
        Self::BoxCox,
        Self::YeoJohnson,
        Self::Quantile,
    ];

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::BoxCox => "box-cox",
            Self::YeoJohnson => "yeo-johnson",
            Self::Quantile => "quantile",
        }
    }

    /// Whether the transformation takes a value.
    pub fn takes(self, value: f64) -> bool {
        match self {
            Self::Log | Self::BoxCox => value > 0.0,
            Self::None | Self::YeoJohnson | Self::Quantile => true,
        }
    }
}

/// The error for a text that is not the name of a transformation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transformation; choose log, box-cox, yeo-johnson, quantile or none")]
pub struct UnknownTransform(pub String);

impl FromStr for TransformName {
    type Err = UnknownTransform;

    fn from_str(text: &str) -> Result<Self, UnknownTransform> {
        let mut names = Self::ALL.into_iter();
        let found = names.find(|name| name.name() == text);
        found.ok_or_else(|| UnknownTransform(text.to_owned()))
    }
}

impl fmt::Display for TransformName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
