//! Predicted against observed values.

use std::collections::HashMap;
use std::path::Path;

use super::axis::{Axes, Axis, padded, robust_extent};
use super::canvas::{Frame, square};
use super::chart::{Backdrop, Chart};
use super::legend::{Entry, Sample};
use super::rows::{MOST_POINTS, remark, same_length, selected, thin, usable};
use super::{Caption, PlotError, Quantity, palette};

const NAME: &str = "Predicted and observed";

/// Predictions and observed values, one per row.
#[derive(Debug, Clone, Copy)]
pub struct Predictions<'a> {
    /// The observed targets, `[N]`.
    pub observed: &'a [f64],
    /// The predicted means, `[N]`.
    pub mean: &'a [f64],
    /// The lower ends of the central 95 % intervals of an observation, noise included, `[N]`.
    pub lower: &'a [f64],
    /// The upper ends of the intervals, `[N]`.
    pub upper: &'a [f64],
}

/// A finite row of [`Predictions`].
#[derive(Debug, Clone, Copy)]
struct Row {
    observed: f64,
    mean: f64,
    lower: f64,
    upper: f64,
}

impl Row {
    fn is_usable(&self) -> bool {
        let values = [self.observed, self.mean, self.lower, self.upper];
        values.into_iter().all(usable) && self.lower <= self.upper
    }

    fn is_covered(&self) -> bool {
        (self.lower..=self.upper).contains(&self.observed)
    }
}

impl Predictions<'_> {
    /// The rows with finite values and ordered interval ends; at least one.
    fn usable_rows(&self) -> Result<Vec<Row>, PlotError> {
        let count = self.observed.len();
        same_length(NAME, "the mean", count, self.mean.len())?;
        same_length(NAME, "the lower end", count, self.lower.len())?;
        same_length(NAME, "the upper end", count, self.upper.len())?;
        let rows: Vec<Row> = (0..count)
            .map(|row| Row {
                observed: self.observed[row],
                mean: self.mean[row],
                lower: self.lower[row],
                upper: self.upper[row],
            })
            .filter(Row::is_usable)
            .collect();
        if rows.is_empty() {
            return Err(PlotError::nothing(NAME, count));
        }
        Ok(rows)
    }
}

/// Draws predicted means with bars of their central 95 % intervals against observed values, with
/// the diagonal.
///
/// At most 2000 rows are drawn, evenly spaced; the scores beside the plot are for all rows.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if the slices differ in length, [`PlotError::NothingToShow`] if no
/// row is finite, [`PlotError::Write`] if the file cannot be written.
pub fn predicted_observed(
    path: &Path,
    predictions: &Predictions<'_>,
    target: Quantity<'_>,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let rows = predictions.usable_rows()?;
    let shown = thin(&rows, MOST_POINTS);
    let reach = reach(&rows);
    let axes = axes(&rows, target, reach.unwrap_or(0.0));
    let inside = |row: &&Row| axes.hold((row.observed, row.mean));
    let visible: Vec<&Row> = shown.iter().filter(inside).collect();
    let outside = rows.len() - rows.iter().filter(inside).count();
    let moved = reach.map(|reach| {
        let reach = significant(reach).trim_end_matches('0').to_owned();
        format!("equal observed values are drawn side by side, moved by up to {reach}")
    });
    let unusable = predictions.observed.len() - rows.len();
    let remarks = [
        moved,
        selected(shown.len(), rows.len(), "test rows"),
        remark(outside, "outside the range shown"),
        remark(unusable, "not finite, left out"),
    ];
    let frame = Frame {
        facts: facts(&rows),
        ..Frame::new(NAME, caption, legend_entries()).with_remarks(remarks)
    };
    let range = axes.y.clone();
    let places = side_by_side(&visible, reach.unwrap_or(0.0));
    square(path, &frame, axes, (Backdrop::Grid, 1.0), |chart, _| {
        draw_rows(chart, &visible, &places, &range);
    })
}

/// How far rows with equal observed values may be moved to lie side by side: less than a third of the
/// smallest gap between values. `None` if all values are distinct or the gap is too small to see.
fn reach(rows: &[Row]) -> Option<f64> {
    const LARGEST_SHARE: f64 = 0.3;
    const VISIBLE: f64 = 0.003;
    let mut values: Vec<f64> = rows.iter().map(|row| row.observed).collect();
    values.sort_by(f64::total_cmp);
    let range = values.last()? - values.first()?;
    let gaps = || values.windows(2).map(|pair| pair[1] - pair[0]);
    let closest = gaps()
        .filter(|&gap| gap > 0.0)
        .fold(f64::INFINITY, f64::min);
    let reach = LARGEST_SHARE * closest;
    let is_repeated = gaps().any(|gap| gap == 0.0);
    (is_repeated && reach.is_finite() && reach > VISIBLE * range).then_some(reach)
}

