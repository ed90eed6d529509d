//! Suggestions for misspelled names.

use strsim::{jaro_winkler, levenshtein};

/// Names similar to `wanted`, best first.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| (similarity(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// The name most similar to `wanted`, if any is similar.
///
/// ```
/// use burn_gp_datasets::nearest;
///
/// let names = ["steps", "seed"];
/// assert_eq!(nearest("step", names.into_iter()).as_deref(), Some("steps"));
/// assert_eq!(nearest("kernel", names.into_iter()), None);
/// ```
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    near(wanted, names).into_iter().next()
}

/// The end of a sentence about an unknown name: `; did you mean steps?`, or a period if no name is similar.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    let tip = |name: &String| format!("; did you mean {name}?");
    nearest.as_ref().map_or_else(|| ".".to_owned(), tip)
}

const SIMILAR: f64 = 0.8;

/// Jaro-Winkler alone considers short unrelated words similar, and edit distance alone misses a
/// forgotten second half. Both must agree, except that a shared prefix counts as similar.
fn similarity(wanted: &str, name: &str) -> f64 {
    let length = wanted.chars().count().max(name.chars().count());
    let prefix = wanted.chars().count() >= 3 && name.starts_with(wanted);
    if prefix || 2 * levenshtein(wanted, name) <= length {
        jaro_winkler(wanted, name)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["kin40k", "protein", "wine", "winequality"];
        assert_eq!(near("kin4k", names.into_iter()), ["kin40k"]);
        assert_eq!(near("Wine", names.into_iter()), ["wine", "winequality"]);
        assert!(near("zebra", names.into_iter()).is_empty());
    }
}
