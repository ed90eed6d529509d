//! The sheet a plot is drawn on: size, header, plot area, side panel, and the file.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use plotters::coord::Shift;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::TextStyle;

use super::axis::Axis;
use super::bitmap::Bitmap;
use super::chart::{Chart, Surroundings};
use super::legend::{self, Entry};
use super::text_extent::{BOLD, fitted, wrapped};
use super::{Caption, PlotError, palette};
use crate::replacement::replace;
use crate::visible_text::visible;

/// The size of a plot in pixels. A plot with many remarks, legend entries or rows is taller.
pub(super) const WIDTH: u32 = 800;
pub(super) const HEIGHT: u32 = 560;

/// Drawing units per pixel. The drawing library rounds coordinates to whole units, so curves would be
/// jagged with one unit per pixel.
const UNITS: i32 = 8;

/// The height of the header: title, remarks, and the legend of panels.
pub(super) const WIDE_HEADER: i32 = 98;
pub(super) const SQUARE_HEADER: i32 = 72;
/// The height of the first row of the legend of panels.
pub(super) const LEGEND: i32 = 80;
/// The space around the plot area of a square plot. Half of the last tick label extends past it on
/// the right.
const AROUND: Surroundings = Surroundings {
    top: 6,
    right: 26,
    bottom: 6,
    left: MARGIN,
    left_labels: 74,
    bottom_labels: 46,
};
/// The font size of the tick labels of a square plot.
const TICK_SIZE: f64 = 12.0;
pub(super) const MARGIN: i32 = 10;
/// The width between the margins of a sheet.
pub(super) const BETWEEN_MARGINS: f64 = (WIDTH as i32 - 2 * MARGIN) as f64;
/// The font size of labels in pixels.
pub(super) const LABEL_SIZE: f64 = 12.5;
const REMARK_SIZE: f64 = 12.0;
/// The height of a line of remarks below the first.
const REMARK_HEIGHT: i32 = 15;
/// The width of the panel to the right of a square plot; it makes the plot area square.
const PANEL: i32 = 260;
/// The start of the text in that panel.
const PANEL_LEFT: i32 = 8;
/// The start of the values in that panel.
const PANEL_VALUES: i32 = 150;

/// A part of a sheet. Positions and sizes are in pixels, from its upper left corner.
pub(super) struct Area<'a> {
    pub(super) inner: DrawingArea<SVGBackend<'a>, Shift>,
    /// The kind of plot, for error messages.
    pub(super) plot: &'static str,
    /// The images of the sheet.
    pub(super) images: Images,
}

/// Small images with their upper left corners and sizes on the sheet, in drawing units. They lie
/// below everything else on the sheet.
pub(super) type Images = Rc<RefCell<Vec<(Bitmap, (i32, i32), (i32, i32))>>>;

impl<'a> Area<'a> {
    fn like(&self, inner: DrawingArea<SVGBackend<'a>, Shift>) -> Self {
        Self {
            inner,
            plot: self.plot,
            images: Rc::clone(&self.images),
        }
    }

    /// The width and height in pixels.
    pub(super) fn size(&self) -> (i32, i32) {
        let (width, height) = self.inner.dim_in_pixel();
        (width as i32 / UNITS, height as i32 / UNITS)
    }

    /// Places a small image.
    pub(super) fn image(&self, bitmap: Bitmap, (x, y): (i32, i32), (width, height): (i32, i32)) {
        let (left, top) = self.inner.get_base_pixel();
        let corner = (left + pixels(x), top + pixels(y));
        let size = (pixels(width), pixels(height));
        self.images.borrow_mut().push((bitmap, corner, size));
    }

    /// Splits into the part of this height at the top, and the rest.
    pub(super) fn split_vertically(&self, height: i32) -> (Self, Self) {
        let (upper, lower) = self.inner.split_vertically(pixels(height));
        (self.like(upper), self.like(lower))
    }

    /// Splits into the part of this width on the left, and the rest.
    pub(super) fn split_horizontally(&self, width: i32) -> (Self, Self) {
        let (left, right) = self.inner.split_horizontally(pixels(width));
        (self.like(left), self.like(right))
    }

    /// Splits into equal parts, row by row.
    pub(super) fn split_evenly(&self, rows: usize, columns: usize) -> Vec<Self> {
        let parts = self.inner.split_evenly((rows, columns)).into_iter();
        parts.map(|part| self.like(part)).collect()
    }

