//! Decision map of a binary classifier over two inputs.

use std::path::Path;

use plotters::prelude::*;

use super::canvas::{Area, drawing, font, pixels, plain_text, square, write};
use super::chart::Chart;
use super::classified_points::{ClassifiedPoints, Scene};
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::same_length;
use super::{Caption, PlotError, Quantity, palette};

const PICTURE: &str = "Decision map";

/// The number of colors of the heat map; adjacent cells of a color in a row become one rectangle.
const COLORS: f64 = 40.0;

/// Draws a heat map of the probability of the second class, with its 0.5 contour and the points.
///
/// `probability` has one value per node of `grid`, in the order of [`ProbabilityGrid::nodes`];
/// `inducing` may be empty.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a slice has a wrong length, [`PlotError::NothingToShow`] if no
/// probability lies in 0 to 1, [`PlotError::Write`] if the file cannot be written.
pub fn decision_map(
    path: &Path,
    grid: &ProbabilityGrid,
    probability: &[f64],
    points: ClassifiedPoints<'_>,
    inducing: &[[f64; 2]],
    inputs: [Quantity<'_>; 2],
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let nodes = grid.count();
    same_length(PICTURE, "the probability", nodes, probability.len())?;
    points.check(PICTURE)?;
    let valid = |value: &&f64| (0.0..=1.0).contains(*value);
    let unusable = nodes - probability.iter().filter(valid).count();
    if unusable == nodes {
        return Err(PlotError::nothing(PICTURE, nodes));
    }
    let axes = grid.axes(inputs);
    let scene = Scene::new(&points, inducing, &axes);
    let names = points.shown_names();
    let name = |class: usize| names.get(class).map_or("", String::as_str);
    let legend = vec![
        Entry::new(Sample::Dot, palette::BLUE, name(1)),
        Entry::new(Sample::Triangle, palette::VERMILION, name(0)),
        Entry::new(Sample::Line, palette::INK, "probability 0.5"),
    ];
    let frame = scene.frame(PICTURE, caption, legend, (None, unusable));
    let facts = points.counts(&names);
    let shade = |node: usize| {
        let value = probability[node];
        let level = (value * COLORS).round();
        (0.0..=1.0)
            .contains(&value)
            .then(|| palette::probability(level / COLORS))
    };
    let draw = |chart: &mut Chart<'_>| {
        grid.draw_cells(chart, shade)?;
        // The line where the interpolated probability is one half.
        chart.lines(grid.contour(probability, 0.5), palette::INK, 2)?;
        draw_points(chart, &scene.points)?;
        chart.crosses(&scene.inducing)
    };
    square(path, &frame, axes, &facts, draw, |panel, y| {
        color_bar(panel, name(1), y + 24)
    })
}

/// Draws dots of the second class and triangles of the first, each with a white rim that separates
/// it from a background of the same color.
fn draw_points(chart: &mut Chart<'_>, shown: &[([f64; 2], usize)]) -> Result<(), PlotError> {
    let radius = if shown.len() > 300 { 3 } else { 4 };
    let of_class = |class: usize| {
        shown
            .iter()
            .filter(move |point| point.1 == class)
            .map(|point| (point.0[0], point.0[1]))
    };
    chart.dots(of_class(1), radius + 1, palette::PAPER.filled())?;
    chart.dots(of_class(1), radius, palette::BLUE.filled())?;
    for (size, color) in [
        (radius + 3, palette::PAPER),
        (radius + 1, palette::VERMILION),
    ] {
        let marker = |place| TriangleMarker::new(place, pixels(size), color.filled());
        chart.draw(of_class(0).map(marker))?;
    }
    Ok(())
}

/// Draws the color bar with its probabilities below the legend.
fn color_bar(panel: &Area<'_>, name: &str, top: i32) -> Result<(), PlotError> {
    const LEFT: i32 = 8;
    const STRIP: i32 = 5;
    const HEIGHT: i32 = 14;
    let gray = font(12.5).color(&palette::GRAY);
    let words = |text: &str, x: i32, y: i32| write(panel, PICTURE, text, &gray, (x, y));
    words(
        &format!("probability of {}", plain_text(name, 20)),
        LEFT,
        top,
    )?;
    let strips = COLORS as i32;
    for strip in 0..=strips {
        let left = LEFT + strip * STRIP;
        let color = palette::probability(f64::from(strip) / COLORS);
        let corners = [
            (pixels(left), pixels(top + 22)),
            (pixels(left + STRIP) + 1, pixels(top + 22 + HEIGHT)),
        ];
        panel
            .draw(&Rectangle::new(corners, color.filled()))
            .map_err(drawing(PICTURE))?;
    }
    let below = top + 22 + HEIGHT + 4;
    words("0", LEFT, below)?;
    words("0.5", LEFT + strips * STRIP / 2 - 8, below)?;
    words("1", LEFT + strips * STRIP - 4, below)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, INPUTS, Plot};
    use super::*;

    fn names() -> [String; 2] {
        ["no".into(), "yes".into()]
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

    #[test]
    fn every_point_is_drawn_once_with_its_rim() {
        let grid = grid();
        let points = ClassifiedPoints {
            x: &[[0.0, 0.0], [0.5, 0.1], [1.5, 1.5], [9.0, 0.0]],
            class: &[1, 1, 0, 1],
            names: &names(),
        };
        let probability = disc(&grid);
        let plot = Plot::of(|path| {
            decision_map(
                path,
                &grid,
                &probability,
                points,
                &[[0.1, 0.2]],
                INPUTS,
                CAPTION,
            )
        });
        assert_eq!(plot.count("circle"), 2 * 2 + 1);
        assert_eq!(plot.count("polygon"), 2 + 1);
        assert!(plot.has_text("1 points outside the range shown"));
        assert!(plot.has_text("inducing points"));
        assert!(plot.has_text("probability of yes"));
    }

    #[test]
    fn bad_grids_and_values_are_typed_errors() {
        assert!(ProbabilityGrid::new(0.0..=0.0, 0.0..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, f64::NAN..=1.0, 10, 10).is_err());
        assert!(ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 1, 10).is_err());
        assert!(ProbabilityGrid::around(&[], 10, 10).is_err());
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 2, 2).expect("grid");
        let none = ClassifiedPoints {
            x: &[],
            class: &[],
            names: &names(),
        };
        let draw = |values: &[f64]| {
            Plot::refused(|path| decision_map(path, &grid, values, none, &[], INPUTS, CAPTION))
        };
        assert!(matches!(draw(&[0.5; 3]), PlotError::LengthMismatch { .. }));
        assert!(matches!(
            draw(&[f64::NAN; 4]),
            PlotError::NothingToShow { .. }
        ));
    }
}
