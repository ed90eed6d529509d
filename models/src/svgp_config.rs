//! Configuration of sparse variational Gaussian processes.

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::{AnyKernel, Kernel, KernelConfig, Kernels, SeparateKernels},
    layers::Predictive,
    likelihoods::{AnyLikelihood, Gaussian, Likelihood, LikelihoodConfig},
    means::{AnyMean, MeanConfig},
    ops::NotPositiveDefinite,
    parameter::{ParameterConfig, numbers},
    variational::{
        AnyPosterior, Coregionalized, Functions, PosteriorConfig, WhitenedConfig, first_mixing,
    },
};
use serde::{Deserialize, Serialize};

use crate::{
    InducingConfig, InitError, Svgp,
    config::{options_of, with_first_values},
    ready_made::{DataShape, ReadyMade, ReadyMadeConfig, Trained},
    training::TrainingData,
};

/// A sparse variational model whose components are chosen at run time.
pub type AnySvgp =
    Svgp<Kernels<AnyKernel>, AnyMean, AnyLikelihood, Functions<AnyPosterior<InducingPoints>>>;

/// A model of independent functions with a shared kernel.
pub(crate) fn with_shared_kernel(
    kernel: AnyKernel,
    mean: AnyMean,
    likelihood: Gaussian,
    posterior: AnyPosterior<InducingPoints>,
) -> AnySvgp {
    Svgp::new(
        Kernels::Shared(kernel),
        mean,
        AnyLikelihood::Gaussian(likelihood),
        Functions::Independent(posterior),
    )
}

/// The linear model of coregionalization: the functions are linear combinations of latent
/// functions.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{CoregionalizationConfig, SvgpConfig};
///
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let config = SvgpConfig::new(kernel, GaussianConfig::default()).with_coregionalization(2);
/// let latent = config.coregionalization.map(|CoregionalizationConfig { latent, .. }| latent);
/// assert_eq!(latent, Some(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoregionalizationConfig {
    /// The number of latent functions, Q.
    pub latent: usize,
    /// The seed of the initial mixing matrix.
    #[serde(default)]
    pub seed: u64,
}

