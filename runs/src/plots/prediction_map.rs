//! Predicted means and standard deviations over two inputs.

use std::path::Path;

use super::axis::{Axes, Axis, extent, robust_extent};
use super::canvas::{Frame, HEIGHT, WIDE_HEADER, WIDTH, sheet};
use super::chart::Chart;
use super::drawing::{Area, Mark};
use super::legend::{Entry, Sample};
use super::palette::{self, Color};
use super::probability_grid::ProbabilityGrid;
use super::rows::{remark_on, same_length, selected, thin, usable};
use super::{Caption, MapInputs, PlotError, Quantity, panels};

const NAME: &str = "Prediction map";

/// The maximum number of test rows to draw; more would hide the map.
const MOST_ROWS: usize = 500;
/// The maximum number of training rows for which they are drawn.
const MOST_TRAINING_ROWS: usize = 500;

/// Up to this ratio of width to height, the maps are side by side.
const MOST_UPRIGHT: f64 = 1.3;
/// The maximum heights of a map side by side with the other, and above the other, in pixels.
const TALL: f64 = 480.0;
const LOW: f64 = 300.0;
/// The gap below a panel, in pixels.
const GAP: f64 = 14.0;

/// Values beyond the bulk of the means and observations by this share of its width do not stretch the color scale.
const TOLERANCE: f64 = 0.5;
/// About this many ticks are on a color scale.
const TICKS: usize = 5;

/// Predictions at the nodes of a grid, with the rows of the data.
#[derive(Debug, Clone, Copy)]
pub struct PredictionMap<'a> {
    /// The target.
    pub target: Quantity<'a>,
    /// The predicted means, `[nodes]`.
    pub mean: &'a [f64],
    /// The predicted standard deviations, `[nodes]`.
    pub deviation: &'a [f64],
    /// What varies by the standard deviation: `a new observation` or `the function`.
    pub varying: &'a str,
    /// The positions of the test rows, `[N]`.
    pub test: &'a [[f64; 2]],
    /// The targets of the test rows, `[N]`.
    pub observed: &'a [f64],
    /// The positions of the training rows, which are drawn if there are few.
    pub train: &'a [[f64; 2]],
}

