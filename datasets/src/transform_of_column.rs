//! The transformation of a column, as the user writes it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transform::TransformName;

/// The transformation of a column; in text, `COLUMN=NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TransformOfColumn {
    /// The name of the column.
    pub column: String,
    /// The transformation.
    pub transform: TransformName,
}

/// The error for a text that is not the transformation of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransformOfColumnError {
    /// There is no equals sign.
    #[error("{0:?} is not of the form COLUMN=TRANSFORM, such as price=log")]
    Form(String),
    /// The transformation is unknown.
    #[error("{0:?} is not a transformation; choose log, box-cox, yeo-johnson, quantile or none")]
    Name(String),
}

impl FromStr for TransformOfColumn {
    type Err = TransformOfColumnError;

    fn from_str(text: &str) -> Result<Self, TransformOfColumnError> {
        let form = || TransformOfColumnError::Form(text.to_owned());
        let (column, name) = text.rsplit_once('=').ok_or_else(form)?;
        let mut names = TransformName::ALL.into_iter();
        let transform = names.find(|own| own.name() == name);
        Ok(Self {
            column: column.to_owned(),
            transform: transform.ok_or_else(|| TransformOfColumnError::Name(name.to_owned()))?,
        })
    }
}

impl TryFrom<String> for TransformOfColumn {
    type Error = TransformOfColumnError;

    fn try_from(text: String) -> Result<Self, TransformOfColumnError> {
        text.parse()
    }
}

impl From<TransformOfColumn> for String {
    fn from(own: TransformOfColumn) -> Self {
        own.to_string()
    }
}

impl fmt::Display for TransformOfColumn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.column, self.transform)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformations_of_columns() {
        let text = "a=b=yeo-johnson";
        let own: TransformOfColumn = text.parse().unwrap();
        assert_eq!(
            (own.column.as_str(), own.transform),
            ("a=b", TransformName::YeoJohnson)
        );
        assert_eq!(own.to_string(), text);
        let error = |text: &str| text.parse::<TransformOfColumn>().unwrap_err().to_string();
        assert_eq!(
            error("price=sqrt"),
            "\"sqrt\" is not a transformation; choose log, box-cox, yeo-johnson, quantile or none"
        );
        assert!(error("price").contains("COLUMN=TRANSFORM"));
    }
}
