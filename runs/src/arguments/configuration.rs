//! Configuration files: TOML with one section for each heading of the help, or JSON.

use std::fmt::Write;
use std::path::Path;

use burn_gp_datasets::nearest;
use burn_gp_models::CheckFailure;
use serde::{Deserialize, de::IntoDeserializer};
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::RunOptions;
use crate::checksums::{Links, read_text};
use crate::option_error::ConfigurationError;

/// The configuration file of a run.
pub const CONFIG: &str = "config.toml";

/// Reads the options in a configuration file.
///
/// # Errors
///
/// If the file cannot be read, is not a valid configuration, or has changed since a run wrote it.
pub fn read_configuration(path: &Path) -> Result<RunOptions, ConfigurationError> {
    let text = read_text(path, Links::Followed).map_err(|error| match error.reason {
        CheckFailure::Unreadable(source) => ConfigurationError::Unreadable {
            path: path.to_owned(),
            source,
        },
        _ => ConfigurationError::Damaged(error),
    })?;
    parse_configuration(path, &text)
}

/// Reads the options in the text of the configuration file at `path`.
///
/// # Errors
///
/// If the text is not a valid configuration.
pub fn parse_configuration(path: &Path, text: &str) -> Result<RunOptions, ConfigurationError> {
    let is_toml = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let read = match is_toml {
        true => from_toml(text),
        false => serde_json::from_str(text).map_err(|reason| burn_gp_models::explained(&reason)),
    };
    read.map_err(|reason| ConfigurationError::Malformed {
        path: path.to_owned(),
        reason,
    })
}

/// Writes options as TOML.
pub fn to_toml(options: &RunOptions) -> String {
    let fields = options.fields();
    let mut text = String::new();
    for (section, names) in RunOptions::sections() {
        let own: Vec<(&String, &Value)> = fields
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .collect();
        if own.is_empty() {
            continue;
        }
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}[{section}]");
        for (name, value) in own {
            let _ = writeln!(text, "{name} = {}", written(value));
        }
    }
    text
}

/// The value of an option in TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(written).collect();
            format!("[{}]", values.join(", "))
        }
        // TOML integers are signed, so larger numbers are written as strings.
        Value::Number(number) if number.as_i64().is_none() && number.is_u64() => {
            format!("\"{number}\"")
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        value => value.to_string(),
    }
}

/// Parses options with or without section headings.
fn from_toml(text: &str) -> Result<RunOptions, String> {
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        format!("{} at {}", error.message(), place(text, start))
    })?;
    let sections: Vec<(String, &[&str])> = RunOptions::sections().collect();
    let mut fields = Map::new();
    for (key, value) in table.into_inner() {
        let start = key.span().start;
        let key = key.into_inner();
        let section = sections.iter().find(|(section, _)| *section == key);
        let is_section = matches!(value.get_ref(), DeValue::Table(_));
        match (section, is_section, value) {
            (Some((section, names)), true, value) => {
                let DeValue::Table(own) = value.into_inner() else {
                    continue;
                };
                for (key, value) in own {
                    let start = key.span().start;
                    let key = key.into_inner();
                    if !names.contains(&&*key) {
                        let of = format!("the section {section}");
                        return Err(unknown(&key, &of, names, &place(text, start)));
                    }
                    field(&mut fields, &key, value, text)?;
                }
            }
            (None, true, _) => {
                let names: Vec<&str> = sections.iter().map(|(own, _)| own.as_str()).collect();
                return Err(unknown(
                    &key,
                    "the configuration",
                    &names,
                    &place(text, start),
                ));
            }
            (_, false, value) => {
                let names = RunOptions::NAMES;
                if !names.contains(&&*key) {
                    let place = place(text, start);
                    return Err(unknown(&key, "the configuration", names, &place));
                }
                field(&mut fields, &key, value, text)?;
            }
        }
    }
    RunOptions::from_fields(fields).map_err(|error| error.to_string())
}

/// Adds an option and checks its value.
fn field(
    fields: &mut Map<String, Value>,
    name: &str,
    value: toml::Spanned<DeValue<'_>>,
    text: &str,
) -> Result<(), String> {
    let start = value.span().start;
    let wrong = |reason: String| format!("{name}: {reason} at {}", place(text, start));
    let value = Value::deserialize(value.into_deserializer());
    let mut value = value.map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
    let one =
        |value: &Value| RunOptions::from_fields(Map::from_iter([(name.to_owned(), value.clone())]));
    if let Err(error) = one(&value) {
        let number = value
            .as_str()
            .and_then(|text| text.parse::<u64>().ok())
            .map(Value::from);
        value = match number.filter(|number| one(number).is_ok()) {
            Some(number) => number,
            None => return Err(wrong(error.to_string())),
        };
    }
    fields.insert(name.to_owned(), value);
    Ok(())
}

fn unknown(key: &str, of: &str, names: &[&str], place: &str) -> String {
    let similar = nearest(key, names.iter().copied());
    let tip = similar.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
    format!("{of} has no {key}{tip} at {place}")
}

/// Line and column of a byte offset, counted from 1.
fn place(text: &str, byte: usize) -> String {
    let before = &text[..byte.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    format!("line {line} column {column}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::ModelChoice;

    #[test]
    fn options_survive_a_round_trip() {
        let options = RunOptions {
            model: ModelChoice::find("svdbk"),
            noise: Some(1.0 / 3.0),
            seed: Some(u64::MAX),
            data: Some("a \"b\"\\c".into()),
            set: Some(vec!["kernel.lengthscale=0.5".parse().unwrap()]),
            rank: Some(8),
            no_correction: Some(true),
            ..RunOptions::default()
        };
        let text = to_toml(&options);
        assert!(
            text.contains("[model]\n") && text.contains("\n[networks]\n"),
            "{text}"
        );
        assert_eq!(from_toml(&text), Ok(options), "{text}");
        assert_eq!(from_toml("").as_ref(), Ok(&RunOptions::default()));
        assert_eq!(
            from_toml("steps = 3").map(|options| options.steps),
            Ok(Some(3))
        );
    }

    #[test]
    fn mistakes_in_json_have_a_line_and_a_column() {
        for (text, expected) in [
            (
                r#"{"modell": 1}"#,
                "unknown field `modell`, expected one of `model`, `minutes`, `kernel`,",
            ),
            (r#"{"modell": 1}"#, "at line 1 column 9"),
            (
                "{\"steps\":\n\"x\"}",
                "invalid type: string \"x\", expected usize at line 2 column 4",
            ),
            (r#"{"training": {"steps": 1}}"#, "unknown field `training`"),
            (r#"{"steps": 1, "steps": 2}"#, "duplicate field `steps`"),
            ("[]", "invalid type: sequence, expected struct RunOptions"),
        ] {
            let found = serde_json::from_str::<RunOptions>(text)
                .unwrap_err()
                .to_string();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn mistakes_have_a_line_and_a_column() {
        for (text, expected) in [
            (
                "[model]\nmodell = 1",
                "the section model has no modell (did you mean model?) at line 2 column 1",
            ),
            (
                "[modl]\n",
                "the configuration has no modl (did you mean model?) at line 1 column 2",
            ),
            ("[training]\nsteps = \"x\"", "steps: invalid type"),
            ("[training]\nsteps = \"x\"", "at line 2 column 9"),
            ("[training]\nsteps = ", "at line 2 column 9"),
            ("[data]\nsteps = 3", "the section data has no steps"),
        ] {
            let found = from_toml(text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
