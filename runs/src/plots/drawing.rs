//! SVG elements on the areas of a sheet. All positions and sizes are in pixels.

use std::cell::RefCell;
use std::io;

use maud::{Markup, html};

use super::bitmap::Bitmap;
use super::palette::{Color, INK, PAPER, Paint};
use crate::visible_text::visible;

/// A position from the left and from the top of an area.
pub(super) type Place = (f64, f64);

/// The elements of a drawing.
#[derive(Debug, Default)]
pub(super) struct Svg {
    elements: RefCell<String>,
    /// The reason why an image could not be drawn.
    failure: RefCell<Option<io::Error>>,
}

/// A rectangle of a drawing. Positions are relative to its upper left corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area<'a> {
    svg: &'a Svg,
    corner: Place,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A shape around a position.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Circle,
    Cross,
    Triangle,
}

/// A font with the position of a text relative to its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    size: f64,
    color: Color,
    is_bold: bool,
    is_upward: bool,
    /// The `text-anchor` and the `dy` of the text.
    anchor: (&'static str, &'static str),
}

impl Font {
    /// Ink to the right of its place and below.
    pub(super) const fn new(size: f64) -> Self {
        Self {
            size,
            color: INK,
            is_bold: false,
            is_upward: false,
            anchor: ("start", "0.76em"),
        }
    }

    pub(super) const fn colored(self, color: Color) -> Self {
        Self { color, ..self }
    }

    pub(super) const fn bold(self) -> Self {
        Self {
            is_bold: true,
            ..self
        }
    }

    /// From bottom to top.
    pub(super) const fn upward(self) -> Self {
        Self {
            is_upward: true,
            ..self
        }
    }

    /// To the right of its place, vertically centered.
    pub(super) const fn after(self) -> Self {
        self.anchored("start", "0.5ex")
    }

    /// To the left of its place, vertically centered.
    pub(super) const fn before(self) -> Self {
        self.anchored("end", "0.5ex")
    }

    /// Centered on its place.
    pub(super) const fn centered(self) -> Self {
        self.anchored("middle", "0.5ex")
    }

    /// Centered below its place.
    pub(super) const fn below(self) -> Self {
        self.anchored("middle", "0.76em")
    }

    /// Centered above its place.
    pub(super) const fn above(self) -> Self {
        self.anchored("middle", "-0.5ex")
    }

    const fn anchored(self, across: &'static str, down: &'static str) -> Self {
        Self {
            anchor: (across, down),
            ..self
        }
    }
}

impl Svg {
    /// The sheet of paper to draw on.
    pub(super) fn sheet(&self, width: f64, height: f64) -> Area<'_> {
        let sheet = Area {
            svg: self,
            corner: (0.0, 0.0),
            width,
            height,
        };
        sheet.rectangle((0.0, 0.0), (width, height), PAPER.filled());
        sheet
    }

    /// The reason why an image could not be drawn.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The whole drawing as text.
    pub(super) fn text(self, width: f64, height: f64) -> String {
        // Names may have control characters, which XML does not allow.
        let elements = self.elements.into_inner();
        let elements = visible(&elements);
        format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n{elements}</svg>\n"
        )
    }
}

