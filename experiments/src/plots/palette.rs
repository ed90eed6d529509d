//! Colors that people with the common kinds of color blindness tell apart.
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

/// One color a class; more classes begin again.
pub(super) const CLASSES: [RGBColor; 8] = [
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

/// A class's color, the paler the less probable it is.
pub(super) fn class_shade(number: usize, probability: f64) -> RGBColor {
    // The ends are softened so that points drawn in the pure hues stay visible on them.
    tinted(class(number), 0.6 * probability)
}

/// White with this share of a color.
fn tinted(color: RGBColor, weight: f64) -> RGBColor {
    let mix = |to: u8| (255.0 + weight * (f64::from(to) - 255.0)).round() as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// Blue for what is right, vermilion for what is wrong, the darker the larger its share.
pub(super) fn share(is_right: bool, share: f64) -> RGBColor {
    tinted(
        if is_right { BLUE } else { VERMILION },
        share.clamp(0.0, 1.0),
    )
}

/// Color of a probability: vermilion at 0, white at 1/2, blue at 1.
pub(super) fn probability(value: f64) -> RGBColor {
    let value = value.clamp(0.0, 1.0);
    let end = if value < 0.5 { VERMILION } else { BLUE };
    // Softened as the classes' colors are.
    tinted(end, 0.75 * (2.0 * value - 1.0).abs())
}

/// What magnitudes go through, from nothing to the largest: told apart in gray, too.
const MAGNITUDES: [RGBColor; 4] = [
    RGBColor(0, 32, 96),
    RGBColor(0, 114, 178),
    RGBColor(86, 190, 160),
    RGBColor(250, 225, 50),
];

/// Color of a part of the largest magnitude: dark blue at 0, yellow at 1.
pub(super) fn magnitude(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (MAGNITUDES.len() - 1) as f64;
    let below = (place as usize).min(MAGNITUDES.len() - 2);
    let weight = place - below as f64;
    let (from, to) = (MAGNITUDES[below], MAGNITUDES[below + 1]);
    let mix =
        |from: u8, to: u8| (f64::from(from) + weight * (f64::from(to) - f64::from(from))) as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
