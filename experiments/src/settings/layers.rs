//! Models made of layers.

use burn_gp::{layers::LayerNoise, patches::ImageShape};

use super::{SettingError, at_least_one, positive};
use crate::arguments::{HiddenMeanName, ImageOption, LayerOptions, ModelName};

const DEFAULT_LAYERS: usize = 2;

/// The default number of channels of a feature map.
const DEFAULT_CHANNELS: usize = 10;

/// The patch sizes of the networks of arXiv:1910.10596, table 5.
const DEFAULT_PATCHES: [usize; 3] = [5, 4, 5];
/// The strides of these networks.
const DEFAULT_STRIDES: [usize; 3] = [1, 2, 1];

/// Initial hidden layers of a deep model are close to their mean functions, which are the inputs or
/// their principal components. Draws from the priors would be noise, and the layers after them
/// would learn nothing from it.
const HIDDEN_VARIANCE: f64 = 0.01;
const HIDDEN_DEVIATION: f64 = 0.01;

/// The number of draws for a prediction of a deep model of images. It is small because the layers
/// are large.
const IMAGE_PREDICTION_SAMPLES: usize = 10;

/// The layers of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerSettings {
    /// The name of the model.
    pub model: ModelName,
    /// The number of layers.
    pub count: usize,
    /// Functions of a hidden layer; the default if absent.
    pub width: Option<usize>,
    /// Inducing points of a hidden layer; the same as in the output layer if absent.
    pub hidden_inducing: Option<usize>,
    /// The mean functions of the hidden layers.
    pub hidden_mean: HiddenMeanName,
    /// The initial kernel variance of the hidden layers.
    pub hidden_variance: f64,
    /// The initial standard deviation of the inducing variables of the hidden layers, as a multiple
    /// of that of the prior.
    pub hidden_deviation: f64,
    /// The same for the output layer.
    pub output_deviation: f64,
    /// The number of draws from the hidden layers, and their seed.
    pub noise: LayerNoise,
    /// The image settings, for models of images.
    pub images: Option<ImageSettings>,
}

/// How a model splits images into patches.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSettings {
    /// The shape of the images; the shape in the data set if absent.
    pub shape: Option<ImageShape>,
    /// The height and width of the patches in each layer.
    pub patches: Vec<usize>,
    /// The stride of the patches in each layer, in pixels.
    pub strides: Vec<usize>,
    /// Whether the response of the output layer depends on the location of the patch.
    pub located: bool,
}

impl LayerSettings {
    /// Reads the layers from `options`.
    pub(super) fn new(
        options: &LayerOptions,
        model: ModelName,
        seed: u64,
    ) -> Result<Self, SettingError> {
        let of_images = model.is_of_images();
        let count = match model {
            ModelName::ConvGp => 1,
            _ => at_least_one("--layers", options.layers)?.unwrap_or(DEFAULT_LAYERS),
        };
        let deviation = options.hidden_deviation.unwrap_or(HIDDEN_DEVIATION);
        let variance = options.hidden_variance.unwrap_or(HIDDEN_VARIANCE);
        let default = LayerNoise::default();
        let prediction = match of_images {
            true => IMAGE_PREDICTION_SAMPLES,
            false => default.prediction,
        };
        Ok(Self {
            model,
            count,
            width: at_least_one("--width", options.width)?,
            hidden_inducing: at_least_one("--hidden-inducing", options.hidden_inducing)?,
            hidden_mean: options.hidden_mean.unwrap_or(HiddenMeanName::Identity),
            hidden_variance: positive("--hidden-variance", variance)?,
            hidden_deviation: positive("--hidden-deviation", deviation)?,
            output_deviation: positive(
                "--output-deviation",
                options.output_deviation.unwrap_or(1.0),
            )?,
            noise: LayerNoise {
                training: at_least_one("--samples", options.samples)?.unwrap_or(default.training),
                prediction: at_least_one("--prediction-samples", options.prediction_samples)?
                    .unwrap_or(prediction),
                seed,
            },
            images: of_images
                .then(|| ImageSettings::new(options, count))
                .transpose()?,
        })
    }

    /// Functions of a hidden layer, for data with `inputs` inputs.
    pub fn width(&self, inputs: usize) -> usize {
        /// The largest default; smaller data have as many functions as inputs.
        const WIDEST: usize = 30;
        self.width.unwrap_or(match self.images {
            Some(_) => DEFAULT_CHANNELS,
            None => inputs.min(WIDEST),
        })
    }

    /// Converts the layers back to options, with all defaults filled in, but without the posterior.
    pub(super) fn options(&self) -> LayerOptions {
        let is_deep = self.model != ModelName::ConvGp;
        let deep = is_deep.then_some(());
        let images = self.images.as_ref();
        LayerOptions {
            posterior: None,
            layers: deep.map(|()| self.count),
            width: self.width,
            hidden_inducing: self.hidden_inducing.filter(|_| is_deep),
            hidden_mean: deep.map(|()| self.hidden_mean),
            hidden_variance: deep.map(|()| self.hidden_variance),
            hidden_deviation: deep.map(|()| self.hidden_deviation),
            output_deviation: Some(self.output_deviation),
            samples: deep.map(|()| self.noise.training),
            prediction_samples: deep.map(|()| self.noise.prediction),
            image: images.and_then(|images| images.shape).map(ImageOption),
            patch: images.map(|images| images.patches.clone()),
            stride: images.map(|images| images.strides.clone()),
            located: images.map(|images| images.located),
        }
    }
}

impl ImageSettings {
    fn new(options: &LayerOptions, layers: usize) -> Result<Self, SettingError> {
        Ok(Self {
            shape: options.image.map(|image| image.0),
            patches: of_each_layer("--patch", &options.patch, &DEFAULT_PATCHES, layers)?,
            strides: of_each_layer("--stride", &options.stride, &DEFAULT_STRIDES, layers)?,
            located: options.located.unwrap_or(true),
        })
    }
}

/// One number for each layer. The defaults are the first entries of `default`.
fn of_each_layer(
    option: &'static str,
    given: &Option<Vec<usize>>,
    default: &[usize],
    layers: usize,
) -> Result<Vec<usize>, SettingError> {
    let numbers = given
        .as_deref()
        .unwrap_or(&default[..layers.min(default.len())]);
    for &number in numbers {
        at_least_one(option, Some(number))?;
    }
    match numbers.len() == layers {
        true => Ok(numbers.to_vec()),
        false => Err(SettingError::NumberOfLayers {
            option,
            found: numbers.len(),
            layers,
        }),
    }
}
