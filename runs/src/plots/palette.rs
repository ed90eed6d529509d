//! Colors that people with common kinds of color blindness can distinguish.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008).

use plotters::style::RGBColor;

pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(super) const SKY: RGBColor = RGBColor(86, 180, 233);
pub(super) const VERMILION: RGBColor = RGBColor(213, 94, 0);
pub(super) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const GRAY: RGBColor = RGBColor(110, 110, 110);
pub(super) const GRID: RGBColor = RGBColor(232, 232, 232);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// The number of colors of classes and curves.
pub const COLORS: usize = 8;

/// One color for each class; with more classes the colors repeat.
pub(super) const CLASSES: [RGBColor; COLORS] = [
    BLUE,
    VERMILION,
    GREEN,
    RGBColor(230, 159, 0),
    RGBColor(204, 121, 167),
    SKY,
    RGBColor(120, 94, 60),
    GRAY,
];

/// The color of a class, counted from zero.
pub(super) fn class(class: usize) -> RGBColor {
    CLASSES[class % CLASSES.len()]
}

/// The color of a class, white for zero and strongest for one.
pub(super) fn class_shade(number: usize, strength: f64) -> RGBColor {
    // The ends are softened so that points drawn in the pure hues stay visible on them.
    tinted(class(number), 0.7 * strength.clamp(0.0, 1.0))
}

/// A mixture of white and this share of a color.
fn tinted(color: RGBColor, weight: f64) -> RGBColor {
    let mix = |to: u8| (255.0 + weight * (f64::from(to) - 255.0)).round() as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// Blue for correct and vermilion for wrong predictions, darker for larger shares.
pub(super) fn share(is_right: bool, share: f64) -> RGBColor {
    tinted(
        if is_right { BLUE } else { VERMILION },
        share.clamp(0.0, 1.0),
    )
}

/// The color scale of magnitudes, from zero to the largest; also distinct in gray.
const MAGNITUDES: [RGBColor; 4] = [
    RGBColor(0, 32, 96),
    RGBColor(0, 114, 178),
    RGBColor(86, 190, 160),
    RGBColor(250, 225, 50),
];

/// The color of a magnitude relative to the largest: dark blue at 0, yellow at 1.
pub(super) fn magnitude(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (MAGNITUDES.len() - 1) as f64;
    let below = (place as usize).min(MAGNITUDES.len() - 2);
    let weight = place - below as f64;
    let (from, to) = (MAGNITUDES[below], MAGNITUDES[below + 1]);
    let mix =
        |from: u8, to: u8| (f64::from(from) + weight * (f64::from(to) - f64::from(from))) as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
