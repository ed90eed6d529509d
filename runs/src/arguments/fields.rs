//! Access to the options of a run by name.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use clap::{Args, FromArgMatches};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::RunOptions;

impl RunOptions {
    /// The options that are set, by their names in configuration files.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// Reads options by name; the inverse of [`fields`](Self::fields).
    ///
    /// # Errors
    ///
    /// If there is no such option, or a value is invalid.
    pub fn from_fields(fields: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let mut options = Self::default();
        for (name, value) in fields {
            options.set(&name, value)?;
        }
        Ok(options)
    }

    /// Makes all paths absolute, because the options may be read from another working directory.
    pub fn with_absolute_paths(mut self) -> Self {
        self.data = self.data.map(absolute_file);
        self.test = self.test.map(absolute_file);
        self.validation = self.validation.map(absolute_file);
        self.data_dir = (self.data_dir).map(|path| std::path::absolute(&path).unwrap_or(path));
        self
    }

    /// The sections of a configuration file with the names of their options. Sections are the
    /// headings of the help.
    pub fn sections() -> impl Iterator<Item = (String, &'static [&'static str])> {
        let section = |heading: &str| heading.to_lowercase().replace([' ', '-'], "_");
        (Self::HEADINGS.iter()).map(move |(heading, names)| (section(heading), *names))
    }

    /// The command-line option for a field.
    ///
    /// # Panics
    ///
    /// If there is no such field.
    pub fn argument(field: &str) -> clap::Arg {
        let command = Self::augment_args(clap::Command::new("run"));
        let argument = command
            .get_arguments()
            .find(|argument| argument.get_id() == field);
        let argument = argument.unwrap_or_else(|| panic!("there is no option {field}"));
        argument.clone()
    }

    /// Parses the value of a field from the command line.
    ///
    /// # Errors
    ///
    /// If the value is invalid.
    pub fn parse_field(field: &str, word: &str) -> Result<Map<String, Value>, clap::Error> {
        let command = Self::augment_args(clap::Command::new("run").no_binary_name(true));
        let typed = format!("--{}={word}", field.replace('_', "-"));
        let matches = command.try_get_matches_from([typed])?;
        Ok(Self::from_arg_matches(&matches)?.fields())
    }
}

impl<'de> Deserialize<'de> for RunOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OptionsVisitor)
    }
}

/// Reads options from a map.
struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = RunOptions;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("struct RunOptions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunOptions, A::Error> {
        let (mut options, mut seen) = (RunOptions::default(), BTreeSet::new());
        while let Some(typed) = map.next_key::<String>()? {
            let name = RunOptions::NAMES.iter().find(|name| **name == typed);
            let name = name.ok_or_else(|| A::Error::unknown_field(&typed, RunOptions::NAMES))?;
            if !seen.insert(name) {
                return Err(A::Error::duplicate_field(name));
            }
            (options.set(name, map.next_value()?)).map_err(A::Error::custom)?;
        }
        Ok(options)
    }
}

/// The absolute path of a file. Other texts are unchanged.
fn absolute_file(text: String) -> String {
    let path = Path::new(&text);
    if burn_gp_datasets::find(&text).is_ok() || !path.is_file() {
        return text;
    }
    match std::path::absolute(path) {
        Ok(path) => path.display().to_string(),
        Err(_) => text,
    }
}
