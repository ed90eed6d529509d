//! The effect of an input on the predictions.

use super::Quantity;
use super::axis::{Axes, Axis, extent};
use super::chart::{Backdrop, Chart, Surroundings};
use super::drawing::Svg;
use super::palette;
use super::rows::usable;
use super::text_extent::{fitted, width};

/// The size of a chart in pixels.
const SIZE: (f64, f64) = (340.0, 220.0);
const AROUND: Surroundings = Surroundings {
    margins: [10.0, 12.0, 0.0, 0.0],
    left_labels: 58.0,
    bottom_labels: 38.0,
};
/// The width between the vertical axis and the right end.
const BETWEEN: f64 = SIZE.0 - AROUND.left_labels - AROUND.margins[1];
/// The font size of the tick labels, and the smallest width of a level's name in pixels.
const TICK_SIZE: f64 = 11.0;
const NARROWEST_NAME: f64 = 55.0;

/// The values of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectPlaces {
    /// Numbers in increasing order.
    Numbers(Vec<f64>),
    /// Dates in increasing order, as numbers and as text.
    Dates(Vec<(f64, String)>),
    /// Levels with their names.
    Levels(Vec<String>),
}

/// The mean prediction at each value of an input, with a band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectCurve {
    /// The means.
    pub mean: Vec<f64>,
    /// The lower end of the band.
    pub low: Vec<f64>,
    /// The upper end of the band.
    pub high: Vec<f64>,
}

impl EffectCurve {
    /// The smallest and largest of all means and ends; `None` if none is finite.
    pub fn range(&self) -> Option<(f64, f64)> {
        let values = self.mean.iter().chain(&self.low).chain(&self.high);
        extent(values.copied().filter(|&value| usable(value)))
    }
}

impl EffectPlaces {
    /// The positions on the horizontal axis.
    fn positions(&self) -> Vec<f64> {
        match self {
            Self::Numbers(numbers) => numbers.clone(),
            Self::Dates(dates) => dates.iter().map(|(day, _)| *day).collect(),
            Self::Levels(levels) => (0..levels.len()).map(|level| level as f64).collect(),
        }
    }

    fn axis(&self) -> Axis {
        let (low, high) = extent(self.positions()).unwrap_or((0.0, 0.0));
        let wide = (low - 0.5, high + 0.5);
        let range = if low < high { (low, high) } else { wide };
        match self {
            Self::Numbers(_) => Axis::new(range.0, range.1, Quantity::of(""), 4),
            Self::Dates(dates) => {
                // The first and the last label would reach beyond the ends of the axis.
                let shown = [1, 3].map(|quarter| dates[quarter * (dates.len() - 1) / 4].clone());
                let mut shown = shown.to_vec();
                shown.dedup();
                Axis::labeled(range, shown.into_iter())
            }
            Self::Levels(levels) => {
                let room = BETWEEN / levels.len() as f64;
                let every = (NARROWEST_NAME / room).ceil().max(1.0);
                let gap = width("n", TICK_SIZE);
                let label = |(level, name): (usize, &String)| {
                    (level as f64, fitted(name, TICK_SIZE, every * room - gap))
                };
                let labels = levels.iter().enumerate().map(label);
                Axis::labeled(wide, labels.step_by(every as usize))
            }
        }
    }
}

/// Draws predictions over the values of an input, as text of an SVG file. `range` is the range of the vertical axis,
/// which all inputs share.
pub fn effect(places: &EffectPlaces, curves: &[EffectCurve], range: (f64, f64)) -> String {
    let svg = Svg::default();
    let vertical = Axis::new(range.0, range.1, Quantity::of(""), 4);
    let axes = Axes::new(places.axis(), vertical);
    let sheet = svg.sheet(SIZE.0, SIZE.1);
    let chart = Chart::new(sheet, AROUND, axes, TICK_SIZE, Backdrop::Grid);
    let positions = places.positions();
    for (number, curve) in curves.iter().enumerate() {
        let color = palette::class(number);
        let ends = curve.low.iter().zip(&curve.high);
        let band = positions.iter().zip(ends);
        let means = positions.iter().copied().zip(curve.mean.iter().copied());
        if let EffectPlaces::Levels(_) = places {
            let bars = band.map(|(&at, (&low, &high))| [(at, low), (at, high)]);
            chart.lines(bars, color.line(8.0).faded(0.22));
            chart.dots(means, 4.0, color.filled());
        } else {
            let edges: Vec<[f64; 3]> = band.map(|(&at, (&low, &high))| [at, low, high]).collect();
            chart.band(&edges, color.filled().faded(0.16));
            chart.curve(&means.collect::<Vec<_>>(), color.line(2.0));
        }
    }
    svg.text(SIZE.0, SIZE.1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Plot, wide_name};
    use super::*;

    /// The chart of one curve around these means.
    fn chart(places: &EffectPlaces, mean: &[f64]) -> Plot {
        let curve = EffectCurve {
            mean: mean.to_vec(),
            low: mean.iter().map(|mean| mean - 1.0).collect(),
            high: mean.iter().map(|mean| mean + 1.0).collect(),
        };
        let range = curve.range().expect("a range");
        Plot::read(effect(places, &[curve], range))
    }

    #[test]
    fn numbers_have_a_curve_and_a_band() {
        let plot = chart(&EffectPlaces::Numbers(vec![2.0, 4.0]), &[1.0, 3.0]);
        assert_eq!((plot.count("polygon"), plot.count("circle")), (1, 0));
        assert!(plot.has_text("2.0") && plot.has_text("4.0"));
        // A column with one value.
        chart(&EffectPlaces::Numbers(vec![2.0]), &[1.0]);
    }

    #[test]
    fn levels_are_dots_with_names_that_fit() {
        for count in [1, 2, 7, 31] {
            let names: Vec<String> = (0..count)
                .map(|level| wide_name(&level.to_string()))
                .collect();
            let plot = chart(&EffectPlaces::Levels(names), &vec![0.0; count]);
            assert_eq!(plot.count("circle"), count);
            assert!(plot.has_text("…"));
        }
    }

    #[test]
    fn two_dates_are_labeled() {
        for count in [1, 2, 31] {
            let dates = (0..count).map(|day| (f64::from(day), format!("2026-01-{:02}", day + 1)));
            let dates: Vec<(f64, String)> = dates.collect();
            let plot = chart(&EffectPlaces::Dates(dates), &vec![0.5; count as usize]);
            assert!(plot.has_text("2026-01-"), "{count}");
        }
    }
}
