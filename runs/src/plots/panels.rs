//! Panels on one sheet, each with its own axes and title.

use super::axis::{Axes, Axis};
use super::bitmap::Bitmap;
use super::chart::{Backdrop, Chart, Surroundings};
use super::drawing::{Area, Font};
use super::palette::Color;
use super::text_extent::fitted;

/// The space for the title of a panel.
const TITLE: f64 = 24.0;
/// The space for tick labels and axis text.
const LEFT_LABELS: f64 = 62.0;
const MARGIN: f64 = 8.0;
/// The font size of tick labels.
const TICK_SIZE: f64 = 11.0;
/// The height of a color scale with its labels.
const SCALE: f64 = 60.0;

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
pub(super) fn more_height(count: usize) -> f64 {
    const ROW: f64 = 220.0;
    ROW * arrangement(count).1.saturating_sub(2) as f64
}

/// Divides an area into `count` panels.
pub(super) fn divide(area: Area<'_>, count: usize) -> impl Iterator<Item = Area<'_>> {
    let (columns, rows) = arrangement(count);
    area.split_evenly(rows, columns)
}

/// The space around the axes of a panel.
const AROUND: Surroundings = Surroundings {
    margins: [0.0, 2.0 * MARGIN, MARGIN / 2.0, MARGIN],
    left_labels: LEFT_LABELS,
    bottom_labels: 42.0,
};

/// Draws the title of a panel and creates its axes below.
pub(super) fn chart<'a>(
    area: Area<'a>,
    title: &str,
    axes: Axes,
    backdrop: Backdrop<'_>,
) -> Chart<'a> {
    Chart::new(titled(area, title), AROUND, axes, TICK_SIZE, backdrop)
}

/// The room for a map in a panel of this width, and the height of the panel without the map.
pub(super) fn room_of_map(width: f64) -> (f64, f64) {
    let [top, right, bottom, left] = AROUND.margins;
    let around = TITLE + top + AROUND.bottom_labels + bottom + SCALE;
    (width - left - AROUND.left_labels - right, around)
}

/// Draws a panel with a map of this ratio of width to height, and its color scale below. `color` gets the share of a
/// value between the ends of the scale. Returns the chart of the map.
pub(super) fn map<'a>(
    area: Area<'a>,
    title: &str,
    (axes, aspect, image): (Axes, f64, &Bitmap),
    (scale, color): (&Axis, fn(f64) -> Color),
) -> Chart<'a> {
    let titled = titled(area, title);
    let (upper, lower) = titled.split_vertically(titled.height - SCALE);
    let around = AROUND.with_aspect(upper, aspect);
    let chart = Chart::new(upper, around, axes, TICK_SIZE, Backdrop::Image(image));
    let [top, right, _, left] = around.margins;
    let below = Surroundings {
        margins: [top, right, AROUND.margins[2], left],
        ..around
    };
    let bar = Bitmap::color_scale(color);
    let axes = Axes::new(scale.clone(), Axis::hidden(1.0));
    Chart::new(lower, below, axes, TICK_SIZE, Backdrop::Scale(&bar));
    chart
}

/// Writes the title of a panel and returns the area below.
fn titled<'a>(area: Area<'a>, title: &str) -> Area<'a> {
    const SIZE: f64 = 13.0;
    let (head, body) = area.split_vertically(TITLE);
    let left = MARGIN + LEFT_LABELS;
    let title = fitted(title, SIZE, area.width - left - MARGIN);
    head.write(&title, Font::new(SIZE).after(), (left, TITLE / 2.0));
    body
}
