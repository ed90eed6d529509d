//! Configuration of deep Gaussian processes.

use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp::{
    layers::{AnyLayer, LayerNoise, Stack},
    likelihoods::{AnyLikelihood, Likelihood, LikelihoodConfig},
    parameter::ParameterConfig,
    patches::ImageShape,
};
use serde::{Deserialize, Serialize};

use super::{
    DeepGp, LayerConfig,
    layer_config::{Inputs, Planned},
};
use crate::{InitError, training::TrainingData};

/// A deep model whose pieces are chosen at run time.
pub type AnyDeepGp = DeepGp<AnyLayer, AnyLayer, AnyLikelihood>;

/// A layer before the last, with its number of functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenLayerConfig {
    /// How many functions it has: the inputs of the next layer, or its channels.
    pub functions: usize,
    /// The layer.
    pub layer: LayerConfig,
}

/// Configuration of a deep Gaussian process, or of one layer of images.
///
/// ```
/// use burn_gp::{kernels::StationaryConfig, likelihoods::GaussianConfig, means::MeanConfig, ops::Stationary};
/// use burn_gp_models::{DeepGpConfig, LayerConfig};
///
/// let kernel = StationaryConfig::new(Stationary::SquaredExponential);
/// let layer = LayerConfig::new(kernel);
/// let hidden = layer.clone().with_mean(MeanConfig::Identity).with_deviation(0.01);
/// let config = DeepGpConfig::new(layer, GaussianConfig::default())
///     .with_hidden(8, hidden.clone())
///     .with_hidden(8, hidden);
/// # assert_eq!(config.hidden.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepGpConfig {
    /// The layers before the last, from the first on.
    #[serde(default)]
    pub hidden: Vec<HiddenLayerConfig>,
    /// The last layer, which has the functions that the likelihood needs.
    pub output: LayerConfig,
    /// The likelihood.
    pub likelihood: LikelihoodConfig,
    /// The shape of the inputs, if they are images.
    #[serde(default)]
    pub image: Option<ImageShape>,
    /// How often the layers before the last are drawn from.
    #[serde(default)]
    pub noise: LayerNoise,
    /// First values, bounds, priors of the parameters, and which are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
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

    /// With one more layer of `functions` functions before the last.
    pub fn with_hidden(mut self, functions: usize, layer: LayerConfig) -> Self {
        self.hidden.push(HiddenLayerConfig { functions, layer });
        self
    }

    /// For images of a shape.
    pub fn with_image(mut self, image: ImageShape) -> Self {
        self.image = Some(image);
        self
    }

    /// With other numbers of draws.
    pub fn with_noise(mut self, noise: LayerNoise) -> Self {
        self.noise = noise;
        self
    }

    /// The model, in the precision of the training inputs and on their device with autodiff. The
    /// inducing points of the first layer are chosen among the inputs, those of the others among
    /// what its means, or random projections, make of them.
    ///
    /// # Errors
    ///
    /// When a layer of patches meets no images, inducing points cannot be chosen or are not those of
    /// the posterior, their covariance cannot be factored, or what is asked of a parameter cannot
    /// be.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnyDeepGp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let [_, columns] = data.targets.dims();
        let model = self.assemble(Inputs::Like(data.inputs.clone().inner()), columns)?;
        let model = self.parameters.apply(model)?.refreshed().train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// A model of the right shapes for targets with `columns` columns, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When a layer of patches meets no images, the covariance of inducing variables cannot be
    /// factored, or what is asked of a parameter cannot be.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of target columns.
    #[track_caller]
    pub fn blank(
        &self,
        dimensions: usize,
        columns: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyDeepGp, InitError> {
        let model = self.assemble(Inputs::Blank(dimensions, options.into()), columns)?;
        Ok(self.parameters.apply_to_blank(model)?)
    }

    #[track_caller]
    fn assemble(&self, mut inputs: Inputs, columns: usize) -> Result<AnyDeepGp, InitError> {
        if let Some(image) = self.image
            && image.len() != inputs.dimensions()
        {
            return Err(InitError::ImageShape {
                image,
                inputs: inputs.dimensions(),
            });
        }
        let likelihood = self.likelihood.init(inputs.options());
        let planned = |config, place: &str, functions, image| Planned {
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
            (inputs, image) = planned.outputs(inputs)?;
        }
        let functions = likelihood.latents(likelihood.outputs(columns));
        let output = planned(&self.output, "output", functions, image).layer(&inputs)?;
        Ok(DeepGp::new(
            Stack::new(hidden, output, self.noise),
            likelihood,
        ))
    }
}
