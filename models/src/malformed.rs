//! Texts that are not what they should be.

/// The least similarity, from 0 to 1, of a name that may be meant instead of another.
const SIMILAR: f64 = 0.8;

/// What serde says about a text that it cannot read; where a field or a variant has a name that there
/// is not, with the name that may be meant.
pub fn explained(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let mut names = text.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| text.starts_with("unknown "));
    let Some(unknown) = unknown else { return text };
    let similarity = |name: &&str| strsim::jaro_winkler(unknown, name);
    let nearest = names.max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    match nearest.filter(|name| similarity(name) >= SIMILAR) {
        Some(nearest) => {
            let quoted = format!("`{unknown}`");
            text.replacen(&quoted, &format!("{quoted} (did you mean `{nearest}`?)"), 1)
        }
        None => text,
    }
}
