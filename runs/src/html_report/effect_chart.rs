//! The chart of an effect, drawn in the colors of the page.

use burn_gp_datasets::DateFormat;

use super::effects::{Curve, Effect, Places};
use super::html::escaped;

/// The size of the chart, and of the area between the axes.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 330.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 186.0;

/// The width of a letter in a level's name.
const ROOM: f64 = 7.0;

/// A chart as SVG. `range` is the range of the vertical axis, which all charts share.
pub fn chart(effect: &Effect, range: (f64, f64)) -> String {
    let scale = Scale::new(effect, range);
    let curves = effect.curves.iter().enumerate();
    let bands = curves
        .clone()
        .map(|(number, curve)| scale.band(curve, number));
    let lines = curves.map(|(number, curve)| scale.line(curve, number));
    let name = escaped(&effect.column);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"effect of {name}\">\n\
         {}{}{}{}</svg>\n",
        scale.grid(),
        scale.labels(effect),
        bands.collect::<String>(),
        lines.collect::<String>()
    )
}

/// The range of all curves and bands; for probabilities, from 0 to 1.
pub fn range(effects: &[Effect]) -> (f64, f64) {
    let are_probabilities = |effect: &Effect| effect.curves.iter().any(|own| own.class.is_some());
    if effects.iter().any(are_probabilities) {
        return (0.0, 1.0);
    }
    let curves = effects.iter().flat_map(|effect| &effect.curves);
    let values = curves.flat_map(|curve| curve.low.iter().chain(&curve.high).chain(&curve.mean));
    let finite = values.copied().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match low < high {
        true => (low, high),
        false => (low - 0.5, low + 0.5),
    }
}

/// The positions of values in the chart.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
    /// The horizontal positions of the values of the column.
    at: Vec<f64>,
    is_of_levels: bool,
}

impl Scale {
    fn new(effect: &Effect, y: (f64, f64)) -> Self {
        let (at, is_of_levels) = match &effect.places {
            Places::Numbers(numbers) => (numbers.clone(), false),
            Places::Levels(levels) => ((0..levels.len()).map(|level| level as f64).collect(), true),
        };
        let ends = (at.first().copied(), at.last().copied());
        let x = match (ends, is_of_levels) {
            ((Some(first), Some(last)), true) => (first - 0.5, last + 0.5),
            ((Some(first), Some(last)), false) if first < last => (first, last),
            ((first, _), _) => (first.unwrap_or(0.0) - 0.5, first.unwrap_or(0.0) + 0.5),
        };
        Self {
            x,
            y,
            at,
            is_of_levels,
        }
    }

    fn across(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (RIGHT - LEFT)
    }

    fn down(&self, value: f64) -> f64 {
        BOTTOM - (value - self.y.0) / (self.y.1 - self.y.0) * (BOTTOM - TOP)
    }

    fn grid(&self) -> String {
        let line = |share: f64| {
            let y = self.down(self.y.0 + share * (self.y.1 - self.y.0));
            format!(
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n"
            )
        };
        [0.0, 0.5, 1.0].into_iter().map(line).collect()
    }

    fn labels(&self, effect: &Effect) -> String {
        let vertical = [0.0, 0.5, 1.0].into_iter().map(|share| {
            let value = self.y.0 + share * (self.y.1 - self.y.0);
            let (x, y) = (LEFT - 6.0, self.down(value) + 4.0);
            let text = short(value);
            format!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>\n")
        });
        let below = |x: f64, anchor: &str, text: &str| {
            let y = BOTTOM + 18.0;
            let text = escaped(text);
            format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>\n")
        };
        let horizontal: String = match &effect.places {
            Places::Numbers(_) => {
                let (low, high) = self.x;
                let text = |value: f64| match effect.is_of_dates {
                    true => DateFormat::day(value),
                    false => short(value),
                };
                let ends = [(LEFT, "start", low), (RIGHT, "end", high)];
                ends.map(|(x, anchor, value)| below(x, anchor, &text(value)))
                    .concat()
            }
            Places::Levels(levels) => {
                let room = ((RIGHT - LEFT) / levels.len().max(1) as f64 / ROOM) as usize;
                let every = 4usize.div_ceil(room.max(1));
                let shown = levels.iter().zip(&self.at).step_by(every.max(1));
                let text = |(name, &at): (&String, &f64)| {
                    below(self.across(at), "middle", &shortened(name, room * every))
                };
                shown.map(text).collect()
            }
        };
        vertical.collect::<String>() + &horizontal
    }

