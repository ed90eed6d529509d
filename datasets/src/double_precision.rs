//! Numbers that double precision does not represent.

/// The first whole number whose successor has no exact double-precision value, 2⁵³.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// The digits of a whole number that may be inexact in double precision, without a plus sign or leading zeros.
pub(crate) fn long_whole(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    let is_whole = digits.len() >= 16 && digits.bytes().all(|digit| digit.is_ascii_digit());
    (is_whole && is_inexact(digits.parse().ok()?)).then(|| format!("{sign}{digits}"))
}

/// Whether a finite whole number is so large that it may be inexact in double precision.
pub(crate) fn is_inexact(value: f64) -> bool {
    value.is_finite() && value.abs() >= FIRST_INEXACT
}

/// Whether a text is a number that is not finite in double precision, such as `inf`, `∞` and `1e999`.
pub(crate) fn is_infinite(text: &str) -> bool {
    let size = text.trim_start_matches(['-', '+']);
    matches!(size, "∞" | "1.#INF") || text.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Whether a text is what spreadsheets write in the place of a number that they cannot compute.
pub(crate) fn is_failed_calculation(text: &str) -> bool {
    const ERRORS: [&str; 8] = [
        "#DIV/0!", "#VALUE!", "#NUM!", "#REF!", "#NAME?", "#NULL!", "#SPILL!", "#CALC!",
    ];
    ERRORS.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_double_precision_may_not_hold() {
        for (text, digits) in [
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740993"),
            ("-9007199254740993", "-9007199254740993"),
            ("+0012345678901234567890", "12345678901234567890"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(long_whole(text).as_deref(), Some(digits));
        }
        for text in [
            "9007199254740991",
            "0000000000000000042",
            "1e300",
            "12345678901234567.5",
            "1234567890123456x",
            "",
        ] {
            assert_eq!(long_whole(text), None, "{text}");
        }
    }
}