/// Rounded to hundredths of a pixel.
fn rounded(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

impl Area<'_> {
    /// The part without these margins.
    pub(super) fn inside(self, [top, right, bottom, left]: [f64; 4]) -> Self {
        Self {
            corner: (self.corner.0 + left, self.corner.1 + top),
            width: self.width - left - right,
            height: self.height - top - bottom,
            ..self
        }
    }

    /// Splits into the part of this height at the top, and the rest.
    pub(super) fn split_vertically(self, height: f64) -> (Self, Self) {
        let upper = Self { height, ..self };
        (upper, self.inside([height, 0.0, 0.0, 0.0]))
    }

    /// Splits into the part of this width on the left, and the rest.
    pub(super) fn split_horizontally(self, width: f64) -> (Self, Self) {
        let left = Self { width, ..self };
        (left, self.inside([0.0, 0.0, 0.0, width]))
    }

    /// Splits into equal parts, row by row.
    pub(super) fn split_evenly(self, rows: usize, columns: usize) -> impl Iterator<Item = Self> {
        let (width, height) = (self.width / columns as f64, self.height / rows as f64);
        (0..rows * columns).map(move |part| Self {
            corner: (
                self.corner.0 + width * (part % columns) as f64,
                self.corner.1 + height * (part / columns) as f64,
            ),
            width,
            height,
            ..self
        })
    }

    fn add(&self, element: Markup) {
        let mut elements = self.svg.elements.borrow_mut();
        elements.push_str(&element.into_string());
        elements.push('\n');
    }

    /// A position on the sheet.
    fn on_sheet(&self, (x, y): Place) -> Place {
        (rounded(self.corner.0 + x), rounded(self.corner.1 + y))
    }

    fn points(&self, points: &[Place]) -> String {
        let point = |&place: &Place| {
            let (x, y) = self.on_sheet(place);
            format!("{x},{y} ")
        };
        points.iter().map(point).collect()
    }

    /// Draws a line through these points.
    pub(super) fn line(&self, points: &[Place], paint: Paint) {
        self.add(html! {
            polyline points=(self.points(points)) fill="none" stroke=(paint.color)
                stroke-width=[paint.outline] stroke-dasharray=[paint.dash] opacity=[paint.opacity()] {}
        });
    }

    /// Draws a polygon with these corners.
    pub(super) fn polygon(&self, corners: &[Place], paint: Paint) {
        let (fill, stroke) = colors(paint);
        self.add(html! {
            polygon points=(self.points(corners)) fill=(fill) stroke=[stroke]
                stroke-width=[paint.outline] opacity=[paint.opacity()] {}
        });
    }

    /// Draws a rectangle from a corner with a size.
    pub(super) fn rectangle(&self, corner: Place, (width, height): Place, paint: Paint) {
        let ((x, y), (fill, stroke)) = (self.on_sheet(corner), colors(paint));
        self.add(html! {
            rect x=(x) y=(y) width=(rounded(width)) height=(rounded(height)) fill=(fill)
                stroke=[stroke] stroke-width=[paint.outline] opacity=[paint.opacity()] {}
        });
    }

    /// Draws a shape that reaches this far from its center.
    pub(super) fn mark(&self, mark: Mark, center: Place, reach: f64, paint: Paint) {
        let ((x, y), (fill, stroke)) = (self.on_sheet(center), colors(paint));
        match mark {
            Mark::Circle => self.add(html! {
                circle cx=(x) cy=(y) r=(reach) fill=(fill) stroke=[stroke]
                    stroke-width=[paint.outline] opacity=[paint.opacity()] {}
            }),
            Mark::Cross => {
                let (left, right) = (rounded(x - reach), rounded(x + reach));
                let (top, bottom) = (rounded(y - reach), rounded(y + reach));
                for (start, end) in [(top, bottom), (bottom, top)] {
                    self.add(html! {
                        line x1=(left) y1=(start) x2=(right) y2=(end) stroke=(paint.color)
                            stroke-width=[paint.outline] opacity=[paint.opacity()] {}
                    });
                }
            }
            Mark::Triangle => {
                // The corners are on a circle around the center.
                let (x, y) = center;
                let corner = |across: f64, down: f64| (x + across * reach, y + down * reach);
                let half = 0.75f64.sqrt();
                let corners = [corner(0.0, -1.0), corner(half, 0.5), corner(-half, 0.5)];
                self.polygon(&corners, paint);
            }
        }
    }

    /// Draws an image from a corner with a size.
    pub(super) fn image(&self, bitmap: &Bitmap, corner: Place, (width, height): Place) {
        let (x, y) = self.on_sheet(corner);
        match bitmap.data() {
            Ok(data) => self.add(html! {
                image x=(x) y=(y) width=(rounded(width)) height=(rounded(height))
                    preserveAspectRatio="none" style=[bitmap.style()]
                    xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href=(data) {}
            }),
            Err(failure) => *self.svg.failure.borrow_mut() = Some(failure),
        }
    }

    /// Writes a line of text.
    pub(super) fn write(&self, text: &str, font: Font, place: Place) {
        if text.is_empty() {
            return;
        }
        let ((x, y), (across, down)) = (self.on_sheet(place), font.anchor);
        let turned = (font.is_upward).then(|| format!("rotate(270, {x}, {y})"));
        let weight = font.is_bold.then_some("bold");
        self.add(html! {
            text x=(x) y=(y) dy=(down) text-anchor=(across) font-family="sans-serif"
                font-size=(rounded(font.size)) font-weight=[weight] fill=(font.color)
                transform=[turned] { (text) }
        });
    }
}

/// The fill and the outline.
fn colors(paint: Paint) -> (String, Option<Color>) {
    match paint.outline {
        Some(_) => ("none".to_owned(), Some(paint.color)),
        None => (paint.color.to_string(), None),
    }
}
