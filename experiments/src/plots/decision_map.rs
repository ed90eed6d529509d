//! Decision map of a binary classifier over two inputs.

use std::path::Path;

use plotters::prelude::*;

use super::canvas::{Area, Chart, Frame, drawing, font, pixels, plain_text, square};
use super::classified_points::{ClassifiedPoints, Scene};
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::{remark, same_length};
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
        return Err(PlotError::NothingToShow {
            plot: PICTURE,
            given: nodes,
        });
    }
    let axes = grid.axes(inputs);
    let scene = Scene::new(&points, inducing, &axes);
    let names = points.shown_names();
    let name = |class: usize| names.get(class).map_or("", String::as_str);
    let frame = Frame {
        plot: PICTURE,
        caption,
        remarks: scene
            .remarks()
            .into_iter()
            .chain(remark(
                unusable,
                "grid values are no probability, left white",
            ))
            .collect(),
        legend: legend_entries([name(0), name(1)], scene.has_inducing()),
    };
    let facts = points.counts(&names);
    let shade = |node: usize| {
        let value = probability[node];
        let level = (value * COLORS).round();
        (0.0..=1.0)
            .contains(&value)
            .then(|| palette::probability(level / COLORS))
    };
    let draw = |chart: &mut Chart<'_>| {
        grid.draw_cells(chart, PICTURE, shade)?;
        draw_contour(chart, grid, probability)?;
        draw_points(chart, &scene.points)?;
        scene.draw_inducing(chart, PICTURE)
    };
    square(path, &frame, axes, &facts, draw, |panel, y| {
        color_bar(panel, name(1), y + 24)
    })
}

fn legend_entries<'a>(names: [&'a str; 2], with_inducing: bool) -> Vec<Entry<'a>> {
    let mut entries = vec![
        Entry::new(Sample::Dot, palette::BLUE, names[1]),
        Entry::new(Sample::Triangle, palette::VERMILION, names[0]),
        Entry::new(Sample::Line, palette::INK, "probability 0.5"),
    ];
    if with_inducing {
        entries.push(Entry::new(Sample::Cross, palette::INK, "inducing points"));
    }
    entries
}

/// Draws the line where the interpolated probability is one half, by marching squares.
fn draw_contour(
    chart: &mut Chart<'_>,
    grid: &ProbabilityGrid,
    probability: &[f64],
) -> Result<(), PlotError> {
    let style = palette::INK.stroke_width(pixels(2) as u32);
    let segments = grid.contour(probability, 0.5);
    chart
        .draw_series(
            segments
                .into_iter()
                .map(|ends| PathElement::new(ends, style)),
        )
        .map_err(drawing(PICTURE))?;
    Ok(())
}

fn draw_points(chart: &mut Chart<'_>, shown: &[([f64; 2], usize)]) -> Result<(), PlotError> {
    let radius = if shown.len() > 300 { 3 } else { 4 };
    let halo = palette::PAPER.filled();
    let of_class = |class: usize| {
        shown
            .iter()
            .filter(move |point| point.1 == class)
            .map(|point| (point.0[0], point.0[1]))
    };
    // A white rim separates a point from a background of the same color.
    let rims = of_class(1).map(|place| Circle::new(place, pixels(radius + 1), halo));
    chart.draw_series(rims).map_err(drawing(PICTURE))?;
    let circles =
        of_class(1).map(|place| Circle::new(place, pixels(radius), palette::BLUE.filled()));
    chart.draw_series(circles).map_err(drawing(PICTURE))?;
    let rims = of_class(0).map(|place| TriangleMarker::new(place, pixels(radius + 3), halo));
    chart.draw_series(rims).map_err(drawing(PICTURE))?;
    let triangles = of_class(0)
        .map(|place| TriangleMarker::new(place, pixels(radius + 1), palette::VERMILION.filled()));
    chart.draw_series(triangles).map_err(drawing(PICTURE))?;
    Ok(())
}

/// Draws the color bar with its probabilities below the legend.
fn color_bar(panel: &Area<'_>, name: &str, top: i32) -> Result<(), PlotError> {
    const LEFT: i32 = 8;
    const STRIP: i32 = 5;
    const HEIGHT: i32 = 14;
    let gray = font(12.5).color(&palette::GRAY);
    let words = |text: &str, x: i32, y: i32| {
        panel
            .draw_text(text, &gray, (pixels(x), pixels(y)))
            .map_err(drawing(PICTURE))
    };
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