/// The horizontal positions of the rows: the first row of an observed value at the value, the others
/// evenly spaced up to `reach` on both sides.
fn side_by_side(rows: &[&Row], reach: f64) -> Vec<f64> {
    // The multiples of the golden ratio fill an interval evenly, however many there are.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let place = |row: &&Row| {
        let count = seen.entry(row.observed.to_bits()).or_default();
        let share = (0.5 + GOLDEN * f64::from(*count)).fract();
        *count += 1;
        row.observed + reach * (2.0 * share - 1.0)
    };
    rows.iter().map(place).collect()
}

fn draw_rows(chart: &Chart<'_>, rows: &[&Row], places: &[f64], range: &Axis) {
    // With many points, fainter bars and smaller, fainter dots remain distinguishable.
    let (bar_ink, dot_ink, radius) = match rows.len() > 300 {
        true => (0.15, 0.5, 2.0),
        false => (0.4, 0.8, 3.0),
    };
    let placed = || rows.iter().zip(places.iter().copied());
    let bars =
        placed().map(|(row, place)| [row.lower, row.upper].map(|end| (place, range.clip(end))));
    chart.lines(bars, palette::BLUE.line(1.0).faded(bar_ink));
    let dots = placed().map(|(row, place)| (place, row.mean));
    chart.dots(dots, radius, palette::BLUE.filled().faded(dot_ink));
    let (low, high) = range.limits();
    chart.lines([[(low, low), (high, high)]], palette::INK.line(1.0));
}

/// Both axes with the same range, for observed values moved by up to `reach`; bars may extend it by a
/// quarter at either end.
fn axes(rows: &[Row], target: Quantity<'_>, reach: f64) -> Axes {
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|row| [row.observed - reach, row.observed + reach, row.mean])
        .collect();
    let (low, high) = robust_extent(&values, 5.0).unwrap_or((0.0, 1.0));
    let bars: Vec<f64> = rows.iter().flat_map(|row| [row.lower, row.upper]).collect();
    let (bar_low, bar_high) = robust_extent(&bars, 1.0).unwrap_or((low, high));
    let (most_low, most_high) = padded((low, high), 0.25);
    let range = (
        low.min(bar_low.max(most_low)),
        high.max(bar_high.min(most_high)),
    );
    let (low, high) = padded(range, 0.03);
    let observed = format!("observed {}", target.name);
    let predicted = format!("predicted {}", target.name);
    let axis = |name: &str| {
        let unit = target.unit;
        Axis::new(low, high, Quantity { name, unit }, 6)
    };
    Axes::new(axis(&observed), axis(&predicted))
}

fn legend_entries() -> Vec<Entry<'static>> {
    vec![
        Entry::new(Sample::BarredDot, palette::BLUE, "mean and 95 % interval"),
        Entry::new(Sample::Line, palette::INK, "predicted = observed"),
    ]
}

fn facts(rows: &[Row]) -> Vec<(&'static str, String)> {
    let count = rows.len() as f64;
    let residual = |row: &Row| row.observed - row.mean;
    let squares: f64 = rows.iter().map(|row| residual(row).powi(2)).sum();
    let absolute: f64 = rows.iter().map(|row| residual(row).abs()).sum();
    let covered = rows.iter().filter(|row| row.is_covered()).count();
    vec![
        ("test rows", rows.len().to_string()),
        ("RMSE", significant((squares / count).sqrt())),
        ("MAE", significant(absolute / count)),
        (
            "95 % coverage",
            format!("{:.1} %", 100.0 * covered as f64 / count),
        ),
    ]
}