/// Draws a map of the means, with the test rows in the colors of their targets on the same scale, and a map of the
/// standard deviations.
///
/// Means and standard deviations are in the order of [`ProbabilityGrid::nodes`]; between nodes they are interpolated.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a slice has a wrong length, [`PlotError::NothingToShow`] if no mean or no standard
/// deviation is finite, [`PlotError::Write`] if the file cannot be written.
pub fn prediction_map(
    path: &Path,
    caption: Caption<'_>,
    (grid, inputs): (&ProbabilityGrid, MapInputs<'_>),
    map: &PredictionMap<'_>,
) -> Result<(), PlotError> {
    let nodes = grid.count();
    same_length(NAME, "the means", nodes, map.mean.len())?;
    same_length(NAME, "the standard deviations", nodes, map.deviation.len())?;
    same_length(NAME, "the targets", map.test.len(), map.observed.len())?;
    let axes = inputs.axes(grid);
    let rows = Rows::of(map, &axes);
    let (means, deviations) = (Scale::of_means(map, &rows)?, Scale::of_deviations(map)?);
    let remarks = [
        inputs.remark(grid),
        selected(rows.test.len(), rows.inside, "test rows"),
        remark_on(rows.outside, "test row", "outside the map"),
        means.remark(map.mean.iter().copied().chain(rows.values())),
    ];
    let by_color = format!("test rows, colored by {}", map.target.name);
    let aspect = inputs.aspect(grid).unwrap_or(1.0);
    let layout = Layout::of(aspect);
    let frame = Frame {
        more_height: layout.more_height(),
        ..Frame::new(NAME, caption, rows.legend(&by_color)).with_remarks(remarks)
    };
    let title = format!("Standard deviation of {}", map.varying);
    let image = |values: &[f64], scale: &Scale| grid.image(values, 1, |value| scale.of(value[0]));
    let (mean, deviation) = (image(map.mean, &means), image(map.deviation, &deviations));
    sheet(path, &frame, |_, body| {
        let [first, second] = layout.divide(body);
        let shape = (axes.clone(), aspect, &mean);
        let chart = panels::map(first, "Predicted mean", shape, means.parts());
        rows.draw_test(&chart, &means);
        let shape = (axes, aspect, &deviation);
        let chart = panels::map(second, &title, shape, deviations.parts());
        let paint = palette::INK.line(1.0).faded(0.6);
        chart.marks(Mark::Cross, rows.train.iter().copied(), 2.0, paint);
    })
}

/// The rows on the maps.
struct Rows {
    /// The test rows on the map with their targets, at most [`MOST_ROWS`].
    test: Vec<((f64, f64), f64)>,
    /// The number of test rows on the map, and outside.
    inside: usize,
    outside: usize,
    /// The training rows on the map, if there are few.
    train: Vec<(f64, f64)>,
}

impl Rows {
    fn of(map: &PredictionMap<'_>, axes: &Axes) -> Self {
        let places = map.test.iter().map(|&[a, b]| (a, b));
        let rows = places.zip(map.observed.iter().copied());
        let visible = rows.filter(|&(place, value)| usable(value) && axes.hold(place));
        let visible: Vec<((f64, f64), f64)> = visible.collect();
        let is_few = map.train.len() <= MOST_TRAINING_ROWS;
        Self {
            test: thin(&visible, MOST_ROWS),
            inside: visible.len(),
            outside: map.test.len() - visible.len(),
            train: axes.held(if is_few { map.train } else { &[] }),
        }
    }

    /// The targets of the test rows.
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.test.iter().map(|(_, value)| *value)
    }

    fn legend<'a>(&self, by_color: &'a str) -> Vec<Entry<'a>> {
        let test = Entry::new(Sample::Ring, palette::INK, by_color);
        let train = Entry::new(Sample::Cross, palette::GRAY, "training rows");
        let shown = [
            (!self.test.is_empty()).then_some(test),
            (!self.train.is_empty()).then_some(train),
        ];
        shown.into_iter().flatten().collect()
    }

    /// Draws the test rows as dots with a rim.
    fn draw_test(&self, chart: &Chart<'_>, scale: &Scale) {
        for &(place, value) in &self.test {
            chart.dots([place], 3.0, palette::INK.filled());
            chart.dots([place], 2.25, scale.of(value).filled());
        }
    }
}

/// A color scale.
struct Scale {
    axis: Axis,
    /// The color of the share of a value between the ends.
    color: fn(f64) -> Color,
}

impl Scale {
    /// The scale of the means and of the targets of rows.
    fn of_means(map: &PredictionMap<'_>, rows: &Rows) -> Result<Self, PlotError> {
        let means = finite(map.mean);
        if means.is_empty() {
            return Err(PlotError::nothing(NAME, map.mean.len()));
        }
        let values: Vec<f64> = means.into_iter().chain(rows.values()).collect();
        let range = robust_extent(&values, TOLERANCE);
        let (low, high) = range.ok_or_else(|| PlotError::nothing(NAME, values.len()))?;
        Ok(Self {
            axis: Axis::new(low, high, map.target, TICKS),
            color: palette::magnitude,
        })
    }

    fn of_deviations(map: &PredictionMap<'_>) -> Result<Self, PlotError> {
        let range = extent(finite(map.deviation));
        let (low, high) = range.ok_or_else(|| PlotError::nothing(NAME, map.deviation.len()))?;
        let name = format!("standard deviation of {}", map.target.name);
        let quantity = Quantity {
            name: &name,
            unit: map.target.unit,
        };
        Ok(Self {
            axis: Axis::new(low, high, quantity, TICKS),
            color: |share| palette::share(true, share),
        })
    }

    fn parts(&self) -> (&Axis, fn(f64) -> Color) {
        (&self.axis, self.color)
    }

