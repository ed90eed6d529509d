//! Words with a meaning of their own in tables: markers of missing values, and truth values.

/// Texts that stand for a missing value, in lower case.
const MISSING: [&str; 13] = [
    "na", "n/a", "#n/a", "<na>", "nan", "null", "nil", "none", "missing", "?", "-", "--", ".",
];

/// Pairs of words for no and yes, in lower case. Those that stand together mean the same.
const TRUTH: [&[[&str; 2]]; 3] = [
    &[["false", "true"], ["f", "t"], ["0", "1"]],
    &[["no", "yes"], ["n", "y"]],
    &[["off", "on"]],
];

/// A word for no or yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TruthWord {
    /// The position in [`TRUTH`], …
    family: usize,
    /// … and that in the family.
    pair: usize,
    value: bool,
}

impl TruthWord {
    fn of(text: &str) -> Option<Self> {
        let families = TRUTH.iter().enumerate();
        let mut pairs = families.flat_map(|(family, pairs)| {
            let pairs = pairs.iter().enumerate();
            pairs.map(move |(pair, words)| (family, pair, words))
        });
        pairs.find_map(|(family, pair, words)| {
            let value = words
                .iter()
                .position(|word| text.eq_ignore_ascii_case(word))?;
            Some(Self {
                family,
                pair,
                value: value == 1,
            })
        })
    }
}

/// Whether a text stands for a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text in a target column stands for a missing value; `none` can be a class.
pub(crate) fn is_missing_target(text: &str) -> bool {
    is_missing(text) && !text.eq_ignore_ascii_case("none")
}

/// The words for no and yes that all `texts` are in some spelling, each as it is first spelled; both
/// must occur.
pub(super) fn truth_values(texts: &[String]) -> Option<[String; 2]> {
    let words: Option<Vec<TruthWord>> = texts.iter().map(|text| TruthWord::of(text)).collect();
    let words = words.filter(|words| words.windows(2).all(|two| two[0].pair == two[1].pair))?;
    let first = |value: bool| {
        let position = words.iter().position(|word| word.value == value);
        position.map(|position| texts[position].clone())
    };
    let is_family = words.windows(2).all(|two| two[0].family == two[1].family);
    first(false)
        .zip(first(true))
        .filter(|_| is_family)
        .map(<[String; 2]>::from)
}

/// The first spelling of every text that is a truth value in another spelling, such as `TRUE` for
/// `True`. Single letters may be different labels unless all texts are truth values.
pub(crate) fn first_spelling<'a>(texts: &'a [String], text: &str) -> Option<&'a String> {
    let is_word =
        TruthWord::of(text).is_some() && (text.len() > 1 || truth_values(texts).is_some());
    let mut same = texts
        .iter()
        .filter(|other| other.eq_ignore_ascii_case(text));
    same.next().filter(|_| is_word)
}

/// The position of a label among `names`: the same text, a truth value in another spelling, or, where
/// the names are two truth values, another word for one of them, such as `1` for `True`.
pub(crate) fn position(names: &[String], label: &str) -> Option<usize> {
    let same = |name: &String| names.iter().position(|own| own == name);
    if let Some(position) = names.iter().position(|name| name == label) {
        return Some(position);
    }
    if let Some(spelled) = first_spelling(names, label) {
        return same(spelled);
    }
    let [no, yes] = truth_values(names)?;
    let (own, word) = (TruthWord::of(&no)?, TruthWord::of(label)?);
    let means_same = word.family == own.family;
    means_same
        .then(|| if word.value { yes } else { no })
        .and_then(|name| same(&name))
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
        let several = ["off", "ON", "Off", "on"].map(str::to_owned);
        assert_eq!(truth_values(&several), expected("off", "ON"));
    }

    #[test]
    fn truth_values_meet_in_other_spellings() {
        for (names, label, expected) in [
            (["No", "Yes"], "yes", Some(1)),
            (["No", "Yes"], "N", Some(0)),
            (["OFF", "ON"], "on", Some(1)),
            (["f", "t"], "FALSE", Some(0)),
            (["0", "1"], "true", Some(1)),
            (["False", "True"], "0", Some(0)),
            (["No", "Yes"], "true", None),
            (["f", "m"], "F", None),
            (["off", "dimmed"], "Off", Some(0)),
            (["off", "dimmed"], "0", None),
        ] {
            let names = names.map(str::to_owned);
            assert_eq!(position(&names, label), expected, "{names:?} {label}");
        }
    }

    #[test]
    fn missing_values_in_any_spelling() {
        for word in ["NA", "n/a", "NaN", "?", "NULL", "None"] {
            assert!(is_missing(word), "{word}");
        }
        assert!(!is_missing("nobody") && !is_missing("0"));
    }
}
