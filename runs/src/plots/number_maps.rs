//! Panels of numbers over two inputs, with a shared color scale.

use std::path::Path;

use plotters::prelude::*;

use super::axis::extent;
use super::canvas::{Area, Frame, gray, sheet};
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::{MOST_POINTS, same_length, thin, usable};
use super::{Caption, PlotError, Quantity, palette, panels};

const PICTURE: &str = "Map";
/// The number of colors of a map; adjacent cells of a color in a row become one rectangle.
const COLORS: f64 = 40.0;
/// The position of the color scale from the left of the header, in pixels.
const SCALE: i32 = 470;
/// The width of a strip of the color scale, in pixels.
const STRIP: i32 = 3;

/// Numbers at the nodes of a grid.
#[derive(Clone, Debug)]
pub struct MapPanel<'a> {
    /// The title above the panel.
    pub title: &'a str,
    /// One number for each node of the grid, in the order of the nodes.
    pub values: &'a [f64],
    /// Positions of dots.
    pub points: &'a [[f64; 2]],
    /// Positions of crosses.
    pub crosses: &'a [[f64; 2]],
}

impl<'a> MapPanel<'a> {
    /// Numbers without dots and crosses.
    pub fn new(title: &'a str, values: &'a [f64]) -> Self {
        Self {
            title,
            values,
            points: &[],
            crosses: &[],
        }
    }
}

/// Draws one panel for each of `maps`, all over the same `grid`, with names of dots and crosses for
/// the legend. Colors range from white, the lowest number in all panels, to blue, the highest.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a panel does not have a number for each node,
/// [`PlotError::NothingToShow`] if no number is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn number_maps(
    path: &Path,
    caption: Caption<'_>,
    (points, crosses): (&str, &str),
    (grid, inputs): (&ProbabilityGrid, [Quantity<'_>; 2]),
    maps: &[MapPanel<'_>],
) -> Result<(), PlotError> {
    for map in maps {
        same_length(PICTURE, "the map", grid.count(), map.values.len())?;
    }
    let values = || maps.iter().flat_map(|map| map.values.iter().copied());
    let Some(range) = extent(values().filter(|&value| usable(value))) else {
        return Err(PlotError::nothing(PICTURE, values().count()));
    };
    let mut entries = Vec::new();
    if maps.iter().any(|map| !map.points.is_empty()) {
        entries.push(Entry::new(Sample::Dot, palette::VERMILION, points));
    }
    if maps.iter().any(|map| !map.crosses.is_empty()) {
        entries.push(Entry::new(Sample::Cross, palette::INK, crosses));
    }
    let frame = Frame::new(PICTURE, caption, entries);
    sheet(path, &frame, |header, body| {
        draw_scale(header, range)?;
        for (area, map) in panels::divide(body, maps.len()).iter().zip(maps) {
            draw(area, grid, inputs, map, range)?;
        }
        Ok(())
    })
}

/// The position of a number between the lowest and the highest, in color steps.
fn level(value: f64, (low, high): (f64, f64)) -> f64 {
    let share = if high > low {
        (value - low) / (high - low)
    } else {
        0.5
    };
    (share * COLORS).round() / COLORS
}

fn draw(
    area: &Area<'_>,
    grid: &ProbabilityGrid,
    inputs: [Quantity<'_>; 2],
    map: &MapPanel<'_>,
    range: (f64, f64),
) -> Result<(), PlotError> {
    let (horizontal, vertical) = grid.axes(inputs);
    let inside = |place: &&[f64; 2]| horizontal.holds(place[0]) && vertical.holds(place[1]);
    let held =
        |places: &[[f64; 2]]| -> Vec<[f64; 2]> { places.iter().filter(inside).copied().collect() };
    let (points, crosses) = (thin(&held(map.points), MOST_POINTS), held(map.crosses));
    let mut chart = panels::chart(area, map.title, grid.axes(inputs))?;
    grid.draw_cells(&mut chart, |node| {
        let value = map.values[node];
        usable(value).then(|| palette::share(true, level(value, range)))
    })?;
    let dots = points.iter().map(|place| (place[0], place[1]));
    chart.dots(dots, 1, palette::VERMILION.mix(0.7).filled())?;
    chart.crosses(&crosses)
}

/// Draws the color scale with the numbers at its ends.
fn draw_scale(header: &Area<'_>, (low, high): (f64, f64)) -> Result<(), PlotError> {
    let strips = COLORS as i32;
    for strip in 0..=strips {
        let color = palette::share(true, f64::from(strip) / COLORS);
        let corner = (SCALE + strip * STRIP, 73);
        header.rectangle(corner, (STRIP, 14), color.filled())?;
    }
    let end = SCALE + (strips + 1) * STRIP;
    for (text, x) in [(shown(low), SCALE - 64), (shown(high), end + 8)] {
        header.write(&text, &gray(), (x, 74))?;
    }
    Ok(())
}

/// Formats a number with three digits.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, INPUTS, Plot};
    use super::*;

    #[test]
    fn every_panel_has_cells_dots_and_crosses_within_it() {
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 3, 2).unwrap();
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN];
        let (points, crosses) = ([[0.5, 0.5], [9.0, 0.5]], [[0.2, 0.2]]);
        let panel = |title| MapPanel {
            points: &points,
            crosses: &crosses,
            ..MapPanel::new(title, &values)
        };
        let maps = [panel("first"), panel("second")];
        let draw =
            |path: &Path| number_maps(path, CAPTION, ("event", "place"), (&grid, INPUTS), &maps);
        let plot = Plot::of(draw);
        assert_eq!(plot.count("circle"), 1 + 2);
        assert!(plot.has_text("first") && plot.has_text("second"));
        assert!(plot.has_text("4.000") && plot.has_text("event"));
        let uneven = [MapPanel {
            values: &values[1..],
            ..panel("third")
        }];
        let draw = |path: &Path| number_maps(path, CAPTION, ("", ""), (&grid, INPUTS), &uneven);
        let error = Plot::refused(draw);
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
    }
}
