//! The options of the models made of layers.

use std::{fmt, str::FromStr};

use burn_gp::patches::ImageShape;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::{HiddenMeanName, PosteriorName};

/// What only deep-gp, conv-gp and deep-conv-gp have; what is absent has its default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LayerOptions {
    /// The posterior of every layer of deep-gp, conv-gp and deep-conv-gp [default: whitened]
    #[arg(long, value_name = "POSTERIOR", help_heading = "Layers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior: Option<PosteriorName>,
    /// How many layers deep-gp and deep-conv-gp have [default: 2]
    #[arg(
        long,
        value_name = "L",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<usize>,
    /// Functions of a layer before the last [default: deep-gp as many as inputs, at most 30;
    /// deep-conv-gp 10]
    #[arg(
        long,
        value_name = "W",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// Inducing points of each layer before the last, and as many orthogonal ones where there are
    /// such [default: as many as the last layer has]
    #[arg(
        long,
        value_name = "M",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_inducing: Option<usize>,
    /// Mean functions of the layers before the last, of patches in deep-conv-gp [default: identity]
    #[arg(long, value_name = "MEAN", value_enum, help_heading = "Layers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_mean: Option<HiddenMeanName>,
    /// First variance of the kernels before the last layer [default: 0.01]
    #[arg(
        long,
        value_name = "V",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_variance: Option<f64>,
    /// First standard deviations of the inducing variables, times those of the prior, in the layers
    /// before the last [default: 0.01]
    #[arg(
        long,
        value_name = "F",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_deviation: Option<f64>,
    /// First standard deviations of the inducing variables, times those of the prior, in the last
    /// layer [default: 1]
    #[arg(
        long,
        value_name = "F",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_deviation: Option<f64>,
    /// Draws from the layers before the last for each row of a step [default: 1]
    #[arg(
        long,
        value_name = "S",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
    /// Draws for each prediction [default: 100; deep-conv-gp 10]
    #[arg(
        long,
        value_name = "S",
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction_samples: Option<usize>,
    /// Shape of the images that the inputs of conv-gp and deep-conv-gp are: height x width, or
    /// height x width x channels with the channels of a pixel side by side [default: that of the
    /// data set]
    #[arg(long, value_name = "HxWxC", help_heading = "Layers")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageOption>,
    /// Rows and columns of the patches of each layer [default: 5,4,5]
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Vec<usize>>,
    /// Pixels from one patch to the next in each layer [default: 1,2,1]
    #[arg(
        long,
        value_name = "PIXELS",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<Vec<usize>>,
    /// Whether what the last layer makes of a patch depends on where it is [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Layers"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub located: Option<bool>,
}

impl LayerOptions {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These options, completed by those of `earlier`; the shape of images is left behind with its
    /// data.
    pub fn over(self, earlier: Self, own_data: bool) -> Self {
        Self {
            posterior: self.posterior.or(earlier.posterior),
            layers: self.layers.or(earlier.layers),
            width: self.width.or(earlier.width),
            hidden_inducing: self.hidden_inducing.or(earlier.hidden_inducing),
            hidden_mean: self.hidden_mean.or(earlier.hidden_mean),
            hidden_variance: self.hidden_variance.or(earlier.hidden_variance),
            hidden_deviation: self.hidden_deviation.or(earlier.hidden_deviation),
            output_deviation: self.output_deviation.or(earlier.output_deviation),
            samples: self.samples.or(earlier.samples),
            prediction_samples: self.prediction_samples.or(earlier.prediction_samples),
            image: (self.image).or(if own_data { None } else { earlier.image }),
            patch: self.patch.or(earlier.patch),
            stride: self.stride.or(earlier.stride),
            located: self.located.or(earlier.located),
        }
    }

    /// The options that every model of layers has, and whether they are given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [
            ("--posterior", self.posterior.is_some()),
            ("--output-deviation", self.output_deviation.is_some()),
        ]
    }

    /// The options of models with several layers, and whether they are given.
    pub fn given_to_deep(&self) -> [(&'static str, bool); 8] {
        [
            ("--layers", self.layers.is_some()),
            ("--width", self.width.is_some()),
            ("--hidden-inducing", self.hidden_inducing.is_some()),
            ("--hidden-mean", self.hidden_mean.is_some()),
            ("--hidden-variance", self.hidden_variance.is_some()),
            ("--hidden-deviation", self.hidden_deviation.is_some()),
            ("--samples", self.samples.is_some()),
            ("--prediction-samples", self.prediction_samples.is_some()),
        ]
    }

    /// The options of models of images, and whether they are given.
    pub fn given_to_images(&self) -> [(&'static str, bool); 4] {
        [
            ("--image", self.image.is_some()),
            ("--patch", self.patch.is_some()),
            ("--stride", self.stride.is_some()),
            ("--located", self.located.is_some()),
        ]
    }
}

/// The shape of images as it is typed: `28x28`, `32x32x3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImageOption(pub ImageShape);

/// A text that is no shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no shape of images; write height x width x channels, such as 28x28 or 32x32x3"
)]
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
