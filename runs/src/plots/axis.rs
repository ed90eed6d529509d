//! An axis: range, ticks and their labels, and the text beside it.

use super::Quantity;
use super::notation::{Notation, with_minus};
use super::text_extent::{fitted, width};

/// Magnitudes below this are drawn as zero: their powers of ten would leave the range of `f64`.
const SMALLEST: f64 = 1e-100;

/// How far an axis with given ticks extends past the first and the last, as a share of its length.
const BESIDE: f64 = 0.04;
/// The gap between the tick labels of a horizontal axis, relative to the font size.
const GAP: f64 = 0.6;

/// A value with its label.
#[derive(Debug, Clone)]
struct Tick {
    value: f64,
    label: String,
}

/// An axis with ticks at round numbers or at given values.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    ticks: Vec<Tick>,
    /// The number of the first tick at multiples of a step; `None` for ticks at given values.
    first: Option<i64>,
    notation: Notation,
    name: String,
    unit: Option<String>,
}

/// The two axes of a chart.
#[derive(Debug, Clone)]
pub(super) struct Axes {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Axes {
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        Self { x, y }
    }

    /// Whether a point lies between the axes.
    pub(super) fn hold(&self, (x, y): (f64, f64)) -> bool {
        self.x.holds(x) && self.y.holds(y)
    }

