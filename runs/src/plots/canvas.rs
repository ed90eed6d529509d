//! The sheet a plot is drawn on: size, header, plot area, side panel, and the file.

use std::path::Path;

use plotters::coord::Shift;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::TextStyle;

use super::axis::Axis;
use super::bitmap::Bitmap;
use super::chart::Chart;
use super::legend::{self, Entry};
use super::{Caption, PlotError, palette};

/// The size of a plot in pixels.
pub(super) const WIDTH: u32 = 800;
pub(super) const HEIGHT: u32 = 560;

/// Drawing units per pixel. The drawing library rounds coordinates to whole units, so curves would
/// be ragged with one unit per pixel.
const UNITS: i32 = 8;

/// The height of the header: title, remarks, and the legend of panels.
pub(super) const WIDE_HEADER: i32 = 98;
pub(super) const SQUARE_HEADER: i32 = 72;
/// Room for tick labels and axis text.
const LEFT_LABELS: i32 = 68;
const BOTTOM_LABELS: i32 = 46;
/// The margin for the half of the last tick label that extends past the plot.
const RIGHT_MARGIN: i32 = 26;
pub(super) const MARGIN: i32 = 10;
/// The font size of labels in pixels.
pub(super) const LABEL_SIZE: f64 = 12.5;
/// The width of the panel to the right of a square plot; it makes the plot area square.
const PANEL: i32 = 266;

/// A part of a sheet. Places and sizes are in pixels, from its upper left corner.
pub(super) struct Area<'a> {
    pub(super) inner: DrawingArea<SVGBackend<'a>, Shift>,
    /// The kind of plot, for error messages.
    pub(super) plot: &'static str,
}

impl<'a> Area<'a> {
    fn like(&self, inner: DrawingArea<SVGBackend<'a>, Shift>) -> Self {
        let plot = self.plot;
        Self { inner, plot }
    }

    /// The part of this height at the top, and the rest.
    pub(super) fn split_vertically(&self, height: i32) -> (Self, Self) {
        let (upper, lower) = self.inner.split_vertically(pixels(height));
        (self.like(upper), self.like(lower))
    }

    /// The part of this width on the left, and the rest.
    pub(super) fn split_horizontally(&self, width: i32) -> (Self, Self) {
        let (left, right) = self.inner.split_horizontally(pixels(width));
        (self.like(left), self.like(right))
    }

    /// Equal parts, row by row.
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
    /// The kind of plot, the first words of the title and of error messages.
    pub(super) plot: &'static str,
    pub(super) caption: Caption<'a>,
    /// Sentences below the title, for example about omitted or thinned points.
    pub(super) remarks: Vec<String>,
    pub(super) legend: Vec<Entry<'a>>,
}

