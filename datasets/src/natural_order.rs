//! Natural sort order, which compares numbers within texts by value.

use std::cmp::Ordering;

/// A part of a text: digits with an optional decimal point, or the text in between.
#[derive(Clone, Debug, PartialEq)]
enum Part<'a> {
    Number(f64),
    Text(&'a str),
}

/// Splits a text into parts. A sign counts as text, because a hyphen before a number is usually a
/// dash.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_ascii_digit() {
            number_end(rest)
        } else {
            rest.find(|c: char| c.is_ascii_digit())
                .unwrap_or(rest.len())
        };
        let (part, others) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if first.is_ascii_digit() => Part::Number(number),
            _ => Part::Text(part),
        });
        rest = others;
    }
    parts
}

/// The end of the number at the start of a text.
fn number_end(text: &str) -> usize {
    let digits = |from: usize| {
        let bytes = &text.as_bytes()[from..];
        bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    match text.as_bytes().get(whole) {
        Some(b'.') if digits(whole + 1) > 0 => whole + 1 + digits(whole + 1),
        _ => whole,
    }
}

/// Compares texts part by part. Numbers are compared by value and come before letters.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    compare_parts(&parts(a), &parts(b)).then_with(|| a.cmp(b))
}

fn compare_parts(a: &[Part<'_>], b: &[Part<'_>]) -> Ordering {
    let order = |(a, b): (&Part<'_>, &Part<'_>)| match (a, b) {
        (Part::Number(a), Part::Number(b)) => a.total_cmp(b),
        (Part::Number(_), Part::Text(_)) => Ordering::Less,
        (Part::Text(_), Part::Number(_)) => Ordering::Greater,
        (Part::Text(a), Part::Text(b)) => a.cmp(b),
    };
    let different = a.iter().zip(b).map(order).find(|order| order.is_ne());
    different.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Whether sorted texts differ only in the values of their numbers, such as `grade 2` and
/// `grade 10`.
pub(crate) fn is_told_by_numbers(sorted: &[String]) -> bool {
    let differ_in_numbers = |pair: &[String]| {
        let (a, b) = (parts(&pair[0]), parts(&pair[1]));
        let alike = |(a, b): (&Part<'_>, &Part<'_>)| match (a, b) {
            (Part::Number(_), Part::Number(_)) => true,
            (a, b) => a == b,
        };
        a.len() == b.len() && a.iter().zip(&b).all(alike) && compare_parts(&a, &b).is_lt()
    };
    sorted.windows(2).all(differ_in_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(texts: &[&str]) -> Vec<String> {
        let mut texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        texts.sort_by(|a, b| compare(a, b));
        texts
    }

    #[test]
    fn numbers_within_texts_are_compared_by_value() {
        for (texts, expected) in [
            (
                ["grade 10", "grade 2", "grade 1.5"],
                ["grade 1.5", "grade 2", "grade 10"],
            ),
            (["20-29", "100-", "3-19"], ["3-19", "20-29", "100-"]),
            (["b2", "a10", "a9"], ["a9", "a10", "b2"]),
            (["b", "10", "9"], ["9", "10", "b"]),
            (["x", "", "1"], ["", "1", "x"]),
            (["é2", "é10", "e"], ["e", "é2", "é10"]),
        ] {
            assert_eq!(sorted(&texts), expected);
        }
    }

    #[test]
    fn an_order_is_told_where_only_numbers_differ() {
        for texts in [
            ["grade 2", "grade 10", "grade 3"],
            ["1-9", "10-19", "20-29"],
            ["phase 1 of 3", "phase 3 of 3", "phase 2 of 3"],
            ["0.5 mg", "10 mg", "2 mg"],
        ] {
            assert!(is_told_by_numbers(&sorted(&texts)), "{texts:?}");
        }
        for texts in [
            ["low", "medium", "high"],
            ["grade 2", "Grade 10", "grade 3"],
            ["under 10", "10 to 20", "over 20"],
            ["2", "02", "3"],
            ["1st", "2nd", "3rd"],
        ] {
            assert!(!is_told_by_numbers(&sorted(&texts)), "{texts:?}");
        }
    }
}
