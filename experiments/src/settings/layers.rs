//! The models made of layers, from their options.

use burn_gp::{layers::LayerNoise, patches::ImageShape};

use super::{SettingError, at_least_one, positive};
use crate::arguments::{HiddenMeanName, ImageOption, LayerOptions, ModelName};

const DEFAULT_LAYERS: usize = 2;

/// Channels of a feature map unless told otherwise.
const DEFAULT_CHANNELS: usize = 10;

/// Patch sizes and strides of the networks of arXiv:1910.10596, table 5.
const DEFAULT_PATCHES: [usize; 3] = [5, 4, 5];
const DEFAULT_STRIDES: [usize; 3] = [1, 2, 1];

/// The hidden layers of a deep model start close to their mean functions, the inputs themselves or
/// their principal components: draws from their priors would be noise, from which the layers after
/// them learn nothing.
const HIDDEN_VARIANCE: f64 = 0.01;
const HIDDEN_DEVIATION: f64 = 0.01;

/// Draws for a prediction of a deep model of images, whose layers are large.
const IMAGE_PREDICTION_SAMPLES: usize = 10;

/// The layers of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerSettings {
    /// Which model.
    pub model: ModelName,
    /// How many layers it has.
    pub count: usize,
    /// Functions of a layer before the last, unless by default.
    pub width: Option<usize>,
    /// Inducing points of a layer before the last, unless those of the last.
    pub hidden_inducing: Option<usize>,
    /// Mean functions of the layers before the last.
    pub hidden_mean: HiddenMeanName,
    /// First variance of the kernels before the last.
    pub hidden_variance: f64,
    /// First standard deviations of the inducing variables before the last layer, times those of the
    /// prior.
    pub hidden_deviation: f64,
    /// The same of the last layer.
    pub output_deviation: f64,
    /// Draws from the layers before the last.
    pub noise: LayerNoise,
    /// The images, for models of images.
    pub images: Option<ImageSettings>,
}

/// How a model looks at images.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSettings {
    /// Their shape, unless it is the data's.
    pub shape: Option<ImageShape>,
    /// Rows and columns of the patches of each layer.
    pub patches: Vec<usize>,
    /// Pixels from one patch to the next in each layer.
    pub strides: Vec<usize>,
    /// Whether what the last layer makes of a patch depends on where it is.
    pub located: bool,
}

impl LayerSettings {
    /// The layers that `options` ask for.
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

    /// Functions of a layer before the last, for data of `inputs` dimensions.
    pub fn width(&self, inputs: usize) -> usize {
        /// As many functions as inputs, up to this.
        const WIDEST: usize = 30;
        self.width.unwrap_or(match self.images {
            Some(_) => DEFAULT_CHANNELS,
            None => inputs.min(WIDEST),
        })
    }

    /// The options that describe the layers without any default but the posterior.
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

/// A number for each layer: those given, or by default the first ones.
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
