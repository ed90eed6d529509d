//! Legend entries: a sample with a label beside it, always outside the plot.

use super::canvas::{INK, LABEL_SIZE};
use super::drawing::{Area, Mark, Place};
use super::palette::{self, Color};
use super::text_extent::{fitted, width};

/// The sample of a legend entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    Line,
    Dashes,
    Band,
    DarkBand,
    Dot,
    Ring,
    Triangle,
    Cross,
    /// A cross on a rectangle.
    Tile,
    /// A dot with a vertical bar through it.
    BarredDot,
}

/// One entry of a legend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    sample: Sample,
    color: Color,
    text: &'a str,
}

impl<'a> Entry<'a> {
    pub(super) fn new(sample: Sample, color: Color, text: &'a str) -> Self {
        Self {
            sample,
            color,
            text,
        }
    }
}

/// The distance from the start of an entry to its text, in pixels.
const SAMPLE_WIDTH: f64 = 28.0;
/// The distance between rows of entries, in pixels.
const ROW_HEIGHT: f64 = 19.0;
/// The distance between entries in a column, in pixels.
const LINE_HEIGHT: f64 = 22.0;

/// The width of the white rim of a cross on a shaded area, in pixels.
pub(super) const RIM: f64 = 4.0;
/// The gap between entries of a row, in pixels.
const GAP: f64 = 24.0;

/// Entries side by side; those that do not fit continue on further rows.
pub(super) struct Rows<'a> {
    /// The entries with their texts as shown, and their positions from the first.
    entries: Vec<(Entry<'a>, String, Place)>,
}

impl<'a> Rows<'a> {
    /// Rows of at most this width.
    pub(super) fn of(entries: &[Entry<'a>], room: f64) -> Self {
        let (mut left, mut top) = (0.0, 0.0);
        let place = |&entry: &Entry<'a>| {
            let text = fitted(entry.text, LABEL_SIZE, room - SAMPLE_WIDTH);
            let length = SAMPLE_WIDTH + width(&text, LABEL_SIZE).ceil();
            if left > 0.0 && left + length > room {
                (left, top) = (0.0, top + ROW_HEIGHT);
            }
            let start = left;
            left += length + GAP;
            (entry, text, (start, top))
        };
        let entries = entries.iter().map(place).collect();
        Self { entries }
    }

    /// The height of the rows below the first, in pixels.
    pub(super) fn more_height(&self) -> f64 {
        self.entries.last().map_or(0.0, |&(.., (_, top))| top)
    }

    /// Draws the entries, with the first row vertically centered on `y`.
    pub(super) fn draw(&self, area: Area<'_>, (x, y): Place) {
        for (entry, text, (left, top)) in &self.entries {
            entry.draw(area, text, (x + left, y + top));
        }
    }
}

/// Draws entries below each other in this width; returns the y below the last one.
pub(super) fn in_a_column(
    area: Area<'_>,
    entries: &[Entry<'_>],
    (x, mut y): Place,
    room: f64,
) -> f64 {
    for entry in entries {
        let text = fitted(entry.text, LABEL_SIZE, room - SAMPLE_WIDTH);
        entry.draw(area, &text, (x, y));
        y += LINE_HEIGHT;
    }
    y
}

impl Entry<'_> {
    fn draw(&self, area: Area<'_>, text: &str, (x, y): Place) {
        self.draw_sample(area, (x, y));
        area.write(text, INK.after(), (x + SAMPLE_WIDTH, y));
    }

    fn draw_sample(&self, area: Area<'_>, (x, y): Place) {
        let (filled, solid) = (self.color.filled(), self.color.line(2.0));
        let line = |paint| area.line(&[(x, y), (x + 22.0, y)], paint);
        let box_of = |height: f64, opacity| {
            let corner = (x, y - height / 2.0);
            area.rectangle(corner, (22.0, height), filled.faded(opacity));
        };
        let mark = |mark, reach, paint| area.mark(mark, (x + 11.0, y), reach, paint);
        match self.sample {
            Sample::Line => line(solid),
            Sample::Dashes => line(solid.dashed(4.4)),
            Sample::Band => box_of(12.0, 0.3),
            Sample::DarkBand => box_of(12.0, 0.6),
            Sample::Dot => mark(Mark::Circle, 4.0, filled),
            Sample::Ring => mark(Mark::Circle, 4.0, solid),
            Sample::Triangle => mark(Mark::Triangle, 5.0, filled),
            Sample::Cross => mark(Mark::Cross, 4.0, solid),
            Sample::Tile => {
                box_of(14.0, 0.7);
                mark(Mark::Cross, 3.0, palette::PAPER.line(RIM));
                mark(Mark::Cross, 3.0, solid);
            }
            Sample::BarredDot => {
                let bar = [(x + 11.0, y - 8.0), (x + 11.0, y + 8.0)];
                area.line(&bar, self.color.line(1.0).faded(0.5));
                mark(Mark::Circle, 3.0, filled);
            }
        }
    }
}
