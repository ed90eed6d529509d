//! Panels on one sheet, each with its own axes and title.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Area, font, pixels, plain_text};
use super::chart::Chart;
use super::palette;

/// The space for the title of a panel.
const TITLE: i32 = 24;
/// The space for tick labels and axis text.
const LEFT_LABELS: i32 = 58;
const BOTTOM_LABELS: i32 = 42;
const MARGIN: i32 = 8;
/// The longest title of a panel, in characters.
const LONGEST_TITLE: usize = 40;

/// Divides an area into `count` panels, side by side while they are wide enough.
pub(super) fn divide<'a>(area: &Area<'a>, count: usize) -> Vec<Area<'a>> {
    let columns = match count {
        0..=3 => count.max(1),
        _ => count.div_ceil(2),
    };
    area.split_evenly(count.div_ceil(columns).max(1), columns)
}

/// Draws the title of a panel and creates its axes below.
pub(super) fn chart<'a>(
    area: &Area<'a>,
    title: &str,
    axes: (Axis, Axis),
) -> Result<Chart<'a>, PlotError> {
    let (head, body) = area.split_vertically(TITLE);
    let style = font(13.0)
        .color(&palette::INK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    let place = (MARGIN + LEFT_LABELS, TITLE / 2);
    head.write(&plain_text(title, LONGEST_TITLE), &style, place)?;
    let mut builder = ChartBuilder::on(&body.inner);
    builder
        .margin_left(pixels(MARGIN))
        .margin_right(pixels(2 * MARGIN))
        .margin_bottom(pixels(MARGIN / 2))
        .set_label_area_size(LabelAreaPosition::Left, pixels(LEFT_LABELS))
        .set_label_area_size(LabelAreaPosition::Bottom, pixels(BOTTOM_LABELS));
    Chart::new(&mut builder, area.plot, axes, 11.0)
}
