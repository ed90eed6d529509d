//! Parts of sentences about data.

use std::path::PathBuf;

/// ` (did you mean …?)` with the name most similar to a wrong one, if there is any.
pub(super) fn suggestion(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!(" (did you mean {name:?}?)"))
        .unwrap_or_default()
}

/// ` (did you mean … or …?)` with several similar names.
pub(super) fn suggestions(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("{name:?}")).collect();
    format!(" (did you mean {}?)", quoted.join(" or "))
}

/// Quoted names; of many names, only the first.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 30;
    let mut quoted: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > SHOWN {
        quoted.push(format!("and {} more", names.len() - SHOWN));
    }
    quoted.join(", ")
}

/// The places where a file was looked for.
pub(super) fn looked_for(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no data directory is given (--data-dir or BURN_GP_DATA)".into();
    }
    let shown: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!("looked for {}", shown.join(" and "))
}

/// Advice to correct the file or use options.
pub(super) fn works(options: &[String]) -> String {
    match options {
        [] => "correct the file".into(),
        options => format!("correct the file, or use {}", options.join(" ")),
    }
}
