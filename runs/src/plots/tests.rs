//! Draws into a temporary file and reads the SVG back.

use std::collections::BTreeSet;
use std::path::Path;

use roxmltree::{Document, Node};

use super::text_extent::{BOLD, width};
use super::{Caption, PlotError, Quantity};

pub(super) const CAPTION: Caption<'static> = Caption {
    data: "a <set> & \"more\"\u{1} of a name that is far too long for one line",
    model: "svgp, M = 100",
};

/// The inputs of a map.
pub(super) const INPUTS: [Quantity<'static>; 2] = [Quantity::of("a"), Quantity::of("b")];

/// A name of the widest letters, with this end.
pub(super) fn wide_name(end: &str) -> String {
    format!("{}{end}", "W".repeat(60))
}

/// A deterministic sine wave.
pub(super) fn wave(count: usize, phase: f64) -> Vec<f64> {
    (0..count)
        .map(|row| (0.7 * row as f64 + phase).sin())
        .collect()
}

/// A line of text with the rectangle around its letters in pixels.
#[derive(Debug)]
struct Line {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Line {
    fn of(node: Node<'_, '_>) -> Option<Self> {
        let text = node.text()?.trim();
        if text.is_empty() {
            return None;
        }
        let number = |name: &str| -> f64 {
            let value = node.attribute(name).unwrap_or_default();
            value.parse().expect(name)
        };
        let size = number("font-size");
        let bold = node.attribute("font-weight").map_or(1.0, |_| BOLD);
        let length = bold * width(text, size);
        let before = match node.attribute("text-anchor") {
            Some("end") => length,
            Some("middle") => length / 2.0,
            _ => 0.0,
        };
        // The baseline below the place; an ex is about 0.54 of the font size.
        let baseline = size
            * match node.attribute("dy") {
                Some("0.76em") => 0.76,
                Some("0.5ex") => 0.27,
                _ => -0.27,
            };
        let (along, across) = (
            (-before, length - before),
            (baseline - 0.76 * size, baseline + 0.22 * size),
        );
        let (x, y) = (number("x"), number("y"));
        let turned = node.attribute("transform").unwrap_or_default();
        let ((left, right), (top, bottom)) = match turned.starts_with("rotate(270") {
            true => (across, (-along.1, -along.0)),
            false => (along, across),
        };
        Some(Self {
            text: text.to_owned(),
            left: x + left,
            right: x + right,
            top: y + top,
            bottom: y + bottom,
        })
    }

    fn overlaps(&self, other: &Self) -> bool {
        // Letters that share less than a pixel do not touch, because few fill their rectangle.
        let shared = (
            self.right.min(other.right) - self.left.max(other.left),
            self.bottom.min(other.bottom) - self.top.max(other.top),
        );
        shared.0 > 1.0 && shared.1 > 1.0
    }
}

/// A drawn plot, parsed.
pub(super) struct Plot {
    svg: String,
}

impl Plot {
    /// Draws a plot into a file, and reads it.
    pub(super) fn of(draw: impl FnOnce(&Path) -> Result<(), PlotError>) -> Self {
        let folder = temp_dir::TempDir::new().expect("temporary folder");
        let path = folder.path().join("plot.svg");
        draw(&path).expect("plot");
        let plot = Self::read(std::fs::read_to_string(&path).expect("file"));
        let document = plot.document();
        assert_eq!(document.root_element().attribute("width"), Some("800"));
        assert!(plot.size().1 >= 560.0);
        plot
    }

    /// Parses a plot, and checks what must hold for every plot.
    pub(super) fn read(svg: String) -> Self {
        let plot = Self { svg };
        plot.check();
        plot.check_images();
        plot.check_text();
        plot
    }

    /// The error of a drawing that must fail without leaving a file.
    pub(super) fn refused(draw: impl FnOnce(&Path) -> Result<(), PlotError>) -> PlotError {
        let folder = temp_dir::TempDir::new().expect("temporary folder");
        let path = folder.path().join("plot.svg");
        let error = draw(&path).expect_err("must be refused");
        assert!(!path.exists(), "a refused plot left a file");
        error
    }

    fn document(&self) -> Document<'_> {
        Document::parse(&self.svg).expect("well-formed XML")
    }

    fn check(&self) {
        let document = self.document();
        let root = document.root_element();
        for node in root.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                // Images are encoded in letters.
                let is_image = attribute.name() == "href";
                assert!(
                    is_image || !value.contains("NaN") && !value.contains("inf"),
                    "{value}"
                );
                // Rust's saturating float-to-integer casts show up as these.
                let saturated = [i32::MAX, i32::MIN].map(|edge| edge.to_string());
                assert!(
                    !saturated.iter().any(|edge| value.contains(edge)),
                    "{value}"
                );
            }
        }
    }

    /// No image leaves the sheet.
    fn check_images(&self) {
        let document = self.document();
        let (width, height) = self.size();
        for image in document
            .descendants()
            .filter(|node| node.has_tag_name("image"))
        {
            let number = |name: &str| -> f64 {
                let value = image.attribute(name).unwrap_or_default();
                value.parse().expect(name)
            };
            let (right, bottom) = (
                number("x") + number("width"),
                number("y") + number("height"),
            );
            assert!(right <= width && bottom <= height, "{right}, {bottom}");
        }
    }

    /// No text leaves the sheet or touches another.
    fn check_text(&self) {
        let document = self.document();
        let (width, height) = self.size();
        let lines: Vec<Line> = (document.descendants())
            .filter(|node| node.has_tag_name("text"))
            .filter_map(Line::of)
            .collect();
        for (place, line) in lines.iter().enumerate() {
            let is_inside =
                line.left >= 0.0 && line.top >= 0.0 && line.right <= width && line.bottom <= height;
            let text = &line.text;
            assert!(
                is_inside,
                "{text} leaves the sheet of {width} by {height}: {line:?}"
            );
            for other in &lines[place + 1..] {
                assert!(!line.overlaps(other), "{text} is on {other:?}: {line:?}");
            }
        }
    }

    /// The width and height in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        let document = self.document();
        let box_of = document.root_element().attribute("viewBox").expect("size");
        let numbers: Vec<f64> = (box_of.split(' '))
            .map(|number| number.parse().expect("a number"))
            .collect();
        (numbers[2], numbers[3])
    }

    pub(super) fn count(&self, tag: &str) -> usize {
        let document = self.document();
        document
            .descendants()
            .filter(|node| node.has_tag_name(tag))
            .count()
    }

    /// The number of dashed lines.
    pub(super) fn count_dashed(&self) -> usize {
        let document = self.document();
        let nodes = document.descendants();
        nodes
            .filter(|node| node.has_attribute("stroke-dasharray"))
            .count()
    }

    /// The lines of text from the first to the last drawn.
    pub(super) fn texts(&self) -> Vec<String> {
        let document = self.document();
        (document.descendants())
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| Some(node.text()?.trim().to_owned()))
            .collect()
    }

    pub(super) fn count_text(&self, text: &str) -> usize {
        let texts = self.texts();
        texts.iter().filter(|words| words.contains(text)).count()
    }

    pub(super) fn has_text(&self, text: &str) -> bool {
        self.count_text(text) > 0
    }

    /// The horizontal centers of the circles in pixels.
    pub(super) fn centers(&self) -> Vec<f64> {
        let document = self.document();
        (document.descendants())
            .filter(|node| node.has_tag_name("circle"))
            .filter_map(|node| node.attribute("cx")?.parse().ok())
            .collect()
    }

    /// The heights of the horizontal lines in pixels.
    pub(super) fn levels(&self) -> BTreeSet<String> {
        let document = self.document();
        let lines = document
            .descendants()
            .filter_map(|node| node.attribute("points"));
        let level = |points: &str| {
            let mut heights = points
                .split_whitespace()
                .filter_map(|point| point.split(',').nth(1));
            let first = heights.next()?;
            heights
                .all(|height| height == first)
                .then(|| first.to_owned())
        };
        lines.filter_map(level).collect()
    }

    /// The distinct vertical positions of the lines with this text.
    pub(super) fn heights_of(&self, text: &str) -> BTreeSet<String> {
        self.attributes(text, "y").into_iter().collect()
    }

    /// The start or end of the first line with this text in pixels.
    pub(super) fn place_of(&self, text: &str) -> f64 {
        self.attributes(text, "x")[0].parse().expect("a number")
    }

    /// An attribute of the lines with this text.
    fn attributes(&self, text: &str, name: &str) -> Vec<String> {
        let document = self.document();
        let lines = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter(|node| node.text().is_some_and(|words| words.contains(text)));
        let values = lines.filter_map(|node| node.attribute(name));
        values.map(str::to_owned).collect()
    }
}
