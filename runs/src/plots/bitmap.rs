//! Small images in a plot, embedded as PNG; one SVG rectangle per pixel would take megabytes.

use std::io::Write;

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::ZlibEncoder};

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

    /// The PNG file with its checksums.
    fn png(&self) -> std::io::Result<Vec<u8>> {
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut above = vec![0; 3 * self.width];
        for row in self.pixels.chunks_exact(self.width) {
            // The filter "up" stores differences from the row above, which compress well.
            let row = row.as_flattened();
            let differences = row.iter().zip(&above);
            let differences: Vec<u8> = differences.map(|(own, up)| own.wrapping_sub(*up)).collect();
            rows.write_all(&[2])?;
            rows.write_all(&differences)?;
            above.copy_from_slice(row);
        }
        let mut header = Vec::new();
        for side in [self.width, self.height()] {
            header.extend((side as u32).to_be_bytes());
        }
        header.extend([8, 2, 0, 0, 0]); // eight bits, colors
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, content) in [
            (b"IHDR", header),
            (b"IDAT", rows.finish()?),
            (b"IEND", Vec::new()),
        ] {
            file.extend((content.len() as u32).to_be_bytes());
            let named: Vec<u8> = kind.iter().copied().chain(content).collect();
            file.extend(&named);
            file.extend(crc32fast::hash(&named).to_be_bytes());
        }
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
    fn files_have_the_chunks_of_their_format() {
        let tones = Tones {
            black: 0.0,
            white: 1.0,
        };
        let file = Bitmap::new(&[0.0, 1.0, 0.5, 0.25], 2, 1, tones).png();
        let file = file.expect("a file");
        assert_eq!(&file[12..16], b"IHDR");
        // The checksum of the last chunk, which is empty, is always the same.
        assert_eq!(file[file.len() - 4..], [0xae, 0x42, 0x60, 0x82]);
    }
}
