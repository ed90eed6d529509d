//! The shape of images.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The shape of an image stored as a row of `height·width·channels` values: pixel by pixel from
/// the upper left, with the channels of a pixel next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows of pixels, H.
    pub height: usize,
    /// Columns of pixels, W.
    pub width: usize,
    /// Values per pixel, C.
    pub channels: usize,
}

impl ImageShape {
    /// An image of `height` rows of `width` pixels with `channels` values each.
    pub const fn new(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
        }
    }

    /// The number of pixels in an image, `H·W`.
    pub const fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// The number of values in an image, `H·W·C`, which is the number of inputs per row.
    pub const fn inputs(&self) -> usize {
        self.pixels() * self.channels
    }
}

/// Formats the shape as height, width and channels, for example `28x28x1`.
impl fmt::Display for ImageShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}x{}x{}",
            self.height, self.width, self.channels
        )
    }
}
