//! Models of layers.

use burn_gp_core::{
    kernels::{KernelConfig, StationaryConfig},
    layers::LayerNoise,
    means::{IdentityMeanConfig, MeanConfig, MeanName},
};
use burn_gp_models::{DenseForm, HiddenLayerConfig, InducingConfig, LayerConfig, LayerForm};

use super::{
    images::{Images, shape},
    inducing::inducing,
    posterior::with_needed_columns,
};
use crate::arguments::{ModelFields, RunOptions, read};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{MOST_VALUES, at_most};

const DEFAULT_LAYERS: usize = 2;

/// The maximum default width. The default is the number of inputs if that is smaller.
const WIDEST: usize = 30;

/// The default number of channels of a feature map.
const DEFAULT_CHANNELS: usize = 10;

/// The initial kernel variance of hidden layers. Together with the small deviation, it keeps initial hidden
/// layers close to their mean functions, which are the inputs or their principal components. Draws from the
/// priors would be noise, from which later layers could learn nothing.
const HIDDEN_VARIANCE: f64 = 0.01;
/// The initial standard deviation of the inducing variables of hidden layers, relative to the prior.
const HIDDEN_DEVIATION: f64 = 0.01;

/// The number of draws for a prediction of a deep model for images. It is small because the layers are large.
const IMAGE_PREDICTION_SAMPLES: usize = 10;

/// The settings of layers that do not depend on the data.
pub(super) struct Layers {
    count: usize,
    hidden_mean: MeanConfig,
    hidden_variance: f64,
    hidden_deviation: f64,
    noise: LayerNoise,
    images: Option<Images>,
}

/// The layers of the model.
pub(super) fn layers(resolved: &mut RunOptions) -> Result<Layers, OptionError> {
    let (model, seed) = (resolved.model_fields(), resolved.seed());
    let of_images = model.has_images();
    let default = LayerNoise::default();
    let default_prediction = match of_images {
        true => IMAGE_PREDICTION_SAMPLES,
        false => default.prediction,
    };
    let layers = match model.has("hidden") {
        true => *resolved.layers.get_or_insert(DEFAULT_LAYERS),
        false => 1,
    };
    let hidden_mean =
        *(resolved.hidden_mean).get_or_insert_with(MeanName::of::<IdentityMeanConfig>);
    Ok(Layers {
        count: layers,
        hidden_mean: hidden_mean.config(),
        hidden_variance: *resolved.hidden_variance.get_or_insert(HIDDEN_VARIANCE),
        hidden_deviation: *(resolved.hidden_deviation).get_or_insert(HIDDEN_DEVIATION),
        noise: LayerNoise {
            training: *resolved.samples.get_or_insert(default.training),
            prediction: *(resolved.prediction_samples).get_or_insert(default_prediction),
            seed,
        },
        images: of_images
            .then(|| Images::new(resolved, layers))
            .transpose()?,
    })
}

/// Sets the layers of a model whose output layer has its kernel, posterior and inducing points.
pub(super) fn set_layers(
    model: &mut ModelFields,
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<(), OptionError> {
    let layers = layers(resolved)?;
    model.set("form", &layers.output_form());
    model.set("noise", &layers.noise);
    if model.has_images() {
        model.set("image", &shape(resolved, data)?);
    }
    let output = model.get("output").cloned().unwrap_or_default();
    let output: LayerConfig = read("layer", output)?;
    let inducing = match resolved.hidden_inducing {
        None => output.inducing.clone(),
        Some(count) => {
            let mut own = RunOptions {
                inducing: Some(count),
                orthogonal: Some(count),
                ..resolved.clone()
            };
            inducing(&mut own, data)?
        }
    };
    let width = width(resolved, &layers, data);
    if layers.count > 1 {
        let count = inducing.count;
        let values = count.saturating_mul(count).saturating_mul(layers.count);
        at_most("--width", width, MOST_VALUES / values.max(1), || {
            format!("each of its functions has a covariance of {count}x{count}")
        })?;
    }
    model.set("hidden", &layers.hidden(&output, &inducing, width));
    Ok(())
}

/// The number of functions of a hidden layer.
fn width(resolved: &mut RunOptions, layers: &Layers, data: &PreparedData) -> usize {
    let default = match layers.images {
        Some(_) => DEFAULT_CHANNELS,
        None => data.dimensions().min(WIDEST),
    };
    let width = resolved.width.unwrap_or(default);
    resolved.width = (layers.count > 1).then_some(width);
    width
}

impl Layers {
    fn output_form(&self) -> LayerForm {
        match &self.images {
            None => DenseForm {}.into(),
            Some(images) => images.convolutional(self.count - 1),
        }
    }

    /// The hidden layers, which are like the `output` layer but for these settings.
    fn hidden(
        &self,
        output: &LayerConfig,
        inducing: &InducingConfig,
        functions: usize,
    ) -> Vec<HiddenLayerConfig> {
        let hidden = (0..self.count - 1).map(|index| HiddenLayerConfig {
            functions,
            layer: LayerConfig {
                form: match &self.images {
                    None => DenseForm {}.into(),
                    Some(images) => images.patches(index),
                },
                kernel: with_variance(output.kernel.clone(), self.hidden_variance),
                mean: self.hidden_mean.clone(),
                posterior: with_needed_columns(output.posterior.clone(), inducing.orthogonal),
                inducing: inducing.clone(),
                deviation: self.hidden_deviation,
                ..output.clone()
            },
        });
        hidden.collect()
    }
}

/// The kernel with another initial variance.
fn with_variance(kernel: KernelConfig, variance: f64) -> KernelConfig {
    match kernel.downcast_ref::<StationaryConfig>() {
        Some(stationary) => stationary.clone().with_variance(variance).into(),
        None => kernel.scaled(variance),
    }
}