    /// The color of a value; white if it is not finite.
    fn of(&self, value: f64) -> Color {
        if !usable(value) {
            return palette::PAPER;
        }
        let (low, high) = self.axis.limits();
        (self.color)((value - low) / (high - low))
    }

    /// A sentence about values beyond the ends.
    fn remark(&self, values: impl IntoIterator<Item = f64>) -> Option<String> {
        let mut values = values.into_iter();
        let is_beyond = values.any(|value| usable(value) && !self.axis.holds(value));
        is_beyond.then(|| "values beyond the scale have the color of its end".to_owned())
    }
}

fn finite(values: &[f64]) -> Vec<f64> {
    let values = values.iter().copied();
    values.filter(|&value| usable(value)).collect()
}

/// The arrangement of both maps.
struct Layout {
    is_upright: bool,
    /// The height of a panel.
    height: f64,
}

impl Layout {
    fn of(aspect: f64) -> Self {
        let is_upright = aspect <= MOST_UPRIGHT;
        let (width, most) = match is_upright {
            true => (WIDTH / 2.0, TALL),
            false => (WIDTH, LOW),
        };
        let (room, around) = panels::room_of_map(width);
        let height = (room / aspect).min(most).round() + around + GAP;
        Self { is_upright, height }
    }

    fn more_height(&self) -> f64 {
        let rows = if self.is_upright { 1.0 } else { 2.0 };
        (WIDE_HEADER + rows * self.height - HEIGHT).max(0.0)
    }