    fn band(&self, curve: &Curve, number: usize) -> String {
        let pairs = self.at.iter().zip(curve.low.iter().zip(&curve.high));
        if self.is_of_levels {
            let bar = |(&at, (&low, &high)): (&f64, (&f64, &f64))| {
                let x = self.across(at);
                let (top, bottom) = (self.down(high), self.down(low));
                format!(
                    "<line class=\"spread c{number}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" \
                     y2=\"{bottom:.1}\"/>\n"
                )
            };
            return pairs.map(bar).collect();
        }
        let upper = self.at.iter().zip(&curve.high);
        let lower = self.at.iter().zip(&curve.low).rev();
        let points: String = upper
            .chain(lower)
            .map(|(&x, &y)| self.point(x, y))
            .collect();
        format!("<polygon class=\"band c{number}\" points=\"{points}\"/>\n")
    }

    fn line(&self, curve: &Curve, number: usize) -> String {
        let places = self.at.iter().zip(&curve.mean);
        if self.is_of_levels {
            let dot = |(&at, &mean): (&f64, &f64)| {
                let (x, y) = (self.across(at), self.down(mean));
                format!("<circle class=\"dot c{number}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n")
            };
            return places.map(dot).collect();
        }
        let points: String = places.map(|(&x, &y)| self.point(x, y)).collect();
        format!("<polyline class=\"line c{number}\" points=\"{points}\"/>\n")
    }

    fn point(&self, x: f64, y: f64) -> String {
        format!("{:.1},{:.1} ", self.across(x), self.down(y))
    }
}

/// A number with three significant digits, without trailing zeros.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let digits = (2 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A name of at most `most` letters, with an ellipsis if it is longer.
fn shortened(name: &str, most: usize) -> String {
    match name.chars().count() <= most.max(2) {
        true => name.to_owned(),
        false => name.chars().take(most.max(2) - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(places: Places, mean: Vec<f64>) -> Effect {
        Effect {
            column: "a<b".into(),
            is_of_dates: false,
            left_out: 0,
            places,
            curves: vec![Curve {
                class: None,
                low: mean.iter().map(|mean| mean - 1.0).collect(),
                high: mean.iter().map(|mean| mean + 1.0).collect(),
                mean,
            }],
        }
    }

    #[test]
    fn the_curve_goes_from_axis_to_axis() {
        let effect = effect(Places::Numbers(vec![2.0, 4.0]), vec![1.0, 3.0]);
        let range = range(std::slice::from_ref(&effect));
        assert_eq!(range, (0.0, 4.0));
        let chart = chart(&effect, range);
        let line = format!("{LEFT:.1},{:.1} {RIGHT:.1},{:.1} ", 142.0, 54.0);
        assert!(chart.contains(&line), "{chart}");
        assert!(
            chart.contains("a&lt;b") && !chart.contains("a<b"),
            "{chart}"
        );
    }

    #[test]
    fn numbers_at_an_axis_are_short() {
        let cases = [
            (0.0, "0"),
            (8.997, "9"),
            (0.4498, "0.45"),
            (-141.0, "-141"),
            (2900.4, "2900"),
            (0.00041, "4.10e-4"),
            (12_345_678.0, "1.23e7"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn levels_are_dots_with_names_that_fit() {
        let levels = ["yes", "a very long name of a level", "no", "maybe"].map(str::to_owned);
        let effect = effect(Places::Levels(levels.to_vec()), vec![0.0; 4]);
        let chart = chart(&effect, (-1.0, 1.0));
        assert_eq!(chart.matches("<circle").count(), 4);
        assert!(chart.contains("…"), "{chart}");
    }
}