    /// The points between the axes.
    pub(super) fn held(&self, points: &[[f64; 2]]) -> Vec<(f64, f64)> {
        let points = points.iter().map(|&[x, y]| (x, y));
        points.filter(|&point| self.hold(point)).collect()
    }
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
        Self::with_step((low, high), quantity, step)
    }

    /// An axis of degrees of longitude or latitude, with ticks at the usual parts of a circle. Longitudes beyond 180
    /// degrees are those west of 180.
    pub(super) fn degrees((low, high): (f64, f64), quantity: Quantity<'_>, target: usize) -> Self {
        const STEPS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 90.0];
        let (low, high) = widen_if_empty(low, high);
        let rough = (high - low) / target as f64;
        let of_circle = STEPS.into_iter().find(|&step| step >= 0.7 * rough);
        let step = match round_step(rough) {
            step if step < 1.0 => step,
            step => of_circle.unwrap_or(step),
        };
        let mut axis = Self::with_step((low, high), quantity, step);
        if axis.notation.is_absolute() {
            let beyond = axis.ticks.iter_mut().filter(|tick| tick.value > 180.0);
            beyond.for_each(|tick| tick.label = axis.notation.label(tick.value - 360.0));
        }
        axis
    }

    /// An axis with ticks at the multiples of `step`.
    fn with_step((low, high): (f64, f64), quantity: Quantity<'_>, step: f64) -> Self {
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first).max(0.0) as usize;
        let values: Vec<f64> = (0..=count)
            // Adding zero turns a negative zero into a positive one, which prints without a sign.
            .map(|index| (first + index as f64) * step + 0.0)
            .collect();
        let notation = Notation::of((low, high), step, &values);
        let ticks = values.into_iter().map(|value| Tick {
            value,
            label: notation.label(value),
        });
        Self {
            ticks: ticks.collect(),
            first: Some(first as i64),
            notation,
            ..Self::empty((low, high), quantity)
        }
    }

    /// An axis with ticks at these sizes in increasing order. It is logarithmic if that keeps the
    /// ticks farther apart.
    pub(super) fn at(sizes: &[f64], quantity: Quantity<'_>) -> Self {
        let (low, high) = extent(sizes.iter().copied()).unwrap_or((0.0, 0.0));
        let closest = |place: fn(f64) -> f64| {
            let gaps = sizes.windows(2).map(|pair| place(pair[1]) - place(pair[0]));
            gaps.fold(f64::INFINITY, f64::min) / (place(high) - place(low))
        };
        let is_logarithmic = low > 0.0 && closest(f64::ln) > 2.0 * closest(|size| size);
        let (low, high) = widen_if_empty(low, high);
        let range = match is_logarithmic {
            true => {
                let (low, high) = padded((low.ln(), high.ln()), BESIDE);
                (low.exp(), high.exp())
            }
            false => padded((low, high), BESIDE),
        };
        let ticks = sizes.iter().map(|&value| Tick {
            value,
            label: with_minus(&value.to_string()),
        });
        Self {
            is_logarithmic,
            ticks: ticks.collect(),
            ..Self::empty(range, quantity)
        }
    }

    /// An axis without a name and with these labels at these values.
    pub(super) fn labeled(range: (f64, f64), labels: impl Iterator<Item = (f64, String)>) -> Self {
        let ticks = labels.map(|(value, label)| Tick { value, label });
        Self {
            ticks: ticks.collect(),
            ..Self::empty(range, Quantity::of(""))
        }
    }

    /// An axis from 0 to this number that is not drawn.
    pub(super) fn hidden(high: f64) -> Self {
        Self::empty((0.0, high), Quantity::of(""))
    }

    fn empty((low, high): (f64, f64), quantity: Quantity<'_>) -> Self {
        Self {
            low,
            high,
            is_logarithmic: false,
            ticks: Vec::new(),
            first: None,
            notation: Notation::default(),
            name: quantity.name.to_owned(),
            unit: quantity.unit.map(str::to_owned),
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

    /// The position of a value between the ends of the axis, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.is_logarithmic {
            true => value.max(SMALLEST).ln(),
            false => value,
        };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }

    /// The positions of the ticks from 0 to 1, with their labels, which may be empty.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        let ticks = self.ticks.iter();
        ticks.map(|tick| (self.share(tick.value), tick.label.as_str()))
    }

    /// Leaves out labels that collide along `length` or reach too far past an end.
    pub(super) fn thinned(mut self, length: f64, (before, beyond): (f64, f64), size: f64) -> Self {
        let half = |tick: &Tick| width(&tick.label, size) / 2.0;
        let fits = |ticks: &[&Tick]| {
            ticks.windows(2).all(|pair| {
                let apart = length * (self.share(pair[1].value) - self.share(pair[0].value));
                apart >= half(pair[0]) + half(pair[1]) + GAP * size
            })
        };
        let is_inside = |tick: &Tick| {
            let place = length * self.share(tick.value);
            place - half(tick) >= -before && place + half(tick) <= length + beyond
        };
        let kept = |every: i64| -> Vec<&Tick> {
            let first = self.first.unwrap_or(0);
            let numbered = (first..).zip(&self.ticks);
            let kept = numbered.filter(|(number, tick)| number % every == 0 && is_inside(tick));
            kept.map(|(_, tick)| tick).collect()
        };
        let every = [1, 2, 5, 10, 20, 50].into_iter();
        let labeled = every
            .map(kept)
            .find(|ticks| fits(ticks))
            .unwrap_or_default();
        let labeled: Vec<f64> = labeled.iter().map(|tick| tick.value).collect();
        if self.first.is_some() {
            self.ticks.retain(|tick| labeled.contains(&tick.value));
        }
        for tick in &mut self.ticks {
            if !labeled.contains(&tick.value) {
                tick.label.clear();
            }
        }
        self
    }

    /// The name, with the power of ten and the unit in parentheses, in at most this width.
    pub(super) fn text(&self, size: f64, room: f64) -> String {
        let power = self.notation.power_text();
        let unit = (self.unit.as_ref()).map(|unit| fitted(unit, size, 0.4 * room));
        let scale: Vec<String> = power.into_iter().chain(unit).collect();
        let logarithmic = self.is_logarithmic.then(|| "log scale".to_owned());
        let inside: Vec<String> = (!scale.is_empty())
            .then(|| scale.join(" "))
            .into_iter()
            .chain(logarithmic)
            .collect();
        let mut behind = self.notation.offset_text();
        if !inside.is_empty() {
            behind += &format!(" ({})", inside.join(", "));
        }
        let name = fitted(&self.name, size, room - width(&behind, size));
        format!("{name}{behind}")
    }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least 0.7 times `rough`. It is at most
/// 1.8 times `rough`.
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

