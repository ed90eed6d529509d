//! Collapsed sparse regression.

use burn::module::Module;
use burn_gp::{
    inducing::InducingPoints,
    inference::Collapsed,
    kernels::{AnyKernel, KernelConfig, Kernels},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig, check_finite},
    means::{AnyMean, MeanConfig},
    ops::NotPositiveDefinite,
    parameter::ParameterConfig,
    variational::{AnyPosterior, Functions, PosteriorConfig, Whitened, WhitenedConfig},
};
use serde::{Deserialize, Serialize};

use crate::{
    AnySvgp, InducingConfig, InitError, Svgp, SvgpConfig,
    config::{OUTPUTS, options_of, with_first_values},
    ready_made::{DataShape, ReadyMade, ReadyMadeConfig},
    training::TrainingData,
};

/// A collapsed model whose components are chosen at run time.
pub type AnySgpr = Collapsed<AnyKernel, AnyMean, InducingPoints>;

/// Configuration of a collapsed sparse regression model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgprConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The noise.
    pub likelihood: GaussianConfig,
    /// The inducing points.
    pub inducing: InducingConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl SgprConfig {
    /// 128 inducing points and a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: GaussianConfig) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood,
            inducing: InducingConfig::new(128),
            parameters: ParameterConfig::default(),
        }
    }

    /// Sets the number of inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or a parameter setting is
    /// not possible.
    pub fn init(&self, data: &TrainingData) -> Result<AnySgpr, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let options = options_of(&data.inputs);
        let [_, dimensions] = data.inputs.dims();
        let kernel = self.kernel.init(dimensions, options.clone());
        let kernel = with_first_values(kernel, &self.parameters, "kernel");
        self.inducing.check(false)?;
        let inducing = self.inducing.select(&kernel, &data.inputs)?.swap_remove(0);
        let jitter = self.inducing.jitter_for(data.inputs.dtype());
        let model = Collapsed::new(
            kernel,
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.likelihood.init(options),
            inducing,
            jitter,
        );
        let model = self.parameters.apply(model)?.train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// The variational model that a trained collapsed model is converted to: whitened, with a full
    /// covariance.
    pub fn variational(&self) -> SvgpConfig {
        SvgpConfig {
            kernel: self.kernel.clone(),
            mean: self.mean,
            likelihood: self.likelihood.clone().into(),
            posterior: PosteriorConfig::Whitened(WhitenedConfig {
                covariance: Default::default(),
            }),
            inducing: self.inducing.clone(),
            separate_kernels: false,
            coregionalization: None,
            parameters: (self.parameters).with_field_renamed("inducing", "posterior.inducing"),
        }
    }
}

impl ReadyMadeConfig for SgprConfig {
    type Model = AnySgpr;

    fn for_data(&self, data: TrainingData) -> Result<(AnySgpr, TrainingData), InitError> {
        Ok((self.init(&data)?, data))
    }

    fn blank_trained(&self, shape: &DataShape) -> Result<AnySvgp, InitError> {
        self.variational().blank_trained(shape)
    }

    fn likelihood(&self) -> LikelihoodConfig {
        self.likelihood.clone().into()
    }
}

impl ReadyMade for AnySgpr {
    type Trained = AnySvgp;

    /// The variational model with the optimal `q(u)` given `data`.
    fn trained(&self, data: &TrainingData) -> Result<AnySvgp, NotPositiveDefinite> {
        let model = self.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let distribution = model.optimal_distribution(inputs, targets)?;
        let posterior = Whitened::new(model.inducing().clone(), distribution, model.jitter());
        Ok(Svgp::new(
            Kernels::Shared(model.kernel().clone()),
            model.mean().clone(),
            AnyLikelihood::Gaussian(model.likelihood().clone()),
            Functions::Independent(AnyPosterior::Whitened(posterior)),
        ))
    }
}
