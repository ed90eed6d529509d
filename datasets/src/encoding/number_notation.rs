//! Numbers with a currency or a percent sign, thousands separators or a decimal comma.

use serde::{Deserialize, Serialize};

/// Signs that may stand before or after a number.
const UNITS: [&str; 16] = [
    "US$", "$", "€", "£", "¥", "₹", "₽", "₩", "%", "‰", "CHF", "USD", "EUR", "GBP", "JPY", "kr",
];

/// The thousands separator and the decimal mark of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Marks {
    /// `1234.5`
    Plain,
    /// `1,234.5`
    CommaAndPoint,
    /// `1 234.5` or `1'234.5`
    SpaceAndPoint,
    /// `1.234,5`
    PointAndComma,
    /// `1 234,5`
    SpaceAndComma,
}

impl Marks {
    /// In the order in which they are tried.
    const ALL: [Self; 5] = [
        Self::Plain,
        Self::CommaAndPoint,
        Self::SpaceAndPoint,
        Self::PointAndComma,
        Self::SpaceAndComma,
    ];

    /// Whether the character separates thousands.
    fn divides_thousands(self, mark: char) -> bool {
        match self {
            Self::Plain => false,
            Self::CommaAndPoint => mark == ',',
            Self::PointAndComma => mark == '.',
            Self::SpaceAndPoint | Self::SpaceAndComma => " \u{a0}\u{202f}'’".contains(mark),
        }
    }

    /// The decimal mark.
    fn decimal(self) -> char {
        match self.mark() {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        }
    }

    fn mark(self) -> DecimalMark {
        match self {
            Self::Plain | Self::CommaAndPoint | Self::SpaceAndPoint => DecimalMark::Point,
            Self::PointAndComma | Self::SpaceAndComma => DecimalMark::Comma,
        }
    }
}

/// The decimal mark of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecimalMark {
    /// As in 1.5.
    #[serde(rename = ".")]
    Point,
    /// As in 1,5.
    #[serde(rename = ",")]
    Comma,
}

/// Units of languages that use a decimal point.
const UNITS_WITH_POINT: [&str; 8] = ["US$", "$", "£", "¥", "₹", "USD", "GBP", "JPY"];

/// What a column shows about the decimal mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Nothing, because it has neither decimals nor thousands separators.
    None,
    /// It is this mark, because the other would not fit.
    For(DecimalMark),
    /// Both marks fit but give different numbers: the text may be 1.234 or 1234.
    Either {
        /// The first such text.
        text: String,
        /// Whether a unit makes the point likely.
        has_unit_with_point: bool,
    },
}

/// The notation of the numbers of a column that are not plain numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberNotation {
    /// The sign before or after every number that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    marks: Marks,
}

impl NumberNotation {
    /// Numbers with a decimal comma and without a unit.
    pub(crate) fn with_comma() -> Self {
        Self {
            unit: None,
            marks: Marks::PointAndComma,
        }
    }

    /// What a column with these texts and plain numbers shows about the decimal mark.
    pub(crate) fn evidence(
        texts: &[String],
        numbers: impl Iterator<Item = f64> + Clone,
    ) -> Evidence {
        let in_mark = |mark| Self::of(texts, numbers.clone(), Some(mark));
        let has_fraction = !numbers.clone().all(is_whole);
        let has_mark = || texts.iter().any(|text| text.contains([',', '.']));
        match (in_mark(DecimalMark::Point), in_mark(DecimalMark::Comma)) {
            (None, None) if texts.is_empty() && has_fraction => Evidence::For(DecimalMark::Point),
            (None, None) => Evidence::None,
            (None, Some(_)) => Evidence::For(DecimalMark::Comma),
            (Some(_), None) if has_mark() || has_fraction => Evidence::For(DecimalMark::Point),
            (Some(_), None) => Evidence::None,
            (Some(point), Some(comma)) => {
                let differs = |text: &&String| point.parse(text) != comma.parse(text);
                let unit = point.unit.as_deref();
                match texts.iter().find(differs) {
                    None => Evidence::None,
                    Some(text) => Evidence::Either {
                        text: text.clone(),
                        has_unit_with_point: unit
                            .is_some_and(|unit| UNITS_WITH_POINT.contains(&unit)),
                    },
                }
            }
        }
    }

    /// The notation in which all these texts are numbers, with the decimal mark `mark` if it is known; `None`
    /// if there are no texts. `numbers` are the cells of the column that are plain numbers: where points
    /// separate thousands, a plain `1.234` could be 1234.
    pub(crate) fn of(
        texts: &[String],
        numbers: impl Iterator<Item = f64>,
        mark: Option<DecimalMark>,
    ) -> Option<Self> {
        let notation = Self::best(texts, mark)?;
        let fits = texts.iter().all(|text| notation.takes(text));
        let is_clear = notation.marks.decimal() == '.' || numbers.into_iter().all(is_whole);
        (fits && is_clear).then_some(notation)
    }

