//! Heat maps over two inputs, with a shared color scale.

use std::path::Path;

use super::axis::extent;
use super::bitmap::Bitmap;
use super::canvas::{Frame, GRAY, LABEL_SIZE, LEGEND, sheet};
use super::chart::Backdrop;
use super::drawing::{Area, Mark};
use super::legend::{Entry, Sample};
use super::palette::{self, Color};
use super::probability_grid::ProbabilityGrid;
use super::rows::{MOST_POINTS, same_length, thin, usable};
use super::text_extent::fitted;
use super::{Caption, PlotError, Quantity, panels};

const NAME: &str = "Map";
/// The position of the color scale from the left of the header, and its size, in pixels.
const SCALE: f64 = 470.0;
const SCALE_SIZE: (f64, f64) = (123.0, 14.0);

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
    let axes = grid.axes(inputs);
    let dots: Vec<_> = (maps.iter())
        .map(|map| thin(&axes.held(map.points), MOST_POINTS))
        .collect();
    let crosses: Vec<_> = maps.iter().map(|map| axes.held(map.crosses)).collect();
    let entries = [
        (&dots, Sample::Dot, palette::VERMILION, &names[0]),
        (&crosses, Sample::Cross, palette::INK, &names[1]),
    ];
    let shown = entries
        .into_iter()
        .filter(|(marks, ..)| !marks.concat().is_empty());
    let legend = shown.map(|(_, sample, color, name)| Entry::new(sample, color, name));
    let frame = Frame {
        more_height: panels::more_height(maps.len()),
        ..Frame::new(NAME, caption, legend.collect())
    };
    sheet(path, &frame, |header, body| {
        draw_scale(header, range);
        let marks = dots.into_iter().zip(crosses);
        let areas = panels::divide(body, maps.len());
        for ((area, map), (dots, crosses)) in areas.zip(maps).zip(marks) {
            let image = grid.image(map.values, 1, |values| color(values[0], range));
            let backdrop = Backdrop::Image(&image);
            let chart = panels::chart(area, map.title, axes.clone(), backdrop);
            chart.dots(dots, 1.0, palette::VERMILION.filled().faded(0.7));
            chart.marks(Mark::Cross, crosses, 4.0, palette::INK.line(2.0));
        }
    })
}

/// The color of a value between the lowest and the highest; white if it is not finite.
fn color(value: f64, (low, high): (f64, f64)) -> Color {
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
fn draw_scale(header: Area<'_>, (low, high): (f64, f64)) {
    let (width, height) = SCALE_SIZE;
    let scale = Bitmap::color_scale(|share| palette::share(true, share));
    header.image(&scale, (SCALE, LEGEND - height / 2.0), SCALE_SIZE);
    header.write(&shown(low), GRAY.before(), (SCALE - 8.0, LEGEND));
    header.write(&shown(high), GRAY.after(), (SCALE + width + 8.0, LEGEND));
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
    use super::super::tests::{CAPTION, INPUTS, Plot, wide_name};
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
