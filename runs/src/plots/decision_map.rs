//! Decision map of a classifier over two inputs.

use std::collections::BTreeSet;
use std::path::Path;

use burn_gp_core::metrics;

use super::canvas::{Frame, square};
use super::chart::{Backdrop, Chart};
use super::drawing::Mark;
use super::legend::{Entry, RIM, Sample};
use super::palette::{self, Color};
use super::probability_grid::ProbabilityGrid;
use super::rows::{MOST_POINTS, remark_on, same_length, selected, thin};
use super::{Caption, MapInputs, PlotError};

const NAME: &str = "Decision map";

/// Points of known classes.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedPoints<'a> {
    /// Inputs `[N]`.
    pub x: &'a [[f64; 2]],
    /// The class of each point, counted from zero, `[N]`.
    pub class: &'a [usize],
    /// The names of all classes.
    pub names: &'a [String],
}

impl ClassifiedPoints<'_> {
    /// The names of the classes in the legend. Numeric names are prefixed with "class".
    fn shown_names(&self) -> Vec<String> {
        let named = |name: &String| match name.parse::<f64>() {
            Ok(_) => format!("class {name}"),
            Err(_) => name.clone(),
        };
        self.names.iter().map(named).collect()
    }

    /// The number of points of a class.
    fn count(&self, class: usize) -> usize {
        self.class.iter().filter(|&&own| own == class).count()
    }
}

/// The parts of a map.
struct Map<'a> {
    /// The probabilities at the nodes, `[nodes, C]`.
    probabilities: &'a [f64],
    classes: usize,
    /// Lines where two classes are equally likely.
    boundaries: Vec<Vec<(f64, f64)>>,
    /// The points inside the map with their classes.
    points: Vec<((f64, f64), usize)>,
    /// The inducing points inside the map.
    inducing: Vec<(f64, f64)>,
    names: Vec<String>,
}

/// Draws the most likely class at each position in its color, with class boundaries, a cross for each
/// point and a ring for each inducing point. Colors are paler for lower probability, and white where
/// all classes are equally likely.
///
/// `probabilities` has one row of class probabilities per node of `grid`, in the order of
/// [`ProbabilityGrid::nodes`], `[nodes, C]`; between nodes they are interpolated. `inducing` may be
/// empty.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a slice has a wrong length, [`PlotError::NothingToShow`] if no
/// node has finite probabilities, [`PlotError::Write`] if the file cannot be written.
pub fn decision_map(
    path: &Path,
    grid: &ProbabilityGrid,
    probabilities: &[f64],
    points: ClassifiedPoints<'_>,
    inducing: &[[f64; 2]],
    inputs: MapInputs<'_>,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let (nodes, classes) = (grid.count(), points.names.len().max(1));
    let expected = nodes * classes;
    same_length(NAME, "the probabilities", expected, probabilities.len())?;
    same_length(NAME, "the labels", points.x.len(), points.class.len())?;
    let is_unusable = |row: &&[f64]| largest(row).is_none();
    let unusable = probabilities.chunks(classes).filter(is_unusable).count();
    if unusable == nodes {
        return Err(PlotError::nothing(NAME, nodes));
    }
    let axes = inputs.axes(grid);
    let places = points.x.iter().map(|&[a, b]| (a, b));
    let labeled = places.zip(points.class.iter().copied());
    let visible: Vec<_> = labeled.filter(|&(place, _)| axes.hold(place)).collect();
    let map = Map {
        probabilities,
        classes,
        boundaries: boundaries(grid, probabilities, classes),
        points: thin(&visible, MOST_POINTS),
        inducing: axes.held(inducing),
        names: points.shown_names(),
    };
    let hidden = points.x.len() - visible.len() + inducing.len() - map.inducing.len();
    let unnamed = points.names.len().saturating_sub(palette::CLASSES.len());
    let left_out = [
        (hidden, "point", "outside the range shown"),
        (unnamed, "class", "drawn in the colors of others"),
        (unusable, "grid value", "without a probability, left white"),
    ];
    let remarks = [
        Some("white where all classes are equally likely".to_owned()),
        inputs.remark(grid),
        selected(map.points.len(), visible.len(), "points"),
    ];
    let left_out = left_out.map(|(count, thing, text)| remark_on(count, thing, text));
    let remarks = remarks.into_iter().chain(left_out);
    let count = |class: usize| (map.names[class].as_str(), points.count(class).to_string());
    let frame = Frame {
        facts: map.shown_classes().into_iter().map(count).collect(),
        ..Frame::new(NAME, caption, map.legend_entries()).with_remarks(remarks)
    };
    let image = grid.image(probabilities, classes, |values| map.color(values));
    let shape = (Backdrop::Image(&image), inputs.aspect(grid).unwrap_or(1.0));
    square(path, &frame, axes, shape, |chart, _| map.draw(chart))
}

