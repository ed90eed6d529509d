//! The sheet a plot is drawn on: size, header, plot area, side panel, and the file.

use std::path::Path;

use super::axis::Axes;
use super::chart::{Backdrop, Chart, Surroundings};
use super::drawing::{Area, Font, Svg};
use super::legend::{self, Entry};
use super::text_extent::{BOLD, fitted, wrapped};
use super::{Caption, PlotError, palette};
use crate::replacement::replace;

/// The size of a plot in pixels. A plot with many remarks, legend entries or rows is taller.
pub(super) const WIDTH: f64 = 800.0;
pub(super) const HEIGHT: f64 = 560.0;

/// The height of the header: title, remarks, and the legend of panels.
pub(super) const WIDE_HEADER: f64 = 98.0;
pub(super) const SQUARE_HEADER: f64 = 72.0;
/// The height of the first row of the legend of panels.
pub(super) const LEGEND: f64 = 80.0;
/// The space around the plot area of a square plot. Half of the last tick label extends past it on
/// the right.
const AROUND: Surroundings = Surroundings {
    margins: [6.0, 26.0, 6.0, MARGIN],
    left_labels: 74.0,
    bottom_labels: 46.0,
};
/// The font size of the tick labels of a square plot.
const TICK_SIZE: f64 = 12.0;
pub(super) const MARGIN: f64 = 10.0;
/// The width between the margins of a sheet.
pub(super) const BETWEEN_MARGINS: f64 = WIDTH - 2.0 * MARGIN;
/// The font size of labels in pixels.
pub(super) const LABEL_SIZE: f64 = 12.5;
/// The font of labels in ink.
pub(super) const INK: Font = Font::new(LABEL_SIZE);
/// The font of labels in gray.
pub(super) const GRAY: Font = INK.colored(palette::GRAY);
/// The height of a line of facts or of a list.
pub(super) const LINE_HEIGHT: f64 = 21.0;
const REMARK_SIZE: f64 = 12.0;
/// The height of a line of remarks below the first.
const REMARK_HEIGHT: f64 = 15.0;
/// The width of the panel to the right of a square plot; it makes the plot area square.
const PANEL: f64 = 260.0;
/// The start of the text in that panel.
const PANEL_LEFT: f64 = 8.0;
/// The start of the values in that panel.
const PANEL_VALUES: f64 = 150.0;

/// The parts around the plot area.
pub(super) struct Frame<'a> {
    /// The kind of plot, for the title and error messages.
    pub(super) plot: &'static str,
    pub(super) caption: Caption<'a>,
    /// Sentences below the title, for example about omitted or thinned points.
    pub(super) remarks: Vec<String>,
    pub(super) legend: Vec<Entry<'a>>,
    /// Names and values in the panel to the right of a square plot.
    pub(super) facts: Vec<(&'a str, String)>,
    /// The height to add at the bottom, in pixels.
    pub(super) more_height: f64,
}

impl<'a> Frame<'a> {
    /// A frame without remarks and facts.
    pub(super) fn new(plot: &'static str, caption: Caption<'a>, legend: Vec<Entry<'a>>) -> Self {
        Self {
            plot,
            caption,
            remarks: Vec::new(),
            legend,
            facts: Vec::new(),
            more_height: 0.0,
        }
    }

    /// With the remarks that there are.
    pub(super) fn with_remarks(self, remarks: impl IntoIterator<Item = Option<String>>) -> Self {
        let remarks = remarks.into_iter().flatten().collect();
        Self { remarks, ..self }
    }

    /// The remarks in lines that fit the sheet.
    fn remark_lines(&self) -> Vec<String> {
        wrapped(&self.remarks, REMARK_SIZE, BETWEEN_MARGINS)
    }

    /// The height of the lines of remarks below the first.
    fn more_remarks(&self) -> f64 {
        REMARK_HEIGHT * self.remark_lines().len().saturating_sub(1) as f64
    }

