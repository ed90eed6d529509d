//! Configuration of sparse variational Gaussian processes.

use burn::tensor::{DType, Device, Tensor, TensorCreationOptions};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::ConditionError,
    kernels::{AnyKernel, KernelConfig, KernelModule, Kernels, StationaryConfig},
    layers::GpLayerConfig,
    likelihoods::{AnyLikelihood, FixedNoiseConfig, GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    parameter::{ParameterConfig, numbers},
    process::AnyProcess,
    register,
    variational::{CoregionalizationConfig, FirstGaussians, PosteriorConfig, WhitenedConfig},
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTrained, DataShape, InducingConfig, InitError, ModelDefinition, Svgp, Trained,
    config::{options_of, with_first_values},
    initial_scale::scaled_to_targets,
    model_config::model_config,
    training::{Model, TrainingData, TrainingDefaults},
};

/// A sparse variational model whose components are chosen at run time.
pub type AnySvgp = Svgp;

/// Configuration of a sparse variational Gaussian process.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
/// use burn_gp_models::SvgpConfig;
///
/// let config = SvgpConfig::new(StationaryConfig::matern52(), GaussianConfig::default())
///     .with_inducing(512);
/// # assert_eq!(config.inducing.count, 512);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct SvgpConfig {
    /// The kernel.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// The posterior.
    #[setters(into)]
    pub posterior: PosteriorConfig,
    /// The inducing points.
    #[setters(skip)]
    pub inducing: InducingConfig,
    /// Whether each function has its own kernel, instead of one shared kernel.
    #[serde(default)]
    #[setters(bool)]
    pub separate_kernels: bool,
    /// If present, the functions are mixtures of fewer latent functions instead of independent.
    #[serde(default)]
    #[setters(skip)]
    pub coregionalization: Option<CoregionalizationConfig>,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for SvgpConfig {
    /// Regression with the kernel Matérn-5/2.
    fn default() -> Self {
        Self::new(StationaryConfig::matern52(), GaussianConfig::default())
    }
}

impl SvgpConfig {
    /// A whitened posterior with a full covariance, a zero mean, and 128 inducing points, or as many
    /// as there are distinct inputs if these are fewer.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::zero(),
            likelihood: likelihood.into(),
            posterior: WhitenedConfig::default().into(),
            inducing: InducingConfig::default(),
            separate_kernels: false,
            coregionalization: None,
            parameters: ParameterConfig::default(),
        }
    }

    /// Models the functions as mixtures of `latent` latent functions.
    ///
    /// ```
    /// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig};
    /// use burn_gp_models::{CoregionalizationConfig, SvgpConfig};
    ///
    /// let config = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default());
    /// let config = config.with_coregionalization(2);
    /// assert_eq!(config.coregionalization, Some(CoregionalizationConfig::new(2)));
    /// ```
    pub fn with_coregionalization(mut self, latent: usize) -> Self {
        self.coregionalization = Some(CoregionalizationConfig::new(latent));
        self
    }

    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }

    /// Sets the number of inducing points that are orthogonal to the others.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.inducing.orthogonal = count;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs. The model has as many
    /// latent functions as the likelihood needs for the target columns.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, the inducing points cannot be chosen or do not
    /// match the posterior, their covariance cannot be factored, or a parameter setting is
    /// invalid.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnySvgp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let options = options_of(&data.inputs);
        let ([_, dimensions], [_, columns]) = (data.inputs.dims(), data.targets.dims());
        self.check(dimensions)?;
        let kernel = self.kernel.init(dimensions, options.clone());
        // If there are several kernels, their values are set one by one.
        let kernel = if self.separate_kernels {
            kernel
        } else {
            with_first_values(kernel, &self.parameters, "kernel")
        };
        let places = self.kernel.without_inactive(&data.inputs);
        let inducing = self.inducing.for_inputs(&places);
        let inducing = inducing.select(&kernel, &places)?;
        let first = FirstGaussians::Prior;
        let model = self.assemble(kernel, (inducing, first), (dimensions, columns), &options)?;
        let model = self.parameters.apply(model)?.synchronized();
        let (parts, priors) = (
            (Some(&self.kernel), &*self.likelihood),
            &self.parameters.priors,
        );
        let model = scaled_to_targets(model, AnySvgp::kernel, parts, priors, data);
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    fn check(&self, dimensions: usize) -> Result<(), InitError> {
        self.kernel.check_for("kernel", dimensions)?;
        self.mean.check_for("mean", dimensions)?;
        Ok(self.posterior.check("posterior")?)
    }

    #[track_caller]
    fn assemble(
        &self,
        kernel: AnyKernel,
        (inducing, first): (Vec<InducingPoints>, FirstGaussians),
        (dimensions, columns): (usize, usize),
        options: &TensorCreationOptions,
    ) -> Result<AnySvgp, InitError> {
        self.inducing.check(self.posterior.has_orthogonal_set())?;
        let likelihood = self.likelihood.init(options.clone());
        let description = likelihood.description();
        let functions = description.latents * description.outputs(columns);
        let mean = self.mean.init(dimensions, functions, options.clone());
        let layer = GpLayerConfig {
            kernel: self.kernel.clone(),
            mean: self.mean.clone(),
            posterior: self.posterior.clone(),
            inducing: self.inducing.clone(),
            separate_kernels: self.separate_kernels,
            coregionalization: self.coregionalization,
            ..GpLayerConfig::new(dimensions, functions)
        };
        let layer = layer.assemble(kernel, mean, inducing, first)?;
        let (kernels, mean, posterior) = layer.into_parts();
        Ok(Svgp::new(kernels, mean, likelihood, posterior))
    }
}

