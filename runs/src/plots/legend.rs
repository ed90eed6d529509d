//! Legend entries: a sample with a label beside it, always outside the plot.

use plotters::prelude::*;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Area, LABEL_SIZE, ink, pixels};
use super::text_extent::{fitted, width};
use super::{PlotError, palette};

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
    pub(super) sample: Sample,
    pub(super) color: RGBColor,
    pub(super) text: &'a str,
}

impl<'a> Entry<'a> {
    pub(super) fn new(sample: Sample, color: RGBColor, text: &'a str) -> Self {
        Self {
            sample,
            color,
            text,
        }
    }
}

/// The distance from the start of an entry to its text, in pixels.
const SAMPLE_WIDTH: i32 = 28;
/// The distance between rows of entries, in pixels.
const LINE_HEIGHT: i32 = 19;

/// The width of the white rim of a cross on a shaded area, in pixels.
pub(super) const RIM: i32 = 4;
/// The gap between entries of a row, in pixels.
const GAP: i32 = 24;

/// Entries side by side; those that do not fit continue on further rows.
pub(super) struct Rows<'a> {
    /// The entries with their texts as shown, their distances from the left, and their rows.
    entries: Vec<(Entry<'a>, String, i32, i32)>,
}

impl<'a> Rows<'a> {
    /// Rows of at most this width.
    pub(super) fn of(entries: &[Entry<'a>], room: f64) -> Self {
        let (mut left, mut row) = (0, 0);
        let place = |&entry: &Entry<'a>| {
            let text = fitted(entry.text, LABEL_SIZE, room - f64::from(SAMPLE_WIDTH));
            let length = SAMPLE_WIDTH + width(&text, LABEL_SIZE).ceil() as i32;
            if left > 0 && f64::from(left + length) > room {
                (left, row) = (0, row + 1);
            }
            let start = left;
            left += length + GAP;
            (entry, text, start, row)
        };
        let entries = entries.iter().map(place).collect();
        Self { entries }
    }

    /// The height of the rows below the first, in pixels.
    pub(super) fn more_height(&self) -> i32 {
        LINE_HEIGHT * self.entries.last().map_or(0, |&(.., row)| row)
    }

    /// Draws the entries, with the first row vertically centered on `y`.
    pub(super) fn draw(&self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<(), PlotError> {
        let mut entries = self.entries.iter();
        entries.try_for_each(|(entry, text, left, row)| {
            draw(area, entry, text, (x + left, y + row * LINE_HEIGHT))
        })
    }
}

/// Draws entries below each other in this width; returns the y below the last one.
pub(super) fn in_a_column(
    area: &Area<'_>,
    entries: &[Entry<'_>],
    (x, y): (i32, i32),
    room: f64,
) -> Result<i32, PlotError> {
    const LINE_HEIGHT: i32 = 22;
    let mut top = y;
    for entry in entries {
        let text = fitted(entry.text, LABEL_SIZE, room - f64::from(SAMPLE_WIDTH));
        draw(area, entry, &text, (x, top))?;
        top += LINE_HEIGHT;
    }
    Ok(top)
}

fn draw(
    area: &Area<'_>,
    entry: &Entry<'_>,
    text: &str,
    (x, y): (i32, i32),
) -> Result<(), PlotError> {
    sample(area, entry, x, y)?;
    let style = ink().pos(Pos::new(HPos::Left, VPos::Center));
    area.write(text, &style, (x + SAMPLE_WIDTH, y))
}

fn sample(area: &Area<'_>, entry: &Entry<'_>, x: i32, y: i32) -> Result<(), PlotError> {
    let at = |dx: i32, dy: i32| (pixels(x + dx), pixels(y + dy));
    let solid = entry.color.stroke_width(pixels(2) as u32);
    let filled = entry.color.filled();
    let middle = at(11, 0);
    match entry.sample {
        Sample::Line => area.draw(&PathElement::new([at(0, 0), at(22, 0)], solid)),
        Sample::Dashes => [0, 8, 16].into_iter().try_for_each(|start| {
            area.draw(&PathElement::new([at(start, 0), at(start + 5, 0)], solid))
        }),
        Sample::Band => area.rectangle((x, y - 6), (22, 12), entry.color.mix(0.3).filled()),
        Sample::DarkBand => area.rectangle((x, y - 6), (22, 12), entry.color.mix(0.6).filled()),
        Sample::Dot => area.draw(&Circle::new(middle, pixels(4), filled)),
        Sample::Ring => area.draw(&Circle::new(middle, pixels(4), solid)),
        Sample::Triangle => area.draw(&TriangleMarker::new(middle, pixels(5), filled)),
        Sample::Cross => area.draw(&Cross::new(middle, pixels(4), solid)),
        Sample::Tile => {
            area.rectangle((x, y - 7), (22, 14), entry.color.mix(0.7).filled())?;
            let rim = palette::PAPER.stroke_width(pixels(RIM) as u32);
            area.draw(&Cross::new(middle, pixels(3), rim))?;
            area.draw(&Cross::new(middle, pixels(3), solid))
        }
        Sample::BarredDot => area
            .draw(&PathElement::new(
                [at(11, -8), at(11, 8)],
                entry.color.mix(0.5).stroke_width(pixels(1) as u32),
            ))
            .and_then(|()| area.draw(&Circle::new(middle, pixels(3), filled))),
    }
}
