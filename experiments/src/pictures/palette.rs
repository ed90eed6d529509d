//! Colours that people with the common kinds of colour blindness tell apart.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008).

use plotters::style::RGBColor;

pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(super) const SKY: RGBColor = RGBColor(86, 180, 233);
pub(super) const VERMILION: RGBColor = RGBColor(213, 94, 0);
pub(super) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const GREY: RGBColor = RGBColor(110, 110, 110);
pub(super) const GRID: RGBColor = RGBColor(232, 232, 232);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// Colour of a probability: vermilion at 0, white at 1/2, blue at 1.
pub(super) fn probability(value: f64) -> RGBColor {
    let value = value.clamp(0.0, 1.0);
    let end = if value < 0.5 { VERMILION } else { BLUE };
    // The ends are softened so that points drawn in the pure hues stay visible on them.
    let weight = 0.75 * (2.0 * value - 1.0).abs();
    let mix = |from: u8, to: u8| {
        (f64::from(from) + weight * (f64::from(to) - f64::from(from))).round() as u8
    };
    RGBColor(mix(255, end.0), mix(255, end.1), mix(255, end.2))
}