impl ModelDefinition for SvgpConfig {
    model_config!(variational);
    model_config!(inducing);

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        let (dimensions, options) = (shape.dimensions, &shape.options);
        self.check(dimensions)?;
        let kernel = self.kernel.init(dimensions, options.clone());
        let points = self.inducing.at_origin(dimensions, options).into_iter();
        let first = (
            points.map(InducingPoints::new).collect(),
            FirstGaussians::Skeleton,
        );
        let model = self.assemble(kernel, first, (dimensions, shape.columns), options)?;
        Ok(self.parameters.apply_to_skeleton(model)?.into_trained())
    }

    fn fix_precision(&mut self, precision: DType) {
        self.posterior.fix_precision(precision);
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MINI_BATCHES
    }

    fn takes_input_errors(&self) -> bool {
        let has_known_noise = self.likelihood.downcast_ref::<FixedNoiseConfig>().is_some();
        has_known_noise || self.takes_row_columns().noise
    }

    fn kernel(&self) -> Option<&KernelConfig> {
        let is_one = !self.separate_kernels && self.coregionalization.is_none();
        is_one.then_some(&self.kernel)
    }

    fn mean(&self) -> Option<&MeanConfig> {
        Some(&self.mean)
    }
}

register!(
    Model,
    "svgp",
    SvgpConfig,
    "Sparse variational, with any posterior, Adam on mini-batches"
);

impl AnySvgp {
    /// The inducing points of every set, `[M, D]` each.
    fn inducing_points_of_each(&self) -> Vec<Tensor<2>> {
        let sets = self.posterior().inducing().into_iter();
        sets.filter_map(|set| set.inputs()).collect()
    }
}

impl Trained for AnySvgp {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        Ok(Box::new(self.condition()?))
    }

    fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<AnyTrained, ConditionError>> {
        let model = self.condition_on_observations(inputs, targets)?;
        Some(model.map(Trained::into_trained))
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.likelihood().clone()
    }

    fn options(&self) -> (Device, DType) {
        let points = self.inducing_points_of_each().swap_remove(0);
        (points.device(), points.dtype())
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        match self.kernel() {
            Kernels::Shared(kernel) => Some(kernel.covariance_at(x1, x2)),
            Kernels::Separate(_) | Kernels::Stacked(_) => None,
        }
    }

    fn inducing_points(&self) -> Vec<f64> {
        let sets = self.inducing_points_of_each().into_iter();
        sets.flat_map(numbers).collect()
    }
}
