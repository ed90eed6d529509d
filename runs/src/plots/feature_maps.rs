//! Feature maps of the layers of an image model.

use std::path::Path;

use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bitmap::{Bitmap, Tones};
use super::canvas::{Area, Frame, HEIGHT, LABEL_SIZE, MARGIN, SQUARE_HEADER, WIDTH, ink, on_paper};
use super::rows::same_length;
use super::text_extent::fitted;
use super::{Caption, PlotError};

const NAME: &str = "Feature maps";

/// The height of the line above the maps of a layer.
const TITLE: i32 = 24;
/// The space for the names of the images.
const NAMES: i32 = 84;
const GAP: i32 = 4;
/// The gap between an image and its maps.
const WIDE_GAP: i32 = 14;
const LARGEST_SIDE: i32 = 84;
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
        let shown = match self.shown_channels() == *channels {
            true => format!("{channels} channels"),
            false => format!("{} of {channels} channels", self.shown_channels()),
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
    let layout = Layout::new(names.len(), layers);
    let frame = Frame {
        remarks: vec![
            "means of the hidden layers".into(),
            "each channel is scaled from its smallest value (black) to its largest (white)".into(),
        ],
        ..Frame::new(NAME, caption, Vec::new())
    };
    on_paper(path, &frame, |sheet| {
        for (block, layer) in layers.iter().enumerate() {
            let place = |row: usize, column: usize, bitmap| {
                let corner = layout.corner(block, row, column);
                sheet.image(bitmap, corner, (layout.side, layout.side));
            };
            for row in 0..names.len() {
                place(row, 0, images.image(row, tones));
            }
            for channel in 0..layer.shown_channels() {
                let maps = channel_bitmaps(layer, channel, names.len());
                for (row, bitmap) in maps.into_iter().enumerate() {
                    place(row, channel + 1, bitmap);
                }
            }
        }
        write_names(sheet, names, layers, &layout)
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

fn write_names(
    sheet: &Area<'_>,
    names: &[String],
    layers: &[ImageRows<'_>],
    layout: &Layout,
) -> Result<(), PlotError> {
    let beside = ink().pos(Pos::new(HPos::Right, VPos::Center));
    for (block, layer) in layers.iter().enumerate() {
        let (_, top) = layout.corner(block, 0, 0);
        let title = layer.title(block + 1);
        sheet.write(&title, &ink(), (MARGIN, top - TITLE + 2))?;
        for (row, name) in names.iter().enumerate() {
            let (left, top) = layout.corner(block, row, 0);
            let right = left - 8;
            let name = fitted(name, LABEL_SIZE, f64::from(right - MARGIN));
            sheet.write(&name, &beside, (right, top + layout.side / 2))?;
        }
    }
    Ok(())
}

/// The positions of images and maps, in pixels.
struct Layout {
    side: i32,
    rows: i32,
}

impl Layout {
    /// Places the blocks below each other with one row per image, as large as possible.
    fn new(images: usize, layers: &[ImageRows<'_>]) -> Self {
        let (rows, blocks) = (images as i32, layers.len() as i32);
        let channels = layers.iter().map(ImageRows::shown_channels).max();
        let columns = 1 + channels.unwrap_or(0) as i32;
        let width = WIDTH as i32 - 2 * MARGIN - NAMES - WIDE_GAP;
        let height = (HEIGHT as i32 - SQUARE_HEADER - MARGIN) / blocks - TITLE;
        let side = (width / columns).min(height / rows) - GAP;
        Self {
            side: side.clamp(1, LARGEST_SIDE),
            rows,
        }
    }

    /// The upper left corner of an image (column zero) or of one of its maps.
    fn corner(&self, block: usize, row: usize, column: usize) -> (i32, i32) {
        let step = self.side + GAP;
        let block_height = TITLE + step * self.rows;
        let gap = if column > 0 { WIDE_GAP - GAP } else { 0 };
        (
            MARGIN + NAMES + step * column as i32 + gap,
            SQUARE_HEADER + block_height * block as i32 + TITLE + step * row as i32,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CAPTION, Plot, wave, wide_name};
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
        for blocks in 1..=4 {
            let layers = vec![rows(&values, 2, 20); blocks];
            let layout = Layout::new(3, &layers);
            let (x, y) = layout.corner(blocks - 1, 2, 12);
            let (right, bottom) = (x + layout.side, y + layout.side);
            assert!(right <= WIDTH as i32 && bottom <= HEIGHT as i32, "{blocks}");
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
