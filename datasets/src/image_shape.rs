//! The shape of images.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The shape of an image that is a row of `height·width·channels` numbers: pixel after pixel from
/// the upper left, with the channels of a pixel side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows of pixels, H.
    pub height: usize,
    /// Columns of pixels, W.
    pub width: usize,
    /// Numbers a pixel, C.
    pub channels: usize,
}

impl ImageShape {
    /// An image of `height` rows of `width` pixels with `channels` numbers each.
    pub const fn new(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
        }
    }

    /// Pixels of an image, `H·W`.
    pub const fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Numbers of an image, `H·W·C`: as many as the inputs of a row.
    pub const fn inputs(&self) -> usize {
        self.pixels() * self.channels
    }
}

/// `28x28x1`: height, width, channels.
impl fmt::Display for ImageShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}x{}x{}",
            self.height, self.width, self.channels
        )
    }
}