impl<'a> Frame<'a> {
    /// The parts around a plot without remarks.
    pub(super) fn new(plot: &'static str, caption: Caption<'a>, legend: Vec<Entry<'a>>) -> Self {
        Self {
            plot,
            caption,
            remarks: Vec::new(),
            legend,
        }
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

/// Removes control characters, which XML forbids, and cuts the text to `longest` characters.
pub(super) fn plain_text(text: &str, longest: usize) -> String {
    let mut plain: String = text
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .take(longest)
        .collect();
    if text.chars().count() > longest {
        plain.push('…');
    }
    plain
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

/// The same as [`square`]; `panel_below` draws below the facts, from this y on.
pub(super) fn square_with(
    path: &Path,
    frame: &Frame<'_>,
    axes: (Axis, Axis),
    facts: &[(&str, String)],
    draw: impl FnOnce(&mut Chart<'_>) -> Result<(), PlotError>,
    panel_below: impl FnOnce(&Area<'_>, i32) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_paper(path, frame, |sheet| {
        let (_, body) = sheet.split_vertically(SQUARE_HEADER);
        let (body, panel) = body.split_horizontally(WIDTH as i32 - PANEL);
        draw(&mut chart(&body, axes)?)?;
        let below = legend::in_a_column(&panel, &frame.legend, 8, 20)?;
        let below = write_facts(&panel, facts, below + 14)?;
        panel_below(&panel, below)
    })
}

/// Draws a sheet of panels below the header and the legend, which `draw` gets too.
pub(super) fn sheet(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(&Area<'_>, &Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_paper(path, frame, |sheet| {
        let (header, body) = sheet.split_vertically(WIDE_HEADER);
        legend::in_a_row(&header, &frame.legend, MARGIN, 80)?;
        draw(&header, &body)
    })
}

/// Draws a whole sheet and writes it to a file; `draw` adds to the header.
pub(super) fn on_paper(
    path: &Path,
    frame: &Frame<'_>,
    draw: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    on_paper_with(path, frame, &[], draw)
}

/// A small image on a sheet, positioned in pixels.
pub(super) struct Placed {
    pub(super) bitmap: Bitmap,
    pub(super) corner: (i32, i32),
    pub(super) size: (i32, i32),
}

/// The same as [`on_paper`], with small images.
pub(super) fn on_paper_with(
    path: &Path,
    frame: &Frame<'_>,
    images: &[Placed],
    draw: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    let units = (WIDTH * UNITS as u32, HEIGHT * UNITS as u32);
    let mut svg = String::new();
    {
        let sheet = SVGBackend::with_string(&mut svg, units).into_drawing_area();
        sheet.fill(&palette::PAPER).map_err(drawing(frame.plot))?;
        let sheet = Area {
            inner: sheet,
            plot: frame.plot,
        };
        write_header(&sheet, frame)?;
        draw(&sheet)?;
        sheet.inner.present().map_err(drawing(frame.plot))?;
    }
    let drawn_size = format!("width=\"{}\" height=\"{}\"", units.0, units.1);
    let shown_size = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\"");
    let mut svg = svg.replacen(&drawn_size, &shown_size, 1);
    for image in images {
        let [corner, size] = [image.corner, image.size].map(|(x, y)| (pixels(x), pixels(y)));
        let element = (image.bitmap.element(corner, size)).map_err(drawing(frame.plot))?;
        let end = svg.rfind("</svg>").unwrap_or(svg.len());
        svg.insert_str(end, &element);
    }
    std::fs::write(path, svg).map_err(|source| PlotError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Writes the title, model and remarks.
fn write_header(sheet: &Area<'_>, frame: &Frame<'_>) -> Result<(), PlotError> {
    // Titles of these lengths fit the sheet even in the widest letters of a common sans-serif font.
    const LONGEST_DATA: usize = 42;
    const LONGEST_MODEL: usize = 100;
    let data = plain_text(frame.caption.data, LONGEST_DATA);
    let title = format!("{} · {data}", frame.plot);
    let size = 17.0 * f64::from(UNITS) * 1.24;
    let title_style = ("sans-serif", size, FontStyle::Bold).into_text_style(&(WIDTH, HEIGHT));
    sheet.write(&title, &title_style.color(&palette::INK), (MARGIN, 12))?;
    let model = plain_text(frame.caption.model, LONGEST_MODEL);
    let remarks = frame.remarks.join("; ");
    sheet.write(&model, &font(12.0).color(&palette::INK), (MARGIN, 34))?;
    sheet.write(&remarks, &font(12.0).color(&palette::GRAY), (MARGIN, 52))
}

fn write_facts(panel: &Area<'_>, facts: &[(&str, String)], top: i32) -> Result<i32, PlotError> {
    const LINE_HEIGHT: i32 = 21;
    let mut y = top;
    for (name, value) in facts {
        panel.write(name, &gray(), (8, y))?;
        panel.write(value, &ink(), (150, y))?;
        y += LINE_HEIGHT;
    }
    Ok(y)
}

fn chart<'a>(body: &Area<'a>, axes: (Axis, Axis)) -> Result<Chart<'a>, PlotError> {
    let mut builder = ChartBuilder::on(&body.inner);
    builder
        .margin_top(pixels(6))
        .margin_left(pixels(MARGIN))
        .margin_right(pixels(RIGHT_MARGIN))
        .margin_bottom(pixels(6))
        .set_label_area_size(LabelAreaPosition::Left, pixels(LEFT_LABELS))
        .set_label_area_size(LabelAreaPosition::Bottom, pixels(BOTTOM_LABELS));
    Chart::new(&mut builder, body.plot, axes, 12.0)
}

#[cfg(test)]
pub(super) mod testing {
    //! Draws into a temporary file and reads the SVG back.

