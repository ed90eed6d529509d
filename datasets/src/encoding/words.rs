//! Words with a meaning of their own in tables: markers of missing values, and truth values.

/// Texts that stand for a missing value, in lower case.
const MISSING: [&str; 13] = [
    "na", "n/a", "#n/a", "<na>", "nan", "null", "nil", "none", "missing", "?", "-", "--", ".",
];

/// Pairs of words for no and yes, in lower case.
const TRUTH: [[&str; 2]; 5] = [
    ["false", "true"],
    ["no", "yes"],
    ["n", "y"],
    ["f", "t"],
    ["off", "on"],
];

/// Whether a text stands for a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text in a target column stands for a missing value; `none` can be a class.
pub(crate) fn is_missing_target(text: &str) -> bool {
    is_missing(text) && !text.eq_ignore_ascii_case("none")
}

/// The words for no and yes that all `texts` are, as spelled there; both must occur.
pub(super) fn truth_values(texts: &[String]) -> Option<[String; 2]> {
    let [first, second] = texts else {
        return None;
    };
    let is = |text: &String, word: &str| text.eq_ignore_ascii_case(word);
    TRUTH.iter().find_map(|[no, yes]| {
        if is(first, no) && is(second, yes) {
            Some([first.clone(), second.clone()])
        } else if is(second, no) && is(first, yes) {
            Some([second.clone(), first.clone()])
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_in_any_spelling() {
        let words = |a: &str, b: &str| truth_values(&[a.to_owned(), b.to_owned()]);
        let expected = |no: &str, yes: &str| Some([no.to_owned(), yes.to_owned()]);
        assert_eq!(words("TRUE", "FALSE"), expected("FALSE", "TRUE"));
        assert_eq!(words("No", "Yes"), expected("No", "Yes"));
        assert_eq!(words("Y", "n"), expected("n", "Y"));
        assert_eq!(words("yes", "false"), None);
        assert_eq!(truth_values(&["yes".to_owned()]), None);
    }

    #[test]
    fn missing_values_in_any_spelling() {
        for word in ["NA", "n/a", "NaN", "?", "NULL", "None"] {
            assert!(is_missing(word), "{word}");
        }
        assert!(!is_missing("nobody") && !is_missing("0"));
    }
}