/// Formats a number with about four significant digits.
pub(super) fn significant(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let whole_digits = value.abs().max(1.0).log10().floor() as usize;
    format!("{value:.*}", 4usize.saturating_sub(whole_digits + 1).max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::axis::extent;
    use super::super::tests::{CAPTION, Plot, wave, wide_name};
    use super::*;

    const TARGET: Quantity<'static> = Quantity {
        name: "strength",
        unit: Some("MPa"),
    };

    /// The values minus and plus `reach`.
    fn ends(values: &[f64], reach: f64) -> (Vec<f64>, Vec<f64>) {
        (values.iter())
            .map(|value| (value - reach, value + reach))
            .unzip()
    }

    #[test]
    fn one_dot_a_row_besides_the_legend() {
        let (observed, mean) = (wave(100, 0.0), wave(100, 0.05));
        let (lower, upper) = ends(&mean, 0.2);
        let predictions = Predictions {
            observed: &observed,
            mean: &mean,
            lower: &lower,
            upper: &upper,
        };
        let plot = Plot::of(|path| predicted_observed(path, &predictions, TARGET, CAPTION));
        assert_eq!(plot.count("circle"), 101);
        assert!(plot.has_text("observed strength (MPa)"));
        assert!(plot.has_text("100.0 %"));
    }

    #[test]
    fn many_rows_are_thinned_and_wild_ones_left_out() {
        let observed = wave(9000, 0.0);
        let mut mean = wave(9000, 0.1);
        mean[0] = 1e9;
        mean[1] = f64::NAN;
        let (lower, upper) = ends(&mean, 0.4);
        let predictions = Predictions {
            observed: &observed,
            mean: &mean,
            lower: &lower,
            upper: &upper,
        };
        let plot = Plot::of(|path| predicted_observed(path, &predictions, TARGET, CAPTION));
        assert_eq!(plot.count("circle"), MOST_POINTS - 1 + 1);
        assert!(plot.has_text("2000 of 8999 test rows shown"));
        assert!(plot.has_text("1 outside the range shown"));
        assert!(plot.has_text("1 not finite, left out"));
    }

    #[test]
    fn extreme_and_constant_values_stay_drawable() {
        for (observed, deviation) in [
            ([1e99, -1e99], 1e99),
            ([1e-310, 0.0], 0.0),
            ([7.0, 7.0], 1e99),
            ([1e9, 1e9 + 1e-6], 1e-9),
        ] {
            let (lower, upper) = ends(&observed, deviation);
            let predictions = Predictions {
                observed: &observed,
                mean: &observed,
                lower: &lower,
                upper: &upper,
            };
            let plot = Plot::of(|path| predicted_observed(path, &predictions, TARGET, CAPTION));
            assert_eq!(plot.count("circle"), 2 + 1, "{observed:?}");
        }
    }

    #[test]
    fn bad_slices_are_typed_errors() {
        let predictions = Predictions {
            observed: &[1.0, 2.0],
            mean: &[1.0],
            lower: &[0.0, 0.0],
            upper: &[2.0, 2.0],
        };
        let error = Plot::refused(|path| predicted_observed(path, &predictions, TARGET, CAPTION));
        assert!(matches!(
            error,
            PlotError::LengthMismatch {
                expected: 2,
                found: 1,
                ..
            }
        ));
        let predictions = Predictions {
            observed: &[1.0],
            mean: &[1.0],
            lower: &[1.5],
            upper: &[0.5],
        };
        let error = Plot::refused(|path| predicted_observed(path, &predictions, TARGET, CAPTION));
        assert!(matches!(error, PlotError::NothingToShow { given: 1, .. }));
    }

    #[test]
    fn figures_keep_four_digits() {
        let shown = [0.123_456, 12.345_6, 123_456.0, 1.5e-9, 0.0].map(significant);
        assert_eq!(shown, ["0.123", "12.35", "123456.0", "1.500e-9", "0.000"]);
    }

    /// Draws ratings with a mean and an interval of their own.
    fn ratings(observed: &[f64], mean: &[f64]) -> Plot {
        let (lower, upper) = ends(mean, 0.5);
        let predictions = Predictions {
            observed,
            mean,
            lower: &lower,
            upper: &upper,
        };
        Plot::of(|path| predicted_observed(path, &predictions, TARGET, CAPTION))
    }

    #[test]
    fn equal_targets_are_drawn_beside_each_other() {
        let observed: Vec<f64> = (0..60).map(|row| 3.0 + f64::from(row % 6)).collect();
        let means: Vec<f64> = wave(60, 0.0).iter().map(|value| 5.5 + value).collect();
        let plot = ratings(&observed, &means);
        // The first circle is in the legend.
        let centers = &plot.centers()[1..];
        let distinct: BTreeSet<u64> = centers.iter().map(|center| center.to_bits()).collect();
        assert_eq!(distinct.len(), 60, "{centers:?}");
        // Rows of one target stay closer to each other than to those of the next.
        let group = |target: usize| centers.iter().skip(target).step_by(6).copied();
        let widths = (0..6).map(|target| extent(group(target)).expect("rows"));
        let widths: Vec<(f64, f64)> = widths.collect();
        for pair in widths.windows(2) {
            let gap = pair[1].0 - pair[0].1;
            assert!(gap > 0.5 * (pair[0].1 - pair[0].0), "{pair:?}");
        }
        assert!(plot.has_text("moved by up to 0.3"));
        assert_eq!(centers, &ratings(&observed, &means).centers()[1..]);
    }

    #[test]
    fn distinct_targets_stay_where_they_are() {
        let observed = wave(60, 0.0);
        let plot = ratings(&observed, &observed);
        assert!(!plot.has_text("moved by up to"));
    }

    #[test]
    fn long_names_and_large_numbers_have_room() {
        let (name, unit) = (wide_name("a"), wide_name("b"));
        let target = Quantity {
            name: &name,
            unit: Some(&unit),
        };
        for (center, scale) in [
            (0.0, 1.0),
            (1.6e9, 50.0),
            (-123_456.0, 9e4),
            (2000.0, 1e-3),
            (0.0, 99_999.0),
        ] {
            let observed: Vec<f64> = wave(50, 0.0)
                .iter()
                .map(|value| center + scale * value)
                .collect();
            let (lower, upper) = ends(&observed, scale);
            let predictions = Predictions {
                observed: &observed,
                mean: &observed,
                lower: &lower,
                upper: &upper,
            };
            Plot::of(|path| predicted_observed(path, &predictions, target, CAPTION));
        }
    }
}
