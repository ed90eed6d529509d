//! The options of models made of layers.

use std::{fmt, str::FromStr};

use burn_gp::{patches::ImageShape, variational::PosteriorName};
use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{HiddenMeanName, choices::named};

/// The options that only deep-gp, conv-gp and deep-conv-gp have; an absent option has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Layers")]
pub struct LayerOptions {
    /// Posterior of every layer of deep-gp, conv-gp and deep-conv-gp [default: whitened]
    #[arg(long, value_name = "POSTERIOR", value_parser = named(PosteriorName::all()))]
    pub posterior: Option<PosteriorName>,
    /// Number of layers of deep-gp and deep-conv-gp [default: 2]
    #[arg(long, value_name = "L")]
    pub layers: Option<usize>,
    /// Functions of a hidden layer [default: deep-gp as many as inputs, at most 30; deep-conv-gp
    /// 10]
    #[arg(long, value_name = "W")]
    pub width: Option<usize>,
    /// Inducing points of each hidden layer, and orthogonal inducing points if the model has them
    /// [default: as many as in the output layer]
    #[arg(long, value_name = "M")]
    pub hidden_inducing: Option<usize>,
    /// Mean functions of the hidden layers; in deep-conv-gp, functions of patches [default:
    /// identity]
    #[arg(long, value_name = "MEAN", value_enum)]
    pub hidden_mean: Option<HiddenMeanName>,
    /// Initial kernel variance of the hidden layers [default: 0.01]
    #[arg(long, value_name = "V")]
    pub hidden_variance: Option<f64>,
    /// Initial standard deviation of the inducing variables of hidden layers, relative to the prior
    /// [default: 0.01]
    #[arg(long, value_name = "F")]
    pub hidden_deviation: Option<f64>,
    /// Initial standard deviation of the inducing variables of the output layer, relative to the
    /// prior [default: 1]
    #[arg(long, value_name = "F")]
    pub output_deviation: Option<f64>,
    /// Draws from the hidden layers for each row in a training step [default: 1]
    #[arg(long, value_name = "S")]
    pub samples: Option<usize>,
    /// Draws for each prediction [default: 100; deep-conv-gp 10]
    #[arg(long, value_name = "S")]
    pub prediction_samples: Option<usize>,
    /// Image shape of the inputs of conv-gp and deep-conv-gp: height x width, or height x width x
    /// channels with the channels of a pixel next to each other [default: that of the data set]
    #[arg(long, value_name = "HxWxC")]
    pub image: Option<ImageOption>,
    /// Patch height and width in each layer [default: 5,4,5]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub patch: Option<Vec<usize>>,
    /// Stride between patches in each layer, in pixels [default: 1,2,1]
    #[arg(long, value_name = "PIXELS", value_delimiter = ',')]
    pub stride: Option<Vec<usize>>,
    /// Whether the response of the output layer depends on the location of the patch [default:
    /// true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub located: Option<bool>,
}

/// An image shape on the command line: `28x28`, `32x32x3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImageOption(pub ImageShape);

/// A text that is not an image shape.
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