    fn divide<'a>(&self, body: Area<'a>) -> [Area<'a>; 2] {
        let (first, rest) = body.split_vertically(self.height);
        match self.is_upright {
            true => first.split_horizontally(WIDTH / 2.0).into(),
            false => [first, rest.split_vertically(self.height).0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MapScale;
    use super::super::tests::{CAPTION, INPUTS, Plot, wide_name};
    use super::*;

    const TARGET: Quantity<'static> = Quantity::of("height");

    fn grid() -> ProbabilityGrid {
        ProbabilityGrid::new(0.0..=2.0, 0.0..=1.0, 3, 2).expect("grid")
    }

    fn content<'a>(test: &'a [[f64; 2]], observed: &'a [f64]) -> PredictionMap<'a> {
        PredictionMap {
            target: TARGET,
            mean: &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            deviation: &[0.5, 0.5, 0.5, 1.0, 1.0, 1.5],
            varying: "a new observation",
            test,
            observed,
            train: &[],
        }
    }

    fn drawn(map: &PredictionMap<'_>, scale: MapScale) -> Plot {
        let inputs = MapInputs::new(INPUTS, scale);
        Plot::of(|path| prediction_map(path, CAPTION, (&grid(), inputs), map))
    }

    #[test]
    fn both_maps_have_a_scale_and_test_rows_lie_on_the_first() {
        let test = [[0.5, 0.5], [1.5, 0.2], [3.0, 0.5]];
        let plot = drawn(&content(&test, &[1.0, 4.0, 2.0]), MapScale::Separate);
        // Two maps and two color scales.
        assert_eq!(plot.count("image"), 4);
        // Two test rows with their rims, and one ring in the legend.
        assert_eq!(plot.count("circle"), 2 * 2 + 1);
        assert!(plot.has_text("1 test row outside the map"));
        assert!(plot.has_text("Standard deviation of a new observation"));
        assert!(plot.has_text("standard deviation of height"));
        assert_eq!(plot.count_text("test rows, colored by height"), 1);
        assert_eq!(plot.size(), (800.0, 560.0));
    }

    #[test]
    fn few_training_rows_are_drawn_and_many_are_not() {
        let few = vec![[0.5, 0.5]; MOST_TRAINING_ROWS];
        let many = vec![[0.5, 0.5]; MOST_TRAINING_ROWS + 1];
        let legend = |train: &[[f64; 2]]| {
            let map = PredictionMap {
                train,
                ..content(&[], &[])
            };
            let plot = drawn(&map, MapScale::Separate);
            assert!(!plot.has_text("test rows"));
            plot.has_text("training rows")
        };
        assert!(legend(&few) && !legend(&many));
    }

    #[test]
    fn an_outlier_does_not_stretch_the_colors() {
        let test = vec![[0.5, 0.5]; 60];
        let mut observed = vec![2.0; 60];
        observed[7] = 1e6;
        let plot = drawn(&content(&test, &observed), MapScale::Separate);
        assert!(plot.has_text("values beyond the scale have the color of its end"));
        assert!(!plot.texts().iter().any(|text| text.contains('×')));
        let plot = drawn(&content(&test[..1], &[2.5]), MapScale::Separate);
        assert!(!plot.has_text("beyond the scale"));
    }

    #[test]
    fn the_shape_of_a_map_is_that_of_its_inputs() {
        // The height of the sheet: side by side, or one above the other.
        let height = |scale| drawn(&content(&[], &[]), scale).size().1;
        assert_eq!(height(MapScale::Separate), 560.0);
        assert!(height(MapScale::Equal) > 900.0);
        let north = ProbabilityGrid::new(0.0..=2.0, 70.0..=72.0, 3, 2).expect("grid");
        let inputs = MapInputs::new(INPUTS, MapScale::Degrees);
        let aspect = inputs.aspect(&north).expect("a ratio");
        assert!(
            (aspect - 71f64.to_radians().cos()).abs() < 1e-12,
            "{aspect}"
        );
        let map = content(&[], &[]);
        let plot = Plot::of(|path| prediction_map(path, CAPTION, (&north, inputs), &map));
        assert!(plot.has_text("shapes are true at latitude 71°"));
    }

    #[test]
    fn long_names_and_large_numbers_have_room() {
        let [first, second, target] = ["a", "b", "c"].map(wide_name);
        let test: Vec<[f64; 2]> = (0..900).map(|row| [f64::from(row) / 450.0, 0.5]).collect();
        let observed: Vec<f64> = (0..900).map(|row| 1e7 + f64::from(row)).collect();
        let mean = [1e7, 1e7 + 1.0, 1e7 + 2.0, -4e9, f64::NAN, 1e7];
        let map = PredictionMap {
            target: Quantity {
                name: &target,
                unit: Some(&first),
            },
            mean: &mean,
            deviation: &[1e-7, 2e-7, 1e-7, 3e-7, f64::INFINITY, 1e-7],
            train: &test[..300],
            ..content(&test, &observed)
        };
        for scale in [MapScale::Separate, MapScale::Equal, MapScale::Degrees] {
            let inputs = [Quantity::of(&first), Quantity::of(&second)];
            let inputs = MapInputs::new(inputs, scale);
            let caption = Caption::new(&first, &second);
            let plot = Plot::of(|path| prediction_map(path, caption, (&grid(), inputs), &map));
            assert!(plot.has_text("500 of 900 test rows shown"));
        }
    }

    #[test]
    fn wrong_lengths_and_nothing_to_show_are_errors() {
        let refused = |map: &PredictionMap<'_>| {
            let inputs = MapInputs::new(INPUTS, MapScale::Equal);
            Plot::refused(|path| prediction_map(path, CAPTION, (&grid(), inputs), map))
        };
        let whole = content(&[], &[]);
        let short = PredictionMap {
            mean: &whole.mean[1..],
            ..whole
        };
        assert!(matches!(refused(&short), PlotError::LengthMismatch { .. }));
        let unlabeled = content(&[[0.5, 0.5]], &[]);
        let error = refused(&unlabeled);
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
        let none = [f64::NAN; 6];
        for map in [
            PredictionMap {
                mean: &none,
                ..whole
            },
            PredictionMap {
                deviation: &none,
                ..whole
            },
        ] {
            assert!(matches!(refused(&map), PlotError::NothingToShow { .. }));
        }
    }
}
