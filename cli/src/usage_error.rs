//! Usage errors as one sentence.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Describes a usage error in one sentence. `None` if the user asked for the help or the version.
pub fn usage_error(error: &clap::Error) -> Option<String> {
    let asks_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if asks_for_help {
        return None;
    }
    let rendered = error.render().to_string();
    let paragraph = rendered.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let sentence = words.join(" ");
    let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
    let sentence = sentence.trim_end_matches([':', '.']);
    let tip = suggestion(error)
        .map(|name| format!(" (did you mean {name}?)"))
        .unwrap_or_default();
    Some(format!("{sentence}{tip}; see --help"))
}

/// A valid name similar to the wrong one.
fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.clone()),
        Some(ContextValue::Strings(names)) => names.first().cloned(),
        _ => None,
    })
}
