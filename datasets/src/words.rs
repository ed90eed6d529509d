//! Words with a special meaning in tables: markers of missing values, and truth values.

use crate::double_precision;
use crate::raw_column::Cell;

/// Texts that mark a missing value, in lower case.
const MISSING: [&str; 13] = [
    "na", "n/a", "#n/a", "<na>", "nan", "null", "nil", "none", "missing", "?", "-", "--", ".",
];

/// Pairs of words for no and yes, in lower case. Pairs in one family mean the same.
const TRUTH: [&[[&str; 2]]; 3] = [
    &[["false", "true"], ["f", "t"], ["0", "1"]],
    &[["no", "yes"], ["n", "y"]],
    &[["off", "on"]],
];

/// A word for no or yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TruthWord {
    /// The position of its family in [`TRUTH`].
    family: usize,
    /// The position of its pair in the family.
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

/// Markers that are ordinary words, and as labels are more often classes than markers.
const WORDS: [&str; 3] = ["none", "nil", "missing"];

/// Whether a text usually marks a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    is_one_of(text, &MISSING)
}

fn is_one_of(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a common marker is an ordinary word.
pub(crate) fn is_word(marker: &str) -> bool {
    is_one_of(marker, &WORDS)
}

/// Whether a cell marks a missing value: it is one of the user's `own` markers or, if there are none, one of
/// the common markers.
pub(crate) fn is_marker(cell: Cell<'_>, own: Option<&[String]>) -> bool {
    let Some(own) = own else {
        return matches!(cell, Cell::Text(text) if is_missing(text));
    };
    own.iter().any(|marker| match cell {
        Cell::Text(text) => text == marker,
        Cell::Number(value) => marker.parse() == Ok(value),
        Cell::Missing => false,
    })
}

/// Whether a common marker among the labels `texts` is more likely a class than a missing value:
///
/// - a sign beside other signs, as in `+` and `-`;
/// - `NaN` beside infinite numbers;
/// - a word such as `missing` beside other words;
/// - a code beside another of the same length and case that is not a truth value, as in `EU`, `NA`, `AS`.
pub(crate) fn is_class(marker: &str, texts: &[String]) -> bool {
    let mut others = texts.iter().filter(|text| !is_missing(text));
    let is_sign = |text: &str| !text.is_empty() && !text.contains(char::is_alphanumeric);
    let is_other_word = |text: &String| text.starts_with(char::is_alphabetic);
    if is_sign(marker) {
        return others.any(|text| is_sign(text))
            || texts.len() > 1 && texts.iter().all(|text| is_sign(text));
    }
    if is_word(marker) {
        return marker.eq_ignore_ascii_case("none") || others.any(is_other_word);
    }
    let is_infinite = |text: &String| double_precision::is_infinite(text);
    let is_code = |text: &String| shape(text) == shape(marker) && TruthWord::of(text).is_none();
    let is_nan = marker.eq_ignore_ascii_case("nan");
    others.any(|text| is_nan && is_infinite(text) || is_code(text))
}

/// Whether the labels `texts` are one word besides markers. Without the markers as classes there would be nothing to
/// learn.
pub(crate) fn is_one_word(texts: &[String]) -> bool {
    let mut others = texts.iter().filter(|text| !is_missing(text));
    let is_word = |text: &String| text.starts_with(char::is_alphabetic);
    others.next().is_some_and(is_word) && others.next().is_none()
}

/// The pattern of upper-case and lower-case letters in a text.
fn shape(text: &str) -> String {
    let case = |letter: char| match letter {
        letter if letter.is_uppercase() => 'A',
        letter if letter.is_lowercase() => 'a',
        other => other,
    };
    text.chars().map(case).collect()
}

/// The words for no and yes, each in its first spelling, if all `texts` are spellings of them and both occur.
pub(crate) fn truth_values(texts: &[String]) -> Option<[String; 2]> {
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

/// The first spelling among `texts` of a truth value, such as `TRUE` for `True`. Single letters may be
/// different labels unless all texts are truth values.
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
        .then_some(if word.value { yes } else { no })
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
        let own = ["-999".to_owned(), "x".to_owned()];
        for (cell, is_gap) in [
            (Cell::Number(-999.0), true),
            (Cell::Text("x"), true),
            (Cell::Text("NA"), false),
            (Cell::Number(1.0), false),
        ] {
            assert_eq!(is_marker(cell, Some(&own)), is_gap, "{cell}");
        }
    }

    #[test]
    fn markers_are_classes_where_other_labels_make_them_plausible() {
        for (marker, others, expected) in [
            ("-", &["+"][..], true),
            ("?", &["!", "..."], true),
            (".", &["+", "-"], true),
            ("-", &["a", "b"], false),
            ("?", &["edible", "poisonous"], false),
            ("NA", &["EU", "AS"], true),
            ("NA", &["NO", "YES"], false),
            ("NA", &["Rome", "Oslo"], false),
            ("NaN", &["Inf", "Zero"], true),
            ("NaN", &["cat", "dog"], false),
            ("missing", &["present"], true),
            ("missing", &["1", "2"], false),
            ("N/A", &["yes", "no"], false),
        ] {
            let texts: Vec<String> = others.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(is_class(marker, &texts), expected, "{marker} {others:?}");
        }
    }
}
