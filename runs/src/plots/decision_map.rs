//! Decision map of a classifier over two inputs.

use std::path::Path;

use burn_gp_core::metrics;
use plotters::prelude::*;

use super::canvas::{Frame, pixels, plain_text, square};
use super::chart::Chart;
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::{MOST_POINTS, remark, same_length, thin};
use super::{Caption, PlotError, Quantity, palette};

const PICTURE: &str = "Decision map";

/// The number of shades between white and the color of a class; more only make the file larger.
const SHADES: f64 = 20.0;

/// The longest class name that fits beside a map, in characters.
const LONGEST_NAME: usize = 18;

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
    /// The names of the classes with their own color, cut to fit. Numeric names get the word class.
    fn shown_names(&self) -> Vec<String> {
        let own = self.names.iter().take(palette::CLASSES.len());
        own.map(|name| match name.parse::<f64>() {
            Ok(_) => format!("class {}", plain_text(name, LONGEST_NAME)),
            Err(_) => plain_text(name, LONGEST_NAME),
        })
        .collect()
    }

    /// The number of points of each of these classes.
    fn counts<'b>(&self, names: &'b [String]) -> Vec<(&'b str, String)> {
        let count = |class: usize| self.class.iter().filter(|&&own| own == class).count();
        (names.iter().enumerate())
            .map(|(class, name)| (name.as_str(), count(class).to_string()))
            .collect()
    }
}

/// Draws the most likely class of each cell in its color, with class boundaries and points. Colors
/// are paler for lower probability, and white where all classes are equally likely.
///
/// `probabilities` has one row of class probabilities per node of `grid`, in the order of
/// [`ProbabilityGrid::nodes`], `[nodes, C]`; `inducing` may be empty.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a slice has a wrong length, [`PlotError::NothingToShow`] if no
/// probability is a number, [`PlotError::Write`] if the file cannot be written.
pub fn decision_map(
    path: &Path,
    grid: &ProbabilityGrid,
    probabilities: &[f64],
    points: ClassifiedPoints<'_>,
    inducing: &[[f64; 2]],
    inputs: [Quantity<'_>; 2],
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let (nodes, classes) = (grid.count(), points.names.len().max(1));
    let expected = nodes * classes;
    same_length(PICTURE, "the probabilities", expected, probabilities.len())?;
    same_length(PICTURE, "the labels", points.x.len(), points.class.len())?;
    let likeliest: Vec<Option<(usize, f64)>> = probabilities.chunks(classes).map(largest).collect();
    let unusable = likeliest.iter().filter(|node| node.is_none()).count();
    if unusable == nodes {
        return Err(PlotError::nothing(PICTURE, nodes));
    }
    let axes = grid.axes(inputs);
    let inside = |place: &[f64; 2]| axes.0.holds(place[0]) && axes.1.holds(place[1]);
    let labeled = points.x.iter().copied().zip(points.class.iter().copied());
    let visible: Vec<([f64; 2], usize)> = labeled.filter(|(place, _)| inside(place)).collect();
    let centers: Vec<[f64; 2]> = inducing.iter().copied().filter(inside).collect();
    let shown = thin(&visible, MOST_POINTS);
    let names = points.shown_names();
    let thinned = (shown.len() < visible.len())
        .then(|| format!("{} of {} points shown", shown.len(), visible.len()));
    let hidden = points.x.len() - visible.len() + inducing.len() - centers.len();
    let unnamed = points.names.len() - names.len();
    let remarks = [
        Some("white where all classes are equally likely".to_owned()),
        thinned,
        remark(hidden, "points outside the range shown"),
        remark(unnamed, "classes share the colors of others"),
        remark(unusable, "grid values are no probability, left white"),
    ];
    let frame = Frame {
        remarks: remarks.into_iter().flatten().collect(),
        ..Frame::new(PICTURE, caption, legend_entries(&names, &centers))
    };
    let least = 1.0 / classes as f64;
    let shade = |(class, probability): (usize, f64)| {
        let share = (probability - least) / (1.0 - least).max(f64::MIN_POSITIVE);
        palette::class_shade(class, (share * SHADES).round() / SHADES)
    };
    let facts = points.counts(&names);
    square(path, &frame, axes, &facts, |chart| {
        grid.draw_cells(chart, |node| likeliest[node].map(shade))?;
        draw_boundaries(chart, grid, probabilities, classes)?;
        draw_points(chart, &shown)?;
        chart.crosses(&centers)
    })
}

fn legend_entries<'a>(names: &'a [String], centers: &[[f64; 2]]) -> Vec<Entry<'a>> {
    let inducing = Entry::new(Sample::Cross, palette::INK, "inducing points");
    (names.iter().enumerate())
        .map(|(class, name)| Entry::new(Sample::Dot, palette::class(class), name))
        .chain([Entry::new(Sample::Line, palette::INK, "boundary")])
        .chain((!centers.is_empty()).then_some(inducing))
        .collect()
}