    /// Draws an element in drawing units.
    pub(super) fn draw<E>(&self, element: &E) -> Result<(), PlotError>
    where
        for<'b> &'b E: PointCollection<'b, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        self.inner.draw(element).map_err(drawing(self.plot))
    }

    /// Draws a rectangle from a corner with a size.
    pub(super) fn rectangle(
        &self,
        (x, y): (i32, i32),
        (width, height): (i32, i32),
        style: impl Into<ShapeStyle>,
    ) -> Result<(), PlotError> {
        let corners = [(x, y), (x + width, y + height)].map(|(x, y)| (pixels(x), pixels(y)));
        self.draw(&Rectangle::new(corners, style))
    }

    /// Writes a line of text.
    pub(super) fn write(
        &self,
        text: &str,
        style: &TextStyle<'_>,
        (x, y): (i32, i32),
    ) -> Result<(), PlotError> {
        let place = (pixels(x), pixels(y));
        let written = self.inner.draw_text(text, style, place);
        written.map_err(drawing(self.plot))
    }
}

/// The parts around the plot area.
pub(super) struct Frame<'a> {
    /// The kind of plot, for the title and error messages.
    pub(super) plot: &'static str,
    pub(super) caption: Caption<'a>,
    /// Sentences below the title, for example about omitted or thinned points.
    pub(super) remarks: Vec<String>,
    pub(super) legend: Vec<Entry<'a>>,
    /// The height to add at the bottom, in pixels.
    pub(super) more_height: i32,
}

impl<'a> Frame<'a> {
    /// A frame without remarks.
    pub(super) fn new(plot: &'static str, caption: Caption<'a>, legend: Vec<Entry<'a>>) -> Self {
        Self {
            plot,
            caption,
            remarks: Vec::new(),
            legend,
            more_height: 0,
        }
    }

    /// The remarks in lines that fit the sheet.
    fn remark_lines(&self) -> Vec<String> {
        wrapped(&self.remarks, REMARK_SIZE, BETWEEN_MARGINS)
    }

    /// The height of the lines of remarks below the first.
    fn more_remarks(&self) -> i32 {
        REMARK_HEIGHT * self.remark_lines().len().saturating_sub(1) as i32
    }
}

/// Converts pixels to drawing units.
pub(super) fn pixels(count: i32) -> i32 {
    count * UNITS
}

/// The text font of a size in pixels.
pub(super) fn font(size: f64) -> TextStyle<'static> {
    // The SVG back end divides font sizes by 1.24 to mimic the bitmap back end's metrics.
    ("sans-serif", size * f64::from(UNITS) * 1.24).into_text_style(&(WIDTH, HEIGHT))
}

/// The font of labels in ink.
pub(super) fn ink() -> TextStyle<'static> {
    font(LABEL_SIZE).color(&palette::INK)
}

/// The font of labels in gray.
pub(super) fn gray() -> TextStyle<'static> {
    font(LABEL_SIZE).color(&palette::GRAY)
}

/// Converts an error of the drawing library.
pub(super) fn drawing<E: std::fmt::Display>(plot: &'static str) -> impl FnOnce(E) -> PlotError {
    move |reason| PlotError::Draw {
        plot,
        reason: reason.to_string(),
    }
}

