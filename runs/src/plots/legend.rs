//! Legend entries: a sample with a label beside it, always outside the plot.

use plotters::prelude::*;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::canvas::{Area, LABEL_SIZE, MARGIN, WIDTH, ink, pixels};

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

/// Draws entries side by side, vertically centered on `y`; entries that do not fit go to rows above
/// the last one.
pub(super) fn in_a_row(
    area: &Area<'_>,
    entries: &[Entry<'_>],
    x: i32,
    y: i32,
) -> Result<(), PlotError> {
    let mut places: Vec<(i32, i32)> = Vec::new();
    let (mut left, mut row) = (x, 0);
    for entry in entries {
        // Sans-serif letters are about 0.55 of the font size wide on average; 24 separates entries.
        let text = (entry.text.chars().count() as f64 * LABEL_SIZE * 0.55).ceil() as i32;
        if left > x && left + SAMPLE_WIDTH + text > WIDTH as i32 - MARGIN {
            (left, row) = (x, row + 1);
        }
        places.push((left, row));
        left += SAMPLE_WIDTH + text + 24;
    }
    for (entry, (left, own)) in entries.iter().zip(places) {
        draw(area, entry, left, y - (row - own) * LINE_HEIGHT)?;
    }
    Ok(())
}

/// Draws entries below each other, starting at `y`; returns the y below the last one.
pub(super) fn in_a_column(
    area: &Area<'_>,
    entries: &[Entry<'_>],
    x: i32,
    y: i32,
) -> Result<i32, PlotError> {
    const LINE_HEIGHT: i32 = 22;
    let mut top = y;
    for entry in entries {
        draw(area, entry, x, top)?;
        top += LINE_HEIGHT;
    }
    Ok(top)
}

fn draw(area: &Area<'_>, entry: &Entry<'_>, x: i32, y: i32) -> Result<(), PlotError> {
    sample(area, entry, x, y)?;
    let style = ink().pos(Pos::new(HPos::Left, VPos::Center));
    area.write(entry.text, &style, (x + SAMPLE_WIDTH, y))
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
        Sample::BarredDot => area
            .draw(&PathElement::new(
                [at(11, -8), at(11, 8)],
                entry.color.mix(0.5).stroke_width(pixels(1) as u32),
            ))
            .and_then(|()| area.draw(&Circle::new(middle, pixels(3), filled))),
    }
}
