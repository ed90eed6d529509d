//! Colors that people with common kinds of color blindness can distinguish.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008).

use std::fmt;

/// A color as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub(super) [u8; 3]);

/// How a shape is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) color: Color,
    /// From 0, invisible, to 1.
    opacity: f64,
    /// The width of the outline in pixels; `None` fills the shape.
    pub(super) outline: Option<f64>,
    /// The length of dashes and gaps in pixels; `None` draws a solid line.
    pub(super) dash: Option<f64>,
}

impl Color {
    const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }

    /// Fills a shape.
    pub(super) const fn filled(self) -> Paint {
        Paint {
            color: self,
            opacity: 1.0,
            outline: None,
            dash: None,
        }
    }

    /// Draws a line or an outline of this width in pixels.
    pub(super) const fn line(self, width: f64) -> Paint {
        Paint {
            outline: Some(width),
            ..self.filled()
        }
    }

    /// The mixture with another color, of which it has this share.
    fn mixed(self, other: Self, share: f64) -> Self {
        Self(std::array::from_fn(|place| {
            let [from, to] = [self, other].map(|color| f64::from(color.0[place]));
            (from + share * (to - from) + 0.5) as u8
        }))
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Paint {
    /// The same with this opacity.
    pub(super) const fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// The same with dashes and gaps of this length in pixels.
    pub(super) const fn dashed(self, length: f64) -> Self {
        Self {
            dash: Some(length),
            ..self
        }
    }

    /// The opacity, unless the shape hides what is below.
    pub(super) fn opacity(self) -> Option<f64> {
        (self.opacity < 1.0).then_some(self.opacity)
    }
}

pub(super) const BLUE: Color = Color::new(0, 114, 178);
pub(super) const SKY: Color = Color::new(86, 180, 233);
pub(super) const VERMILION: Color = Color::new(213, 94, 0);
pub(super) const GREEN: Color = Color::new(0, 158, 115);
pub(super) const INK: Color = Color::new(34, 34, 34);
pub(super) const GRAY: Color = Color::new(110, 110, 110);
pub(super) const GRID: Color = Color::new(232, 232, 232);
pub(super) const PAPER: Color = Color::new(255, 255, 255);

/// The number of colors of classes and curves.
pub const COLORS: usize = 8;

/// One color for each class; with more classes the colors repeat.
pub(super) const CLASSES: [Color; COLORS] = [
    BLUE,
    VERMILION,
    GREEN,
    Color::new(230, 159, 0),
    Color::new(204, 121, 167),
    SKY,
    Color::new(120, 94, 60),
    GRAY,
];

/// The color of a class, counted from zero.
pub(super) fn class(class: usize) -> Color {
    CLASSES[class % CLASSES.len()]
}

/// The color of a curve or a class, counted from zero, for a style sheet.
pub fn class_color(number: usize) -> String {
    class(number).to_string()
}

/// The color of a class, white for zero and strongest for one.
pub(super) fn class_shade(number: usize, strength: f64) -> Color {
    // The ends are softened so that points drawn in the pure hues stay visible on them.
    PAPER.mixed(class(number), 0.7 * strength.clamp(0.0, 1.0))
}

/// Blue for correct and vermilion for wrong predictions, darker for larger shares.
pub(super) fn share(is_right: bool, share: f64) -> Color {
    PAPER.mixed(
        if is_right { BLUE } else { VERMILION },
        share.clamp(0.0, 1.0),
    )
}

/// The color scale of magnitudes, from zero to the largest; also distinct in gray.
const MAGNITUDES: [Color; 4] = [
    Color::new(0, 32, 96),
    Color::new(0, 114, 178),
    Color::new(86, 190, 160),
    Color::new(250, 225, 50),
];

/// The color of a magnitude relative to the largest: dark blue at 0, yellow at 1.
pub(super) fn magnitude(share: f64) -> Color {
    let place = share.clamp(0.0, 1.0) * (MAGNITUDES.len() - 1) as f64;
    let below = (place as usize).min(MAGNITUDES.len() - 2);
    MAGNITUDES[below].mixed(MAGNITUDES[below + 1], place - below as f64)
}