/// The smallest and largest of `values`, or `None` when there are none.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// The extent of the values without outliers.
///
/// Let q05 and q95 be the 5 % and 95 % quantiles and s = q95 − q05. Values below q05 − tolerance·s or
/// above q95 + tolerance·s do not stretch the range.
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

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
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
        assert_eq!(axis.text(12.0, 200.0), "power (×10⁶ W)");
        let axis = Axis::new(0.0, 4e-4, quantity, 4);
        assert_eq!(axis.text(12.0, 200.0), "power (×10⁻⁶ W)");
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

    #[test]
    fn numbers_far_from_zero_are_relative_to_a_round_one() {
        let time = Quantity {
            name: "time",
            unit: Some("s"),
        };
        let axis = Axis::new(1.6e9 - 70.0, 1.6e9 + 70.0, time, 3);
        assert_eq!(labels(&axis), ["950", "1000", "1050"]);
        assert_eq!(axis.text(12.0, 300.0), "time − 1599999000 (s)");
        let axis = Axis::new(2000.001, 2000.009, time, 3);
        assert_eq!(labels(&axis), ["2", "4", "6", "8"]);
        assert_eq!(axis.text(12.0, 300.0), "time − 2000.00 (×10⁻³ s)");
        let axis = Axis::new(-2000.009, -2000.001, NOTHING, 3);
        assert_eq!(labels(&axis), ["2", "4", "6", "8"]);
        assert_eq!(axis.text(12.0, 300.0), "y + 2000.01 (×10⁻³)");
        let axis = Axis::new(1990.0, 2024.0, time, 4);
        assert_eq!(axis.text(12.0, 300.0), "time (s)");
    }

    #[test]
    fn labels_that_collide_are_left_out_at_round_numbers() {
        let axis = Axis::new(-0.31, 1.02, NOTHING, 12);
        assert!(labels(&axis).len() > 10);
        let axis = axis.thinned(150.0, (10.0, 10.0), 12.0);
        assert_eq!(labels(&axis), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn given_sizes_keep_their_ticks_and_lose_labels_that_collide() {
        let axis = Axis::at(&[8.0, 16.0, 32.0], NOTHING);
        assert_eq!(labels(&axis), ["8", "16", "32"]);
        assert_eq!(axis.text(12.0, 200.0), "y");
        let powers: Vec<f64> = (3..11).map(|power| f64::from(1 << power)).collect();
        let axis = Axis::at(&powers, NOTHING);
        assert_eq!(axis.text(12.0, 200.0), "y (log scale)");
        let axis = axis.thinned(100.0, (10.0, 10.0), 12.0);
        assert_eq!(axis.ticks.len(), 8);
        let labeled = labels(&axis)
            .iter()
            .filter(|label| !label.is_empty())
            .count();
        assert!((1..8).contains(&labeled));
        assert_eq!(labels(&Axis::at(&[4.0], NOTHING)), ["4"]);
    }

    #[test]
    fn longitudes_have_ticks_at_parts_of_a_circle() {
        let axis = Axis::degrees((-180.0, 180.0), NOTHING, 6);
        let expected = ["−180", "−120", "−60", "0", "60", "120", "180"];
        assert_eq!(labels(&axis), expected);
        let axis = Axis::degrees((150.0, 215.0), NOTHING, 4);
        assert_eq!(labels(&axis), ["150", "165", "180", "−165", "−150"]);
        let axis = Axis::degrees((13.2, 13.75), NOTHING, 5);
        assert_eq!(
            labels(&axis),
            ["13.2", "13.3", "13.4", "13.5", "13.6", "13.7"]
        );
        // Labels relative to a number have no other name.
        let axis = Axis::degrees((179.9995, 180.0005), NOTHING, 3);
        let signs = labels(&axis).iter().any(|label| label.starts_with('−'));
        assert!(!signs, "{:?}", axis.ticks);
    }

    #[test]
    fn a_long_name_keeps_its_unit() {
        let quantity = Quantity {
            name: "the concentration of a substance",
            unit: Some("mol"),
        };
        let text = Axis::new(0.0, 1.0, quantity, 3).text(12.0, 120.0);
        assert!(
            text.ends_with("… (mol)") || text.ends_with(" (mol)"),
            "{text}"
        );
        assert!(width(&text, 12.0) <= 120.0);
    }
}
