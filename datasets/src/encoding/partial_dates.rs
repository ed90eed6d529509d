//! Dates without a day, which stand for the first day of a month, a quarter or a week, and hours without minutes.

use std::borrow::Cow;

/// Notations without a day, with what completes a text in front and at the end, and the complete notation.
const WITHOUT_DAY: [(&str, [&str; 2], &str); 8] = [
    ("%B %Y", ["1 ", ""], "%d %B %Y"),
    ("%Y-%m", ["", "-1"], "%Y-%m-%d"),
    ("%m/%Y", ["1/", ""], "%d/%m/%Y"),
    ("%m-%Y", ["1-", ""], "%d-%m-%Y"),
    ("%B-%Y", ["1-", ""], "%d-%B-%Y"),
    ("%B-%y", ["1-", ""], "%d-%B-%y"),
    ("%Y-%B", ["", "-1"], "%Y-%B-%d"),
    ("%G-W%V", ["", "-1"], "%G-W%V-%u"),
];

/// Notations of quarters of a year, with what separates the parts.
const QUARTERS: [(&str, &str); 5] = [
    ("%Y-Q%q", "-Q"),
    ("%YQ%q", "Q"),
    ("%Y Q%q", " Q"),
    ("Q%q %Y", " "),
    ("Q%q-%Y", "-"),
];

/// The notation of quarters when the first month of the quarter has taken its place.
const FIRST_MONTH: &str = "%Y-%m-%d";

/// All notations without a day.
pub(super) fn without_day() -> impl Iterator<Item = &'static str> {
    let quarters = QUARTERS.iter().map(|(format, _)| *format);
    WITHOUT_DAY
        .iter()
        .map(|(format, ..)| *format)
        .chain(quarters)
}

/// Whether a notation has neither a day nor the number of a day.
pub(super) fn is_without_day(format: &str) -> bool {
    without_day().any(|own| own == format)
}

/// The text and its notation with the first day of a month, quarter or week, and with the first minute of an hour. What
/// is complete stays; `None` if a text is not a quarter.
pub(super) fn completed<'a>(
    text: &'a str,
    format: &'a str,
) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
    let mut partial = WITHOUT_DAY.iter().filter(|(own, ..)| *own == format);
    if let Some((_, [front, end], whole)) = partial.next() {
        return Some((format!("{front}{text}{end}").into(), (*whole).into()));
    }
    if let Some((_, separator)) = QUARTERS.iter().find(|(own, _)| *own == format) {
        return Some((
            first_of_quarter(text, separator)?.into(),
            FIRST_MONTH.into(),
        ));
    }
    Some(match format.ends_with("%H") {
        true => (format!("{text}:00").into(), format!("{format}:%M").into()),
        false => (text.into(), format.into()),
    })
}

/// The first day of a quarter such as 2021-Q3 or Q3 2021.
fn first_of_quarter(text: &str, separator: &str) -> Option<String> {
    let (first, second) = text.split_once(separator)?;
    let (year, quarter) = match first.strip_prefix('Q') {
        Some(quarter) => (second, quarter),
        None => (first, second),
    };
    let month = match quarter {
        "1" => 1,
        "2" => 4,
        "3" => 7,
        "4" => 10,
        _ => return None,
    };
    let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| format!("{year}-{month}-1"))
}
