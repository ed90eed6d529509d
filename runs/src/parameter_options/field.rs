//! `--field PATH=VALUE`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ParameterOptionError;

/// The value of a field in the configuration of the model or of its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FieldOption {
    /// The path of the field, which starts with `model` or `training`.
    pub path: String,
    /// The value.
    pub value: Value,
}

impl FromStr for FieldOption {
    type Err = ParameterOptionError;

    /// The value is JSON, or else a text: `3`, `null`, `[1, 2]`, `k-means`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "PATH=VALUE, such as model.inducing.seed=3";
        let (path, value) = text.split_once('=').unwrap_or((text, ""));
        let (path, value) = (path.trim(), value.trim());
        let is_known = ["model.", "training."]
            .iter()
            .any(|part| path.starts_with(part));
        if !is_known || value.is_empty() {
            return Err(ParameterOptionError::Form { form });
        }
        Ok(Self {
            path: path.to_owned(),
            value: serde_json::from_str(value).unwrap_or_else(|_| value.into()),
        })
    }
}

impl TryFrom<String> for FieldOption {
    type Error = ParameterOptionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FieldOption> for String {
    fn from(FieldOption { path, value }: FieldOption) -> Self {
        match value {
            // A text that reads as JSON keeps its quotes.
            Value::String(text) if serde_json::from_str::<Value>(&text).is_err() => {
                format!("{path}={text}")
            }
            value => format!("{path}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_they_are_written() {
        for text in [
            "model.inducing.seed=3",
            "training.plateau={\"patience\":3}",
            "model.inducing.initializer=k-means",
            "model.image=\"28\"",
            "training.gradient_norm=null",
        ] {
            let option: FieldOption = text.parse().unwrap();
            assert_eq!(String::from(option), text);
        }
        let spaced: FieldOption = " training.learning_rate = 0.1 ".parse().unwrap();
        assert_eq!(String::from(spaced), "training.learning_rate=0.1");
        for text in [
            "inducing.seed=3",
            "model.inducing.seed",
            "model=svgp",
            "model.seed=",
            "",
        ] {
            assert!(text.parse::<FieldOption>().is_err(), "{text}");
        }
    }
}
