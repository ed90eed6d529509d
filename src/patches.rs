//! Images as rows of pixel values, and their patches.
//!
//! An image is a row of `height·width·channels` values, pixel by pixel from the upper left, with
//! the channels of a pixel next to each other. Feature maps of layers have the same format: the
//! next layer treats them as an image with one channel per function.

pub use crate::ops::patches::{ImageShape, PatchError, PatchGrid};