    /// The notation in which most of these texts are numbers, with the decimal mark `mark` if it is known.
    pub(crate) fn best(texts: &[String], mark: Option<DecimalMark>) -> Option<Self> {
        let mut units: Vec<Option<&str>> = Vec::new();
        for text in texts {
            let unit = unit_of(text);
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
        let notations = units.into_iter().flat_map(|unit| {
            let fits = move |marks: &Marks| mark.is_none_or(|mark| marks.mark() == mark);
            Marks::ALL.into_iter().filter(fits).map(move |marks| Self {
                unit: unit.map(str::to_owned),
                marks,
            })
        });
        let counted = notations.map(|notation| {
            let fitting = texts.iter().filter(|text| notation.takes(text));
            (fitting.count(), notation)
        });
        // Of equally good notations, the first.
        let best = counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.and_then(|(count, notation)| (count > 0).then_some(notation))
    }

    /// Whether a text is a number.
    pub(crate) fn takes(&self, text: &str) -> bool {
        self.parse(text).is_some()
    }

    /// The number in a text.
    pub(crate) fn parse(&self, text: &str) -> Option<f64> {
        let (sign, digits) = self.without_unit(text)?;
        let (whole, decimals) = match digits.split_once(self.marks.decimal()) {
            Some((whole, decimals)) => (whole, decimals),
            None => (digits, ""),
        };
        if !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let whole = self.without_thousands(whole)?;
        let value: f64 = format!("{whole}.{decimals}").parse().ok()?;
        (whole.len() + decimals.len() > 0 && value.is_finite()).then_some(sign * value)
    }

    /// The sign of the number and its text without sign and unit.
    fn without_unit<'a>(&self, text: &'a str) -> Option<(f64, &'a str)> {
        let mut text = text.trim();
        let mut sign = 1.0;
        // `-$5`, `$-5` and `$5`; the minus may be the typographic one.
        for _ in 0..2 {
            if let Some(rest) = text.strip_prefix(['-', '−']) {
                (text, sign) = (rest.trim_start(), -sign);
            }
            if let Some(rest) = self
                .unit
                .as_deref()
                .and_then(|unit| text.strip_prefix(unit))
            {
                text = rest.trim_start();
            }
        }
        let rest = self
            .unit
            .as_deref()
            .and_then(|unit| text.strip_suffix(unit));
        let text = rest.map_or(text, str::trim_end);
        text.starts_with(|first: char| first.is_ascii_digit() || first == self.marks.decimal())
            .then_some((sign, text))
    }

    /// The digits of a whole number; groups after the first must have three digits.
    fn without_thousands(&self, whole: &str) -> Option<String> {
        let mut groups = whole.split(|mark| self.marks.divides_thousands(mark));
        let first = groups.next().unwrap_or_default();
        let mut digits = first.to_owned();
        for group in groups {
            let is_group = group.len() == 3 && (1..=3).contains(&first.len()) && first != "0";
            if !is_group {
                return None;
            }
            digits += group;
        }
        digits
            .bytes()
            .all(|digit| digit.is_ascii_digit())
            .then_some(digits)
    }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}

/// The unit of a text.
fn unit_of(text: &str) -> Option<&'static str> {
    let text = text.trim().trim_start_matches(['-', '−']);
    let has = |unit: &&&str| text.starts_with(**unit) || text.ends_with(**unit);
    UNITS.iter().find(has).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notation(texts: &[&str], numbers: &[f64]) -> Option<NumberNotation> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        NumberNotation::of(&texts, numbers.iter().copied(), None)
    }

    /// The numbers in texts, by their own notation.
    fn read(texts: &[&str]) -> Option<Vec<f64>> {
        let notation = notation(texts, &[])?;
        texts.iter().map(|text| notation.parse(text)).collect()
    }

    #[test]
    fn numbers_are_read_in_every_usual_notation() {
        for (texts, numbers) in [
            (["$1,200", "-$0.5"], [1200.0, -0.5]),
            (["$ 3", "$-4.25"], [3.0, -4.25]),
            (["12 %", "3.5%"], [12.0, 3.5]),
            (["1,234,567", "1,234.5"], [1_234_567.0, 1234.5]),
            (["1.234,5 €", "0,25 €"], [1234.5, 0.25]),
            (["1 234,5", "12"], [1234.5, 12.0]),
            (["1'234.5", "99"], [1234.5, 99.0]),
            (["3,15", "-2,5"], [3.15, -2.5]),
            (["1,234", "0,512"], [1.234, 0.512]),
            (["CHF 10.50", "CHF 2"], [10.5, 2.0]),
        ] {
            assert_eq!(read(&texts), Some(numbers.to_vec()), "{texts:?}");
        }
    }

    #[test]
    fn columns_tell_the_mark_before_decimals() {
        let evidence = |texts: &[&str], numbers: &[f64]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            NumberNotation::evidence(&texts, numbers.iter().copied())
        };
        let point = Evidence::For(DecimalMark::Point);
        let comma = Evidence::For(DecimalMark::Comma);
        assert_eq!(evidence(&["1,5"], &[]), comma);
        assert_eq!(evidence(&["1,234", "0,512"], &[]), comma);
        assert_eq!(evidence(&["1.234.567"], &[3.0]), comma);
        assert_eq!(evidence(&["1,234,567"], &[]), point);
        assert_eq!(evidence(&["1,234"], &[2.5]), point);
        assert_eq!(evidence(&[], &[2.5]), point);
        assert_eq!(evidence(&["$5", "12"], &[]), Evidence::None);
        assert_eq!(evidence(&["a,b"], &[1.0]), Evidence::None);
        let either = |text: &str, has_unit_with_point| Evidence::Either {
            text: text.to_owned(),
            has_unit_with_point,
        };
        assert_eq!(evidence(&["12", "1,234"], &[]), either("1,234", false));
        assert_eq!(evidence(&["$1,234"], &[]), either("$1,234", true));
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for texts in [
            ["12 cm", "13 cm"],
            ["1,2,3", "4,5"],
            ["$", "$5"],
            ["€5", "$5"],
            ["A1", "A2"],
            ["12:30", "13:00"],
            ["1,23,456", "1"],
            ["", "%"],
        ] {
            assert_eq!(read(&texts), None, "{texts:?}");
        }
        assert_eq!(notation(&[], &[1.0]), None);
        // 2.5 could be a decimal number or, without the rule of three digits, 25.
        assert_eq!(notation(&["3,5"], &[2.5]), None);
        assert!(notation(&["3,5"], &[2.0]).is_some());
    }
}