/// The most likely class and its probability; `None` if a value is not a number.
fn largest(probabilities: &[f64]) -> Option<(usize, f64)> {
    if !probabilities.iter().all(|value| value.is_finite()) {
        return None;
    }
    let likeliest = metrics::likeliest_classes(probabilities, probabilities.len());
    likeliest.first().copied()
}

/// Draws the boundary of each class, where its lead over the best other class is zero. The last
/// class has no boundary that is not another's too.
fn draw_boundaries(
    chart: &mut Chart<'_>,
    grid: &ProbabilityGrid,
    probabilities: &[f64],
    classes: usize,
) -> Result<(), PlotError> {
    for class in 0..classes - 1 {
        let lead = |row: &[f64]| {
            let others = row.iter().enumerate().filter(|(other, _)| *other != class);
            let others = others.map(|(_, &value)| value);
            row[class] - others.fold(f64::NEG_INFINITY, f64::max)
        };
        let leads: Vec<f64> = probabilities.chunks(classes).map(lead).collect();
        chart.lines(grid.contour(&leads, 0.0), palette::INK, 2)?;
    }
    Ok(())
}

/// Draws dots in the class colors with a white rim.
fn draw_points(chart: &mut Chart<'_>, shown: &[([f64; 2], usize)]) -> Result<(), PlotError> {
    let radius = if shown.len() > 300 { 3 } else { 4 };
    let places = shown.iter().map(|(place, _)| (place[0], place[1]));
    chart.dots(places, radius + 1, palette::PAPER.filled())?;
    let dots = shown.iter().map(|(place, class)| {
        let color = palette::class(*class).filled();
        Circle::new((place[0], place[1]), pixels(radius), color)
    });
    chart.draw(dots)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, INPUTS, Plot};
    use super::*;

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
        let segments = grid.contour(&disc(&grid), 0.5);
        let length: f64 = segments
            .iter()
            .map(|[from, to]| (to.0 - from.0).hypot(to.1 - from.1))
            .sum();
        // Chords of 0.1-wide cells are shorter than the arc by well under 1 %.
        assert!(
            (length / std::f64::consts::TAU - 1.0).abs() < 0.01,
            "{length}"
        );
        for (x, y) in segments.into_iter().flatten() {
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
    fn every_class_has_its_color_and_every_point_its_dot() {
        let grid = ProbabilityGrid::new(-2.0..=2.0, -2.0..=2.0, 21, 21).expect("grid");
        let names = names();
        let points = ClassifiedPoints {
            x: &[[-1.0, 0.0], [0.0, 0.5], [1.0, 1.0], [0.0, 9.0]],
            class: &[0, 1, 2, 1],
            names: &names,
        };
        let values = stripes(&grid);
        let plot = Plot::of(|path| {
            decision_map(path, &grid, &values, points, &[[0.1, 0.2]], INPUTS, CAPTION)
        });
        // Each point on the map has a rim and a dot, and each class a dot in the legend.
        assert_eq!(plot.count("circle"), 2 * 3 + 3);
        for name in &names {
            assert!(plot.has_text(name));
        }
        assert!(plot.has_text("1 points outside the range shown"));
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
            Plot::refused(|path| decision_map(path, &grid, values, none, &[], INPUTS, CAPTION))
        };
        assert!(matches!(draw(&[0.5; 11]), PlotError::LengthMismatch { .. }));
        assert!(matches!(
            draw(&[f64::NAN; 12]),
            PlotError::NothingToShow { .. }
        ));
    }
}