    use std::collections::BTreeSet;
    use std::path::Path;

    use super::super::{Caption, PlotError, Quantity};

    pub(in super::super) const CAPTION: Caption<'static> = Caption {
        data: "a <set> & \"more\"\u{1} of a name that is far too long for one line",
        model: "svgp, M = 100",
    };

    /// The inputs of a map.
    pub(in super::super) const INPUTS: [Quantity<'static>; 2] =
        [Quantity::of("a"), Quantity::of("b")];

    /// A drawn plot, parsed.
    pub(in super::super) struct Plot {
        svg: String,
    }

    impl Plot {
        /// Draws, parses, and checks what must hold for every plot.
        pub(in super::super) fn of(draw: impl FnOnce(&Path) -> Result<(), PlotError>) -> Self {
            let folder = temp_dir::TempDir::new().expect("temporary folder");
            let path = folder.path().join("plot.svg");
            draw(&path).expect("plot");
            let svg = std::fs::read_to_string(&path).expect("file");
            let plot = Self { svg };
            plot.check();
            plot
        }

        /// The error of a drawing that must fail without leaving a file.
        pub(in super::super) fn refused(
            draw: impl FnOnce(&Path) -> Result<(), PlotError>,
        ) -> PlotError {
            let folder = temp_dir::TempDir::new().expect("temporary folder");
            let path = folder.path().join("plot.svg");
            let error = draw(&path).expect_err("must be refused");
            assert!(!path.exists(), "a refused plot left a file");
            error
        }

        fn check(&self) {
            let document = roxmltree::Document::parse(&self.svg).expect("well-formed XML");
            let root = document.root_element();
            assert_eq!(root.attribute("width"), Some("800"));
            assert_eq!(root.attribute("height"), Some("560"));
            for node in root.descendants() {
                for attribute in node.attributes() {
                    let value = attribute.value();
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                    // Rust's saturating float-to-integer casts show up as these.
                    let saturated = [i32::MAX, i32::MIN].map(|edge| edge.to_string());
                    assert!(
                        !saturated.iter().any(|edge| value.contains(edge)),
                        "{value}"
                    );
                }
            }
        }

        pub(in super::super) fn count(&self, tag: &str) -> usize {
            let document = roxmltree::Document::parse(&self.svg).expect("well-formed XML");
            document
                .descendants()
                .filter(|node| node.has_tag_name(tag))
                .count()
        }

        pub(in super::super) fn count_text(&self, text: &str) -> usize {
            let document = roxmltree::Document::parse(&self.svg).expect("well-formed XML");
            document
                .descendants()
                .filter(|node| node.has_tag_name("text"))
                .filter(|node| node.text().is_some_and(|words| words.contains(text)))
                .count()
        }

        /// The distinct vertical positions of the lines with this text.
        pub(in super::super) fn heights_of(&self, text: &str) -> BTreeSet<String> {
            self.attributes(text, "y").into_iter().collect()
        }

        /// The start or end of the first line with this text, in drawing units.
        pub(in super::super) fn place_of(&self, text: &str) -> f64 {
            self.attributes(text, "x")[0].parse().expect("a number")
        }

        /// An attribute of the lines with this text.
        fn attributes(&self, text: &str, name: &str) -> Vec<String> {
            let document = roxmltree::Document::parse(&self.svg).expect("well-formed XML");
            let lines = document
                .descendants()
                .filter(|node| node.text().is_some_and(|words| words.contains(text)));
            let values = lines.filter_map(|node| node.attribute(name));
            values.map(str::to_owned).collect()
        }

        pub(in super::super) fn has_text(&self, text: &str) -> bool {
            self.count_text(text) > 0
        }
    }

    /// A deterministic sine wave.
    pub(in super::super) fn wave(count: usize, phase: f64) -> Vec<f64> {
        (0..count)
            .map(|row| (0.7 * row as f64 + phase).sin())
            .collect()
    }
}
