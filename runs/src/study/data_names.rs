//! The names of data sets in folder paths.

use std::collections::BTreeMap;
use std::path::Path;

use crate::arguments::RunOptions;

/// Data sets by their names in folder paths.
///
/// # Errors
///
/// An error message if two would have the same name.
pub fn by_name(data: Vec<String>) -> Result<BTreeMap<String, String>, String> {
    let mut sets: BTreeMap<String, String> = BTreeMap::new();
    for (name, source) in data.into_iter().map(named) {
        match sets.get(&name) {
            Some(other) if *other != source => {
                return Err(format!(
                    "{other} and {source} would both be called {name}; rename one of them"
                ));
            }
            _ => sets.insert(name, source),
        };
    }
    Ok(sets)
}

/// A data set with its name in folder paths.
pub fn named(data: String) -> (String, String) {
    let stem = Path::new(&data)
        .file_stem()
        .filter(|_| Path::new(&data).is_file());
    let name = match stem {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => data.replace(['/', ':', '?', '&'], "-"),
    };
    let run = RunOptions {
        data: Some(data),
        ..RunOptions::default()
    };
    let run = run.with_absolute_paths();
    (name, run.data.unwrap_or_default())
}
