//! Feature maps of the layers of an image model.

use std::path::Path;

use super::bitmap::{Bitmap, Tones};
use super::canvas::{Frame, HEIGHT, INK, LABEL_SIZE, MARGIN, SQUARE_HEADER, WIDTH, on_paper};
use super::rows::same_length;
use super::text_extent::fitted;
use super::{Caption, PlotError};

const NAME: &str = "Feature maps";

/// The height of the line above the maps of a layer.
const TITLE: f64 = 24.0;
/// The space for the names of the images.
const NAMES: f64 = 84.0;
const GAP: f64 = 4.0;
/// The gap between an image and its maps.
const WIDE_GAP: f64 = 14.0;
const LARGEST_SIDE: f64 = 84.0;
/// The maximum number of channels to show for each layer.
const MOST_CHANNELS: usize = 12;

/// Images of the same shape, one per row, with the channels of a pixel next to each other.
#[derive(Debug, Clone, Copy)]
pub struct ImageRows<'a> {
    /// The height in pixels.
    pub height: usize,
    /// The width in pixels.
    pub width: usize,
    /// The number of channels.
    pub channels: usize,
    /// The values, `[N, height·width·channels]`.
    pub values: &'a [f64],
}

impl ImageRows<'_> {
    fn length(&self) -> usize {
        self.height * self.width * self.channels
    }

    fn check(&self, images: usize) -> Result<(), PlotError> {
        let expected = images * self.length();
        same_length(NAME, "the maps", expected, self.values.len())
    }

    /// One image in color, or the mean of its channels in gray.
    fn image(&self, index: usize, tones: Tones) -> Bitmap {
        let values = &self.values[index * self.length()..][..self.length()];
        Bitmap::new(values, self.width, self.channels, tones)
    }

    /// One channel of all images.
    fn channel(&self, channel: usize) -> Vec<f64> {
        let own = self.values.iter().skip(channel);
        own.step_by(self.channels).copied().collect()
    }

    fn shown_channels(&self) -> usize {
        self.channels.min(MOST_CHANNELS)
    }

    fn title(&self, layer: usize) -> String {
        let Self {
            height,
            width,
            channels,
            ..
        } = self;
        let shown = match self.shown_channels() {
            shown if shown == *channels => format!("{channels} channels"),
            shown => format!("{shown} of {channels} channels"),
        };
        format!("layer {layer}: {height} by {width} patches, {shown}")
    }
}

