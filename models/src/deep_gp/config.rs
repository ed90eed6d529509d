//! Configuration of deep Gaussian processes.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    inference::ConditionError,
    kernels::StationaryConfig,
    layers::{LayerNoise, Stack},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig},
    parameter::{ParameterConfig, numbers},
    patches::ImageShape,
    process::AnyProcess,
    register,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{
    DeepGp, LayerConfig,
    layer_config::{LayerInputs, LayerPlan},
};
use crate::{
    AnyTrained, DataShape, InitError, ModelDefinition, Trained,
    model_config::model_config,
    training::{Model, TrainingData, TrainingDefaults},
};

/// A hidden layer with its number of functions.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
/// use burn_gp_models::{HiddenLayerConfig, LayerConfig};
///
/// let layer = LayerConfig::new(StationaryConfig::new(Stationary::Matern52));
/// let hidden = HiddenLayerConfig { functions: 3, layer };
/// assert_eq!(hidden.functions, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct HiddenLayerConfig {
    /// The number of functions: the inputs of the next layer, or its channels.
    pub functions: usize,
    /// The layer.
    pub layer: LayerConfig,
}

impl HiddenLayerConfig {
    /// A layer of `functions` functions.
    pub fn new(functions: usize, layer: LayerConfig) -> Self {
        Self { functions, layer }
    }
}

/// Configuration of a deep Gaussian process, or of a single-layer image model.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, means::MeanConfig};
/// use burn_gp_models::{DeepGpConfig, LayerConfig};
///
/// let layer = LayerConfig::new(StationaryConfig::rbf());
/// let hidden = layer.clone().with_mean(MeanConfig::identity()).with_deviation(0.01);
/// let config = DeepGpConfig::new(layer, GaussianConfig::default())
///     .with_hidden(8, hidden.clone())
///     .with_hidden(8, hidden);
/// # assert_eq!(config.hidden.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct DeepGpConfig {
    /// The hidden layers, in order.
    #[serde(default)]
    #[setters(skip)]
    pub hidden: Vec<HiddenLayerConfig>,
    /// The output layer, which has the functions that the likelihood needs.
    pub output: LayerConfig,
    /// The likelihood.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// The shape of the inputs, if they are images.
    #[serde(default)]
    #[setters(strip_option)]
    pub image: Option<ImageShape>,
    /// The number of draws from the hidden layers.
    #[serde(default)]
    pub noise: LayerNoise,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for DeepGpConfig {
    /// Regression with a single layer with the kernel Matérn-5/2.
    fn default() -> Self {
        let layer = LayerConfig::new(StationaryConfig::matern52());
        Self::new(layer, GaussianConfig::default())
    }
}

impl DeepGpConfig {
    /// A single layer.
    pub fn new(output: LayerConfig, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            hidden: Vec::new(),
            output,
            likelihood: likelihood.into(),
            image: None,
            noise: LayerNoise::default(),
            parameters: ParameterConfig::default(),
        }
    }

    /// Appends a hidden layer with `functions` functions.
    pub fn with_hidden(mut self, functions: usize, layer: LayerConfig) -> Self {
        self.hidden.push(HiddenLayerConfig::new(functions, layer));
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points of the first layer are chosen among the inputs. For later
    /// layers, they are chosen among the inputs mapped through the mean functions of the preceding
    /// layers, or through random projections.
    ///
    /// # Errors
    ///
    /// When the input of a patch layer is not an image, the inducing points cannot be chosen or do
    /// not match the posterior, their covariance cannot be factored, or a parameter setting is
    /// invalid.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<DeepGp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let [_, columns] = data.targets.dims();
        let mut resolved = self.clone();
        resolved.resolve(data);
        let model = resolved.assemble(LayerInputs::Like(data.inputs.clone().inner()), columns)?;
        let model = self.parameters.apply(model)?.synchronized().train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// All layers, to change them.
    fn layers(&mut self) -> impl Iterator<Item = &mut LayerConfig> {
        let hidden = self.hidden.iter_mut().map(|hidden| &mut hidden.layer);
        hidden.chain([&mut self.output])
    }

    #[track_caller]
    fn assemble(&self, mut inputs: LayerInputs, columns: usize) -> Result<DeepGp, InitError> {
        if let Some(image) = self.image
            && image.len() != inputs.dimensions()
        {
            return Err(InitError::ImageShape {
                image,
                inputs: inputs.dimensions(),
            });
        }
        let likelihood = self.likelihood.init(inputs.options());
        let planned = |config, place: &str, functions, image| LayerPlan {
            config,
            path: format!("layers.{place}"),
            parameters: &self.parameters,
            functions,
            image,
        };
        let (mut image, mut hidden) = (self.image, Vec::new());
        for (index, HiddenLayerConfig { functions, layer }) in self.hidden.iter().enumerate() {
            let planned = planned(layer, &format!("hidden.{index}"), *functions, image);
            hidden.push(planned.layer(&inputs)?);
            (inputs, image) = layer.form.outputs(&planned, inputs)?;
        }
        let description = likelihood.description();
        let functions = description.latents * description.outputs(columns);
        let output = planned(&self.output, "output", functions, image).layer(&inputs)?;
        Ok(DeepGp::new(
            Stack::new(hidden, output, self.noise),
            likelihood,
        ))
    }
}

impl ModelDefinition for DeepGpConfig {
    model_config!(variational);

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        let inputs = LayerInputs::Shape(shape.dimensions, shape.options.clone());
        let model = self.assemble(inputs, shape.columns)?;
        Ok(self.parameters.apply_to_skeleton(model)?.into_trained())
    }

    /// Dense layers get at most as many inducing points as there are distinct inputs; patch layers
    /// keep theirs.
    fn resolve(&mut self, data: &TrainingData) {
        for layer in self.layers() {
            layer.inducing = match layer.form.patches() {
                None => layer.inducing.for_inputs(&data.inputs),
                Some(_) => layer.inducing.clone().with_at_most(false),
            };
        }
    }

    fn fix_precision(&mut self, precision: DType) {
        for layer in self.layers() {
            layer.posterior.fix_precision(precision);
        }
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MINI_BATCHES
    }

    fn has_images(&self) -> bool {
        self.image.is_some()
    }

    fn has_draws(&self) -> bool {
        !self.hidden.is_empty()
    }
}

register!(
    Model,
    "deep-gp",
    DeepGpConfig,
    "Deep Gaussian process: each layer takes draws from the previous one"
);

impl Trained for DeepGp {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        Ok(Box::new(self.condition()?))
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.likelihood().clone()
    }

    fn options(&self) -> (Device, DType) {
        let points = self.layers().output().inducing_inputs().swap_remove(0);
        (points.device(), points.dtype())
    }

    fn inducing_points(&self) -> Vec<f64> {
        let first = self.layers().hidden().first();
        let first = first.unwrap_or(self.layers().output());
        let sets = first.inducing_inputs().into_iter();
        sets.flat_map(numbers).collect()
    }
}
