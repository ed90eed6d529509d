//! Panels on one sheet, each with its own axes and title.

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::axis::Axis;
use super::bitmap::Bitmap;
use super::canvas::{Area, font};
use super::chart::{Chart, Surroundings};
use super::palette;
use super::text_extent::fitted;

/// The space for the title of a panel.
const TITLE: i32 = 24;
/// The space for tick labels and axis text.
const LEFT_LABELS: i32 = 62;
const MARGIN: i32 = 8;
/// The font size of tick labels.
const TICK_SIZE: f64 = 11.0;
/// The height of a color scale with its labels.
const SCALE: i32 = 60;
/// The number of colors of a color scale.
const SHADES: u32 = 256;

/// The numbers of columns and rows for this many panels: side by side while they are wide enough.
fn arrangement(count: usize) -> (usize, usize) {
    const MOST_COLUMNS: usize = 4;
    let columns = match count {
        0..=3 => count.max(1),
        _ => count.div_ceil(2).min(MOST_COLUMNS),
    };
    (columns, count.div_ceil(columns).max(1))
}

/// The height that more than two rows of panels add to a sheet, in pixels.
pub(super) fn more_height(count: usize) -> i32 {
    const ROW: i32 = 220;
    ROW * arrangement(count).1.saturating_sub(2) as i32
}

/// Divides an area into `count` panels.
pub(super) fn divide<'a>(area: &Area<'a>, count: usize) -> Vec<Area<'a>> {
    let (columns, rows) = arrangement(count);
    area.split_evenly(rows, columns)
}

/// The space around the axes of a panel.
const AROUND: Surroundings = Surroundings {
    top: 0,
    right: 2 * MARGIN,
    bottom: MARGIN / 2,
    left: MARGIN,
    left_labels: LEFT_LABELS,
    bottom_labels: 42,
};

/// Draws the title of a panel and creates its axes below.
pub(super) fn chart<'a>(
    area: &Area<'a>,
    title: &str,
    axes: (Axis, Axis),
) -> Result<Chart<'a>, PlotError> {
    Chart::new(&titled(area, title)?, AROUND, axes, TICK_SIZE)
}

/// Draws the title of a panel and creates axes without grid lines below, for an image.
pub(super) fn chart_of_image<'a>(
    area: &Area<'a>,
    title: &str,
    axes: (Axis, Axis),
) -> Result<Chart<'a>, PlotError> {
    Chart::of_image(&titled(area, title)?, AROUND, axes, TICK_SIZE)
}

/// The room for a map in a panel of this width, and the height of the panel without the map.
pub(super) fn room_of_map(width: i32) -> (i32, i32) {
    let beside = AROUND.left + AROUND.left_labels + AROUND.right;
    let around = TITLE + AROUND.top + AROUND.bottom_labels + AROUND.bottom + SCALE;
    (width - beside, around)
}

/// Draws a panel with a map of this ratio of width to height, and its color scale below. `color` gets the share of a
/// value between the ends of the scale. Returns the chart of the map.
pub(super) fn map<'a>(
    area: &Area<'a>,
    title: &str,
    (axes, aspect): ((Axis, Axis), f64),
    (scale, color): (Axis, fn(f64) -> RGBColor),
) -> Result<Chart<'a>, PlotError> {
    let titled = titled(area, title)?;
    let (upper, lower) = titled.split_vertically(titled.size().1 - SCALE);
    let around = AROUND.with_aspect(upper.size(), aspect);
    let chart = Chart::of_image(&upper, around, axes, TICK_SIZE)?;
    let below = Surroundings {
        bottom: AROUND.bottom,
        ..around
    };
    let colors = (0..SHADES).map(|shade| {
        let RGBColor(red, green, blue) = color(f64::from(shade) / f64::from(SHADES - 1));
        [red, green, blue]
    });
    let bar = Bitmap::smooth(SHADES as usize, colors.collect());
    Chart::of_scale(&lower, below, scale, TICK_SIZE)?.image(bar);
    Ok(chart)
}

/// Writes the title of a panel and returns the area below.
fn titled<'a>(area: &Area<'a>, title: &str) -> Result<Area<'a>, PlotError> {
    const SIZE: f64 = 13.0;
    let (head, body) = area.split_vertically(TITLE);
    let style = font(SIZE)
        .color(&palette::INK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    let left = MARGIN + LEFT_LABELS;
    let title = fitted(title, SIZE, f64::from(area.size().0 - left - MARGIN));
    head.write(&title, &style, (left, TITLE / 2))?;
    Ok(body)
}
