//! The option for the shape of images.

use std::{fmt, str::FromStr};

use burn_gp_core::patches::ImageShape;
use serde::{Deserialize, Serialize};

/// An image shape on the command line: `28x28`, `32x32x3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImageOption(pub ImageShape);

/// A text that is not an image shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an image shape; give height x width x channels, such as 28x28 or 32x32x3")]
pub struct NoImageShape {
    text: String,
}

impl FromStr for ImageOption {
    type Err = NoImageShape;

    fn from_str(text: &str) -> Result<Self, NoImageShape> {
        let sides: Result<Vec<usize>, _> = text.split('x').map(str::parse).collect();
        let shape = match sides.as_deref() {
            Ok(&[height, width]) => ImageShape::new(height, width, 1),
            Ok(&[height, width, channels]) => ImageShape::new(height, width, channels),
            _ => ImageShape::new(0, 0, 0),
        };
        match shape.is_empty() {
            true => Err(NoImageShape { text: text.into() }),
            false => Ok(Self(shape)),
        }
    }
}

impl TryFrom<String> for ImageOption {
    type Error = NoImageShape;

    fn try_from(text: String) -> Result<Self, NoImageShape> {
        text.parse()
    }
}

impl From<ImageOption> for String {
    fn from(option: ImageOption) -> Self {
        option.to_string()
    }
}

impl fmt::Display for ImageOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