/// Draws all channels of the feature maps of some images beside the images, with one block for each
/// layer. Each channel is scaled from its smallest value (black) to its largest (white).
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if a layer does not have a map for every image,
/// [`PlotError::NothingToShow`] if there are no images or layers, [`PlotError::Write`] if the file
/// cannot be written.
pub fn feature_maps(
    path: &Path,
    names: &[String],
    images: ImageRows<'_>,
    layers: &[ImageRows<'_>],
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    for rows in layers.iter().chain([&images]) {
        rows.check(names.len())?;
    }
    let tones = Tones::of(images.values.iter().copied(), 0.0);
    let (Some(tones), false) = (tones, layers.is_empty()) else {
        return Err(PlotError::nothing(NAME, images.values.len()));
    };
    let remarks = [
        "means of the hidden layers",
        "each channel is scaled from its smallest value (black) to its largest (white)",
    ];
    let remarks = remarks.map(|text| Some(text.to_owned()));
    let frame = Frame::new(NAME, caption, Vec::new()).with_remarks(remarks);
    let side = side(names.len(), layers);
    let step = side + GAP;
    on_paper(path, &frame, |sheet| {
        let mut area = sheet.inside([SQUARE_HEADER, MARGIN, 0.0, MARGIN]);
        for (number, layer) in (1..).zip(layers) {
            area.write(&layer.title(number), INK, (0.0, 2.0));
            let (_, maps) = area.split_vertically(TITLE);
            let (beside, maps) = maps.split_horizontally(NAMES);
            for (row, name) in names.iter().enumerate() {
                let top = step * row as f64;
                let name = fitted(name, LABEL_SIZE, NAMES - 8.0);
                beside.write(&name, INK.before(), (NAMES - 8.0, top + side / 2.0));
                maps.image(&images.image(row, tones), (0.0, top), (side, side));
            }
            for channel in 0..layer.shown_channels() {
                let left = step * (channel + 1) as f64 + WIDE_GAP - GAP;
                let bitmaps = channel_bitmaps(layer, channel, names.len());
                for (row, bitmap) in bitmaps.iter().enumerate() {
                    maps.image(bitmap, (left, step * row as f64), (side, side));
                }
            }
            area = area.split_vertically(TITLE + step * names.len() as f64).1;
        }
    })
}

/// One channel of every image.
fn channel_bitmaps(layer: &ImageRows<'_>, channel: usize, images: usize) -> Vec<Bitmap> {
    let values = layer.channel(channel);
    let middle = Tones {
        black: 0.0,
        white: 0.0,
    };
    let tones = Tones::of(values.iter().copied(), 0.0).unwrap_or(middle);
    let maps = values.chunks_exact(values.len() / images);
    maps.map(|map| Bitmap::new(map, layer.width, 1, tones))
        .collect()
}

/// The side of a map in pixels, as large as possible, for blocks below each other with one row per image.
fn side(images: usize, layers: &[ImageRows<'_>]) -> f64 {
    let channels = layers.iter().map(ImageRows::shown_channels).max();
    let columns = 1 + channels.unwrap_or(0);
    let width = WIDTH - 2.0 * MARGIN - NAMES - WIDE_GAP;
    let height = (HEIGHT - SQUARE_HEADER - MARGIN) / layers.len() as f64 - TITLE;
    let side = (width / columns as f64).min(height / images as f64) - GAP;
    side.floor().clamp(1.0, LARGEST_SIDE)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wave, wide_name};
    use super::*;

    fn rows(values: &[f64], side: usize, channels: usize) -> ImageRows<'_> {
        ImageRows {
            height: side,
            width: side,
            channels,
            values,
        }
    }

    #[test]
    fn every_channel_of_every_layer_is_beside_its_image() {
        let (images, first, second) = (wave(3 * 48, 0.1), wave(3 * 90, 0.2), wave(3 * 80, 0.3));
        let layers = [rows(&first, 3, 10), rows(&second, 2, 20)];
        let names = ["cat", "dog", "ship"].map(String::from);
        let draw = |layers: &[ImageRows<'_>]| {
            Plot::of(|path| feature_maps(path, &names, rows(&images, 4, 3), layers, CAPTION))
        };
        let plot = draw(&layers);
        assert_eq!(plot.count("image"), 3 * (1 + 10) + 3 * (1 + 12));
        assert!(plot.has_text("layer 1: 3 by 3 patches, 10 channels"));
        assert!(plot.has_text("12 of 20 channels"));
        assert_eq!(plot.count_text("ship"), 2);
    }

    #[test]
    fn maps_fit_on_the_sheet() {
        let values = wave(240, 0.0);
        let names = ["a", "b", "c"].map(String::from);
        for blocks in 1..=4 {
            let layers = vec![rows(&values, 2, 20); blocks];
            let images = rows(&values[..12], 2, 1);
            let plot = Plot::of(|path| feature_maps(path, &names, images, &layers, CAPTION));
            assert_eq!(plot.count("image"), blocks * 3 * (1 + MOST_CHANNELS));
        }
    }

    #[test]
    fn missing_maps_are_errors() {
        let values = [0.5; 16];
        let names = ["a".to_owned()];
        let image = rows(&values, 4, 1);
        let refused = |layers: &[ImageRows<'_>]| {
            Plot::refused(|path| feature_maps(path, &names, image, layers, CAPTION))
        };
        assert!(matches!(refused(&[]), PlotError::NothingToShow { .. }));
        let error = refused(&[rows(&values[1..], 4, 1)]);
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
    }

    #[test]
    fn long_names_have_room() {
        let values = wave(16, 0.0);
        let names = [wide_name("a")];
        let (image, layers) = (rows(&values, 4, 1), [rows(&values, 2, 4)]);
        Plot::of(|path| feature_maps(path, &names, image, &layers, CAPTION));
    }
}