/// Draws a square plot, with the legend and `facts` (name, value) in a panel to its right.
pub(super) fn square(
    path: &Path,
    frame: &Frame<'_>,
    axes: (Axis, Axis),
    facts: &[(&str, String)],
    draw: impl FnOnce(&mut Chart<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    square_with(path, frame, axes, facts, draw, |_, _| Ok(()))
}

/// Draws an image with this ratio of its width to its height, without grid lines, with the legend and `facts` in a
/// panel to its right.
pub(super) fn square_image(
    path: &Path,
    frame: &Frame<'_>,
    (axes, aspect): ((Axis, Axis), f64),
    facts: &[(&str, String)],
    draw: impl FnOnce(&mut Chart<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_paper(path, frame, |sheet| {
        let (body, panel) = beside_panel(sheet);
        let around = AROUND.with_aspect(body.size(), aspect);
        draw(&mut Chart::of_image(&body, around, axes, TICK_SIZE)?)?;
        write_panel(&panel, frame, facts).map(|_| ())
    })
}

/// Draws a square plot like [`square`]. `panel_below` draws below the facts, from the given y on.
pub(super) fn square_with(
    path: &Path,
    frame: &Frame<'_>,
    axes: (Axis, Axis),
    facts: &[(&str, String)],
    draw: impl FnOnce(&mut Chart<'_>) -> Result<(), PlotError>,
    panel_below: impl FnOnce(&Area<'_>, i32) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_paper(path, frame, |sheet| {
        let (body, panel) = beside_panel(sheet);
        draw(&mut Chart::new(&body, AROUND, axes, TICK_SIZE)?)?;
        let below = write_panel(&panel, frame, facts)?;
        panel_below(&panel, below)
    })
}

/// The areas of a square plot and of the panel to its right.
fn beside_panel<'a>(sheet: &Area<'a>) -> (Area<'a>, Area<'a>) {
    let (_, body) = sheet.split_vertically(SQUARE_HEADER);
    body.split_horizontally(WIDTH as i32 - PANEL)
}

/// Writes the legend and the facts, and returns the y below them.
fn write_panel(
    panel: &Area<'_>,
    frame: &Frame<'_>,
    facts: &[(&str, String)],
) -> Result<i32, PlotError> {
    let room = f64::from(PANEL - PANEL_LEFT - MARGIN);
    let below = legend::in_a_column(panel, &frame.legend, (PANEL_LEFT, 20), room)?;
    write_facts(panel, facts, below + 14)
}

/// Draws a sheet of panels below the header and the legend, which `draw` gets too.
pub(super) fn sheet(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(&Area<'_>, &Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    let legend = legend::Rows::of(&frame.legend, BETWEEN_MARGINS);
    let more = legend.more_height();
    on_sheet(path, frame, more, |sheet| {
        let (header, body) = sheet.split_vertically(WIDE_HEADER + more);
        legend.draw(&header, (MARGIN, LEGEND))?;
        draw(&header, &body)
    })
}

/// Draws a whole sheet and writes it to a file.
pub(super) fn on_paper(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_sheet(path, frame, 0, draw)
}

/// Draws a whole sheet with `more` pixels of additional height and writes it to a file. `draw` gets
/// the sheet as if there were one line of remarks.
fn on_sheet(
    path: &Path,
    frame: &Frame<'_>,
    more: i32,
    draw: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    let above = frame.more_remarks();
    let height = HEIGHT as i32 + above + more + frame.more_height;
    let units = (WIDTH * UNITS as u32, pixels(height) as u32);
    let mut svg = String::new();
    let images = Images::default();
    {
        let sheet = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        sheet.fill(&palette::PAPER).map_err(drawing(frame.plot))?;
        let sheet = Area {
            inner: sheet,
            plot: frame.plot,
            images: Rc::clone(&images),
        };
        write_header(&sheet, frame)?;
        draw(&sheet.split_vertically(above).1)?;
        sheet.inner.present().map_err(drawing(frame.plot))?;
    }
    let drawn_size = format!("width=\"{}\" height=\"{}\"", units.0, units.1);
    let shown_size = format!("width=\"{WIDTH}\" height=\"{height}\"");
    // Names may have control characters, which XML does not allow.
    let mut svg = visible(&svg).replacen(&drawn_size, &shown_size, 1);
    // The first element is the paper.
    let mut place = svg.find("/>\n").map_or(0, |end| end + 3);
    for (bitmap, corner, size) in images.borrow().iter() {
        let element = (bitmap.element(*corner, *size)).map_err(drawing(frame.plot))?;
        svg.insert_str(place, &element);
        place += element.len();
    }
    replace(path, &svg).map_err(|source| PlotError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Writes the title, model and remarks.
fn write_header(sheet: &Area<'_>, frame: &Frame<'_>) -> Result<(), PlotError> {
    const TITLE_SIZE: f64 = 17.0;
    let title = format!("{} · {}", frame.plot, frame.caption.data);
    let title = fitted(&title, BOLD * TITLE_SIZE, BETWEEN_MARGINS);
    let size = TITLE_SIZE * f64::from(UNITS) * 1.24;
    let title_style = ("sans-serif", size, FontStyle::Bold).into_text_style(&(WIDTH, HEIGHT));
    sheet.write(&title, &title_style.color(&palette::INK), (MARGIN, 12))?;
    let model = fitted(frame.caption.model, REMARK_SIZE, BETWEEN_MARGINS);
    let ink = font(REMARK_SIZE).color(&palette::INK);
    let gray = font(REMARK_SIZE).color(&palette::GRAY);
    sheet.write(&model, &ink, (MARGIN, 34))?;
    for (line, remarks) in (0..).zip(frame.remark_lines()) {
        sheet.write(&remarks, &gray, (MARGIN, 52 + REMARK_HEIGHT * line))?;
    }
    Ok(())
}

fn write_facts(panel: &Area<'_>, facts: &[(&str, String)], top: i32) -> Result<i32, PlotError> {
    const LINE_HEIGHT: i32 = 21;
    let mut y = top;
    let room = |from: i32, to: i32| f64::from(to - from - MARGIN);
    for (name, value) in facts {
        let name = fitted(name, LABEL_SIZE, room(PANEL_LEFT, PANEL_VALUES));
        let value = fitted(value, LABEL_SIZE, room(PANEL_VALUES, PANEL));
        panel.write(&name, &gray(), (PANEL_LEFT, y))?;
        panel.write(&value, &ink(), (PANEL_VALUES, y))?;
        y += LINE_HEIGHT;
    }
    Ok(y)
}
