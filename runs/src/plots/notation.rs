//! The format of tick labels: decimals, a power of ten, and an offset.

use super::text_extent::widest;

/// The widest tick label that fits between a vertical axis and its text, relative to the font size.
const WIDEST_LABEL: f64 = 3.8;

/// The format of tick labels, whose offset and power of ten move into the text of the axis.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Notation {
    /// The number to add to the labels.
    offset: f64,
    /// The number of decimals of the offset.
    offset_decimals: usize,
    /// The power of ten to multiply the labels by.
    exponent: i32,
    decimals: usize,
}

impl Notation {
    /// The labels of multiples of `step` from `low` to `high`, with a power of ten if `is_scaled`.
    fn plain((low, high): (f64, f64), step: f64, is_scaled: bool) -> Self {
        let exponent = match is_scaled {
            true => 3 * (low.abs().max(high.abs()).log10() / 3.0).floor() as i32,
            false => 0,
        };
        Self {
            exponent,
            decimals: decimals(step, exponent),
            ..Self::default()
        }
    }

    /// Labels relative to a round number below `low`, for ranges far from zero.
    fn relative((low, high): (f64, f64), step: f64) -> Self {
        let unit = 10f64.powf((high - low).log10().ceil());
        let offset = (low / unit).floor() * unit;
        Self {
            offset,
            offset_decimals: decimals(unit, 0),
            ..Self::scaled((low - offset, high - offset), step)
        }
    }

    fn scaled((low, high): (f64, f64), step: f64) -> Self {
        let largest = low.abs().max(high.abs());
        Self::plain((low, high), step, !(1e-2..1e5).contains(&largest))
    }

    /// The first notation whose labels are narrow enough.
    pub(super) fn of((low, high): (f64, f64), step: f64, values: &[f64]) -> Self {
        let fits = |notation: &Self| {
            let labels = values.iter().map(|&value| notation.label(value));
            widest(labels, 1.0) <= WIDEST_LABEL
        };
        let candidates = [
            Self::scaled((low, high), step),
            Self::plain((low, high), step, true),
        ];
        let found = candidates.into_iter().find(fits);
        found.unwrap_or_else(|| Self::relative((low, high), step))
    }

    pub(super) fn label(&self, value: f64) -> String {
        let scaled = (value - self.offset) / 10f64.powi(self.exponent);
        // Adding zero turns a negative zero into a positive one, which prints without a sign.
        let text = format!("{scaled:.*}", self.decimals);
        let is_zero = text.parse() == Ok(0.0);
        with_minus(text.trim_start_matches(if is_zero { "-" } else { "" }))
    }

    /// Whether labels are not relative to another number.
    pub(super) fn is_absolute(&self) -> bool {
        self.offset == 0.0
    }

    /// The offset, to append to the name in the text of the axis.
    pub(super) fn offset_text(&self) -> String {
        if self.offset == 0.0 {
            return String::new();
        }
        let sign = if self.offset < 0.0 { '+' } else { '−' };
        format!(" {sign} {:.*}", self.offset_decimals, self.offset.abs())
    }
}

impl Notation {
    /// The power of ten that multiplies the labels; `None` if it is one.
    pub(super) fn power_text(&self) -> Option<String> {
        (self.exponent != 0).then(|| format!("×10{}", superscript(self.exponent)))
    }
}

/// The number of decimals of multiples of `step` after division by a power of ten.
fn decimals(step: f64, exponent: i32) -> usize {
    (f64::from(exponent) - (step * 1.0001).log10().floor()).max(0.0) as usize
}

pub(super) fn with_minus(text: &str) -> String {
    text.replace('-', "−")
}

fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .chars()
        .filter_map(|character| match character.to_digit(10) {
            Some(digit) => DIGITS.get(digit as usize).copied(),
            None => Some('⁻'),
        })
        .collect()
}
