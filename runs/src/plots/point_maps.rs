//! Maps of vectors over points of two inputs, colored by magnitude.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::extent;
use super::canvas::{
    Area, BETWEEN_MARGINS, Frame, HEIGHT, LABEL_SIZE, MARGIN, SQUARE_HEADER, WIDTH, ink, on_paper,
    pixels,
};
use super::legend::{self, Entry, Sample};
use super::rows::{same_length, usable};
use super::text_extent::fitted;
use super::{Caption, PlotError, palette};

const NAME: &str = "Magnitudes";

/// The space for the names of the rows of maps.
const NAMES: i32 = 108;
/// The space for the numbers of the columns.
const NUMBERS: i32 = 22;
const GAP: i32 = 8;
/// The margin around the points of a map.
const INSIDE: i32 = 6;
const DOT: i32 = 2;

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
    let layout = Layout {
        width: (WIDTH as i32 - NAMES - 2 * MARGIN) / columns as i32 - GAP,
        height: (HEIGHT as i32 - SQUARE_HEADER - NUMBERS - MARGIN) / maps.len() as i32 - GAP,
        ranges: [horizontal, vertical],
    };
    let legend = [
        ("zero", 0.0),
        ("half", 0.5),
        ("the largest of its map", 1.0),
    ]
    .map(|(text, share)| Entry::new(Sample::Dot, palette::magnitude(share), text));
    let frame = Frame::new(NAME, caption, legend.into());
    on_paper(path, &frame, |sheet| {
        legend::Rows::of(&frame.legend, BETWEEN_MARGINS).draw(sheet, (MARGIN, 60))?;
        write_names(sheet, maps, columns, &layout)?;
        for (row, maps) in maps.iter().enumerate() {
            for (column, vector) in maps.vectors.iter().enumerate() {
                draw(sheet, points, vector, layout.corner(row, column), &layout)?;
            }
        }
        Ok(())
    })
}

fn write_names(
    sheet: &Area<'_>,
    maps: &[PointMaps<'_>],
    columns: usize,
    layout: &Layout,
) -> Result<(), PlotError> {
    let beside = ink().pos(Pos::new(HPos::Right, VPos::Center));
    let above = ink().pos(Pos::new(HPos::Center, VPos::Bottom));
    for (row, maps) in maps.iter().enumerate() {
        let (left, top) = layout.corner(row, 0);
        let place = (left - 8, top + layout.height / 2);
        let name = fitted(maps.name, LABEL_SIZE, f64::from(place.0 - MARGIN));
        sheet.write(&name, &beside, place)?;
    }
    for column in 0..columns {
        let (left, top) = layout.corner(0, column);
        let place = (left + layout.width / 2, top - 3);
        sheet.write(&(column + 1).to_string(), &above, place)?;
    }
    Ok(())
}

/// Draws the points of one map, the largest numbers last.
fn draw(
    sheet: &Area<'_>,
    points: &[[f64; 2]],
    vector: &[f64],
    (left, top): (i32, i32),
    layout: &Layout,
) -> Result<(), PlotError> {
    let border = palette::GRAY.stroke_width(pixels(1) as u32);
    sheet.rectangle((left, top), (layout.width, layout.height), border)?;
    let mut shown: Vec<([f64; 2], f64)> = (points.iter().zip(vector))
        .map(|(&point, number)| (point, number.abs()))
        .filter(|(point, size)| point.iter().all(|&place| usable(place)) && usable(*size))
        .collect();
    shown.sort_by(|a, b| a.1.total_cmp(&b.1));
    let largest = shown.last().map_or(0.0, |(_, size)| *size);
    for (point, size) in shown {
        let share = if largest > 0.0 { size / largest } else { 0.0 };
        let (x, y) = layout.place(point);
        let place = (pixels(left) + x, pixels(top) + y);
        let color = palette::magnitude(share).filled();
        sheet.draw(&Circle::new(place, pixels(DOT), color))?;
    }
    Ok(())
}

/// The positions and scale of the maps, in pixels.
struct Layout {
    width: i32,
    height: i32,
    ranges: [(f64, f64); 2],
}

impl Layout {
    /// The upper left corner of a map.
    fn corner(&self, row: usize, column: usize) -> (i32, i32) {
        (
            MARGIN + NAMES + column as i32 * (self.width + GAP),
            SQUARE_HEADER + NUMBERS + row as i32 * (self.height + GAP),
        )
    }

    /// The position of a point relative to the upper left corner of its map, in drawing units.
    fn place(&self, point: [f64; 2]) -> (i32, i32) {
        let share = |axis: usize| {
            let (low, high) = self.ranges[axis];
            let width = high - low;
            if width > 0.0 {
                (point[axis] - low) / width
            } else {
                0.5
            }
        };
        let along = |share: f64, length: i32| {
            pixels(INSIDE) + (share * f64::from(pixels(length - 2 * INSIDE))) as i32
        };
        (
            along(share(0), self.width),
            along(1.0 - share(1), self.height),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CAPTION, Plot, wide_name};
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