impl Map<'_> {
    /// The classes with a distinct color that have a point or an area on the map.
    fn shown_classes(&self) -> Vec<usize> {
        let rows = self.probabilities.chunks(self.classes);
        let areas: BTreeSet<usize> = rows.filter_map(|row| Some(largest(row)?.0)).collect();
        let is_shown = |class: &usize| {
            areas.contains(class) || self.points.iter().any(|(_, own)| own == class)
        };
        let own = 0..self.names.len().min(palette::CLASSES.len());
        own.filter(is_shown).collect()
    }

    fn legend_entries(&self) -> Vec<Entry<'_>> {
        let boundary = Entry::new(Sample::Line, palette::INK, "boundary");
        let inducing = Entry::new(Sample::Ring, palette::INK, "inducing points");
        let named = |class| Entry::new(Sample::Tile, palette::class(class), &self.names[class]);
        (self.shown_classes().into_iter().map(named))
            .chain((!self.boundaries.is_empty()).then_some(boundary))
            .chain((!self.inducing.is_empty()).then_some(inducing))
            .collect()
    }

    /// The color of a position with these probabilities.
    fn color(&self, probabilities: &[f64]) -> Color {
        let least = 1.0 / self.classes as f64;
        largest(probabilities).map_or(palette::PAPER, |(class, probability)| {
            let share = (probability - least) / (1.0 - least).max(f64::MIN_POSITIVE);
            palette::class_shade(class, share)
        })
    }

    fn draw(&self, chart: &Chart<'_>) {
        for line in &self.boundaries {
            chart.curve(line, palette::INK.line(2.0));
        }
        // Crosses in the colors of the classes with a white rim.
        let places = self.points.iter().map(|&(place, _)| place);
        chart.marks(Mark::Cross, places, 3.0, palette::PAPER.line(RIM));
        for &(place, class) in &self.points {
            let paint = palette::class(class).line(2.0);
            chart.marks(Mark::Cross, [place], 3.0, paint);
        }
        let rings = self.inducing.iter().copied();
        chart.dots(rings, 4.0, palette::INK.line(1.5));
    }
}

/// The most likely class and its probability; `None` if a value is not finite.
fn largest(probabilities: &[f64]) -> Option<(usize, f64)> {
    if !probabilities.iter().all(|value| value.is_finite()) {
        return None;
    }
    let likeliest = metrics::likeliest_classes(probabilities, probabilities.len());
    likeliest.first().copied()
}

