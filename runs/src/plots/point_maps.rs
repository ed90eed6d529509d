//! Maps of vectors over points of two inputs, colored by magnitude.

use std::path::Path;

use super::axis::extent;
use super::canvas::{
    BETWEEN_MARGINS, Frame, HEIGHT, INK, LABEL_SIZE, MARGIN, SQUARE_HEADER, WIDTH, on_paper,
};
use super::drawing::{Area, Mark, Place};
use super::legend::{self, Entry, Sample};
use super::rows::{same_length, usable};
use super::text_extent::fitted;
use super::{Caption, PlotError, palette};

const NAME: &str = "Magnitudes";

/// The space for the names of the rows of maps.
const NAMES: f64 = 108.0;
/// The space for the numbers of the columns.
const NUMBERS: f64 = 22.0;
const GAP: f64 = 8.0;
/// The margin around the points of a map.
const INSIDE: f64 = 6.0;
const DOT: f64 = 2.0;

/// A row of maps.
#[derive(Debug, Clone)]
pub struct PointMaps<'a> {
    /// The name beside the row.
    pub name: &'a str,
    /// For each map, a value for each point.
    pub vectors: &'a [Vec<f64>],
}

/// Draws one map for each vector. The color of a point is its magnitude relative to the largest of
/// its vector: dark blue for zero and yellow for the largest.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a vector does not have a value for each point,
/// [`PlotError::NothingToShow`] if there are no points or maps, [`PlotError::Write`] if the file
/// cannot be written.
pub fn point_maps(
    path: &Path,
    caption: Caption<'_>,
    points: &[[f64; 2]],
    maps: &[PointMaps<'_>],
) -> Result<(), PlotError> {
    for vector in maps.iter().flat_map(|row| row.vectors) {
        same_length(NAME, "a vector", points.len(), vector.len())?;
    }
    let range = |axis: usize| {
        let places = points.iter().map(|point| point[axis]);
        extent(places.filter(|&place| usable(place)))
    };
    let columns = maps.iter().map(|row| row.vectors.len()).max().unwrap_or(0);
    let (Some(horizontal), Some(vertical), true) = (range(0), range(1), columns > 0) else {
        return Err(PlotError::nothing(NAME, points.len() * columns));
    };
    let legend = [
        ("zero", 0.0),
        ("half", 0.5),
        ("the largest of its map", 1.0),
    ]
    .map(|(text, share)| Entry::new(Sample::Dot, palette::magnitude(share), text));
    let frame = Frame::new(NAME, caption, legend.into());
    let size = (
        (WIDTH - NAMES - 2.0 * MARGIN) / columns as f64,
        (HEIGHT - SQUARE_HEADER - NUMBERS - MARGIN) / maps.len() as f64,
    );
    on_paper(path, &frame, |sheet| {
        legend::Rows::of(&frame.legend, BETWEEN_MARGINS).draw(sheet, (MARGIN, 60.0));
        let area = sheet.inside([SQUARE_HEADER + NUMBERS, MARGIN, MARGIN, MARGIN + NAMES]);
        for column in 0..columns {
            let middle = (column as f64 + 0.5) * size.0 - GAP / 2.0;
            area.write(&(column + 1).to_string(), INK.above(), (middle, -3.0));
        }
        for (row, map) in maps.iter().enumerate() {
            let top = row as f64 * size.1;
            let name = fitted(map.name, LABEL_SIZE, NAMES - 8.0);
            area.write(&name, INK.before(), (-8.0, top + (size.1 - GAP) / 2.0));
        }
        for (area, place) in area.split_evenly(maps.len(), columns).zip(0..) {
            if let Some(vector) = maps[place / columns].vectors.get(place % columns) {
                draw(area, points, vector, [horizontal, vertical]);
            }
        }
    })
}

/// Draws the points of one map, the largest numbers last.
fn draw(area: Area<'_>, points: &[[f64; 2]], vector: &[f64], ranges: [(f64, f64); 2]) {
    let size = (area.width - GAP, area.height - GAP);
    area.rectangle((0.0, 0.0), size, palette::GRAY.line(1.0));
    let mut shown: Vec<([f64; 2], f64)> = (points.iter().zip(vector))
        .map(|(&point, number)| (point, number.abs()))
        .filter(|(point, size)| point.iter().all(|&place| usable(place)) && usable(*size))
        .collect();
    shown.sort_by(|a, b| a.1.total_cmp(&b.1));
    let largest = shown.last().map_or(0.0, |(_, size)| *size);
    for (point, number) in shown {
        let color = palette::magnitude(if largest > 0.0 { number / largest } else { 0.0 });
        area.mark(
            Mark::Circle,
            place(point, ranges, size),
            DOT,
            color.filled(),
        );
    }
}

/// The position of a point in a map of this size.
fn place(point: [f64; 2], ranges: [(f64, f64); 2], (width, height): (f64, f64)) -> Place {
    let share = |axis: usize| match ranges[axis] {
        (low, high) if high > low => (point[axis] - low) / (high - low),
        _ => 0.5,
    };
    let along = |share: f64, length: f64| INSIDE + share * (length - 2.0 * INSIDE);
    (along(share(0), width), along(1.0 - share(1), height))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wide_name};
    use super::*;

    #[test]
    fn every_point_of_every_map_has_a_color() {
        let points = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]];
        let (two, one) = (
            [vec![0.0, -2.0, 1.0], vec![0.0; 3]],
            [vec![1.0, f64::NAN, 0.5]],
        );
        let maps = [
            PointMaps {
                name: "first",
                vectors: &two,
            },
            PointMaps {
                name: "second",
                vectors: &one,
            },
        ];
        let plot = Plot::of(|path| point_maps(path, CAPTION, &points, &maps));
        // Three in the legend, and the finite numbers.
        assert_eq!(plot.count("circle"), 3 + 3 + 3 + 2);
        assert!(plot.has_text("first") && plot.has_text("second"));
    }

    #[test]
    fn vectors_of_another_length_and_no_maps_are_errors() {
        let uneven = [vec![1.0]];
        let maps = [PointMaps {
            name: "",
            vectors: &uneven,
        }];
        let error = Plot::refused(|path| point_maps(path, CAPTION, &[[0.0, 1.0]; 2], &maps));
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
        let error = Plot::refused(|path| point_maps(path, CAPTION, &[[0.0, 1.0]], &[]));
        assert!(matches!(error, PlotError::NothingToShow { given: 0, .. }));
    }

    #[test]
    fn long_names_have_room() {
        let (name, vectors) = (wide_name("a"), [vec![1.0, 2.0]]);
        let maps = [PointMaps {
            name: &name,
            vectors: &vectors,
        }];
        Plot::of(|path| point_maps(path, CAPTION, &[[0.0, 1.0], [1.0, 2.0]], &maps));
    }
}
