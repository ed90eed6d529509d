//! Small images in a plot, embedded as PNG; one SVG rectangle per pixel would take megabytes.

use base64::{Engine, prelude::BASE64_STANDARD};
use png::{BitDepth, ColorType, Compression, EncodingError, Filter};

use super::palette::Color;

/// An image: RGB pixels row by row from the upper left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bitmap {
    width: usize,
    pixels: Vec<[u8; 3]>,
    /// Whether viewers may blur the pixels; otherwise each is a square of one color.
    is_smooth: bool,
}

/// The values shown as black and as white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tones {
    pub(super) black: f64,
    pub(super) white: f64,
}

impl Tones {
    /// The range of the values after this share is cut off at either end; `None` if no value is
    /// finite.
    pub(super) fn of(values: impl Iterator<Item = f64>, outside: f64) -> Option<Self> {
        let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let skipped = (outside * last as f64) as usize;
        Some(Self {
            black: sorted[skipped],
            white: sorted[last - skipped],
        })
    }

    /// The brightness of a value; medium if all values are equal.
    fn tone(&self, value: f64) -> u8 {
        let range = self.white - self.black;
        let share = match range > 0.0 && value.is_finite() {
            true => ((value - self.black) / range).clamp(0.0, 1.0),
            false => 0.5,
        };
        (255.0 * share).round() as u8
    }
}

impl Bitmap {
    /// An image with rows of `width` pixels and `channels` adjacent numbers per pixel. Three
    /// channels are red, green and blue; any other number is averaged to gray.
    pub(super) fn new(values: &[f64], width: usize, channels: usize, tones: Tones) -> Self {
        let pixel = |numbers: &[f64]| match numbers {
            &[red, green, blue] => [red, green, blue].map(|value| tones.tone(value)),
            numbers => {
                let mean = numbers.iter().sum::<f64>() / channels as f64;
                [tones.tone(mean); 3]
            }
        };
        Self {
            width,
            pixels: values.chunks_exact(channels).map(pixel).collect(),
            is_smooth: false,
        }
    }

    /// A smooth image of these pixels in rows of `width`.
    pub(super) fn smooth(width: usize, pixels: impl Iterator<Item = Color>) -> Self {
        Self {
            width,
            pixels: pixels.map(|Color(pixel)| pixel).collect(),
            is_smooth: true,
        }
    }

    /// The colors of the shares from 0 to 1, in a row.
    pub(super) fn color_scale(color: impl Fn(f64) -> Color) -> Self {
        const SHADES: u32 = 256;
        let shade = |shade| color(f64::from(shade) / f64::from(SHADES - 1));
        Self::smooth(SHADES as usize, (0..SHADES).map(shade))
    }

    /// The pixels.
    #[cfg(test)]
    pub(super) fn into_pixels(self) -> Vec<[u8; 3]> {
        self.pixels
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Enlarges each pixel to a square of pixels, so that viewers that smooth images keep them
    /// distinct.
    fn magnified(&self) -> Self {
        const WIDTH: usize = 96;
        let times = (WIDTH / self.width).max(1);
        let rows = self.pixels.chunks_exact(self.width).flat_map(|row| {
            let wide: Vec<[u8; 3]> = (row.iter())
                .flat_map(|&pixel| std::iter::repeat_n(pixel, times))
                .collect();
            std::iter::repeat_n(wide, times).flatten()
        });
        Self {
            width: times * self.width,
            pixels: rows.collect(),
            is_smooth: self.is_smooth,
        }
    }

    /// The PNG file.
    fn png(&self) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height() as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        // Differences from the row above compress well. Better compression would take most of the time of a small run.
        encoder.set_filter(Filter::Up);
        encoder.set_compression(Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(file)
    }

    /// How viewers enlarge the image.
    pub(super) fn style(&self) -> Option<&'static str> {
        (!self.is_smooth).then_some("image-rendering:pixelated")
    }

    /// The address of the image with all of its content.
    pub(super) fn data(&self) -> std::io::Result<String> {
        let file = match self.is_smooth {
            true => self.png()?,
            false => self.magnified().png()?,
        };
        Ok(format!(
            "data:image/png;base64,{}",
            BASE64_STANDARD.encode(file)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_channels_are_colors_and_others_gray() {
        let tones = Tones {
            black: -1.0,
            white: 1.0,
        };
        let colors = Bitmap::new(&[-1.0, 0.0, 3.0, 1.0, 1.0, 1.0], 2, 3, tones);
        assert_eq!(colors.pixels, [[0, 128, 255], [255; 3]]);
        let large = colors.magnified();
        assert_eq!((large.width, large.height()), (96, 48));
        assert_eq!(large.pixels[47..49], colors.pixels);
        let gray = Bitmap::new(&[-1.0, 1.0, 1.0, 1.0], 1, 2, tones);
        assert_eq!(gray.pixels, [[128; 3], [255; 3]]);
        assert_eq!(gray.height(), 2);
    }

    #[test]
    fn tones_leave_out_the_far_ends() {
        let values = (0..=100).map(f64::from).chain([f64::NAN]);
        let tones = Tones::of(values, 0.02).expect("tones");
        assert_eq!((tones.black, tones.white), (2.0, 98.0));
        assert_eq!(Tones::of([f64::NAN].into_iter(), 0.0), None);
    }

    #[test]
    fn files_have_the_pixels() {
        let tones = Tones {
            black: 0.0,
            white: 1.0,
        };
        let bitmap = Bitmap::new(&[0.0, 1.0, 0.5, 0.25], 2, 1, tones);
        let file = bitmap.png().expect("a file");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .expect("a header");
        let mut pixels = vec![0; 12];
        reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!(pixels, bitmap.pixels.as_flattened());
    }
}