/// The boundary of each class, where its lead over the best other class is zero. The last class is
/// left out, because its boundaries are also those of other classes.
fn boundaries(
    grid: &ProbabilityGrid,
    probabilities: &[f64],
    classes: usize,
) -> Vec<Vec<(f64, f64)>> {
    let of_class = |class: usize| {
        let lead = |row: &[f64]| {
            let others = row.iter().enumerate().filter(|(other, _)| *other != class);
            let others = others.map(|(_, &value)| value);
            row[class] - others.fold(f64::NEG_INFINITY, f64::max)
        };
        let leads: Vec<f64> = probabilities.chunks(classes).map(lead).collect();
        grid.contour(&leads, 0.0)
    };
    (0..classes - 1).flat_map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, INPUTS, Plot, wave, wide_name};
    use super::super::{MapScale, Quantity};
    use super::*;

    const MAP: MapInputs<'static> = MapInputs::new(INPUTS, MapScale::Separate);

    fn names() -> Vec<String> {
        ["left", "middle", "right"].map(String::from).to_vec()
    }

    fn grid() -> ProbabilityGrid {
        ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 41, 41).expect("grid")
    }

    fn disc(grid: &ProbabilityGrid) -> Vec<f64> {
        let nodes = grid.nodes();
        nodes
            .iter()
            .map(|[a, b]| 1.0 / (1.0 + (4.0 * (a * a + b * b - 1.0)).exp()))
            .collect()
    }

    #[test]
    fn the_contour_of_a_disc_is_its_rim() {
        let grid = grid();
        let lines = grid.contour(&disc(&grid), 0.5);
        assert_eq!(lines.len(), 1);
        let length: f64 = lines[0]
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1))
            .sum();
        // Chords of 0.1-wide cells are shorter than the arc by well under 1 %.
        assert!(
            (length / std::f64::consts::TAU - 1.0).abs() < 0.01,
            "{length}"
        );
        for &(x, y) in &lines[0] {
            // Linear interpolation of the sigmoid between nodes 0.1 apart errs by less than 0.01.
            assert!((x.hypot(y) - 1.0).abs() < 0.01);
        }
    }

    /// Three stripes along the second input.
    fn stripes(grid: &ProbabilityGrid) -> Vec<f64> {
        let weights = |a: f64| [(-2.0 * a).exp(), 2.0, (2.0 * a).exp()];
        let row = |node: &[f64; 2]| {
            let weights = weights(node[0]);
            let sum: f64 = weights.iter().sum();
            weights.map(|weight| weight / sum)
        };
        grid.nodes().iter().flat_map(row).collect()
    }

    #[test]
    fn every_class_has_its_color_and_every_point_its_cross() {
        let grid = ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 21, 21).expect("grid");
        let names = names();
        let points = ClassifiedPoints {
            x: &[[-1.0, 0.0], [0.0, 0.5], [1.0, 1.0], [0.0, 9.0]],
            class: &[0, 1, 2, 1],
            names: &names,
        };
        let values = stripes(&grid);
        let plot = Plot::of(|path| {
            decision_map(path, &grid, &values, points, &[[0.1, 0.2]], MAP, CAPTION)
        });
        // Each point on the map is two strokes with two of a rim.
        let with_fewer = |count: usize| {
            let fewer = ClassifiedPoints {
                x: &points.x[..count],
                class: &points.class[..count],
                ..points
            };
            map(fewer, &[[0.1, 0.2]], MAP).count("line")
        };
        assert_eq!(with_fewer(3) - with_fewer(1), 2 * 4);
        for name in &names {
            assert!(plot.has_text(name));
        }
        assert!(plot.has_text("1 point outside the range shown"));
        assert!(plot.has_text("inducing points"));
    }

    #[test]
    fn bad_grids_and_values_are_typed_errors() {
        assert!(ProbabilityGrid::new(0.0..=0.0, 0.0..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, f64::NAN..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 1, 10).is_err());
        assert!(ProbabilityGrid::around(&[], 10, 10).is_err());
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 2, 2).expect("grid");
        let names = names();
        let none = ClassifiedPoints {
            x: &[],
            class: &[],
            names: &names,
        };
        let draw = |values: &[f64]| {
            Plot::refused(|path| decision_map(path, &grid, values, none, &[], MAP, CAPTION))
        };
        assert!(matches!(draw(&[0.5; 11]), PlotError::LengthMismatch { .. }));
        assert!(matches!(
            draw(&[f64::NAN; 12]),
            PlotError::NothingToShow { .. }
        ));
    }

    /// Draws points of three classes on stripes of the three.
    fn map(points: ClassifiedPoints<'_>, inducing: &[[f64; 2]], inputs: MapInputs<'_>) -> Plot {
        let grid = ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 21, 21).expect("grid");
        let values = stripes(&grid);
        Plot::of(|path| decision_map(path, &grid, &values, points, inducing, inputs, CAPTION))
    }

    #[test]
    fn the_map_is_one_smooth_image_with_crosses_for_the_points() {
        let names = names();
        let points = ClassifiedPoints {
            x: &[[-1.0, 0.0], [0.0, 0.5], [1.0, 1.0]],
            class: &[0, 1, 2],
            names: &names,
        };
        let plot = map(points, &[[0.1, 0.2], [0.5, 0.5]], MAP);
        assert_eq!(plot.count("image"), 1);
        // The paper and three samples of the legend: no cell of the grid is a rectangle.
        assert_eq!(plot.count("rect"), 1 + 3);
        // Rings are inducing points, here and in the legend.
        assert_eq!(plot.count("circle"), 2 + 1);
    }

    #[test]
    fn the_legend_names_what_the_map_shows() {
        let grid = grid();
        let names = ["left", "right", "absent"].map(String::from).to_vec();
        let certain = [0.9, 0.1, 0.0].repeat(grid.count());
        let points = ClassifiedPoints {
            x: &[[-1.0, 0.0], [9.0, 0.0]],
            class: &[0, 2],
            names: &names,
        };
        let draw =
            |path: &Path| decision_map(path, &grid, &certain, points, &[[9.0, 9.0]], MAP, CAPTION);
        let plot = Plot::of(draw);
        assert!(plot.has_text("left"));
        for hidden in ["absent", "boundary", "inducing points"] {
            assert!(!plot.texts().contains(&hidden.to_owned()), "{hidden}");
        }
    }

    #[test]
    fn long_names_of_many_classes_stay_apart() {
        let grid = ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 21, 21).expect("grid");
        let names: Vec<String> = (0..30).map(|class| wide_name(&class.to_string())).collect();
        let share = |node: usize| (0..30).map(move |class| f64::from(u8::from(node % 30 == class)));
        let values: Vec<f64> = (0..grid.count()).flat_map(share).collect();
        let class: Vec<usize> = (0..3000).map(|row| row % 30).collect();
        let x: Vec<[f64; 2]> = wave(3000, 0.1)
            .into_iter()
            .zip(wave(3000, 0.5))
            .map(|(a, b)| [a, b * 3.0])
            .collect();
        let points = ClassifiedPoints {
            x: &x,
            class: &class,
            names: &names,
        };
        let [first, second] = ["a", "b"].map(wide_name);
        let inputs = [
            Quantity::of(&first),
            Quantity {
                name: &second,
                unit: Some(&first),
            },
        ];
        let caption = Caption::new(&first, &second);
        for scale in [MapScale::Separate, MapScale::Equal, MapScale::Degrees] {
            let inputs = MapInputs::new(inputs, scale);
            let draw = |path: &Path| {
                decision_map(path, &grid, &values, points, &[[0.0, 9.0]], inputs, caption)
            };
            Plot::of(draw);
        }
    }
}
