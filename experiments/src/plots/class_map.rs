//! Decision map of a classifier of several classes over two inputs.

use std::path::Path;

use burn_gp::metrics;
use plotters::prelude::*;

use super::canvas::{nothing_below, pixels, square};
use super::chart::Chart;
use super::classified_points::{ClassifiedPoints, Scene};
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::{remark, same_length};
use super::{Caption, PlotError, Quantity, palette};

const PICTURE: &str = "Decision map";

/// The number of shades between white and the color of a class; more only make the file larger.
const SHADES: f64 = 12.0;

/// Draws the most likely class of each cell in its color, paler for lower probability, with class
/// boundaries and points.
///
/// `probabilities` has one row of class probabilities per node of `grid`, in the order of
/// [`ProbabilityGrid::nodes`], `[nodes, C]`; `inducing` may be empty.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a slice has a wrong length, [`PlotError::NothingToShow`] if no
/// probability is a number, [`PlotError::Write`] if the file cannot be written.
pub fn class_map(
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
    points.check(PICTURE)?;
    let likeliest: Vec<Option<(usize, f64)>> = probabilities.chunks(classes).map(largest).collect();
    let unusable = likeliest.iter().filter(|node| node.is_none()).count();
    if unusable == nodes {
        return Err(PlotError::nothing(PICTURE, nodes));
    }
    let axes = grid.axes(inputs);
    let scene = Scene::new(&points, inducing, &axes);
    let names = points.shown_names();
    let unnamed = points.names.len() - names.len();
    let classes_shown = names.iter().enumerate();
    let legend = classes_shown
        .map(|(class, name)| Entry::new(Sample::Dot, palette::class(class), name.as_str()))
        .chain([Entry::new(Sample::Line, palette::INK, "boundary")])
        .collect();
    let sharing = remark(unnamed, "classes share the colors of others");
    let frame = scene.frame(PICTURE, caption, legend, (sharing, unusable));
    let facts = points.counts(&names);
    let draw = |chart: &mut Chart<'_>| {
        grid.draw_cells(chart, |node| likeliest[node].map(shade))?;
        draw_boundaries(chart, grid, probabilities, classes)?;
        draw_points(chart, &scene.points)?;
        chart.crosses(&scene.inducing)
    };
    square(path, &frame, axes, &facts, draw, nothing_below)
}

/// The most likely class and its probability; `None` if a value is not a number.
fn largest(probabilities: &[f64]) -> Option<(usize, f64)> {
    if !probabilities.iter().all(|value| value.is_finite()) {
        return None;
    }
    let likeliest = metrics::likeliest_classes(probabilities, probabilities.len());
    likeliest.first().copied()
}

/// The color of a class with this probability.
fn shade((class, probability): (usize, f64)) -> RGBColor {
    palette::class_shade(class, (probability * SHADES).round() / SHADES)
}

/// Draws the boundary of each class, where its lead over the best other class is zero.
fn draw_boundaries(
    chart: &mut Chart<'_>,
    grid: &ProbabilityGrid,
    probabilities: &[f64],
    classes: usize,
) -> Result<(), PlotError> {
    for class in 0..classes {
        let lead = |row: &[f64]| {
            let others = row.iter().enumerate().filter(|(other, _)| *other != class);
            row[class]
                - others
                    .map(|(_, &value)| value)
                    .fold(f64::NEG_INFINITY, f64::max)
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
            class_map(path, &grid, &values, points, &[[0.1, 0.2]], INPUTS, CAPTION)
        });
        // Each point on the map has a rim and a dot, and each class a dot in the legend.
        assert_eq!(plot.count("circle"), 2 * 3 + 3);
        for name in &names {
            assert!(plot.has_text(name));
        }
        assert!(plot.has_text("1 points outside the range shown"));
    }

    #[test]
    fn bad_values_are_typed_errors() {
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 2, 2).expect("grid");
        let names = names();
        let none = ClassifiedPoints {
            x: &[],
            class: &[],
            names: &names,
        };
        let draw = |values: &[f64]| {
            Plot::refused(|path| class_map(path, &grid, values, none, &[], INPUTS, CAPTION))
        };
        assert!(matches!(draw(&[0.5; 11]), PlotError::LengthMismatch { .. }));
        assert!(matches!(
            draw(&[f64::NAN; 12]),
            PlotError::NothingToShow { .. }
        ));
    }
}
