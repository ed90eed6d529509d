//! Explanations for malformed input texts.

/// The smallest similarity, from 0 to 1, at which a name is suggested for an unknown one.
const SIMILAR: f64 = 0.8;

/// The error message of serde for a text that it cannot parse. If a field or variant name is
/// unknown, the message suggests a similar name.
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
