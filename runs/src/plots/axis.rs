//! An axis: range, ticks at round numbers, and labels.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::{Quantity, canvas::plain_text};

/// Magnitudes below this are drawn as zero: their powers of ten would leave the range of `f64`.
const SMALLEST: f64 = 1e-100;

/// Longest name or unit, in characters, that fits along an axis.
const LONGEST_NAME: usize = 40;

/// A linear axis with ticks at multiples of 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    /// Power of ten taken out of the tick labels and put into the axis text.
    exponent: i32,
    decimals: usize,
    name: String,
    unit: Option<String>,
}

impl Axis {
    /// An axis over `low..high` with about `target` ticks.
    pub(super) fn new(low: f64, high: f64, quantity: Quantity<'_>, target: usize) -> Self {
        Self::with_smallest_step(low, high, quantity, target, 0.0)
    }

    /// An axis of counts: ticks at whole numbers only.
    pub(super) fn whole(low: f64, high: f64, quantity: Quantity<'_>, target: usize) -> Self {
        Self::with_smallest_step(low, high, quantity, target, 1.0)
    }

    fn with_smallest_step(
        low: f64,
        high: f64,
        quantity: Quantity<'_>,
        target: usize,
        smallest: f64,
    ) -> Self {
        let (low, high) = widen_if_empty(low, high);
        let step = round_step((high - low) / target as f64).max(smallest);
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first).max(0.0) as usize;
        let ticks = (0..=count)
            // Adding zero turns a negative zero into a positive one, which prints without a sign.
            .map(|index| (first + index as f64) * step + 0.0)
            .collect();
        let largest = low.abs().max(high.abs());
        let exponent = if !(1e-2..1e5).contains(&largest) {
            3 * (largest.log10() / 3.0).floor() as i32
        } else {
            0
        };
        let decimals = (f64::from(exponent) - (step * 1.0001).log10().floor()).max(0.0) as usize;
        Self {
            low,
            high,
            ticks,
            exponent,
            decimals,
            name: plain_text(quantity.name, LONGEST_NAME),
            unit: quantity.unit.map(|unit| plain_text(unit, LONGEST_NAME)),
        }
    }

    /// Lowest and highest value on the axis.
    pub(super) fn limits(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether a value lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The nearest value on the axis.
    pub(super) fn clip(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// The name, with the power of ten and the unit in brackets.
    pub(super) fn text(&self) -> String {
        let power = (self.exponent != 0).then(|| format!("×10{}", superscript(self.exponent)));
        let inside: Vec<String> = power.into_iter().chain(self.unit.clone()).collect();
        if inside.is_empty() {
            return self.name.clone();
        }
        format!("{} ({})", self.name, inside.join(" "))
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        let length = f64::from(limit.1) - f64::from(limit.0);
        (f64::from(limit.0) + length * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        let scaled = value / 10f64.powi(self.exponent);
        format!("{scaled:.*}", self.decimals).replace('-', "−")
    }
}

/// The least 1, 2 or 5 times a power of ten that is at least 0.7 times `rough`; it is at most 1.8
/// times as large as `rough`.
fn round_step(rough: f64) -> f64 {
    let least = 0.7 * rough;
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= least)
        .unwrap_or(10.0);
    factor * power
}

/// The range, widened if rounding would make it empty.
fn widen_if_empty(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > (1e-9 * size).max(SMALLEST) {
        return (low, high);
    }
    let margin = if size > SMALLEST { 0.1 * size } else { 1.0 };
    (low - margin, high + margin)
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

/// The smallest and largest of `values`, or `None` when there are none.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// The extent of the values without outliers.
///
/// With q05 and q95 the quantiles and s = q95 − q05, values outside
/// q05 − tolerance·s .. q95 + tolerance·s do not stretch the range.
pub(super) fn robust_extent(values: &[f64], tolerance: f64) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |level: f64| {
        let place = level * sorted.len().checked_sub(1)? as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        let weight = place - place.floor();
        Some(sorted[below] * (1.0 - weight) + sorted[above] * weight)
    };
    let (low, high) = (quantile(0.05)?, quantile(0.95)?);
    let reach = tolerance * (high - low);
    let kept = |value: &f64| (low - reach..=high + reach).contains(value);
    extent(sorted.iter().copied().filter(kept))
}

/// The range with `share` of its width added at both ends.
pub(super) fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let margin = share * (high - low);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Quantity<'static> = Quantity::of("y");

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks
            .iter()
            .map(|tick| axis.format_ext(tick))
            .collect()
    }

    #[test]
    fn ticks_are_round_and_labeled_with_the_same_decimals() {
        let axis = Axis::new(-0.13, 1.02, NOTHING, 6);
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let axis = Axis::new(-1.0, 0.3, NOTHING, 3);
        assert_eq!(labels(&axis), ["−1.0", "−0.5", "0.0"]);
    }

    #[test]
    fn counts_get_whole_ticks() {
        let axis = Axis::whole(1.0, 3.0, NOTHING, 8);
        assert_eq!(labels(&axis), ["1", "2", "3"]);
    }

    #[test]
    fn large_and_small_values_move_a_power_of_ten_into_the_text() {
        let quantity = Quantity {
            name: "power",
            unit: Some("W"),
        };
        let axis = Axis::new(0.0, 4.2e6, quantity, 4);
        assert_eq!(labels(&axis), ["0", "1", "2", "3", "4"]);
        assert_eq!(axis.text(), "power (×10⁶ W)");
        let axis = Axis::new(0.0, 4e-4, quantity, 4);
        assert_eq!(axis.text(), "power (×10⁻⁶ W)");
        assert_eq!(labels(&axis), ["0", "100", "200", "300", "400"]);
    }

    #[test]
    fn an_empty_range_is_widened() {
        for value in [0.0, 3.0, -1e-30, 1e-310, 1e99] {
            let axis = Axis::new(value, value, NOTHING, 5);
            assert!(axis.high > axis.low && axis.holds(value));
            assert!((1..20).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        }
    }

    #[test]
    fn a_few_huge_values_do_not_stretch_the_robust_range() {
        let mut values: Vec<f64> = (0..100)
            .map(|index| 1.0 + 0.01 * f64::from(index))
            .collect();
        values[0] = 1e6;
        let (low, high) = robust_extent(&values, 0.5).expect("values");
        assert!(low > 0.9 && high < 2.1);
        assert_eq!(robust_extent(&[], 0.5), None);
        assert_eq!(robust_extent(&[2.0], 0.5), Some((2.0, 2.0)));
    }
}