    /// Writes the title, model and remarks.
    fn write(&self, sheet: Area<'_>) {
        const TITLE_SIZE: f64 = 17.0;
        let title = format!("{} · {}", self.plot, self.caption.data);
        let title = fitted(&title, BOLD * TITLE_SIZE, BETWEEN_MARGINS);
        sheet.write(&title, Font::new(TITLE_SIZE).bold(), (MARGIN, 12.0));
        let font = Font::new(REMARK_SIZE);
        let model = fitted(self.caption.model, REMARK_SIZE, BETWEEN_MARGINS);
        sheet.write(&model, font, (MARGIN, 34.0));
        for (line, remarks) in self.remark_lines().iter().enumerate() {
            let place = (MARGIN, 52.0 + REMARK_HEIGHT * line as f64);
            sheet.write(remarks, font.colored(palette::GRAY), place);
        }
    }

    /// Writes the legend and the facts, and returns the area below them.
    fn write_panel<'b>(&self, panel: Area<'b>) -> Area<'b> {
        let room = |from: f64, to: f64| to - from - MARGIN;
        let legend = (PANEL_LEFT, 20.0);
        let mut y = legend::in_a_column(panel, &self.legend, legend, room(PANEL_LEFT, PANEL));
        y += 14.0;
        for (name, value) in &self.facts {
            let name = fitted(name, LABEL_SIZE, room(PANEL_LEFT, PANEL_VALUES));
            let value = fitted(value, LABEL_SIZE, room(PANEL_VALUES, PANEL));
            panel.write(&name, GRAY, (PANEL_LEFT, y));
            panel.write(&value, INK, (PANEL_VALUES, y));
            y += LINE_HEIGHT;
        }
        panel.inside([y, MARGIN, 0.0, PANEL_LEFT])
    }
}

/// Draws a plot with this ratio of its width to its height, with the legend and the facts in a panel to its right.
/// `draw` gets the plot and the area below the facts.
pub(super) fn square(
    path: &Path,
    frame: &Frame<'_>,
    axes: Axes,
    (backdrop, aspect): (Backdrop<'_>, f64),
    draw: impl FnOnce(&Chart<'_>, Area<'_>),
) -> Result<(), PlotError> {
    on_paper(path, frame, |sheet| {
        let (_, body) = sheet.split_vertically(SQUARE_HEADER);
        let (body, panel) = body.split_horizontally(WIDTH - PANEL);
        let around = AROUND.with_aspect(body, aspect);
        let chart = Chart::new(body, around, axes, TICK_SIZE, backdrop);
        draw(&chart, frame.write_panel(panel));
    })
}

/// Draws a sheet of panels below the header and the legend, which `draw` gets too.
pub(super) fn sheet(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(Area<'_>, Area<'_>),
) -> Result<(), PlotError> {
    let legend = legend::Rows::of(&frame.legend, BETWEEN_MARGINS);
    let more = legend.more_height();
    on_sheet(path, frame, more, |sheet| {
        let (header, body) = sheet.split_vertically(WIDE_HEADER + more);
        legend.draw(header, (MARGIN, LEGEND));
        draw(header, body);
    })
}

/// Draws a whole sheet and writes it to a file.
pub(super) fn on_paper(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(Area<'_>),
) -> Result<(), PlotError> {
    on_sheet(path, frame, 0.0, draw)
}

/// Draws a whole sheet with `more` pixels of additional height and writes it to a file. `draw` gets
/// the sheet as if there were one line of remarks.
fn on_sheet(
    path: &Path,
    frame: &Frame<'_>,
    more: f64,
    draw: impl FnOnce(Area<'_>),
) -> Result<(), PlotError> {
    let above = frame.more_remarks();
    let height = HEIGHT + above + more + frame.more_height;
    let svg = Svg::default();
    let sheet = svg.sheet(WIDTH, height);
    frame.write(sheet);
    draw(sheet.inside([above, 0.0, 0.0, 0.0]));
    let written = match svg.failure() {
        Some(failure) => Err(failure),
        None => replace(path, &svg.text(WIDTH, height)),
    };
    written.map_err(|source| PlotError::Write {
        path: path.to_path_buf(),
        source,
    })
}