/// Configuration of a sparse variational Gaussian process.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::SvgpConfig;
///
/// let config = SvgpConfig::new(StationaryConfig::new(Stationary::Matern52), GaussianConfig::default())
///     .with_inducing(128);
/// # assert_eq!(config.inducing.count, 128);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvgpConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood.
    pub likelihood: LikelihoodConfig,
    /// The posterior.
    pub posterior: PosteriorConfig,
    /// The inducing points.
    pub inducing: InducingConfig,
    /// Whether each function has its own kernel, instead of one shared kernel.
    #[serde(default)]
    pub separate_kernels: bool,
    /// If present, the functions are mixtures of fewer latent functions instead of independent.
    #[serde(default, alias = "coregionalisation")]
    pub coregionalization: Option<CoregionalizationConfig>,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl SvgpConfig {
    /// A whitened posterior with a full covariance, 128 inducing points and a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood: likelihood.into(),
            posterior: WhitenedConfig::default().into(),
            inducing: InducingConfig::new(128),
            separate_kernels: false,
            coregionalization: None,
            parameters: ParameterConfig::default(),
        }
    }

    /// Gives each function its own kernel.
    pub fn with_separate_kernels(mut self) -> Self {
        self.separate_kernels = true;
        self
    }

    /// Models the functions as mixtures of `latent` latent functions.
    pub fn with_coregionalization(mut self, latent: usize) -> Self {
        self.coregionalization = Some(CoregionalizationConfig { latent, seed: 0 });
        self
    }

    /// Sets the number of inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// Sets the number of inducing points that are orthogonal to the others.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.inducing.orthogonal = count;
        self
    }

    /// Sets the posterior.
    pub fn with_posterior(mut self, posterior: PosteriorConfig) -> Self {
        self.posterior = posterior;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs. The model has as many
    /// latent functions as the likelihood needs for the target columns.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, the inducing points cannot be chosen or do not
    /// match the posterior, their covariance cannot be factored, or a parameter setting is not
    /// possible.
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
        let kernel = self.kernel.init(dimensions, options.clone());
        // If there are several kernels, their values are set one by one.
        let kernel = if self.separate_kernels {
            kernel
        } else {
            with_first_values(kernel, &self.parameters, "kernel")
        };
        let inducing = self.inducing.select(&kernel, &data.inputs)?;
        let model = self.assemble(kernel, inducing, (dimensions, columns), &options)?;
        let model = self.parameters.apply(model)?.refreshed().train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// A model with the right shapes for `columns` target columns, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored, or a parameter setting is
    /// not possible.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn blank(
        &self,
        dimensions: usize,
        columns: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnySvgp, InitError> {
        let options = options.into();
        let kernel = self.kernel.init(dimensions, options.clone());
        let inducing = self.inducing.blank(dimensions, &options);
        let model = self.assemble(kernel, inducing, (dimensions, columns), &options)?;
        Ok(self.parameters.apply_to_blank(model)?)
    }

    #[track_caller]
    fn assemble(
        &self,
        kernel: AnyKernel,
        inducing: Vec<InducingPoints>,
        (dimensions, columns): (usize, usize),
        options: &TensorCreationOptions,
    ) -> Result<AnySvgp, InitError> {
        self.inducing.check(self.posterior.has_orthogonal_set())?;
        let likelihood = self.likelihood.init(options.clone());
        let functions = likelihood.latents(likelihood.outputs(columns));
        let jitter = self.inducing.jitter_for(inducing[0].points().dtype());
        let latent = (self.coregionalization).map_or(functions, |config| config.latent);
        let options = || options.clone();
        let (kernels, posterior) = if self.separate_kernels {
            let kernels = (0..latent).map(|_| self.kernel.init(dimensions, options()));
            let kernels = SeparateKernels::new(kernels.collect());
            let posterior =
                (self.posterior).init_separate(inducing, &kernels, jitter, options())?;
            (Kernels::Separate(kernels), posterior)
        } else {
            let posterior = (self.posterior).init(inducing, &kernel, latent, jitter, options())?;
            (Kernels::Shared(kernel), posterior)
        };
        let posterior = match self.coregionalization {
            None => Functions::Independent(posterior),
            Some(CoregionalizationConfig { latent, seed }) => {
                let mixing = first_mixing(functions, latent, seed, options());
                Functions::Coregionalized(Coregionalized::new(posterior, mixing))
            }
        };
        let mean = self.mean.init(dimensions, functions, options());
        Ok(Svgp::new(kernels, mean, likelihood, posterior))
    }
}

impl ReadyMadeConfig for SvgpConfig {
    type Model = AnySvgp;

    fn for_data(&self, data: TrainingData) -> Result<(AnySvgp, TrainingData), InitError> {
        Ok((self.init(&data)?, data))
    }

    fn blank_trained(&self, shape: &DataShape) -> Result<AnySvgp, InitError> {
        self.blank(shape.dimensions, shape.columns, shape.options.clone())
    }

    fn likelihood(&self) -> LikelihoodConfig {
        self.likelihood.clone()
    }
}

impl ReadyMade for AnySvgp {
    type Trained = Self;

    fn trained(&self, _data: &TrainingData) -> Result<Self, NotPositiveDefinite> {
        Ok(self.valid())
    }
}

impl Trained for AnySvgp {
    fn process(&self) -> Result<Box<dyn Predictive + Send + Sync>, NotPositiveDefinite> {
        Ok(Box::new(self.condition()?))
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.likelihood().clone()
    }

    fn options(&self) -> (Device, DType) {
        let points = self.posterior().independent().inducing()[0].points();
        (points.device(), points.dtype())
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        match self.kernel() {
            Kernels::Shared(kernel) => Some(kernel.covariance(x1, x2)),
            Kernels::Separate(_) => None,
        }
    }

    fn inducing_points(&self) -> Vec<f64> {
        let sets = self.posterior().independent().inducing().into_iter();
        sets.flat_map(|points| numbers(points.points())).collect()
    }
}
