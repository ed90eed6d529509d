//! Heat maps over two inputs, with a shared color scale.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::extent;
use super::canvas::{Area, Frame, LABEL_SIZE, LEGEND, gray, pixels, sheet};
use super::chart::Chart;
use super::legend::{Entry, Sample};
use super::probability_grid::ProbabilityGrid;
use super::rows::{MOST_POINTS, same_length, thin, usable};
use super::text_extent::fitted;
use super::{Caption, PlotError, Quantity, palette, panels};

const NAME: &str = "Map";
/// The number of strips of the color scale.
const STRIPS: i32 = 40;
/// The position of the color scale from the left of the header, in pixels.
const SCALE: i32 = 470;
/// The width of a strip of the color scale, in pixels.
const STRIP: i32 = 3;

/// A heat map: values at the nodes of a grid.
#[derive(Clone, Debug)]
pub struct MapPanel<'a> {
    /// The title above the panel.
    pub title: &'a str,
    /// One value for each node of the grid, in the order of the nodes.
    pub values: &'a [f64],
    /// Positions of dots.
    pub points: &'a [[f64; 2]],
    /// Positions of crosses.
    pub crosses: &'a [[f64; 2]],
}

impl<'a> MapPanel<'a> {
    /// A map without dots and crosses.
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
/// the legend. Colors range from white, the lowest value in all panels, to blue, the highest.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a panel does not have a value for each node,
/// [`PlotError::NothingToShow`] if no value is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn number_maps(
    path: &Path,
    caption: Caption<'_>,
    (points, crosses): (&str, &str),
    (grid, inputs): (&ProbabilityGrid, [Quantity<'_>; 2]),
    maps: &[MapPanel<'_>],
) -> Result<(), PlotError> {
    for map in maps {
        same_length(NAME, "the map", grid.count(), map.values.len())?;
    }
    let values = || maps.iter().flat_map(|map| map.values.iter().copied());
    let Some(range) = extent(values().filter(|&value| usable(value))) else {
        return Err(PlotError::nothing(NAME, values().count()));
    };
    // The names of dots and crosses share the room on the left of the color scale.
    let names = [points, crosses].map(|name| fitted(name, LABEL_SIZE, 120.0));
    let shown: Vec<Marks> = maps
        .iter()
        .map(|map| Marks::of(map, grid, inputs))
        .collect();
    let mut entries = Vec::new();
    if shown.iter().any(|marks| !marks.points.is_empty()) {
        entries.push(Entry::new(Sample::Dot, palette::VERMILION, &names[0]));
    }
    if shown.iter().any(|marks| !marks.crosses.is_empty()) {
        entries.push(Entry::new(Sample::Cross, palette::INK, &names[1]));
    }
    let frame = Frame {
        more_height: panels::more_height(maps.len()),
        ..Frame::new(NAME, caption, entries)
    };
    sheet(path, &frame, |header, body| {
        draw_scale(header, range)?;
        let areas = panels::divide(body, maps.len());
        for ((area, map), marks) in areas.iter().zip(maps).zip(&shown) {
            let mut chart = panels::chart_of_image(area, map.title, grid.axes(inputs))?;
            chart.image(grid.image(map.values, 1, |values| color(values[0], range)));
            marks.draw(&mut chart)?;
        }
        Ok(())
    })
}

/// The dots and crosses inside a map.
struct Marks {
    points: Vec<(f64, f64)>,
    crosses: Vec<(f64, f64)>,
}

impl Marks {
    fn of(map: &MapPanel<'_>, grid: &ProbabilityGrid, inputs: [Quantity<'_>; 2]) -> Self {
        let (horizontal, vertical) = grid.axes(inputs);
        let held = |places: &[[f64; 2]]| -> Vec<(f64, f64)> {
            let places = places.iter().map(|&[x, y]| (x, y));
            let inside = |place: &(f64, f64)| horizontal.holds(place.0) && vertical.holds(place.1);
            places.filter(inside).collect()
        };
        Self {
            points: thin(&held(map.points), MOST_POINTS),
            crosses: held(map.crosses),
        }
    }

    fn draw(&self, chart: &mut Chart<'_>) -> Result<(), PlotError> {
        let dots = self.points.iter().copied();
        chart.dots(dots, 1, palette::VERMILION.mix(0.7).filled())?;
        let crosses = self.crosses.iter().copied();
        chart.crosses(crosses, 4, palette::INK.stroke_width(pixels(2) as u32))
    }
}

/// The color of a value between the lowest and the highest; white if it is not finite.
fn color(value: f64, (low, high): (f64, f64)) -> RGBColor {
    if !usable(value) {
        return palette::PAPER;
    }
    let share = match high > low {
        true => (value - low) / (high - low),
        false => 0.5,
    };
    palette::share(true, share)
}

/// Draws the color scale with the values at its ends.
fn draw_scale(header: &Area<'_>, (low, high): (f64, f64)) -> Result<(), PlotError> {
    for strip in 0..=STRIPS {
        let color = palette::share(true, f64::from(strip) / f64::from(STRIPS));
        let corner = (SCALE + strip * STRIP, LEGEND - 7);
        header.rectangle(corner, (STRIP, 14), color.filled())?;
    }
    let end = SCALE + (STRIPS + 1) * STRIP;
    for (text, x, side) in [
        (shown(low), SCALE - 8, HPos::Right),
        (shown(high), end + 8, HPos::Left),
    ] {
        let style = gray().pos(Pos::new(side, VPos::Center));
        header.write(&text, &style, (x, LEGEND))?;
    }
    Ok(())
}

/// Formats a number with three digits.
fn shown(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 1e5 => format!("{value:.2e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CAPTION, INPUTS, Plot, wide_name};
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

    #[test]
    fn long_names_have_room() {
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 3, 2).unwrap();
        let (values, place) = ([0.0, 1.0, 2.0, 3.0, -4.0e6, 1e7], [[0.5, 0.5]]);
        let [first, second] = ["a", "b"].map(wide_name);
        let panel = MapPanel {
            points: &place,
            crosses: &place,
            ..MapPanel::new(&first, &values)
        };
        let (maps, inputs) = (
            vec![panel; 3],
            [Quantity::of(&first), Quantity::of(&second)],
        );
        Plot::of(|path| number_maps(path, CAPTION, (&first, &second), (&grid, inputs), &maps));
    }

    #[test]
    fn dots_outside_the_map_are_not_in_the_legend() {
        let grid = ProbabilityGrid::new(0.0..=1.0, 0.0..=1.0, 3, 2).unwrap();
        let (values, outside) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [[0.5, 9.0]]);
        let maps = [MapPanel {
            points: &outside,
            crosses: &outside,
            ..MapPanel::new("map", &values)
        }];
        let draw =
            |path: &Path| number_maps(path, CAPTION, ("event", "place"), (&grid, INPUTS), &maps);
        let plot = Plot::of(draw);
        assert!(!plot.has_text("event") && !plot.has_text("place"));
    }
}
